"""What leaks from a protected table, and what masking one column more strongly does about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.microaggregation import coarsened
from shoal.ontology import WordNet
from shoal.results.leaks import Leak, LeakCard, Remedy
from shoal.results.rates import Rate
from shoal.risk.learned.leakage import FEWEST, Leakage, attack_all
from shoal.risk.learned.records import LabelColumn, label_columns, side_by_side

__all__ = ["find_leaks", "leaks_of_release", "worst_rate"]

TRIED_AT_ONCE = 300  # records of a release that is being made
MOST_TRIED_AGAIN = 20_000  # records, after a remedy
TRIED = 2  # columns, the most telling
CLASSES = (20, 5)  # into how many classes a column is coarsened at most, the second when the first does little


def find_leaks(
    before: pa.Table,
    after: pa.Table,
    numbers: tuple[str, ...],
    labels: tuple[str, ...] = (),
    *,
    ontology: Any = None,
    sample: int = 1000,
    proof_seconds: float = 0.0,
    proof_distance: str = "weighted-mean",
    random_state: int = 0,
) -> LeakCard | None:
    """Train an attacker, then coarsen what leaks most and attack again; None for too few records."""
    if before.num_rows < FEWEST or not numbers + labels:
        return None
    words = _labels(before, after, labels, ontology)
    attack = Leakage(
        sample=sample, proof_seconds=proof_seconds, proof_distance=proof_distance, random_state=random_state
    )
    were, are = (table.select(list(numbers)) for table in (before, after))
    leak = attack.run(were if numbers else None, are, words)
    return LeakCard(leak, _remedies(were, are, words, leak, sample, random_state))


def leaks_of_release(quasi: pa.Table, released: pa.Table, numbers: tuple[str, ...], ontology: Any) -> LeakCard | None:
    """What leaks from columns that were just masked; only some records are tried, so that nobody waits for it."""
    labels = tuple(name for name in quasi.column_names if name not in numbers)
    if labels and ontology is None:
        ontology = WordNet()  # as what masked them
    return find_leaks(quasi, released, numbers, labels, ontology=ontology, sample=TRIED_AT_ONCE)


def worst_rate(
    before: pa.Table, after: pa.Table, labels: tuple[LabelColumn, ...] = (), sample: int = 1000, random_state: int = 0
) -> Rate:
    """What an attacker trained on all links of a sample finds, of up to 20,000 records; tables of numbers."""
    everyone = side_by_side(before if before.num_columns else None, after, labels)
    return attack_all(everyone, sample, random_state, MOST_TRIED_AGAIN)[1]


def _labels(before: pa.Table, after: pa.Table, labels: tuple[str, ...], ontology: Any) -> tuple[LabelColumn, ...]:
    were, are = ({name: table[name].to_pylist() for name in labels} for table in (before, after))
    return tuple(label_columns(were, are, ontology))


def _remedies(
    before: pa.Table, after: pa.Table, labels: tuple[LabelColumn, ...], leak: Leak, sample: int, random_state: int
) -> tuple[Remedy, ...]:
    """The columns that tell most, each coarsened in turn: what is found then."""
    telling = [one.name for one in leak.attributes if one.name in after.column_names][:TRIED]
    found: list[Remedy] = []
    for classes in CLASSES:
        least = max(2, before.num_rows // classes)
        for place, name in enumerate(telling):
            progress.step("trying remedies", place, len(telling))
            column = coarsened(after[name], least)
            if np.array_equal(column, after[name].to_numpy()):
                continue
            stronger = after.set_column(after.column_names.index(name), name, pa.array(column))
            found.append(Remedy(name, least, leak.worst, worst_rate(before, stronger, labels, sample, random_state)))
        progress.step("trying remedies", len(telling), len(telling))
        if any(one.helps for one in found):
            break
    return tuple(sorted(found, key=lambda one: one.after.rate))
