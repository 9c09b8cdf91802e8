"""How sketches stand up to attack, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.results.assessment import as_data
from shoal.results.rates import Rate

__all__ = ["Recovered", "SignsRecovered", "SketchAssessment", "SketchAttacks", "SketchUtility"]


@dataclass(frozen=True)
class Recovered:
    """What a guess hits: shares of items, and records with all their items and no others."""

    items: Rate
    whole: Rate


@dataclass(frozen=True)
class SignsRecovered:
    """What whoever knows some records learns of the signs, and through them of the other records."""

    known: int  # records
    by_least_squares: float  # share of the signs, each item weighted by how often it occurs; a guess gives 0.5
    signs: float  # the same by message passing
    strangers: Recovered  # records that were not known


@dataclass(frozen=True)
class SketchUtility:
    """What can still be estimated from the sketches."""

    correlation: float | None  # of estimated and true cosines of pairs; None where one side has no spread
    error: float  # mean difference of the two
    pairs: int
    neighbours: Rate  # of the nearest records, those that are among the nearest by their sketches


@dataclass(frozen=True)
class SketchAttacks:
    """One kind of sketch under every attack, and what it is good for."""

    kind: str  # "plain sketches", "delta sketches", ...
    setting: str  # its parameters, in words
    records: int
    withheld: int
    components: int  # of the median sketch
    with_key: tuple[Recovered, ...]  # one for each way
    knowing_records: tuple[SignsRecovered, ...]
    linked_with_key: Rate
    linked_without_key: Rate
    utility: SketchUtility
    openly: Recovered | None = None  # of shared sketches: from the sums of the groups, published as they are

    @property
    def best_with_key(self) -> Recovered:
        """The way that recovers most items."""
        return max(self.with_key, key=lambda way: way.items.rate)

    @property
    def most_known(self) -> SignsRecovered:
        """With the most records known."""
        return self.knowing_records[-1]


@dataclass(frozen=True)
class SketchAssessment:
    """A release of sketches attacked by its owner, beside other sketches of the same records."""

    rows: int
    how: str  # how sketches and records were put side by side
    record: str  # "basket" or "document"
    smallest_group: int  # fewest equal sketches
    unique: int
    release: SketchAttacks
    others: tuple[SketchAttacks, ...]

    def data(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        found: dict[str, Any] = as_data(self)
        return found

    def table(self) -> list[dict[str, Any]]:
        """A line per kind of sketch: the figures to choose by."""
        return [
            {
                "kind": one.kind,
                "setting": one.setting,
                "records": one.records,
                "withheld": one.withheld,
                "components": one.components,
                "items_with_key": one.best_with_key.items.rate,
                "whole_with_key": one.best_with_key.whole.rate,
                "records_known": one.most_known.known,
                "items_by_known_records": one.most_known.strangers.items.rate,
                "linked_with_key": one.linked_with_key.rate,
                "linked_without_key": one.linked_without_key.rate,
                "items_by_guessing": one.best_with_key.items.baseline,
                "items_openly": None if one.openly is None else one.openly.items.rate,
                "neighbours_kept": one.utility.neighbours.rate,
            }
            for one in (self.release, *self.others)
        ]
