"""Blocks: collections too large for one piece, cut into blocks of like rows that are grouped apart."""
