"""Columns of labels, judged: how far they moved, by an ontology or by name, and the risk of all columns together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.assessment.aligned import AlignedTables
from shoal.attacks.disclosure import IntervalDisclosure
from shoal.attacks.labels import LabelPair, label_disclosure, label_pair
from shoal.attacks.learned.distances import mahalanobis, plain
from shoal.attacks.learned.linking import chances_of
from shoal.attacks.learned.records import by_meaning, label_columns, side_by_side
from shoal.attacks.probabilistic import MOST_ATTRIBUTES, ProbabilisticLinkage
from shoal.attacks.rates import rate_of
from shoal.kernels import Floats
from shoal.results.attacks import Disclosure, LeakCard, Rate
from shoal.results.utility import LabelLoss
from shoal.terms.taxonomy import distances
from shoal.utility.label_loss import label_loss

ONE_TO_ONE = 2_000  # rows up to which links are one to one: the assignment takes longer than all other attacks


def pairs_of(pair: AlignedTables) -> list[LabelPair]:
    """The labels of both tables, by column."""
    return [label_pair(name, pair.before[name].to_pylist(), pair.after[name].to_pylist()) for name in pair.labels]


def loss_of_labels(pair: AlignedTables, labels: Sequence[LabelPair], ontology: Any) -> LabelLoss:
    """What the labels lost, by the ontology where it knows them, else by what a released label stands for."""
    moved, spread = {}, {}
    for column in labels:
        about = ontology.get(column.name) if isinstance(ontology, Mapping) else ontology
        apart = 1.0 - column.chance
        if about is not None:
            apart = by_meaning(apart, column.values, column.released, about)
        moved[column.name] = apart[column.before, column.after]
        spread[column.name] = _to_centre(column, about)[column.before]
    texts = {name: (_texts(pair.before[name]), _texts(pair.after[name])) for name in pair.labels}
    numbers = [(pair.before[name].to_numpy(), pair.after[name].to_numpy()) for name in pair.numbers]
    return label_loss(texts, moved, spread, numbers)


def _to_centre(column: LabelPair, ontology: Any) -> Floats:
    """The distance of each value to what is nearest to all records: a value, or a concept above some of them."""
    counts = np.bincount(column.before, minlength=len(column.values))
    apart = 1.0 - np.eye(len(column.values))
    senses = [] if ontology is None else [ontology.senses(value) for value in column.values]
    if ontology is not None and all(senses):
        concepts = [int(of_value[0]) for of_value in senses]
        taxonomy = ontology.taxonomy
        above = {int(ancestor) for concept in concepts for ancestor in taxonomy.ancestors_of(concept)}
        apart = distances(taxonomy, concepts, sorted(above | set(concepts)))
    centre = int(np.argmin(counts @ apart))
    nearest: Floats = apart[:, centre]
    return nearest


def risk_of_all(
    pair: AlignedTables, labels: Sequence[LabelPair], leaks: LeakCard | None, ontology: Any, random_state: int
) -> Disclosure:
    """DR of a table with labels: every attack compares all columns."""
    numbers = (pair.original, pair.protected) if pair.numbers else (None, None)
    interval = IntervalDisclosure().run(*numbers) if pair.numbers else None
    by_distance = _linked(pair, ontology) if leaks is None else (leaks.leak.plain, leaks.leak.mahalanobis)
    return Disclosure(
        interval=label_disclosure(labels, interval, len(pair.numbers)),
        euclidean=replace(by_distance[0], about="distance-based linkage, all columns alike"),
        mahalanobis=replace(by_distance[1], about="distance-based linkage, mahalanobis"),
        probabilistic=_probabilistic(pair, labels, random_state),
    )


def _linked(pair: AlignedTables, ontology: Any) -> tuple[Rate, Rate]:
    """Of tables too small to train an attacker on."""
    before, after = (table.select(list(pair.labels)).to_pydict() for table in (pair.before, pair.after))
    original, protected = (pair.original, pair.protected) if pair.numbers else (None, None)
    records = side_by_side(original, protected, label_columns(before, after, ontology))
    rows = np.arange(len(records))
    chances = [chances_of(records, distance, rows) for distance in (plain(records.n_attributes), mahalanobis(records))]
    in_order = np.argsort(records.order)
    one, other = (rate_of("", each[in_order], 1.0 / len(records)) for each in chances)
    return one, other


def _probabilistic(pair: AlignedTables, labels: Sequence[LabelPair], random_state: int) -> Rate:
    """Of a wide table the columns with the most different values, which identify the most."""
    different = {name: len(np.unique(pair.before[name].to_numpy())) for name in pair.numbers}
    different |= {column.name: len(column.values) for column in labels}
    chosen = sorted(different, key=lambda name: -different[name])[:MOST_ATTRIBUTES]
    numbers = [name for name in pair.numbers if name in chosen]
    before, after = (table.select(numbers) if numbers else None for table in (pair.before, pair.after))
    attack = ProbabilisticLinkage(random_state=random_state, one_to_one=ONE_TO_ONE)
    rate = attack.run(before, after, [column for column in labels if column.name in chosen])
    if len(different) <= MOST_ATTRIBUTES:
        return rate
    return replace(rate, about=f"{rate.about}, {MOST_ATTRIBUTES} of {len(different)} columns")


def _texts(column: Any) -> Any:
    return np.array([str(value) for value in column.to_pylist()], dtype=object)
