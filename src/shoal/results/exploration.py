"""What was tried on a table, what each trial gave, and which is recommended."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["LEARNED", "Exploration", "Outcome", "Trial"]

LEARNED = "learned, worst case"  # the figure that hardening brings down, in per cent


@dataclass(frozen=True)
class Trial:
    """A method, named as on the command line, its one or two parameters, and the columns coarsened after it."""

    method: str
    k: int | None = None
    attribute_groups: int | None = None
    percent: float | None = None
    coarsen: tuple[tuple[str, int], ...] = ()  # columns, and the least number of records of a class there

    def __post_init__(self) -> None:
        # JSON has lists only, and a trial read from it is the same trial.
        object.__setattr__(self, "coarsen", tuple((str(column), int(least)) for column, least in self.coarsen))

    @property
    def name(self) -> str:
        """As people read it."""
        parts = [
            self.method,
            "" if self.attribute_groups is None else f"{self.attribute_groups} columns at a time",
            "" if self.k is None else f"k={self.k}",
            "" if self.percent is None else f"{self.percent:g} %",
            *(f"{column} coarsened to {least}" for column, least in self.coarsen),
        ]
        return ", ".join(part for part in parts if part)

    @property
    def promises_crowd(self) -> bool:
        """Whether every record looks like others in all columns, and not by luck."""
        return self.k is not None and self.attribute_groups is None and self.method != "ranking"

    @property
    def options(self) -> str:
        """The options of `shoal protect` that do this."""
        given = {"--method": self.method, "-k": self.k, "--attribute-groups": self.attribute_groups}
        given |= {"--percent": None if self.percent is None else f"{self.percent:g}"}
        pairs = [(option, str(value)) for option, value in given.items() if value is not None]
        pairs += [("--coarsen", f"{column}={least}") for column, least in self.coarsen]
        return " ".join(f"{option} {shlex.quote(value)}" for option, value in pairs)


@dataclass(frozen=True)
class Outcome:
    """What a trial gave, in per cent where not said otherwise."""

    trial: Trial
    loss: float  # numbers: IL; labels: L
    risk: float  # numbers: DR; labels: RL
    smallest_group: int  # rows
    figures: Mapping[str, float]  # what loss and risk are made of

    @property
    def score(self) -> float:
        """The mean of loss and risk: less is better."""
        return (self.loss + self.risk) / 2


@dataclass(frozen=True)
class Exploration:
    """All outcomes by rising score, and what is recommended of them."""

    outcomes: tuple[Outcome, ...]
    front: tuple[Outcome, ...]  # none of the others has both less loss and less risk
    recommended: Outcome | None  # None when nothing keeps the limits
    command: str | None  # that makes the recommended release
    max_risk: float | None
    max_loss: float | None
    kind: str  # "numbers" or "labels"
    hardened: tuple[Outcome, ...] = ()  # step by step from what was begun with, one column coarser each time
    min_k: int | None = None  # the fewest records alike that was asked for
