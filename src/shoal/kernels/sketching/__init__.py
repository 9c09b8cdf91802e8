"""Sketches of sparse records: signs from keys, rows to sketches, products of sketches, and how long a sketch may be."""
