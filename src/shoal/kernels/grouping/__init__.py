"""Loops that make groups: MDAV, annealing, and the distances they take."""
