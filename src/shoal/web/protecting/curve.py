"""Loss and risk against k, as the page draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.exploration.curve import curve_over_k
from shoal.io import Roles
from shoal.io.table import Role
from shoal.ontology import Hierarchy
from shoal.web.protecting.choices import BY_GROUPS, BY_MEANING, Choices, are_labels
from shoal.web.protecting.hierarchies import hierarchy_pairs
from shoal.web.protecting.look import Look, values_of

__all__ = ["estimate"]


def estimate(path: Path, look: Look, choices: Choices) -> dict[str, Any]:
    """The points of the curve, what its two lines are, and how many records it was computed on."""
    given: dict[str, Any] = {}
    if look.is_table:
        lists: dict[str, Any] = {role.value: choices.columns(look, role) for role in Role}
        given["roles"] = Roles(**lists)
        given["ontology"] = _ontologies(path, look, choices) or None
    else:
        columns = {"text_column": choices.text, "id_column": choices.identity, "label_column": choices.label}
        given |= {name: column or None for name, column in columns.items()}
    found = curve_over_k(path, **given)
    return {
        "points": [{"k": point.k, "loss": point.loss, "risk": point.risk} for point in found.points],
        "sample": found.sample,
        "records": found.records,
        "loss": found.measures.loss_in_words,
        "risk": found.measures.risk_in_words,
    }


def _ontologies(path: Path, look: Look, choices: Choices) -> dict[str, Hierarchy]:
    """Plain categories stand for a hierarchy that only its owner has."""
    found = {}
    for place, column in choices.protected(look):
        how = choices.labels.get(place)
        if are_labels(column) and how != BY_MEANING:
            groups = choices.groups.get(place, {}) if how == BY_GROUPS else {}
            pairs = hierarchy_pairs(column.name, values_of(path, column.name), groups)
            found[column.name] = Hierarchy.from_pairs(pairs)
    return found
