"""The minimality attack on a release that promises l: the grouping is repeated as its certificate says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shoal import progress
from shoal.assessment.aligned import AlignedTables
from shoal.attacks.minimality import Evidence, MinimalityAttack
from shoal.data.columns import equal_rows, values_of
from shoal.data.inputs import TableSource, source_of
from shoal.errors import InputError
from shoal.kernels import Ints
from shoal.language import N_, sayable
from shoal.methods.categorical import CategoricalMicroaggregation
from shoal.methods.mixed import MixedMicroaggregation
from shoal.methods.numeric import Microaggregation
from shoal.promises.joining import JOINED, GroupDistances, Join, joins_of
from shoal.promises.values import value_codes
from shoal.release.protect import table_options
from shoal.release.tables.steps import TableSteps
from shoal.request.options import AVERAGE, KEEP
from shoal.request.request import Request
from shoal.results.attacks import Inferred

MOST = 20_000  # rows of a table whose grouping is repeated


def minimality_of(
    original: Any, pair: AlignedTables, ontology: Any = None
) -> tuple[tuple[tuple[str, Inferred], ...], tuple[str, ...]]:
    """What joined groups reveal of each confidential column; and where that was not tried, why, in a sentence."""
    if (
        pair.release is None
        or pair.original_rows is None
        or pair.release.certificate["promises"]["diversity"]["l"] is None
    ):
        return (), ()
    promises, stated = (pair.release.certificate[part] for part in ("promises", "stated"))
    parameters = stated["parameters"]
    if parameters.get("diversity") != JOINED:
        return (), (
            N_("groups were joined only where values were lacking, which reveals who lacked them; protect it again"),
        )
    if "kind" in promises["diversity"] or "closeness" in promises or "crowds" in promises:
        return (), (
            N_("what joined groups reveal was not tried: it is for distinct values alone, without other promises"),
        )
    if pair.before.num_rows > MOST or pair.in_parts:
        return (), (
            sayable(
                "what joined groups reveal was not tried: it is for one table of at most {most} records", most=MOST
            ),
        )
    if parameters.get("medians_of"):
        return (), (
            N_("what joined groups reveal was not tried: not with ordered labels, whose order is not published"),
        )
    protected = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
    released = equal_rows(pair.release.table, protected)
    confidential = [column["column"] for column in promises["diversity"]["columns"]]
    codes = [value_codes(values_of(pair.release.table[name])) for name in confidential]
    place_of = {row: place for place, row in enumerate(pair.original_rows.tolist())}
    least, evidence = promises["diversity"]["l"], list[Evidence]()
    for options in _explanations(promises, parameters, ontology):
        try:
            with progress.stage("repeating the grouping"):
                strata = _repeated(original, options)
            places = [np.array([place_of[row] for row in rows.tolist()]) for rows, _, _ in strata]
        except (InputError, KeyError):  # it needs what is not published, or other records were withheld
            continue
        if all(_is_nested(groups, released[place]) for place, (_, groups, _) in zip(places, strata, strict=True)):
            break
    else:
        return (), (N_("what joined groups reveal was not tried: the grouping could not be repeated"),)
    for place, (_, groups, distances) in zip(places, strata, strict=True):
        joins = joins_of(groups, released[place], [column[place] for column in codes], least, distances)
        evidence += evidence_of(groups, joins, place)
    attack = MinimalityAttack(least)
    tried = zip(confidential, codes, strict=True)
    return tuple((name, attack.run(released, column, evidence)) for name, column in tried), ()


def _explanations(
    promises: Mapping[str, Any], parameters: Mapping[str, Any], ontology: Any
) -> Iterator[dict[str, Any]]:
    """Options of `protect` that the certificate fits, without those that promise values: as usual, or as stated."""
    how, treated = parameters.get("microaggregation", {}), parameters.get("treated", {})
    # In the order in which they were given, which the list of released columns does not show.
    protected = [name for together in promises["anonymity"]["shared_columns"] for name in together]
    weight = [column["name"] for column in promises["columns"] if column["role"] == "weight"]
    options: dict[str, Any] = {
        "k": promises["anonymity"]["k"],
        "quasi": [name for name in protected if name not in weight],
        # Confidential values are taken from the release, recoded as they are.
        "recode": {name: rule for name, rule in parameters.get("recoded", {}).items() if name in protected},
        "missing": parameters.get("missing"),
        "kinds": {
            column["name"]: "whole" if column["name"] in parameters.get("whole_numbers", ()) else "number"
            for column in promises["columns"]
            if column["role"] == "quasi" and column["type"] == "double" and column["name"] not in treated
        },
    }
    for one in promises.get("visible", ()):
        visible = options.setdefault("keep_visible", {})
        visible[one["column"]] = (
            f"{visible[one['column']]}|{one['value']}" if one["column"] in visible else one["value"]
        )
    kept = {name: treatment for name, treatment in treated.items() if treatment == KEEP}
    given = None if how.get("ontology") is None else ontology
    if {*treated.values()} - {KEEP}:
        options |= {"refine": how["refine"], "time_budget": how["time_budget"], "ontology": ontology}
        yield options | {"treat": kept}
        yield options | {"treat": dict.fromkeys(options["quasi"], AVERAGE) | treated}
        yield options | {"treat": treated}
    elif "attribute_groups" in how:
        yield options | {"treat": kept, "method": Microaggregation(**how)}
    elif how.get("mapping") is None and (how.get("ontology") is None) == (given is None):
        kind = MixedMicroaggregation if "weights" in how else CategoricalMicroaggregation
        model = kind(**{**how, "ontology": given})
        categories = [name for name in parameters.get("categories", ()) if name in options["quasi"]] or None
        yield options | {"treat": kept, "method": model, "categorical": categories}


def _repeated(original: Any, options: Mapping[str, Any]) -> list[tuple[Ints, Ints, GroupDistances]]:
    """Rows of the original that `protect` groups together, the group of each, and distances between groups."""
    request = Request.of(original, {name: value for name, value in options.items() if value not in (None, {})})
    source, choices = source_of(request)
    assert isinstance(source, TableSource)
    steps = TableSteps(request.k, table_options(request, choices))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about the table were made when it was protected
        records = steps.read(source)
    found = []
    for rows, groups in zip(records.strata, steps.group(records), strict=True):
        number = np.array([int(name) - 1 for name in rows.names], dtype=np.int64)
        distances = records.table.method.group_distances(rows, groups.group_of_row)
        found.append((number, groups.group_of_row, distances))
    return found


def _is_nested(groups: Ints, released: Ints) -> bool:
    """Whether each group went into one released crowd as a whole."""
    return len(np.unique(np.column_stack([groups, released]), axis=0)) == int(groups.max()) + 1


def evidence_of(groups: Ints, joins: tuple[Join, ...], places: Ints) -> list[Evidence]:
    """Joins of groups as evidence about rows, which are at these places.

    One of two halves was short of values; and one of two parts, where a crowd was not divided further.
    """
    order = np.argsort(groups, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(groups))[:-1])

    def rows(some: Ints) -> Ints:
        chosen: Ints = places[np.concatenate([rows_of[group] for group in some.tolist()])]
        return chosen

    evidence = []
    for join in joins:
        reasons = []
        for half in join.halves:
            here = [np.intersect1d(crowd, half) for crowd in join.crowds]
            reasons.append(
                tuple(
                    (rows(mine),) if parts is None else tuple(rows(np.union1d(mine, part)) for part in parts)
                    for mine, parts in zip(here, join.undivided, strict=True)
                )
            )
        evidence.append(Evidence(tuple(rows(crowd) for crowd in join.crowds), tuple(reasons)))
    return evidence
