"""Masking: tables whose values are swapped or disturbed, so that they are no longer those of the record.
Unlike microaggregation it promises no crowd of k; what it hides must be measured (see risk).
"""

from shoal.masking.noise import Noise
from shoal.masking.rank_swap import RankSwap

__all__ = ["Noise", "RankSwap"]
