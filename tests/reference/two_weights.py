"""The most records that two weights can find, in fractions: every end of every record's interval is tried."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Pair = tuple[float, float]


def most_found(features: Sequence[Sequence[Pair]], class_of_row: Sequence[int], margin: float) -> Fraction:
    """`features[i][j]`: the two addends of the distance of original i and masked j; equal masked rows share a class."""
    intervals = [_interval(i, features[i], class_of_row, Fraction(margin)) for i in range(len(features))]
    worth = [Fraction(1, class_of_row.count(one)) for one in class_of_row]
    tried = {end for interval in intervals for end in interval} | {Fraction(0), Fraction(1)}
    return max(
        sum((some for some, (low, high) in zip(worth, intervals, strict=True) if low <= w <= high), Fraction(0))
        for w in tried
    )


def _interval(i: int, row: Sequence[Pair], class_of_row: Sequence[int], margin: Fraction) -> tuple[Fraction, Fraction]:
    """The first weights for which original i is nearer to its own than to any other by the margin; may be empty."""
    low, high = Fraction(0), Fraction(1)
    for j, rival in enumerate(row):
        if class_of_row[j] == class_of_row[i]:
            continue
        # w x + (1 - w) y >= margin, a half-line of w
        x, y = (Fraction(other) - Fraction(own) for other, own in zip(rival, row[i], strict=True))
        if x == y:
            if y < margin:
                return Fraction(2), Fraction(-1)
        elif x > y:
            low = max(low, (margin - y) / (x - y))
        else:
            high = min(high, (margin - y) / (x - y))
    return low, high
