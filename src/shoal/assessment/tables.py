"""A protected table judged against its original: every measure and attack, on one aligned pair."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import progress
from shoal.assessment.aligned import AlignedTables, align_tables
from shoal.assessment.comparisons.overlap import overlap_of
from shoal.assessment.comparisons.repeated import protection_of
from shoal.assessment.controls import control_records
from shoal.assessment.leaks import find_leaks
from shoal.assessment.minimality import minimality_of
from shoal.assessment.target_models import models_of_target
from shoal.errors import InputError
from shoal.io.files import shown
from shoal.protection.masked import equal_rows
from shoal.results.assessment import TableAssessment
from shoal.results.rates import Rate
from shoal.risk.differencing import Differencing
from shoal.risk.disclosure import DisclosureRisk
from shoal.risk.equality import linked_by_equality
from shoal.risk.inference import AttributeInference
from shoal.risk.learned.linkage import check_distance
from shoal.risk.linkability import Linkability
from shoal.risk.singling_out import SinglingOut
from shoal.utility.loss import table_loss

__all__ = ["TableOptions", "assess_tables"]


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

    def __post_init__(self) -> None:
        if not self.prove >= 0:
            raise InputError(f"prove={self.prove!r} must be a number of seconds, 0 or more")
        if self.distance is not None:
            check_distance(self.distance)
            if not self.prove:
                raise InputError("distance says what to prove; give prove, a number of seconds, as well")
        removals = self.differencing
        if not isinstance(removals, int | np.integer) or isinstance(removals, bool) or removals < 0:
            raise InputError(f"differencing={removals!r} must be a whole number of records, 0 or more")
        if self.earlier_private is not None and self.earlier is None:
            raise InputError("earlier_private is the private side of an earlier release; name that, too: --with")


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
    )
    _check_ontology(options.ontology, pair)
    distance = options.distance or "weighted-mean"
    check_distance(distance, len(pair.numbers + pair.labels), bool(pair.labels))
    protection = protection_of(protected, pair.numbers) if options.differencing else None
    overlap = None
    if options.earlier is not None:
        if pair.release is None or not isinstance(protected, str | os.PathLike):
            raise InputError("--with compares two releases, and the protected table is none; give the folder of one")
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
    alike = np.bincount(equal_rows([column.combine_chunks() for column in pair.after.columns]))
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
