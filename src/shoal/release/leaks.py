"""What leaks from a protected table, and what masking one column more strongly does about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.attacks.learned.leakage import FEWEST, Leakage, attack_all
from shoal.attacks.learned.records import LabelColumn, label_columns, side_by_side
from shoal.methods.numeric import coarsened
from shoal.results.attacks import Leak, LeakCard, Rate, Remedy

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
    remedies: bool = True,
    random_state: int = 0,
) -> LeakCard | None:
    """Train an attacker, then coarsen what leaks most and attack again, unless no remedies are asked for.

    None for too few records.
    """
    if before.num_rows < FEWEST or not numbers + labels:
        return None
    values, released = ({name: table[name] for name in labels} for table in (before, after))
    compared = label_columns(values, released, ontology)
    attack = Leakage(
        sample=sample, proof_seconds=proof_seconds, proof_distance=proof_distance, random_state=random_state
    )
    were, are = (table.select(list(numbers)) for table in (before, after))
    leak = attack.run(were if numbers else None, are, compared)
    tried = _remedies(were, are, compared, leak, sample, random_state) if remedies else ()
    return LeakCard(leak, tried)


def _remedies(
    before: pa.Table, after: pa.Table, labels: Sequence[LabelColumn], leak: Leak, sample: int, random_state: int
) -> tuple[Remedy, ...]:
    """The columns that tell most, each coarsened in turn, and what is found then."""
    telling = [attribute.name for attribute in leak.attributes if attribute.name in after.column_names][:TRIED]
    remedies: list[Remedy] = []
    for classes in CLASSES:
        least = max(2, before.num_rows // classes)
        for tried, name in enumerate(telling):
            progress.step("trying remedies", tried, len(telling))
            column = coarsened(after[name], least)
            if np.array_equal(column, after[name].to_numpy()):
                continue
            stronger = after.set_column(after.column_names.index(name), name, pa.array(column))
            found = worst_rate(before, stronger, labels, sample, random_state)
            remedies.append(Remedy(name, least, leak.worst, found))
        progress.step("trying remedies", len(telling), len(telling))
        if any(remedy.helps for remedy in remedies):
            break
    return tuple(sorted(remedies, key=lambda remedy: remedy.after.rate))


def worst_rate(
    before: pa.Table, after: pa.Table, labels: Sequence[LabelColumn] = (), sample: int = 1000, random_state: int = 0
) -> Rate:
    """How many of up to 20,000 records an attacker trained on all links of a sample finds; tables of numbers."""
    everyone = side_by_side(before if before.num_columns else None, after, labels)
    return attack_all(everyone, sample, random_state, MOST_TRIED_AGAIN)[1]
