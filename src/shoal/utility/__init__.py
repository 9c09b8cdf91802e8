"""Utility: what a release has lost, and what it is still good for.
Any pair of original and protected data can be compared, whichever tool made it.
"""
