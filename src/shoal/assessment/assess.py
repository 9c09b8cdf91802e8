"""assess: judge any protected table or collection against its original, whoever made it."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.assessment.documents import assess_documents, is_space
from shoal.assessment.sketches import assess_sketches, is_sketches
from shoal.assessment.tables import assess_tables
from shoal.data.corpus import Corpus
from shoal.data.files import is_folder, kind_of
from shoal.data.private_files import PRIVATE_FOLDER
from shoal.data.records import collection_kind, list_folder
from shoal.data.sources import table_source
from shoal.errors import InputError
from shoal.language import ENGLISH, speaking
from shoal.pages.assessments import assessment_html, sketches_html, space_html, texts_html
from shoal.release.folders import check_free, folders_written_aside
from shoal.release.load import kind_of_release
from shoal.request.judging_options import AssessOptions
from shoal.request.option import DOCUMENTS, TABLES, TEXTS
from shoal.request.options import Reading
from shoal.request.plan import planned
from shoal.request.request import TABLE_OF, checked_part
from shoal.results.assessment import SketchAssessment, SpaceAssessment, TableAssessment
from shoal.results.searches import TextAssessment
from shoal.terms.hierarchy import ontologies_of

CSV_FILES = {
    "columns.csv",
    "correlations.csv",
    "found.csv",
    "models.csv",
    "estimates.csv",
    "labels.csv",
    "figures.csv",
    "leaks.csv",
    "sketches.csv",
    "queries.csv",
}
FILES = {"assessment.json", "report.html", *CSV_FILES}


Assessment = TableAssessment | SpaceAssessment | SketchAssessment | TextAssessment


def write_assessment(out: Path, assessment: Assessment, language: str = ENGLISH) -> None:
    """Write everything aside first: the folder appears whole or not at all."""
    if isinstance(assessment, SpaceAssessment):
        page, tables = space_html(assessment), {"figures.csv": assessment.utility.rows()}
    elif isinstance(assessment, SketchAssessment):
        page, tables = sketches_html(assessment), {"sketches.csv": assessment.table()}
    elif isinstance(assessment, TextAssessment):
        page, tables = texts_html(assessment), {"queries.csv": assessment.table(), "found.csv": assessment.found()}
    else:
        with speaking(language):
            page = assessment_html(assessment)
        tables = _tables(assessment)
    with folders_written_aside((out, PRIVATE_FOLDER)) as (aside,):
        text = json.dumps(assessment.data(), indent=2, ensure_ascii=False, allow_nan=False)
        (aside / "assessment.json").write_text(text + "\n", encoding="utf-8")
        (aside / "report.html").write_text(page, encoding="utf-8", newline="\n")
        for name, rows in tables.items():
            if rows:
                _write_table(aside / name, rows)


def _tables(assessment: TableAssessment) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {}
    if assessment.models is not None:
        tables["models.csv"] = assessment.models.rows()
    if assessment.survey is not None:
        tables["estimates.csv"] = assessment.survey.rows()
    if assessment.leaks is not None:
        tables["leaks.csv"] = [vars(row) for row in assessment.leaks.leak.attributes]
    if assessment.loss is not None:
        tables["columns.csv"] = [vars(row) for row in assessment.loss.columns]
        tables["correlations.csv"] = [vars(row) for row in assessment.loss.pairs]
    if assessment.label_loss is not None:
        tables["labels.csv"] = [vars(row) for row in assessment.label_loss.columns]
    return tables | {"found.csv": _linked_rows(assessment)}


def _linked_rows(assessment: TableAssessment) -> list[dict[str, Any]]:
    """Row by row, the chance with which each attack finds its original."""
    rates = {"euclidean": assessment.risk.euclidean, "mahalanobis": assessment.risk.mahalanobis}
    every = {name: rate.chances for name, rate in rates.items() if rate.chances is not None}
    chances = {name: of_row for name, of_row in every.items() if len(of_row) == assessment.rows}
    if assessment.leaks is not None and assessment.leaks.leak.learned_on == assessment.rows:
        chances["learned"] = np.asarray(assessment.leaks.leak.worst.chances)
    return [
        {"row": row + 1, **{name: round(float(of_row[row]), 6) for name, of_row in chances.items()}}
        for row in range(assessment.rows)
    ]


def _write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(rows[0]))
        lines.writeheader()
        lines.writerows(rows)


def assess(
    original: Any,
    protected: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    lang: str | None = None,
    private: str | os.PathLike[str] | None = None,
    aligned: bool = False,
    random_state: int = 0,
    key: str | None = None,
    columns: Sequence[str] | None = None,
    control: Any = None,
    target: str | None = None,
    ontology: Any = None,
    sample: int | None = None,
    prove: float | None = None,
    distance: str | None = None,
    differencing: int | None = None,
    earlier: str | os.PathLike[str] | None = None,
    earlier_private: str | os.PathLike[str] | None = None,
    person: str | None = None,
    weight: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    tabulate: Sequence[str] | None = None,
    model: Sequence[str] | None = None,
    queries: Any = None,
    policy: Any = None,
    relevance: float | None = None,
    background: Any = None,
    language: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    force: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    skip_rows: int | None = None,
    header_rows: int | None = None,
    missing_codes: Mapping[str, Any] | None = None,
    query: str | None = None,
) -> Assessment:
    """Judge a protected table or collection of documents against its original.

    Of a table: information loss, disclosure risk, and the three risks that the GDPR names. Of documents: what the
    protected vectors are still good for. Of sketches: what whoever has the key, knows some of the records, or looks for
    the sketch of a record finds, beside other kinds of sketches of the same records. Of sanitized texts: what a search
    engine finds before and after, and whether it finds the originals by the words that are left.

    The options are those of `shoal assess`; docs/cli.md has a sentence on each.

    Parameters
    ----------
    original, protected : path or any dataframe; `protected` may be the folder of a release
        For documents: the collection and the folder of its release, or two sparse matrices (.npz) of the same
        documents and terms. For texts: two folders or JSONL files, or the folder of a sanitized release.
        The original may be a plan (.toml), which has its source and says how to read it.
    out : path
        A folder to make for the report, its figures as JSON and CSV, and the list of records that were linked. It is
        made from the original: keep it to yourself. None: nothing is written.
    ontology : ontology, or dict of ontologies by column
    policy : str, path or Policy
    queries : path, or sequence of str
    """
    options = dict(locals())  # all of them, before any other name is bound
    original, options = planned(original, options)
    asked, reading = checked_part(AssessOptions, options), checked_part(Reading, options)
    if out is not None:
        check_free(Path(out), force, lambda content: set(content) <= FILES)
    original = table_source(original, reading)
    if not isinstance(protected, str | os.PathLike) or not Path(protected).is_dir():
        protected = table_source(protected, replace(reading, query=None))
    asked = replace(asked, ontology=ontologies_of(ontology))
    columns_named = {name: options.get(name) for name in ("text_column", "id_column")}
    assessment = _judged(original, protected, asked, columns_named)
    if out is not None:
        write_assessment(Path(out), assessment, asked.lang or ENGLISH)
    return assessment


def _judged(original: Any, protected: Any, asked: AssessOptions, columns: dict[str, str | None]) -> Assessment:
    """What kind of release it is decides who judges it."""
    if is_space(protected) or is_sketches(protected):
        _check_for(DOCUMENTS, asked, columns)
        judge = assess_sketches if is_sketches(protected) else assess_documents
        return judge(original, protected, asked, columns)
    if is_texts(protected):
        from shoal.assessment.sanitized_texts import assess_texts  # only here, and it takes a while to load

        _check_for(TEXTS, asked, columns)
        return assess_texts(original, protected, asked, columns)
    _check_for(TABLES, asked, columns)
    if is_space(original):
        raise InputError("the original is vectors of documents and the protected one a table; give two of one kind")
    return assess_tables(original, protected, asked)


def is_texts(protected: Any) -> bool:
    """Whether these are texts: strings in memory, a folder or JSONL of texts, or a release of sanitized texts."""
    if isinstance(protected, Corpus):
        return not protected.of_items
    if isinstance(protected, list | tuple):
        return all(isinstance(text, str) for text in protected)
    if not isinstance(protected, str | os.PathLike) or not os.path.exists(protected):
        return False
    if kind_of_release(protected) is not None:
        return kind_of_release(protected) == "sanitized"
    if not is_folder(protected):
        return kind_of(protected) == "jsonl"
    return collection_kind(list_folder(Path(protected))[0]) in (None, "jsonl")


def _check_for(kind: str, asked: AssessOptions, columns: Mapping[str, str | None]) -> None:
    """Refuse options that are not for what is judged."""
    table = TABLE_OF[AssessOptions]
    kinds = {name: table[name].about.of for name, value in vars(asked).items() if value is not None}
    kinds |= {name: (DOCUMENTS, TEXTS) for name, value in columns.items() if value is not None}
    for name in sorted(kinds):
        if kind not in kinds[name]:
            raise InputError(f"{{option}} is for {kinds[name][0]}, and these are {kind}; leave it out", name)
