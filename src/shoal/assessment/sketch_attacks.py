"""Sketches under every attack, and other kinds of sketches of the same records beside them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.sketch_utility import sketch_utility
from shoal.errors import InputError
from shoal.microaggregation.words.pooling import THOUSAND, members_with, pooled_counts, pooled_weights
from shoal.results.sketch_attacks import SketchAttacks
from shoal.risk.sketches import KeyHolder, KnownRecords, SketchedRecords, SketchLinkage
from shoal.sketch import CrowdSketch, DeltaSketch, KVarianceSketch, Sketches, SketchKey
from shoal.sketch.sketches import sketch_rows

__all__ = ["Attacked", "NamedCounts", "all_kinds", "attack_sketches", "crowds_of"]

Ints = NDArray[np.int64]

ATTACKED = 1_000  # records, drawn at random
COMPONENTS = 512  # of sketches to compare with
DELTA_OF_BASKETS, DELTA_OF_TEXTS = 0.2, 0.01


@dataclass(frozen=True, eq=False)
class NamedCounts:
    """Records as counts of terms, and as the rows that are sketched when each is sketched by itself."""

    counts: sp.csr_matrix
    rows: sp.csr_matrix  # the counts themselves, or weights of length 1
    terms: list[str]
    of_items: bool  # baskets, not texts

    def some(self, rows: Ints) -> NamedCounts:
        """These records only."""
        return replace(self, counts=sp.csr_matrix(self.counts[rows]), rows=sp.csr_matrix(self.rows[rows]))


@dataclass(frozen=True, eq=False)
class Attacked:
    """Sketches to attack, by name."""

    kind: str
    setting: str
    sketched: SketchedRecords
    lengths: Ints | None = None  # components of each sketch, where anyone can compute them from the record


def attack_sketches(one: Attacked, terms: list[str], key: SketchKey, random_state: int = 0) -> SketchAttacks:
    """All attacks: by the key, by known records, and for the sketch of a record."""
    sketched = one.sketched
    signs = key.signs(terms, sketched.width)
    holder, linkage = KeyHolder(ATTACKED, random_state), SketchLinkage(ATTACKED, random_state)
    known = KnownRecords(attacked=ATTACKED, random_state=random_state)
    return SketchAttacks(
        kind=one.kind,
        setting=one.setting,
        records=len(sketched.filled),
        withheld=int(np.sum(sketched.lengths == 0)),
        components=int(np.median(sketched.lengths[sketched.filled])),
        with_key=holder.run(sketched, signs),
        knowing_records=known.run(sketched, signs),
        linked_with_key=linkage.with_key(sketched, signs, one.lengths),
        linked_without_key=linkage.without_key(sketched, one.lengths),
        utility=sketch_utility(
            sketched.records[sketched.filled],
            Sketches(sketched.values, sketched.offsets)[sketched.filled],
            random_state,
        ),
        openly=holder.openly(sketched) if sketched.pooled else None,
    )


def all_kinds(
    records: NamedCounts, k: int, key: SketchKey, random_state: int = 0, without: str | None = None
) -> tuple[SketchAttacks, ...]:
    """Plain, delta, k-variance and crowd sketches of the same records, each attacked; `without` names one to omit.

    Kinds that cannot be made of these records are left out: few of them make no crowd, short ones no delta sketch.
    """
    makers = {
        "plain sketches": _plain,
        "delta sketches": _delta,
        "k-variance sketches": _k_variance,
        "crowd sketches": _crowd,
    }
    attacks = []
    for step, (kind, make) in enumerate(makers.items()):
        progress.step("attacking other sketches", step, len(makers))
        if kind != without:
            with suppress(InputError):
                attacks.append(attack_sketches(make(records, k, key), records.terms, key, random_state))
    progress.step("attacking other sketches", len(makers), len(makers))
    return tuple(attacks)


def crowds_of(
    counts: sp.csr_matrix, groups: Ints, sketches: Sketches, least: int = 1, weighted: bool = False
) -> SketchedRecords:
    """Records in groups, whose sums were sketched, without items that fewer than `least` records have.

    `weighted`: with sums times the rarity of an item, as they themselves tell it.
    """
    inside = np.flatnonzero(groups >= 0)
    common = np.bincount(counts.indices, minlength=counts.shape[1]) >= least
    pools = pooled_counts(sp.csr_matrix(counts[inside] @ sp.diags_array(common.astype(np.float64))), groups[inside])
    pools.eliminate_zeros()
    frequency = members_with(pools, np.bincount(groups[inside])) if weighted else None
    rarity = np.ones(pools.shape[1])
    if frequency is not None:
        rarity[frequency > 0] = np.log(THOUSAND * len(inside) / frequency[frequency > 0])
    records = sp.csr_matrix(counts.astype(np.float64) @ sp.diags_array(rarity))
    pool_weights = pooled_weights(pools, frequency, len(inside))
    return SketchedRecords(records, sketches.values, sketches.offsets, pool_weights, groups, rarity)


def _each(rows: sp.csr_matrix, sketches: Sketches) -> SketchedRecords:
    return SketchedRecords.each_its_own(rows, sketches.values, sketches.offsets)


def _plain(records: NamedCounts, k: int, key: SketchKey) -> Attacked:
    lengths = np.full(records.rows.shape[0], COMPONENTS)
    sketches = sketch_rows(records.rows, records.terms, key, lengths)
    return Attacked("plain sketches", "no protection", _each(records.rows, sketches))


def _delta(records: NamedCounts, k: int, key: SketchKey) -> Attacked:
    delta = DELTA_OF_BASKETS if records.of_items else DELTA_OF_TEXTS
    sketches = DeltaSketch(delta, terms=records.terms, key=key).fit_transform(records.rows)
    return Attacked("delta sketches", f"delta={delta:g}", _each(records.rows, sketches), sketches.lengths)


def _k_variance(records: NamedCounts, k: int, key: SketchKey) -> Attacked:
    sketches = KVarianceSketch(k, terms=records.terms, key=key).fit_transform(records.rows)
    return Attacked("k-variance sketches", f"k={k}", _each(records.rows, sketches))


def _crowd(records: NamedCounts, k: int, key: SketchKey) -> Attacked:
    model = CrowdSketch(k, components=COMPONENTS, terms=records.terms, key=key).fit(records.counts)
    return Attacked("crowd sketches", f"k={k}", crowds_of(records.counts, model.groups_, model.sketches_, least=k))
