"""Numbers masked without groups over all quasi-identifiers: swapped, blurred, or averaged some columns at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.errors import InputError
from shoal.masking import Noise, RankSwap
from shoal.microaggregation import Microaggregation
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule
from shoal.protection.tables.layout import Layout, MaskedBlock, TableProtection
from shoal.protection.tables.means import number_squares, words_for
from shoal.results.methods import IN_WORDS
from shoal.results.promised import GroupPromises, asked_option

__all__ = ["Columnwise"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Columnwise:
    """Rank swapping, noise, or microaggregation of attribute groups: whole records hide in no crowd."""

    k_anonymous = False

    def __init__(self, method: RankSwap | Noise | Microaggregation, k: int) -> None:
        self.averages = isinstance(method, Microaggregation)
        self.k = k if self.averages else 1
        self.name = words_for(method) if isinstance(method, Microaggregation) else IN_WORDS[_name_of(method)]
        self.together: tuple[tuple[str, ...], ...] = ()
        self._model = clone(method).set_params(k=k) if self.averages else clone(method)

    def prepared(self, layout: Layout, values: Mapping[str, tuple[pa.Array, Ints]]) -> TableProtection:
        ready = copy(self)
        ready.together = (layout.numbers,)
        if isinstance(self._model, Microaggregation):
            ready.together = attribute_groups(self._model, layout.numbers)
        return ready

    def rows(self, block: Block, layout: Layout) -> Block:
        return block

    def group(self, block: Block, layout: Layout) -> tuple[Block, float]:
        return block, 0.0

    def nearest(self, grouped: Block, rows: Block, layout: Layout) -> Ints:
        raise InputError("rows without groups have none that is nearest; use a method that makes groups")

    def group_parts(self, parts: list[Any], n_rows: int, layout: Layout, schedule: Schedule) -> list[Any]:
        if isinstance(self._model, Microaggregation):
            if self._model.attribute_groups is None:
                raise InputError(
                    f"method {self._model.method!r} sorts all rows at once; for a table in parts use 'mdav'"
                )
            raise InputError("a table in parts is protected over all quasi-identifiers; leave out the attribute groups")
        raise InputError(f"{type(self._model).__name__} needs all rows at once; give the table in one file")

    def diverse(
        self,
        block: Block,
        layout: Layout,
        promises: GroupPromises,
        overall: Sequence[Mapping[str, int]] | None = None,
    ) -> Block:
        asked = asked_option(promises)
        if self.averages:
            raise InputError(f"{asked} needs groups over all quasi-identifiers at once; leave out the attribute groups")
        raise InputError(f"{asked} needs groups, and {type(self._model).__name__} makes none; leave it out")

    def masked(self, block: Block, layout: Layout) -> MaskedBlock:
        table = pa.table(dict(zip(layout.numbers, map(pa.array, block.carried["values"].T), strict=True)))
        masked = clone(self._model).set_output(transform="default").fit_transform(table)
        return MaskedBlock(block, np.column_stack([column.to_numpy() for column in masked.columns]), {})

    def squares(self, masked: MaskedBlock, released: Floats, layout: Layout) -> tuple[float, float]:
        return number_squares(masked, released, layout)

    def parameters(self) -> dict[str, Any]:
        # Who knows the seed can undo swapping and noise, so it is never published.
        given = self._model.get_params()
        return {name: value for name, value in given.items() if self.averages or name != "random_state"}


def attribute_groups(method: Microaggregation, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The sets of columns that are microaggregated together."""
    model: Microaggregation = clone(method)
    model.feature_names_in_ = np.array(names, dtype=object)
    return tuple(tuple(names[column] for column in columns) for columns in model.columns_apart(len(names)))


def _name_of(method: RankSwap | Noise) -> str:
    return "rank-swap" if isinstance(method, RankSwap) else "noise"
