"""The minimality attack on a release that promises l: the grouping is repeated as its certificate says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.assessment.aligned import AlignedTables
from shoal.attacks.minimality import Evidence, MinimalityAttack
from shoal.data.columns import equal_rows, holds_numbers, sort_protected, values_of
from shoal.kernels import Ints
from shoal.methods.categorical import CategoricalMicroaggregation
from shoal.methods.label_columns import Equals
from shoal.methods.mixed import MixedMicroaggregation
from shoal.methods.numeric import Microaggregation
from shoal.promises.joining import JOINED, GroupDistances, Join, distance_to_means, joins_of
from shoal.promises.values import value_codes
from shoal.results.attacks import Inferred
from shoal.terms.wordnet import WordNet

MOST = 20_000  # rows of a table whose grouping is repeated


def minimality_of(
    pair: AlignedTables, ontology: Any = None
) -> tuple[tuple[tuple[str, Inferred], ...], tuple[str, ...]]:
    """What joined groups reveal of each confidential column; and where that was not tried, why, in a sentence."""
    if (
        pair.release is None
        or pair.original_rows is None
        or pair.release.certificate["promises"]["diversity"]["l"] is None
    ):
        return (), ()
    promises, stated = (pair.release.certificate[part] for part in ("promises", "stated"))
    if stated["parameters"].get("diversity") != JOINED:
        return (), (
            "groups were joined only where values were lacking, which reveals who lacked them; protect it again",
        )
    if "kind" in promises["diversity"] or "closeness" in promises or "crowds" in promises:
        return (), ("what joined groups reveal was not tried: it is for distinct values alone, without other promises",)
    if pair.before.num_rows > MOST or pair.in_parts:
        return (), (f"what joined groups reveal was not tried: it is for one table of at most {MOST:,} records",)
    # In the order in which they were given, which the list of released columns does not show.
    protected = [name for together in promises["anonymity"]["shared_columns"] for name in together]
    confidential = [column["column"] for column in promises["diversity"]["columns"]]
    parameters = stated["parameters"]
    if any(parameters.get(name) for name in ("medians_of", "missing", "treated", "recoded")):
        reason = "not with ordered labels, gaps, or columns that are kept, generalised, blanked or recoded"
        return (), (f"what joined groups reveal was not tried: {reason}",)
    model = _model(parameters.get("microaggregation", {}), promises["anonymity"]["k"], ontology)
    if model is None or any(name not in pair.before.column_names for name in protected):
        return (), ("what joined groups reveal was not tried: the grouping cannot be repeated without its ontology",)

    table = pair.release.table
    quasi = pair.before.select(protected)
    categories = parameters.get("categories", {})
    if categories:
        model.set_params(ontology=_meanings(model.ontology, quasi, categories))
    released = equal_rows(pair.after, protected)
    as_it_came = np.argsort(pair.original_rows, kind="stable")
    row_numbers = (str(row + 1) for row in pair.original_rows[as_it_came].tolist())
    order = as_it_came[sort_protected(quasi.select(protected).take(pa.array(as_it_came)), row_numbers)]
    quasi, released = quasi.take(pa.array(order)), released[order]
    with progress.stage("repeating the grouping"):
        groups, distances = _repeated(model, quasi)
    if any(len(set(released[groups == group].tolist())) > 1 for group in range(int(groups.max()) + 1)):
        return (), ("what joined groups reveal was not tried: the grouping could not be repeated",)
    columns = {name: value_codes(values_of(table[name].take(pa.array(order)))) for name in confidential}
    least = promises["diversity"]["l"]
    joins = joins_of(groups, released, list(columns.values()), least, distances)
    attack, evidence = MinimalityAttack(least), evidence_of(groups, joins)
    return tuple((name, attack.run(released, codes, evidence)) for name, codes in columns.items()), ()


def evidence_of(groups: Ints, joins: tuple[Join, ...]) -> list[Evidence]:
    """Joins of groups as evidence about rows.

    One of two halves was short of values; and one of two parts, where a crowd was not divided further.
    """
    order = np.argsort(groups, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(groups))[:-1])

    def rows(some: Ints) -> Ints:
        return np.concatenate([rows_of[group] for group in some.tolist()])

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


def _model(parameters: Mapping[str, Any], k: int, ontology: Any) -> Any:
    """The estimator that a certificate describes; None if it needs what the certificate does not have."""
    given = dict(parameters) | {"k": k}
    if "attribute_groups" in given:
        return Microaggregation(**given)
    if given.get("mapping") is not None or (given.get("ontology") is not None and ontology is None):
        return None
    given["ontology"] = None if given.get("ontology") is None else ontology
    return MixedMicroaggregation(**given) if "weights" in given else CategoricalMicroaggregation(**given)


def _meanings(ontology: Any, quasi: pa.Table, categories: Collection[str]) -> dict[str, Any]:
    """What the labels of each column mean; plain categories are equal or not."""
    meanings: dict[str, Any] = {}
    for name in quasi.column_names:
        if name in categories:
            counts = quasi[name].combine_chunks().value_counts()
            meanings[name] = Equals(counts.field("values"), counts.field("counts").to_numpy())
        elif not holds_numbers(quasi[name].type):
            own = ontology.get(name) if isinstance(ontology, Mapping) else ontology
            meanings[name] = own or WordNet()
    return meanings


def _repeated(model: Any, quasi: pa.Table) -> tuple[Ints, GroupDistances]:
    groups: Ints = model.fit(quasi).groups_
    if isinstance(model, Microaggregation):
        values = np.column_stack([column.to_numpy() for column in quasi.columns])
        return groups, distance_to_means((values - model.mean_) / model.scale_, groups)
    return groups, model.distance_to_groups(quasi)
