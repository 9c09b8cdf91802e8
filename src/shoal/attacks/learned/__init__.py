"""Learned record linkage: the distance that re-identifies the most records, found from records whose link is known.
Worst case: everything is known. Honest attacker: learned on some records, tried on the others.
"""
