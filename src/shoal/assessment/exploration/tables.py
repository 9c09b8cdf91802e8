"""A table to be explored: its quasi-identifiers, the ways to protect them, and the release of each way."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.assessment.exploration.documents import open_documents
from shoal.assessment.exploration.trials import (
    Explored,
    TrialSetup,
    label_trials,
    mixed_trials,
    number_trials,
    try_out,
)
from shoal.data import Roles, Table, read_table, resolve_roles
from shoal.data.columns import check_no_gaps
from shoal.data.files import shown, unknown_column
from shoal.data.inputs import DocumentSource, source_of
from shoal.data.kinds.outlines import agreed_columns, outline_column
from shoal.data.recoding import recoded
from shoal.data.roles import ColumnChoices
from shoal.errors import InputError
from shoal.methods.label_columns import Equals
from shoal.release.tables.reading import KEPT
from shoal.release.tables.records import levels_above
from shoal.request.options import AVERAGE
from shoal.request.request import Request
from shoal.results.exploration import Outcome, Trial
from shoal.terms.hierarchy import ontologies_of
from shoal.terms.value_mapping import check_mapping, ontology_columns
from shoal.terms.wordnet import WordNet
from shoal.version import __version__


def open_explored(request: Request) -> Explored:
    """Documents or a table, as `protect` decides, ready to be tried in any way."""
    opened, choices = source_of(request)
    columns = request.columns
    setup = TrialSetup(request.method.refine, ontologies_of(request.method.ontology), request.method.mapping)
    if isinstance(opened, DocumentSource):
        return open_documents(opened, setup)
    source = opened.parts[0] if opened.whole else request.source
    return open_table(source, opened.roles, setup, choices, columns.missing, columns.id_column)


@dataclass(frozen=True, eq=False)
class ExploredTable:
    """The quasi-identifiers of a table: numbers, labels, or both."""

    quasi: pa.Table
    roles: Roles
    setup: TrialSetup  # with the ontologies of plain categories
    given: TrialSetup  # as it was asked for
    filled: bool = False  # gaps stand as the mean of their column
    treated: tuple[str, ...] = ()  # columns that a release keeps, generalises or blanks; trials average them

    @property
    def kind(self) -> str:
        return self.setup.kind

    def trials(self) -> list[Trial]:
        if self.kind == "numbers" and not self.treated:
            trials = number_trials(self.quasi.num_rows, self.quasi.num_columns)
            return [
                trial for trial in trials if trial.promises_crowd or not self.filled
            ]  # gaps are kept in groups only
        return (label_trials if self.kind == "labels" else mixed_trials)(self.quasi.num_rows)

    def try_out(self, trial: Trial) -> Outcome:
        return try_out(trial, self.quasi, self.setup)

    def fingerprint(self) -> str:
        setup, quasi = self.setup, self.quasi
        meaning = [] if self.kind == "numbers" else [_content(setup.mapping), _content(self.given.ontology)]
        settings = __version__, quasi.schema.names, quasi.num_rows, setup.refine, meaning
        digest = hashlib.sha256(repr(settings).encode())
        for column in quasi.columns:
            digest.update(repr(column.to_pylist()).encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return int(self.quasi.num_rows)

    def sample(self, rows: NDArray[np.int64]) -> ExploredTable:
        """These rows only."""
        return replace(self, quasi=self.quasi.take(pa.array(rows)).combine_chunks())


def open_table(
    source: Any, roles: Roles | None, setup: TrialSetup, asked: ColumnChoices, missing: str, id_column: str | None
) -> ExploredTable:
    """Read a table, and recognise its quasi-identifiers, as `protect` does."""
    ontology, mapping = setup.ontology, setup.mapping
    explained = ontology_columns(ontology, mapping)
    table = read_table(source, verbatim=(*explained.named, *asked.as_text))
    check_mapping(mapping, table.data.column_names)
    if id_column is not None and id_column not in table.data.column_names:
        raise unknown_column(id_column, table.data.column_names, "the table")
    roles = resolve_roles(table, roles)
    asked.check(table.data.column_names, roles.quasi)
    table = recoded(table, asked.recode, levels_above(ontology, asked.recode))
    outlines = {name: outline_column(name, table.data[name], asked, explained) for name in roles.quasi}
    forms, categories = agreed_columns(roles.quasi, [outlines], asked)
    labels = tuple(name for name in roles.quasi if name not in forms)
    by_meaning = tuple(name for name in labels if name not in categories)
    numbers = {name: form.numbers(table.data[name], shown(name)) for name, form in forms.items()}
    columns, complete, filled = _without_gaps(numbers, table.data.num_rows, missing)
    columns |= {name: table.data[name].combine_chunks() for name in by_meaning}
    columns |= {name: _texts(table, name) for name in categories}
    kind = "numbers" if not labels else "mixed" if forms else "labels"
    given = replace(setup, kind=kind)
    meaning: Any = ontology
    if categories:
        meaning = dict(ontology) if isinstance(ontology, Mapping) else dict.fromkeys(by_meaning, ontology or WordNet())
        meaning |= {name: _equals(columns[name]) for name in categories}
    quasi = pa.table({name: columns[name] for name in roles.quasi}).filter(pa.array(complete))
    treated = tuple(name for name in roles.quasi if asked.treat.get(name, AVERAGE) != AVERAGE)
    return ExploredTable(quasi, roles, replace(given, ontology=meaning), given, filled, treated)


def _without_gaps(
    numbers: Mapping[str, NDArray[np.float64]], n_rows: int, missing: str
) -> tuple[dict[str, Any], NDArray[np.bool_], bool]:
    """The numbers, which rows stay, and whether gaps were filled: with the column's mean, as figures count them."""
    gaps = {name: np.isnan(values) for name, values in numbers.items()}
    complete = np.ones(n_rows, dtype=bool)
    if missing == "refuse":
        check_no_gaps(tuple(numbers), np.column_stack([np.empty((n_rows, 0)), *numbers.values()]), KEPT, ["missing"])
    for name, there in gaps.items():
        if there.all():
            raise InputError(f"column {shown(name)} holds no value at all; drop it ({{option}})", "drop")
        complete &= ~there if missing == "withhold" else True
    if not complete.any():
        raise InputError("no row is complete; pass {option} group or impute", "missing")
    columns = {name: pa.array(np.where(gaps[name], np.nanmean(values), values)) for name, values in numbers.items()}
    return columns, complete, missing != "withhold" and any(there.any() for there in gaps.values())


def _texts(table: Table, name: str) -> pa.Array:
    """Plain categories: whatever they are, they are equal or not."""
    column = table.data[name].combine_chunks()
    return (column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column).cast(pa.string())


def _equals(column: pa.Array) -> Equals:
    counted_values = column.value_counts()
    return Equals(counted_values.field("values"), counted_values.field("counts").to_numpy())


def _content(value: Any) -> Any:
    """What an ontology or a mapping says, not where it lies."""
    if isinstance(value, Mapping):
        return [(str(name), _content(content)) for name, content in sorted(value.items(), key=str)]
    if isinstance(value, str | os.PathLike) and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    taxonomy = getattr(value, "taxonomy", None)
    if taxonomy is not None:
        return hashlib.sha256(repr(taxonomy.names).encode() + taxonomy.parents.tobytes()).hexdigest()
    return str(value)
