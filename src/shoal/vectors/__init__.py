"""Documents as vectors: words, the terms made of them, and their weights.
A collection is read as a stream; what stays in memory is the matrix of counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["VectorSpace"]

if TYPE_CHECKING:
    from shoal.vectors.space import VectorSpace


def __getattr__(name: str) -> Any:
    """Loaded on first use: who wants the words of a language need not load scikit-learn."""
    if name == "VectorSpace":
        from shoal.vectors.space import VectorSpace

        return VectorSpace
    raise AttributeError(f"module 'shoal.vectors' has no attribute {name!r}")
