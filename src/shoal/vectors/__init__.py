"""Documents as vectors: words, the terms made of them, and their weights.
A collection is read as a stream; what stays in memory is the matrix of counts.
"""

from shoal.vectors.space import VectorSpace

__all__ = ["VectorSpace"]
