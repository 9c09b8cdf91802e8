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
from shoal.assessment.column_values import as_labels, as_numbers, is_missing, released_numbers
from shoal.assessment.confidential import confidential_of, people_of, unattacked_columns
from shoal.assessment.minimality import minimality_of
from shoal.assessment.several_releases import overlap_of, protection_of
from shoal.assessment.survey import SurveyOptions, survey_utility
from shoal.attacks.differencing import Differencing
from shoal.attacks.disclosure import DisclosureRisk
from shoal.attacks.distance import linked_by_equality
from shoal.attacks.gdpr import AttributeInference, Linkability, SinglingOut
from shoal.attacks.proof.conflicts import load_solver
from shoal.attacks.proof.families import check_distance
from shoal.attacks.rates import sample_rows
from shoal.data.columns import equal_rows, holds_numbers, plain
from shoal.data.files import shown
from shoal.errors import InputError
from shoal.release.leaks import find_leaks
from shoal.results.assessment import TableAssessment
from shoal.results.attacks import Rate
from shoal.results.survey import SurveyUtility
from shoal.results.utility import ModelUtility
from shoal.utility.loss import table_loss
from shoal.utility.models import MOST_CLASSES, Target, model_utility

MOST_RECORDS = 20_000  # of more, a random sample of this size


def models_of_target(pair: AlignedTables, target: str, random_state: int = 0) -> ModelUtility:
    """Models of the target, a column of numbers or labels, from the other numbers that are compared.

    Records that lack the target are left out. Of more than ten labels the nine most frequent are classes, and all
    others one more.
    """
    target_before, target_after = (plain(table[target]).combine_chunks() for table in pair.whole)
    known = [name for name in pair.numbers if name != target]
    if not known:
        raise InputError(
            f"target {shown(target)} can be learned from numbers only, and no other number is compared; "
            "name more columns with {option}, or leave the target out",
            "columns",
        )
    before, after = _readings(target_before, target_after, target)
    rows = np.flatnonzero(~(is_missing(before) | is_missing(after)))
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
    before, after = as_numbers(original), as_numbers(protected)
    if before is not None and after is not None:
        return before, after
    for column in (original, protected):
        if pa.types.is_temporal(column.type) or pa.types.is_nested(column.type):
            raise InputError(
                f"target {shown(name)} is {column.type}, neither numbers nor labels; choose another column"
            )
    if before is not None:
        after = released_numbers(name, protected, coded=False)[0]
        if after is not None:
            return before, after
    if holds_numbers(original.type) or holds_numbers(protected.type):
        kinds = f"{original.type} in the original and {protected.type} in the protected table"
        raise InputError(f"target {shown(name)} is {kinds}; choose a column of one type")
    return as_labels(original), as_labels(protected)


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
    weight: str | None = None
    strata: str | None = None
    cluster: str | None = None
    tabulate: Sequence[str] = ()
    model: Sequence[str] = ()

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

    @property
    def survey(self) -> SurveyOptions:
        """The design and the estimates that are asked for."""
        return SurveyOptions(self.weight, self.strata, self.cluster, self.tabulate, self.model)


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
    notes = (*pair.notes, *notes, *untried)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    loss = risk = differencing = None
    gdpr: tuple[Rate, ...] = ()
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
        models=_models(pair, options.target, random_state),
        survey=_survey(pair, options),
        leaks=leaks,
        minimality=minimality,
        differencing=differencing,
        overlap=overlap,
        confidential=confidential,
        people=people,
        unattacked=unattacked_columns(pair),
        notes=notes,
    )


def _models(pair: AlignedTables, target: str | None, random_state: int) -> ModelUtility | None:
    if target is None:
        return None
    with progress.stage("training models"):
        return models_of_target(pair, target, random_state)


def _survey(pair: AlignedTables, options: TableOptions) -> SurveyUtility | None:
    if not options.survey.asked:
        return None
    rows_named_by = [name for name in (options.key, options.person) if name is not None]
    with progress.stage("estimating"):
        return survey_utility(*pair.whole, options.survey, rows_named_by, pair.coded)


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
