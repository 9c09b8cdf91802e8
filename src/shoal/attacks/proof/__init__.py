"""Proof: the most records that a family of distances can find at all, found and bounded."""
