"""Numbers become the means of groups over all quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.errors import InputError
from shoal.kernels.grouping.mixed import nearest_point
from shoal.microaggregation import Microaggregation
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.blocks.grouping import Plan, block_count, group_in_blocks
from shoal.microaggregation.numeric import distance_to_means, group_means
from shoal.microaggregation.spaces.euclidean import EuclideanSpace
from shoal.protection.tables.diverse import joined_as_promised
from shoal.protection.tables.layout import Layout, MaskedBlock, TableProtection
from shoal.protection.tables.representatives import coordinates, represented
from shoal.results.methods import IN_WORDS
from shoal.results.promised import GroupPromises

__all__ = ["Means", "number_squares", "words_for"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Means:
    """Microaggregation of numbers in one partition."""

    averages = True
    k_anonymous = True

    def __init__(self, method: Microaggregation, k: int) -> None:
        self.k = k
        self.name = words_for(method)
        self.together: tuple[tuple[str, ...], ...] = ()
        self._model: Microaggregation = clone(method).set_params(k=k)

    def prepared(self, layout: Layout, values: Mapping[str, tuple[pa.Array, Ints]]) -> TableProtection:
        ready = copy(self)
        ready.together = (layout.numbers,)
        return ready

    def rows(self, block: Block, layout: Layout) -> Block:
        return replace(block, X=sp.csr_matrix(_where(block, layout)))

    def group(self, block: Block, layout: Layout) -> tuple[Block, float]:
        model = clone(self._model)
        if block.carried.get("gaps") is not None:
            groups = model.set_params(attribute_groups=None).fit(_where(block, layout)).groups_
            return replace(block, groups=groups), 0.0
        table = pa.table(dict(zip(layout.numbers, map(pa.array, block.carried["values"].T), strict=True)))
        model.fit(table)
        return replace(block, groups=model.groups_), float(getattr(model, "lower_bound_", 0.0))

    def nearest(self, grouped: Block, rows: Block, layout: Layout) -> Ints:
        means = group_means(_where(grouped, layout), grouped.groups)
        numbers = _where(rows, layout)
        no_labels = np.empty((len(numbers), 0), np.int64), np.empty((0, 1, 1))
        found: Ints = nearest_point(numbers, *no_labels, means, np.empty((len(means), 0), np.int64))
        return found

    def group_parts(self, parts: list[Any], n_rows: int, layout: Layout, schedule: Schedule) -> list[Any]:
        model = self._model
        if model.method != "mdav":
            raise InputError(f"method {model.method!r} sorts all rows at once; for a table in parts use 'mdav'")
        most = -(-n_rows // block_count(model.blocks, n_rows, model.k))
        plan = Plan(model.k, most, EuclideanSpace, model.refine, model.time_budget, model.random_state)
        return group_in_blocks(parts, n_rows, plan, schedule)

    def diverse(
        self,
        block: Block,
        layout: Layout,
        promises: GroupPromises,
        overall: Sequence[Mapping[str, int]] | None = None,
    ) -> Block:
        distances = distance_to_means(_where(block, layout), block.groups)
        return joined_as_promised(block, layout, self.k, promises, overall, distances)

    def masked(self, block: Block, layout: Layout) -> MaskedBlock:
        numbers, gaps = represented(block, layout)
        return MaskedBlock(block, numbers, {}, gaps)

    def squares(self, masked: MaskedBlock, released: Floats, layout: Layout) -> tuple[float, float]:
        return number_squares(masked, released, layout)

    def parameters(self) -> dict[str, Any]:
        return dict(self._model.get_params())


def _where(block: Block, layout: Layout) -> Floats:
    return coordinates(block.carried["values"], block.carried.get("gaps"), layout)


def number_squares(masked: MaskedBlock, released: Floats, layout: Layout) -> tuple[float, float]:
    """SSE and SST of numbers, SST as SSE and the squares of what is released."""
    carried = masked.block.carried
    before = coordinates(carried["values"], carried.get("gaps"), layout)
    after = coordinates(released, masked.gaps, layout)
    sse = float(np.sum((before - after) ** 2))
    return sse, sse + float(np.sum(after**2))


def words_for(method: Microaggregation) -> str:
    """The method as the report names it."""
    return IN_WORDS[method.method] + (", refined" if method.refine and method.method == "mdav" else "")
