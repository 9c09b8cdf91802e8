"""Spaces: each knows centre, distance, nearest, farthest and the representative of a group."""
