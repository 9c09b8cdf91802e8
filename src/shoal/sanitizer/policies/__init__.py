"""Which subjects are risky: a policy lists topics and their concepts, each with the senses that a person chose.
Concepts are widened with WordNet to the terms that are looked for. Policies are TOML files, for people to read.
"""
