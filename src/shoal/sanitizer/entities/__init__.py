"""Entities of texts: what a text names, with every mention of it."""
