"""Loops that attack: nearest records, weights that link the most, groups taken apart."""
