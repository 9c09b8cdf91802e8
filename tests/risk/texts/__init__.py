"""Attacks on sanitized texts."""
