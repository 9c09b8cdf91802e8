"""Loops over text."""
