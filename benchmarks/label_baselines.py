"""The methods that SA-MDAV is compared with: for the benchmarks, not for releases.

Sources: Martínez, Sánchez and Valls (2012) for the static centroid and for S-MDAV; Abril, Navarro-Arribas and Torra
(2010) for the subsumer as centre; Domingo-Ferrer and Torra (2005) for the mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.label_mdav import fixed_groups
from shoal import CategoricalMicroaggregation, InputError
from shoal.kernels import Ints
from shoal.kernels.grouping.labels import NEVER, ONE, Concepts, adaptive_groups, represent
from shoal.methods.categorical import TuplePartition, Tuples
from shoal.methods.label_columns import Labels
from shoal.methods.refinement import regrouped


def _static(tuples: Tuples, k: int) -> TuplePartition:
    groups = adaptive_groups(tuples.by_meaning, tuples.codes, tuples.counts, k, True)
    return TuplePartition(groups, np.arange(len(groups)), tuples.counts)


def _fixed(table: Concepts, tuples: Tuples, k: int, weighted: bool, generalise: bool, most: int) -> TuplePartition:
    rows = np.argsort(tuples.tuple_of_row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(tuples.counts)])
    groups = fixed_groups(table, tuples.codes, rows, indptr, k, weighted, generalise, most)
    return TuplePartition.of_rows(tuples, groups)


BASELINES: dict[str, Callable[[Tuples, int], TuplePartition]] = {
    "sa-mdav-static": _static,
    "s-mdav": lambda tuples, k: _fixed(tuples.by_meaning, tuples, k, True, False, NEVER),
    "mdav-lcs": lambda tuples, k: _fixed(tuples.by_meaning, tuples, k, False, True, NEVER),
    "mdav-mode": lambda tuples, k: _fixed(equality(tuples.labels), tuples, k, False, False, ONE),
}


class LabelBaseline(CategoricalMicroaggregation):
    """SA-MDAV with one thing done otherwise.

    Parameters
    ----------
    method : {"sa-mdav-static", "s-mdav", "mdav-lcs", "mdav-mode"}
        Compare with a group's first tuple; groups of k records with the same distance and centroid; MDAV with the least
        common subsumer as centre; MDAV that asks only whether rows are equal, with the most frequent labels as centre.
        The last three go record by record: of records equally far, the one that comes first is taken.
    refine : bool
        For the first only, whose groups are of whole tuples.
    """

    def __init__(
        self,
        k: int = 3,
        *,
        method: str = "sa-mdav-static",
        ontology: Any = None,
        mapping: Any = None,
        refine: bool = False,
        time_budget: float | None = None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            k, ontology=ontology, mapping=mapping, refine=refine, time_budget=time_budget, random_state=random_state
        )
        self.method = method

    def _grouped(self, tuples: Tuples, k: int) -> TuplePartition:
        if self.method not in BASELINES:
            raise InputError(f"method={self.method!r} is not known; use one of: {', '.join(BASELINES)}")
        if self.refine and self.method != "sa-mdav-static":
            raise InputError(f"refine=True is for sa-mdav-static; leave it out for {self.method!r}")
        pairs = BASELINES[self.method](tuples, k)
        if not self.refine:
            return pairs
        groups = regrouped(tuples.problem, pairs.group, k, self.time_budget, self.random_state)
        return TuplePartition(groups, pairs.member, pairs.count)

    def _centres(self, tuples: Tuples, pairs: TuplePartition) -> Ints:
        if self.method != "mdav-mode":
            members = tuples.codes[pairs.member], pairs.count, pairs.group
            return represent(tuples.by_meaning, *members, generalise=self.method == "mdav-lcs")
        modes = represent(equality(tuples.labels), tuples.codes[pairs.member], pairs.count, pairs.group)
        return np.column_stack([one.concept_of_value[modes[:, place]] for place, one in enumerate(tuples.labels)])


def equality(columns: Sequence[Labels]) -> Concepts:
    """Values that stand for themselves only, 0 apart when equal and 1 otherwise: the centre of a set is its mode."""
    m, v = len(columns), max(len(one.concept_of_value) for one in columns)
    same = np.eye(v, dtype=bool)
    return Concepts(
        distance=np.tile(np.where(same, 0, ONE).astype(np.int32), (m, 1, 1)),
        links=np.tile(np.where(same, 0, -1).astype(np.int16), (m, 1, 1)),
        above=np.tile(same, (m, 1, 1)),
        depth=np.ones((m, v), np.int32),
        n_concepts=np.array([len(one.concept_of_value) for one in columns], np.int64),
        concept_of_value=np.tile(np.arange(v, dtype=np.int64), (m, 1)),
    )
