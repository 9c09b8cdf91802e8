"""How many rows are equal: over all parts, and in each of them. Part of verification: knows no method."""

from __future__ import annotations

from collections import Counter

__all__ = ["GroupCounts"]


class GroupCounts:
    """Rows by their group; a group is known by the bytes that its rows share."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._seen: Counter[int] = Counter()
        self._seen_in_part: list[Counter[int]] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def next_part(self) -> None:
        """The rows that follow are another part's: equal rows in different files can be told apart."""
        self._seen_in_part.append(Counter())

    def add(self, shared: bytes, rows: int) -> int:
        """Count some rows; the number of their group."""
        number = self._numbers.setdefault(shared, len(self._numbers))
        self._seen[number] += rows
        self._seen_in_part[-1][number] += rows
        return number

    def smallest(self) -> int:
        """Of all parts together."""
        return min(self._seen.values())

    def sizes_in_parts(self) -> Counter[int]:
        """How many groups have so many rows; equal rows in two parts are two groups."""
        return Counter(size for seen in self._seen_in_part for size in seen.values())

    def smallest_in_a_part(self) -> int:
        return min(min(seen.values()) for seen in self._seen_in_part)
