"""Documents in groups: their words by meaning, and what is published of a group."""
