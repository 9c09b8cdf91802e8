"""Protection by sketches of single records: how long each sketch may be, and in how many digits it is published."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.words.pooling import unit_rows
from shoal.protection.documents import check_space
from shoal.protection.documents.pools import counts_of
from shoal.sketch import DeltaSketch, KVarianceSketch
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Tally

__all__ = ["CROWD", "DECIMALS", "RecordSketches", "record_sketches", "steps_of_records"]

CROWD = "crowd sketches"  # the form, as a certificate names it
# Of a published number. Texts and pools have length 1, and so about have their numbers: more digits would estimate
# nothing better, but 53 bits in each of many numbers are enough to tell which terms were added up.
DECIMALS = 3


class RecordSketches:
    """Sketches of records, each on its own: as published by Aggarwal and Yu, without a crowd."""

    def __init__(self, space: VectorSpace, method: DeltaSketch | KVarianceSketch) -> None:
        method.check()
        self.space = space
        self.method = method
        if isinstance(method, DeltaSketch):
            self.form = self.name = "delta sketches"
            self.condition = f"every attribute of a record is estimated with a variance of at least {method.delta:g}"
            self._bound, self._remedy = f"delta={method.delta:g}", "lower delta"
        else:
            self.form = self.name = "k-variance sketches"
            self.condition = (
                f"products of a record with its {method.k} nearest neighbours are estimated too coarsely to tell them "
                "apart"
            )
            self._bound, self._remedy = f"k={method.k}", "lower k"

    @property
    def reason(self) -> str:
        """Why a record is withheld."""
        return f"no component meets {self._bound}"

    @property
    def refusal(self) -> str:
        """What to say when all are."""
        return f"{self._bound}: no record can meet it with even one component; {self._remedy}"

    def known(self, tally: Tally) -> Tally:
        """All terms are."""
        return tally

    def rows(self, block: Block) -> sp.csr_matrix:
        """What is sketched: the counts of baskets as they are, texts as rows of length 1."""
        counts = counts_of(block, self.space.idf_)
        return counts.astype(np.float64) if self.space.items else unit_rows(counts, self.space.idf_)[0]

    def parameters(self) -> dict[str, Any]:
        """Of the space and of the method; not its key, nor the number that one may be made of."""
        known = self.method.get_params()
        stated = {name: known[name] for name in ("delta", "k", "max_components", "blocks") if name in known}
        return {"vector_space": self.space.used_params(), "sketch": stated}


def record_sketches(
    method: DeltaSketch | KVarianceSketch, space: VectorSpace | None, k: int, of_items: bool
) -> RecordSketches:
    """The protection that an estimator stands for."""
    check_space(space, of_items)
    own = clone(method)
    if isinstance(own, KVarianceSketch):
        own.set_params(k=k)
    return RecordSketches(VectorSpace(items=of_items, **steps_of_records(of_items)) if space is None else space, own)


def steps_of_records(of_items: bool) -> dict[str, Any]:
    """How records become rows unless somebody says otherwise: every term counts, of baskets as often as it is there."""
    return {"min_df": 1, "weighting": "tf" if of_items else "tf-idf"}
