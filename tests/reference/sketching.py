"""Sketches as their definitions say: whole numbers of Python, loops over pairs."""

from __future__ import annotations

import math

MODULUS = (1 << 61) - 1


def sign(term: int, coefficients: list[int]) -> int:
    """The low bit of a cubic polynomial over the prime field."""
    value = sum(coefficient * term**power for power, coefficient in enumerate(coefficients)) % MODULUS
    return 1 if value & 1 else -1


def sketch(record: dict[int, float], signs: dict[int, list[int]], components: int) -> list[float]:
    return [sum(value * signs[term][j] for term, value in sorted(record.items())) for j in range(components)]


def cosine(one: dict[str, float], other: dict[str, float]) -> float:
    lengths = math.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in other.values()))
    return sum(value * other.get(term, 0.0) for term, value in one.items()) / lengths


def neighbours(records: list[dict[str, float]], k: int) -> list[list[int]]:
    """The k nearest by cosine, ties to the lower record; cosines that differ by rounding are ties."""
    found = []
    for row, record in enumerate(records):
        others = [place for place in range(len(records)) if place != row]
        found.append(sorted(others, key=lambda place: (-round(cosine(record, records[place]), 9), place))[:k])
    return found


def pair_holds(one: dict[str, float], other: dict[str, float], components: int) -> bool:
    """Whether the estimate of the product has a standard deviation of at least the gap to the largest product."""
    if components == 0:
        return True
    squares = [sum(v * v for v in record.values()) for record in (one, other)]
    product = sum(value * other.get(term, 0.0) for term, value in one.items())
    shared = sum((value * other.get(term, 0.0)) ** 2 for term, value in one.items())
    variance = (squares[0] * squares[1] + product**2 - 2 * shared) / components
    gap = math.sqrt(squares[0] * squares[1]) - abs(product)
    return math.sqrt(max(variance, 0.0)) >= gap * (1 - 1e-9) - 1e-12
