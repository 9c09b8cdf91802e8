"""Loss and risk against k, as the page draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.exploration.curve import curve_over_k
from shoal.io import Roles
from shoal.io.kinds.vocabulary import Kind
from shoal.io.table import Role, read_table
from shoal.ontology import Hierarchy
from shoal.web.protecting.choices import BY_FILE, BY_GROUPS, PLAIN, Choices
from shoal.web.protecting.hierarchies import hierarchy_pairs
from shoal.web.protecting.look import Look, different_values

__all__ = ["estimate"]


def estimate(path: Path, look: Look, choices: Choices) -> dict[str, Any]:
    """The points of the curve, what its two lines are, and how many records it was computed on."""
    source: Any = path
    given: dict[str, Any] = {}
    if look.is_table:
        labels = [(place, column.name) for place, column in choices.compared(look, PLAIN, BY_GROUPS, BY_FILE)]
        source = read_table(path, [name for _, name in labels]).data
        lists: dict[str, Any] = {role.value: choices.columns(look, role) for role in Role}
        dates = {column.name for _, column in choices.protected(look) if column.kind == Kind.DATE}
        lists["quasi"] = tuple(name for name in lists["quasi"] if name not in dates)
        if dates and not lists["quasi"]:
            raise InputError("there is no estimate for dates alone; choose k without it, or protect other columns too")
        given["roles"] = Roles(**lists)
        given["ontology"] = _ontologies(source, labels, choices) or None
    else:
        columns = {"text_column": choices.text, "id_column": choices.identity, "label_column": choices.label}
        given |= {name: column or None for name, column in columns.items()}
    found = curve_over_k(source, **given)
    return {
        "points": [{"k": point.k, "loss": point.loss, "risk": point.risk} for point in found.points],
        "sample": found.sample,
        "records": found.records,
        "loss": found.measures.loss_in_words,
        "risk": found.measures.risk_in_words,
    }


def _ontologies(data: Any, labels: list[tuple[int, str]], choices: Choices) -> dict[str, Hierarchy]:
    """Plain categories stand for a hierarchy that only its owner has."""
    values = different_values(data, [name for _, name in labels])
    pairs = {name: hierarchy_pairs(name, values[name], choices.groups_of(place)) for place, name in labels}
    return {name: Hierarchy.from_pairs(links) for name, links in pairs.items()}
