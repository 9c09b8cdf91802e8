"""Signs of terms: cubic polynomials over the prime field of 2^61 - 1, so that any four terms have independent signs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["sign_table"]

Words = NDArray[np.uint64]
Signs = NDArray[np.int8]

MODULUS = np.uint64((1 << 61) - 1)
BITS_29, BITS_32, BITS_61 = np.uint64(29), np.uint64(32), np.uint64(61)
LOW_29, LOW_32 = np.uint64((1 << 29) - 1), np.uint64((1 << 32) - 1)
ONE, THREE = np.uint64(1), np.uint64(3)


@njit(cache=True, nogil=True)
def _product(one: Any, other: Any) -> Any:
    """The product of two numbers below 2^61, modulo 2^61 - 1, by halves of 32 bits; 2^61 counts as 1."""
    low = (one & LOW_32) * (other & LOW_32)
    middle = (one >> BITS_32) * (other & LOW_32) + (one & LOW_32) * (other >> BITS_32)
    high = (one >> BITS_32) * (other >> BITS_32)
    total = (low & MODULUS) + (low >> BITS_61) + (middle >> BITS_29) + ((middle & LOW_29) << BITS_32) + (high << THREE)
    total = (total & MODULUS) + (total >> BITS_61)
    return total - MODULUS if total >= MODULUS else total


@njit(cache=True, nogil=True)
def sign_table(terms: Words, coefficients: Words) -> Signs:
    """The sign of every term in every component, (terms, components); `coefficients` are (components, 4)."""
    signs = np.empty((terms.shape[0], coefficients.shape[0]), np.int8)
    for row in range(terms.shape[0]):
        term = terms[row]
        for component in range(coefficients.shape[0]):
            value = coefficients[component, 3]
            for power in range(2, -1, -1):
                value = _product(value, term) + coefficients[component, power]
                if value >= MODULUS:
                    value -= MODULUS
            signs[row, component] = 1 if value & ONE else -1
    return signs
