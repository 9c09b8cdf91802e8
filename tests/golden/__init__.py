"""Golden seals: what Shoal's commands made when they were recorded, to the byte.

A change of structure must leave every one of them as it is. `python -m tests.golden.record` records them anew after a
change that was meant; the differences in golden.json then say what it changed.
"""
