"""Tables with labels: each becomes a concept as general as its group needs it, beside numbers or alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.bundle.folders import write_csv
from shoal.microaggregation import CategoricalMicroaggregation, MixedMicroaggregation
from shoal.microaggregation.labels.column import Reading
from shoal.microaggregation.labels.mixed_table import NUMERIC
from shoal.microaggregation.labels.unordered import Flat
from shoal.protection.coarsening import coarsened_columns, only_numbers
from shoal.protection.concept_tree import MISSING, concept_tree
from shoal.protection.groups import stated_loss
from shoal.protection.masked import Masked, Merge
from shoal.protection.numbers import publish_means
from shoal.protection.publishable import DIGITS, FEW_MOVED, grid_of, reason_of_all, reasons_withheld
from shoal.results.loss import Loss
from shoal.results.methods import IN_WORDS
from shoal.results.summary import Generalisation
from shoal.risk.equality import linked_by_equality

__all__ = ["concepts_before_and_after", "linked_by_labels", "mask_labels", "mask_numbers_and_labels"]

ANY = "*"  # any value of a column whose values have nothing above them

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def mask_labels(
    quasi: pa.Table, model: CategoricalMicroaggregation, merge: Merge | None, coarsen: Mapping[str, int]
) -> Masked:
    """All quasi-identifiers are labels."""
    _fit(quasi, model, merge)
    method = IN_WORDS[model.method] + (", refined" if model.refine else "")
    return _masked(quasi, model, [True] * quasi.num_columns, method, coarsen)


def mask_numbers_and_labels(
    quasi: pa.Table, model: MixedMicroaggregation, merge: Merge | None, coarsen: Mapping[str, int]
) -> Masked:
    """Numbers become means, labels concepts, in groups over both."""
    _fit(quasi, model, merge)
    method = "microaggregation (MDAV) of numbers and labels together" + (", refined" if model.refine else "")
    return _masked(quasi, model, [kind != NUMERIC for kind in model.kinds_], method, coarsen)


def concepts_before_and_after(
    quasi: pa.Table, model: Any, labels: list[str]
) -> tuple[dict[str, Ints], dict[str, Ints]]:
    """Each row's concepts by column: what its labels meant, and what they became."""
    before = {
        name: concepts[codes]
        for name, reading in zip(labels, model.readings_, strict=True)
        for concepts, codes, *_ in [reading.encode(quasi[name].combine_chunks())]
    }
    return before, dict(zip(labels, model.concepts_[model.groups_].T, strict=True))


def linked_by_labels(before: dict[str, Ints], after: dict[str, Ints]) -> float:
    """RL: the mean chance that equal labels link a record with its original."""
    return linked_by_equality(*(np.column_stack(list(columns.values())) for columns in (before, after)))


def _fit(quasi: pa.Table, model: Any, merge: Merge | None) -> None:
    model.fit(quasi)
    if merge is not None:
        model.represent(quasi, merge(model.groups_, model.distance_to_groups(quasi)))


def _masked(quasi: pa.Table, model: Any, are_labels: list[bool], method: str, coarsen: Mapping[str, int]) -> Masked:
    names = quasi.column_names
    labels = [name for name, is_label in zip(names, are_labels, strict=True) if is_label]
    before, after = concepts_before_and_after(quasi, model, labels)
    readings = dict(zip(labels, model.readings_, strict=True))
    rows = model.representatives_[model.groups_]
    numbers = [name for name in names if name not in labels]
    for name, least in coarsen.items():
        if name in labels:  # numbers that the method was told to take for labels
            raise only_numbers(name, least)
    values = np.column_stack([np.empty((len(rows), 0)), *(quasi[name].to_numpy() for name in numbers)])
    means = rows[:, ~np.array(are_labels)].astype(np.float64)
    published = publish_means(numbers, values, coarsened_columns(numbers, means, coarsen), model.k)
    columns: dict[str, pa.Array] = {}
    for place, name in enumerate(names):
        if name in labels:
            columns[name] = _texts(rows[:, place], after[name], readings[name])
        else:
            columns[name] = pa.array(published.released[:, numbers.index(name)])
    loss = model.loss_
    if numbers:
        loss = _loss_of_released(loss, values, means, published.released, model.scales_.scale)
    # Where few records moved in some column, what was lost tells what they were.
    moved = np.array([np.sum(before[name] != after[name]) for name in labels], dtype=np.int64)
    reasons = (*reasons_withheld(moved, np.zeros(len(labels))), *published.reasons)
    reason = reason_of_all(reasons)
    told = FEW_MOVED not in reasons
    return Masked(
        columns=columns,
        together=(tuple(names),),
        k_anonymous=True,
        method=method,
        # A mapping lists the original values, or says where on the owner's machine they are.
        parameters=model.get_params() | {"mapping": "given" if model.mapping is not None else None},
        loss=stated_loss(loss, reason is None, reason, DIGITS),
        rounded_to=grid_of(numbers, published.steps),
        changes=published.changes,
        generalisations=tuple(
            _generalisation(readings[name], before[name], after[name], columns[name], model.k, told) for name in labels
        ),
        linked=round(linked_by_labels(before, after), 6) if len(labels) == len(names) and told else None,
        private_files={"generalisations.csv": _all_generalisations(quasi, columns, labels)},
    )


def _loss_of_released(loss: Loss, values: Floats, means: Floats, released: Floats, scale: Floats) -> Loss:
    """The loss when numbers become `released` instead of the means of their groups."""
    more = float(np.sum(((values - released) / scale) ** 2) - np.sum(((values - means) / scale) ** 2))
    return Loss(sse=loss.sse + more, ssa=max(loss.ssa - more, 0.0))


def _texts(labels: NDArray[Any], concepts: Ints, reading: Reading) -> pa.Array:
    """Labels as text; a missing value stays missing."""
    texts = [None if label is None else str(label) for label in labels.tolist()]
    if isinstance(reading.ontology, Flat):
        root = reading.ontology.taxonomy.root
        texts = [ANY if concept == root else text for concept, text in zip(concepts.tolist(), texts, strict=True)]
    return pa.array(texts, pa.string())


def _generalisation(
    reading: Reading, before: Ints, after: Ints, released: pa.Array, k: int, told: bool
) -> Generalisation:
    """The column's tree, and how far its labels moved on average."""
    ontology: Any = reading.ontology
    spelt = {concept: text or MISSING for concept, text in zip(after.tolist(), released.to_pylist(), strict=True)}

    class Labels(dict[int, str]):
        def __missing__(self, concept: int) -> str:
            return str(ontology.label(concept))

    lines, unnamed = concept_tree(ontology.taxonomy, Labels(spelt), before, after, k)
    pairs, counts = np.unique(np.column_stack([before, after]), axis=0, return_counts=True)
    apart = np.array([reading.distances(pairs[[place], 0], pairs[[place], 1])[0, 0] for place in range(len(pairs))])
    moved = round(float(apart @ counts) / len(before), 4) if told else None
    return Generalisation(reading.name, lines, unnamed, moved)


def _all_generalisations(quasi: pa.Table, columns: dict[str, pa.Array], labels: list[str]) -> Any:
    """For the owner alone: what every value became, how often."""
    rows: list[tuple[Any, ...]] = []
    for name in labels:
        pairs = pa.table({"before": quasi[name].combine_chunks(), "after": columns[name]})
        counts = pairs.group_by(["before", "after"]).aggregate([([], "count_all")]).to_pylist()
        found = [(name, one["before"], one["after"], one["count_all"]) for one in counts]
        rows += sorted(found, key=lambda one: (str(one[1]), str(one[2])))
    return write_csv(("column", "before", "after", "records"), rows)
