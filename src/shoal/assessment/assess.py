"""assess: judge any protected table or collection against its original, whoever made it."""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import progress
from shoal.assessment.aligned import AlignedTables, align_tables
from shoal.assessment.controls import control_records
from shoal.assessment.documents import assess_spaces, is_space
from shoal.assessment.leaks import find_leaks
from shoal.assessment.minimality import minimality_of
from shoal.assessment.repeated import protection_of
from shoal.assessment.target_models import models_of_target
from shoal.bundle.folders import check_free, folders_written_aside
from shoal.errors import InputError
from shoal.io.files import shown
from shoal.io.private_files import PRIVATE_FOLDER
from shoal.pages.document_assessment import space_html
from shoal.pages.table_assessment import assessment_html
from shoal.protection.masked import equal_rows
from shoal.results.assessment import SpaceAssessment, TableAssessment
from shoal.results.leaks import LeakCard
from shoal.results.rates import Rate
from shoal.risk.differencing import Differencing
from shoal.risk.disclosure import DisclosureRisk
from shoal.risk.equality import linked_by_equality
from shoal.risk.inference import AttributeInference
from shoal.risk.learned.linkage import check_distance
from shoal.risk.linkability import Linkability
from shoal.risk.singling_out import SinglingOut
from shoal.utility.loss import table_loss

__all__ = ["assess", "assess_tables"]

FILES = {
    "assessment.json",
    "report.html",
    "columns.csv",
    "correlations.csv",
    "found.csv",
    "models.csv",
    "figures.csv",
    "leaks.csv",
}
STEPS = 5


def assess(
    original: Any,
    protected: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    key: str | None = None,
    mapping: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    aligned: bool = False,
    control: Any = None,
    target: str | None = None,
    ontology: Any = None,
    prove: float = 0.0,
    distance: str | None = None,
    differencing: int = 0,
    text_column: str | None = None,
    id_column: str | None = None,
    random_state: int = 0,
    force: bool = False,
) -> TableAssessment | SpaceAssessment:
    """Judge a protected table or collection of documents against its original.

    Of a table: information loss, disclosure risk, and the three risks that the GDPR names. Of documents: what the
    protected vectors are still good for.

    Parameters
    ----------
    original, protected : path or any dataframe; `protected` may be the folder of a release
        For documents: the collection and the folder of its release, or two sparse matrices (.npz) of the same
        documents and terms.
    out : path
        A folder to make for the report, its figures as JSON and CSV, and the list of who was found. It is made from the
        original: keep it to yourself. None: nothing is written.
    key : str
        A column of both tables that names their rows.
    mapping : path
        The private folder of a release. Default for a release: next to it, "-private" added.
    columns : sequence of str
        What to compare. Default: a release's protected columns, else all that both tables have.
    aligned : bool
        The rows of both are in the same order, even though no column goes with its counterpart.
    control : path or dataframe
        Records of people who are not in the original, to tell what an attack learns from the release and what it would
        know anyway.
    target : str
        A column of both tables, numbers or labels, compared or not: how well do models that learnt from the protected
        table predict it of the originals?
    ontology : ontology, or dict of ontologies by column
        How far apart labels are to who learns from known links; without it they are equal or not.
    prove : float
        Seconds to spend on a proof of how many records any distance of a family can find.
    distance : str
        The family, as for `LearnedLinkage`: "weighted-mean" (default), "owa", "choquet", "bilinear" and others.
    differencing : int
        Repeat the protection of a release without so many records, one at a time, and subtract: what do two releases
        tell of the record between them? 0: leave it out.
    text_column, id_column : str
        For documents, as in `protect`.
    """
    if not prove >= 0:
        raise InputError(f"prove={prove!r} must be a number of seconds, 0 or more")
    if distance is not None:
        check_distance(distance)
        if not prove:
            raise InputError("distance says what to prove; give prove, a number of seconds, as well")
    if not isinstance(differencing, int | np.integer) or isinstance(differencing, bool) or differencing < 0:
        raise InputError(f"differencing={differencing!r} must be a whole number of records, 0 or more")
    if out is not None:
        check_free(Path(out), force, lambda content: set(content) <= FILES)
    found: TableAssessment | SpaceAssessment
    if is_space(protected):
        names = {"text_column": text_column, "id_column": id_column}
        given = {"key": key, "columns": columns, "control": control, "target": target, "ontology": ontology}
        astray = [name for name, value in given.items() if value is not None] + (["prove"] if prove else [])
        astray += ["differencing"] if differencing else []
        if astray:
            raise InputError(f"{astray[0]} is for tables, and these are documents; leave it out")
        found = assess_spaces(original, protected, mapping, names, random_state, aligned)
        if out is not None:
            _write(Path(out), found, space_html(found), {"figures.csv": found.utility.rows()})
        return found
    if is_space(original):
        raise InputError("the original is vectors of documents and the protected one a table; give two of one kind")
    pair = align_tables(original, protected, key=key, mapping=mapping, columns=columns, aligned=aligned, target=target)
    proof_distance = distance or "weighted-mean"
    check_distance(proof_distance, len(pair.numbers + pair.labels), bool(pair.labels))
    protection = protection_of(protected, pair.numbers) if differencing else None
    others, notes = (None, ()) if control is None else control_records(control, pair)
    minimality, untried = minimality_of(pair, ontology)
    notes = (*notes, *untried)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    found = replace(assess_tables(pair, others, target, random_state), minimality=minimality, notes=notes)
    found = replace(found, leaks=leaks_of(pair, ontology, prove, random_state, proof_distance))
    if protection is not None:
        attack = Differencing(removals=int(differencing), random_state=random_state)
        found = replace(found, differencing=attack.run(pair.before.select(pair.numbers), protection))
    if out is not None:
        _write(Path(out), found, assessment_html(found), _tables(found))
    return found


def leaks_of(
    pair: AlignedTables,
    ontology: Any = None,
    prove: float = 0.0,
    random_state: int = 0,
    distance: str = "weighted-mean",
) -> LeakCard | None:
    """What trained attackers find; None for very few records."""
    _check_ontology(ontology, pair)
    return find_leaks(
        pair.before,
        pair.after,
        pair.numbers,
        pair.labels,
        ontology=ontology,
        proof_seconds=prove,
        proof_distance=distance,
        random_state=random_state,
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


def assess_tables(
    pair: AlignedTables, control: Any = None, target: str | None = None, random_state: int = 0
) -> TableAssessment:
    """The figures of an aligned pair."""
    models = None if target is None else models_of_target(pair, target, random_state)
    before, after = (dict(zip(pair.numbers, pair.matrix(side).T, strict=True)) for side in ("before", "after"))
    one, other = pa.table(before), pa.table(after)
    loss = risk = None
    gdpr: tuple[Rate, ...] = ()
    progress.step("assessing", 0, STEPS)
    if pair.numbers:
        loss = table_loss(one, other)
        progress.step("assessing", 1, STEPS)
        risk = DisclosureRisk(random_state).run(one, other)
        progress.step("assessing", 3, STEPS)
        gdpr = _gdpr(one, other, control, random_state)
    classes = np.bincount(equal_rows([column.combine_chunks() for column in pair.after.columns]))
    labels = [_cells(table, pair.labels) for table in (pair.before, pair.after)]
    progress.step("assessing", STEPS, STEPS)
    return TableAssessment(
        rows=pair.before.num_rows,
        numbers=pair.numbers,
        labels=pair.labels,
        how=pair.how,
        left_out=pair.left_out,
        smallest_group=int(classes.min()),
        unique=int(np.sum(classes == 1)),
        loss=loss,
        risk=risk,
        gdpr=gdpr,
        labels_changed=tuple((name, _changed(pair.before[name], pair.after[name])) for name in pair.labels),
        labels_linked=linked_by_equality(*labels) if pair.labels else None,
        models=models,
    )


def _gdpr(original: pa.Table, protected: pa.Table, control: Any, random_state: int) -> tuple[Rate, ...]:
    """Singling out, linkability and inference, as far as there are columns enough."""
    n_columns = original.num_columns
    attacks: list[Rate] = [SinglingOut(1, random_state=random_state).run(original, protected, control)]
    if n_columns > 1:
        several = SinglingOut(min(n_columns, 4), random_state=random_state)
        attacks.append(several.run(original, protected, control))
        attacks.append(Linkability(random_state=random_state).run(original, protected, control))
        attacks += AttributeInference(random_state=random_state).run(original, protected, control)
    return tuple(attacks)


def _cells(table: pa.Table, columns: Sequence[str]) -> Any:
    return np.array([table[name].to_pylist() for name in columns], dtype=object).T


def _changed(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float:
    same = pc.fill_null(pc.equal(before, after), False)
    both_missing = pc.and_(pc.is_null(before), pc.is_null(after))
    return 1.0 - float(pc.sum(pc.or_(same, both_missing)).as_py() or 0) / len(before)


def _write(out: Path, found: Any, html: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    with folders_written_aside((out, PRIVATE_FOLDER)) as (aside,):
        text = json.dumps(found.data(), indent=2, ensure_ascii=False, allow_nan=False)
        (aside / "assessment.json").write_text(text + "\n", encoding="utf-8")
        (aside / "report.html").write_text(html, encoding="utf-8", newline="\n")
        for name, rows in tables.items():
            _table(aside / name, rows)


def _tables(found: TableAssessment) -> dict[str, Sequence[Mapping[str, Any]]]:
    tables: dict[str, Sequence[Mapping[str, Any]]] = {}
    if found.models is not None:
        tables["models.csv"] = found.models.rows()
    if found.leaks is not None:
        tables["leaks.csv"] = [vars(one) for one in found.leaks.leak.attributes]
    if found.loss is None:
        return tables
    return tables | {
        "columns.csv": [vars(one) for one in found.loss.columns],
        "correlations.csv": [vars(one) for one in found.loss.pairs],
        "found.csv": _found(found),
    }


def _found(found: TableAssessment) -> list[dict[str, Any]]:
    """Row by row, with what chance each attack finds its original."""
    assert found.risk is not None
    rates = {"euclidean": found.risk.euclidean, "mahalanobis": found.risk.mahalanobis}
    chances = {name: rate.chances for name, rate in rates.items() if rate.chances is not None}
    if found.leaks is not None and found.leaks.leak.learned_on == found.rows:
        chances["learned"] = np.asarray(found.leaks.leak.worst.chances)
    return [
        {"row": row + 1, **{name: round(float(some[row]), 6) for name, some in chances.items()}}
        for row in range(found.rows)
    ]


def _table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(rows[0]))
        lines.writeheader()
        lines.writerows(rows)
