"""A protected table judged against its original: every measure and attack, and the models that can be trained on it."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.aligned import AlignedTables, align_tables, control_records
from shoal.assessment.confidential import confidential_of, people_of, unattacked_columns
from shoal.assessment.minimality import minimality_of
from shoal.assessment.several_releases import overlap_of, protection_of
from shoal.attacks.differencing import Differencing
from shoal.attacks.disclosure import DisclosureRisk
from shoal.attacks.distance import linked_by_equality
from shoal.attacks.gdpr import AttributeInference, Linkability, SinglingOut
from shoal.attacks.proof.conflicts import load_solver
from shoal.attacks.proof.families import check_distance
from shoal.attacks.rates import sample_rows
from shoal.data.columns import MISSING, equal_rows, holds_numbers
from shoal.data.files import shown
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.release.leaks import find_leaks
from shoal.results.assessment import TableAssessment
from shoal.results.attacks import Rate
from shoal.results.utility import ModelUtility
from shoal.utility.loss import table_loss
from shoal.utility.models import MOST_CLASSES, Target, model_utility

MOST_RECORDS = 20_000  # of more, a random sample of this size
LARGEST = 1e150  # squares of larger numbers overflow; they count as missing


def models_of_target(pair: AlignedTables, target: str, random_state: int = 0) -> ModelUtility:
    """Models of the target, a column of numbers or labels, from the other numbers that are compared.

    Records that lack the target are left out. Of more than ten labels the nine most frequent are classes, and all
    others one more.
    """
    assert pair.target is not None
    known = [name for name in pair.numbers if name != target]
    if not known:
        raise InputError(
            f"target {shown(target)} can be learned from numbers only, and no other number is compared; "
            "name more columns with {option}, or leave the target out",
            "columns",
        )
    before, after = _readings(*pair.target, target)
    rows = np.flatnonzero(~(_missing(before) | _missing(after)))
    if len(rows) < 2:
        raise InputError(f"target {shown(target)} is missing in all but {len(rows)} records; choose another column")
    rows = rows[sample_rows(len(rows), MOST_RECORDS, random_state)]
    # A target that was protected with the others decides with them which rows are alike.
    columns = list(pair.numbers) if target in pair.numbers else known
    original, protected = (table.select(columns).take(pa.array(rows)) for table in (pair.before, pair.after))
    if target in pair.numbers:
        return model_utility(original, protected, target, random_state)
    if before.dtype != object:
        return model_utility(
            original, protected, Target(target, before[rows], after[rows], are_classes=False), random_state
        )
    goal, together = _classes(target, before[rows], after[rows])
    return replace(model_utility(original, protected, goal, random_state), taken_together=together)


def _readings(original: pa.Array, protected: pa.Array, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as numbers (missing: NaN), or both as labels (missing: None)."""
    before, after = _numbers(original), _numbers(protected)
    if before is not None and after is not None:
        return before, after
    for column in (original, protected):
        if pa.types.is_temporal(column.type) or pa.types.is_nested(column.type):
            raise InputError(
                f"target {shown(name)} is {column.type}, neither numbers nor labels; choose another column"
            )
    if holds_numbers(original.type) or holds_numbers(protected.type):
        kinds = f"{original.type} in the original and {protected.type} in the protected table"
        raise InputError(f"target {shown(name)} is {kinds}; choose a column of one type")
    return _labels(original), _labels(protected)


def _numbers(column: pa.Array) -> Floats | None:
    """The column as numbers, NaN where one is missing; None when it is something else."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        texts = pc.utf8_trim_whitespace(column)
        texts = pc.if_else(pc.is_in(texts, pa.array(MISSING, texts.type)), None, texts)
        try:
            column = texts.cast(pa.float64())
        except pa.ArrowException:
            return None
    elif not holds_numbers(column.type):
        return None
    values: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def _labels(column: pa.Array) -> NDArray[np.object_]:
    texts = column.cast(pa.large_string()).to_pylist()
    labels = np.empty(len(texts), dtype=object)
    labels[:] = [None if text is None or text.strip() in MISSING else text for text in texts]
    return labels


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([value is None or value != value for value in values.tolist()], dtype=bool)


def _classes(name: str, before: NDArray[np.object_], after: NDArray[np.object_]) -> tuple[Target, int]:
    """Labels as classes, and how many rare ones became one; a label that no original has is a class of its own."""
    counts = Counter(before.tolist())
    ordered = sorted(counts, key=lambda label: (-counts[label], label))
    kept = ordered if len(ordered) <= MOST_CLASSES else ordered[: MOST_CLASSES - 1]
    class_of = {label: number for number, label in enumerate(kept)}
    class_of |= {label: len(kept) for label in ordered[len(kept) :]}
    unknown = len(set(class_of.values()))
    classes_before, classes_after = (
        np.array([class_of.get(label, unknown) for label in side], np.float64) for side in (before, after)
    )
    return Target(name, classes_before, classes_after, are_classes=True), len(ordered) - len(kept)


@dataclass(frozen=True)
class TableOptions:
    """What can be asked about a table; see `assess`."""

    key: str | None = None
    columns: Sequence[str] | None = None
    control: Any = None
    target: str | None = None
    ontology: Any = None
    prove: float = 0.0
    distance: str | None = None
    differencing: int = 0
    earlier: Any = None
    earlier_private: Any = None
    person: str | None = None

    def __post_init__(self) -> None:
        if not self.prove >= 0:
            raise InputError(f"prove={self.prove!r} must be a number of seconds, 0 or more")
        if self.prove:
            load_solver()  # refused now, not after the work
        if self.distance is not None:
            check_distance(self.distance)
            if not self.prove:
                raise InputError("distance says what to prove; give prove, a number of seconds, as well")
        removals = self.differencing
        if not isinstance(removals, int | np.integer) or isinstance(removals, bool) or removals < 0:
            raise InputError(f"differencing={removals!r} must be a whole number of records, 0 or more")
        if self.earlier_private is not None and self.earlier is None:
            raise InputError(
                "earlier_private is the private side of an earlier release; name that, too: {option}", "earlier"
            )


def assess_tables(
    original: Any, protected: Any, options: TableOptions, private: Any, aligned: bool, random_state: int
) -> TableAssessment:
    """Put the rows side by side, then measure and attack."""
    pair = align_tables(
        original,
        protected,
        key=options.key,
        private=private,
        columns=options.columns,
        aligned=aligned,
        target=options.target,
        person=options.person,
    )
    _check_ontology(options.ontology, pair)
    distance = options.distance or "weighted-mean"
    check_distance(distance, len(pair.numbers + pair.labels), bool(pair.labels))
    protection = protection_of(protected, pair.numbers) if options.differencing else None
    overlap = None
    if options.earlier is not None:
        if pair.release is None or not isinstance(protected, str | os.PathLike):
            raise InputError("{option} needs two releases, and the protected table is none; give one", "earlier")
        overlap = overlap_of(protected, private, options.earlier, options.earlier_private, pair.before)
    control, notes = (None, ()) if options.control is None else control_records(options.control, pair)
    minimality, untried = minimality_of(pair, options.ontology)
    notes = (*notes, *untried)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    loss = risk = models = differencing = None
    gdpr: tuple[Rate, ...] = ()
    if options.target is not None:
        with progress.stage("training models"):
            models = models_of_target(pair, options.target, random_state)
    if pair.numbers:
        with progress.stage("measuring the loss"):
            loss = table_loss(pair.original, pair.protected)
        with progress.stage("linking records"):
            risk = DisclosureRisk(random_state).run(pair.original, pair.protected)
        with progress.stage("singling out"):
            gdpr = _gdpr(pair, control, random_state)
    leaks = find_leaks(
        pair.before,
        pair.after,
        pair.numbers,
        pair.labels,
        ontology=options.ontology,
        proof_seconds=options.prove,
        proof_distance=distance,
        random_state=random_state,
    )
    if protection is not None:
        with progress.stage("differencing"):
            attack = Differencing(removals=int(options.differencing), random_state=random_state)
            differencing = attack.run(pair.original, protection)
    confidential, people = confidential_of(pair, random_state), people_of(pair)
    alike = np.bincount(equal_rows(pair.after, pair.after.column_names))
    labels = [_cells(table, pair.labels) for table in (pair.before, pair.after)]
    return TableAssessment(
        rows=pair.before.num_rows,
        numbers=pair.numbers,
        labels=pair.labels,
        how=pair.how,
        left_out=pair.left_out,
        smallest_group=int(alike.min()),
        unique=int(np.sum(alike == 1)),
        loss=loss,
        risk=risk,
        gdpr=gdpr,
        labels_changed=tuple((name, _changed(pair.before[name], pair.after[name])) for name in pair.labels),
        labels_linked=linked_by_equality(*labels) if pair.labels else None,
        models=models,
        leaks=leaks,
        minimality=minimality,
        differencing=differencing,
        overlap=overlap,
        confidential=confidential,
        people=people,
        unattacked=unattacked_columns(pair),
        notes=notes,
    )


def _check_ontology(ontology: Any, pair: AlignedTables) -> None:
    """Refuse an ontology of columns that are not compared, or not labels."""
    if ontology is None:
        return
    if not pair.labels:
        raise InputError("an ontology is for labels, and no labels are compared; leave it out")
    for name in ontology if isinstance(ontology, Mapping) else ():
        if name not in pair.labels:
            raise InputError(
                f"ontology of {shown(name)}: no such column of labels is compared; there are: "
                + ", ".join(map(shown, pair.labels))
            )


def _gdpr(pair: AlignedTables, control: Any, random_state: int) -> tuple[Rate, ...]:
    """Singling out, linkability and inference, as far as there are columns enough."""
    tables = pair.original, pair.protected, control
    n_columns = len(pair.numbers)
    attacks: list[Rate] = [SinglingOut(1, random_state=random_state).run(*tables)]
    if n_columns > 1:
        attacks.append(SinglingOut(min(n_columns, 4), random_state=random_state).run(*tables))
        attacks.append(Linkability(random_state=random_state).run(*tables))
        attacks += AttributeInference(random_state=random_state).run(*tables)
    return tuple(attacks)


def _cells(table: pa.Table, columns: Sequence[str]) -> Any:
    return np.array([table[name].to_pylist() for name in columns], dtype=object).T


def _changed(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float:
    """The share of cells that are not what they were; missing in both is the same."""
    same = pc.fill_null(pc.equal(before, after), False)
    both_missing = pc.and_(pc.is_null(before), pc.is_null(after))
    return 1.0 - float(pc.sum(pc.or_(same, both_missing)).as_py() or 0) / len(before)
