"""Bundles: folders that appear whole or not at all, their private side, and releases loaded as data."""
