"""Review: what is proposed, what people decide about it, and what follows from their decisions.
The log of decisions is the only state: everything else is computed from it, again and again, to the same bytes.
"""
