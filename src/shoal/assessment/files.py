"""The folder of an assessment: the page, and its figures as JSON and CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.bundle.folders import folders_written_aside
from shoal.io.private_files import PRIVATE_FOLDER
from shoal.pages.document_assessment import space_html
from shoal.pages.sketch_assessment import sketches_html
from shoal.pages.table_assessment import assessment_html
from shoal.pages.text_assessment import texts_html
from shoal.results.assessment import SpaceAssessment, TableAssessment
from shoal.results.searches import TextAssessment
from shoal.results.sketch_attacks import SketchAssessment

__all__ = ["FILES", "write_assessment"]

TABLES = {
    "columns.csv",
    "correlations.csv",
    "found.csv",
    "models.csv",
    "figures.csv",
    "leaks.csv",
    "sketches.csv",
    "queries.csv",
}
FILES = {"assessment.json", "report.html", *TABLES}


def write_assessment(out: Path, found: TableAssessment | SpaceAssessment | SketchAssessment | TextAssessment) -> None:
    """Write everything aside first: the folder appears whole or not at all."""
    if isinstance(found, SpaceAssessment):
        page, tables = space_html(found), {"figures.csv": found.utility.rows()}
    elif isinstance(found, SketchAssessment):
        page, tables = sketches_html(found), {"sketches.csv": found.table()}
    elif isinstance(found, TextAssessment):
        page, tables = texts_html(found), {"queries.csv": found.table(), "found.csv": found.found()}
    else:
        page, tables = assessment_html(found), _tables(found)
    with folders_written_aside((out, PRIVATE_FOLDER)) as (aside,):
        text = json.dumps(found.data(), indent=2, ensure_ascii=False, allow_nan=False)
        (aside / "assessment.json").write_text(text + "\n", encoding="utf-8")
        (aside / "report.html").write_text(page, encoding="utf-8", newline="\n")
        for name, rows in tables.items():
            if rows:
                _write_table(aside / name, rows)


def _tables(found: TableAssessment) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {}
    if found.models is not None:
        tables["models.csv"] = found.models.rows()
    if found.leaks is not None:
        tables["leaks.csv"] = [vars(one) for one in found.leaks.leak.attributes]
    if found.loss is not None:
        tables["columns.csv"] = [vars(one) for one in found.loss.columns]
        tables["correlations.csv"] = [vars(one) for one in found.loss.pairs]
        tables["found.csv"] = _linked_rows(found)
    return tables


def _linked_rows(found: TableAssessment) -> list[dict[str, Any]]:
    """Row by row, the chance with which each attack finds its original."""
    assert found.risk is not None
    rates = {"euclidean": found.risk.euclidean, "mahalanobis": found.risk.mahalanobis}
    chances = {name: rate.chances for name, rate in rates.items() if rate.chances is not None}
    if found.leaks is not None and found.leaks.leak.learned_on == found.rows:
        chances["learned"] = np.asarray(found.leaks.leak.worst.chances)
    return [
        {"row": row + 1, **{name: round(float(some[row]), 6) for name, some in chances.items()}}
        for row in range(found.rows)
    ]


def _write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(rows[0]))
        lines.writeheader()
        lines.writerows(rows)
