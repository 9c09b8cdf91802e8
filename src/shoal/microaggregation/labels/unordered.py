"""Numbers, dates or truth values as labels: a set without structure, every value right below one root."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.ontology import Taxonomy, build_taxonomy

__all__ = ["Equals", "Flat"]


class Flat:
    """An ontology of a root and the given values below it. Two different values are all alike."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = sorted(values)

    @cached_property
    def taxonomy(self) -> Taxonomy:
        # Named by their place: so their order is that of the values, whatever these are.
        names = [*(f"{place:09d}" for place in range(len(self.values))), "the root"]
        return build_taxonomy(names, np.array([(place, len(self.values)) for place in range(len(self.values))]))

    def senses(self, value: Any) -> tuple[int, ...]:
        """The value's place; none when it was not among the given ones."""
        place = self._place.get(value)
        return () if place is None else (place,)

    def concept(self, name: Any) -> int | None:
        """The same as a number, or None."""
        return self._place.get(name)

    def label(self, concept: int) -> Any:
        """The value; None, any value, for the root."""
        return self.values[concept] if concept < len(self.values) else None

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {value: place for place, value in enumerate(self.values)}


class Equals(Flat):
    """A set of values that are equal or not, and nothing else: the most frequent one stands for several.

    The more frequent of two that are equally frequent in a group is the one that more records of the whole table have.
    """

    def __init__(self, values: pa.Array, counts: NDArray[np.int64]) -> None:
        pairs = zip(values.to_pylist(), counts.tolist(), strict=True)
        given = [(-count, value) for value, count in pairs if value is not None]
        self.values = [value for _, value in sorted(given)]
