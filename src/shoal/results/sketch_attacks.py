"""How sketches stand up to attack, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.results.rates import Rate

__all__ = ["Recovered", "SignsRecovered", "SketchAttacks"]


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
class SketchAttacks:
    """One kind of sketch under every attack."""

    kind: str  # "plain sketch", "delta sketch", ...
    setting: str  # its parameters, in words
    records: int
    withheld: int
    components: int  # of the median sketch
    with_key: tuple[Recovered, ...]  # one for each way
    knowing_records: tuple[SignsRecovered, ...]
    linked_with_key: Rate
    linked_without_key: Rate
    openly: Recovered | None = None  # of shared sketches: from the sums of the groups, published as they are

    @property
    def best_with_key(self) -> Recovered:
        """The way that recovers most items."""
        return max(self.with_key, key=lambda way: way.items.rate)

    @property
    def most_known(self) -> SignsRecovered:
        """With the most records known."""
        return self.knowing_records[-1]
