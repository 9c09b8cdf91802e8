"""Loss and risk against k, as the page draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data import Roles
from shoal.data.columns import holds_numbers, is_gap
from shoal.data.files import PathLike, shown
from shoal.data.roles import ColumnChoices, Role
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.request.request import Request
from shoal.web.protecting.choices import BY_FILE, BY_GROUPS, ENGLISH, PLAIN, Choices
from shoal.web.protecting.job_files import hierarchy_pairs
from shoal.web.protecting.look import Look, different_values


def estimate(path: PathLike, look: Look, choices: Choices) -> dict[str, Any]:
    """The points of the curve, what its two lines are, and how many records it was computed on.

    It is estimated aside, where what it needs is loaded.
    """
    from shoal.assessment.exploration.curve import curve_over_k

    source: Any = path
    withheld = 0
    given: dict[str, Any] = {}
    if look.is_table:
        labels = [(place, column.name) for place, column in choices.compared(look, PLAIN, BY_GROUPS, BY_FILE)]
        source = _with_texts(read_table(path, [name for _, name in labels]).data, [name for _, name in labels])
        lists: dict[str, Any] = {role.value: choices.columns(look, role) for role in Role}
        given["roles"] = Roles(**lists)
        given["ontology"] = _ontologies(source, labels, choices) or None
        ranks = [column.name for _, column in choices.compared(look, PLAIN) if column.order]
        source, complete = _as_numbers(source, choices.columns(look, Role.QUASI), given["ontology"])
        if choices.missing == "withhold":
            withheld = source.num_rows - int((complete & ~_any_gap(source, ranks)).sum())
        if choices.missing != "refuse":
            source = source.filter(pa.array(complete))
    else:
        if choices.language != ENGLISH:
            raise InputError("loss and risk are estimated for English texts only; Protect does without")
        columns = {"text_column": choices.text, "id_column": choices.identity, "label_column": choices.label}
        given |= {name: column or None for name, column in columns.items()}
    found = curve_over_k(Request.of(source, given))
    return {
        "points": [{"k": point.k, "loss": point.loss, "risk": point.risk} for point in found.points],
        "sample": found.sample,
        "records": found.records,
        "withheld": withheld,  # rows, all of them, that the release leaves out for their gaps
        "loss": found.measures.loss_in_words,
        "risk": found.measures.risk_in_words,
    }


def _with_texts(data: pa.Table, labels: Sequence[str]) -> pa.Table:
    """Codes that are stored as numbers are the text of these."""
    for name in labels:
        if holds_numbers(data[name].type):
            data = data.set_column(data.column_names.index(name), name, data[name].cast(pa.string()))
    return data


def _as_numbers(data: pa.Table, quasi: Sequence[str], ontology: Any) -> tuple[pa.Table, NDArray[np.bool_]]:
    """Dates as the numbers that a release averages, and which rows lack no number."""
    from shoal.data.kinds.outlines import agreed_columns, outline_column
    from shoal.terms.value_mapping import ontology_columns

    outlines = {
        name: outline_column(name, data[name], ColumnChoices(), ontology_columns(ontology, None)) for name in quasi
    }
    forms, _ = agreed_columns(quasi, [outlines], ColumnChoices())
    complete = np.ones(data.num_rows, dtype=bool)
    for name, form in forms.items():
        numbers = form.numbers(data[name], shown(name))
        complete &= ~np.isnan(numbers)
        data = data.set_column(data.column_names.index(name), name, pa.array(numbers, from_pandas=True))
    return data, complete


def _any_gap(data: pa.Table, columns: Sequence[str]) -> NDArray[np.bool_]:
    """Rows that lack one of these labels: a release ranks them, so that a gap counts as among numbers."""
    gaps = np.zeros(data.num_rows, dtype=bool)
    for name in columns:
        gaps |= is_gap(data[name]).to_numpy()
    return gaps


def _ontologies(data: Any, labels: list[tuple[int, str]], choices: Choices) -> dict[str, Any]:
    """Plain categories stand for a hierarchy that only its owner has."""
    from shoal.terms.hierarchy import Hierarchy

    values = different_values(data, [name for _, name in labels])
    pairs = {name: hierarchy_pairs(name, values[name], choices.groups_of(place)) for place, name in labels}
    return {name: Hierarchy.from_pairs(links) for name, links in pairs.items()}
