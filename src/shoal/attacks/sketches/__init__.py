"""Attacks on sketches: with the key, from known records, and by searching for the sketch of a record."""
