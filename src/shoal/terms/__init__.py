"""Terms: words counted into vector spaces, and what values mean: WordNet and users' hierarchies as arrays.
An ontology has a `taxonomy` and knows the concepts of a value: `senses`, `concept`, `label`, `gloss`, `suggest`.
"""
