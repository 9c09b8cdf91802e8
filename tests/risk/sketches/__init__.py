"""Attacks on sketches."""
