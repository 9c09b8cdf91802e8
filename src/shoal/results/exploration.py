"""What was tried on a table or a collection, what each trial gave, and which is recommended."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shoal.request.method_options import METHODS
from shoal.request.request import OPTIONS, words_of
from shoal.results.notebook import html_table

# Ways that no method names: the plan as it is but for k, treatments of columns, and recodings of all columns.
AS_PLANNED, BY_COLUMN, RECODING = "as planned", "by column", "recoding"
OVERLAP = "interval overlap"  # of survey estimates before and after, mean, in per cent
LEARNED = "learned, worst case"  # the figure that hardening brings down, in per cent
WITHOUT_CROWD = ("ranking", "k-variance-sketch")  # methods that have a k and promise no crowd of whole records


@dataclass(frozen=True)
class Measures:
    """What loss and risk are, of one kind of data: in a word for tables, and in words."""

    loss: str
    risk: str
    loss_in_words: str
    risk_in_words: str


OF_TABLES = Measures("lost", "found", "error of an analyst", "records that an attacker finds")
MEASURES = {
    **dict.fromkeys(("numbers", "labels", "mixed"), OF_TABLES),
    "documents": Measures("order lost", "found", "order of distances lost", "documents that an attacker finds"),
}


@dataclass(frozen=True)
class Trial:
    """A method, named as on the command line, or another way; its parameters, and what becomes of columns.

    Columns that are not named are treated and recoded as the plan says.
    """

    method: str
    k: int | None = None
    attribute_groups: int | None = None
    percent: float | None = None
    coarsen: tuple[tuple[str, int], ...] = ()  # columns, and the least number of records of a class there
    components: int | None = None  # of crowd sketches
    delta: float | None = None  # of delta sketches
    treat: tuple[tuple[str, str], ...] = ()  # columns, and what becomes of each
    recode: tuple[tuple[str, str], ...] = ()  # columns, and the rule by which each is recoded

    def __post_init__(self) -> None:
        # JSON has lists only, and a trial read from it is the same trial.
        for name in ("coarsen", "treat", "recode"):
            object.__setattr__(self, name, tuple((str(column), given) for column, given in getattr(self, name)))

    @property
    def name(self) -> str:
        """As people read it."""
        parts = [
            self.method,
            "" if self.attribute_groups is None else f"{self.attribute_groups} columns at a time",
            "" if self.k is None else f"k={self.k}",
            "" if self.percent is None else f"{self.percent:g} %",
            "" if self.components is None else f"{self.components} numbers",
            "" if self.delta is None else f"delta={self.delta:g}",
            *(
                f"{treatment} {' '.join(column for column, given in self.treat if given == treatment)}"
                for treatment in sorted({given for _, given in self.treat})
            ),
            *(f"{column} by {rule}" for column, rule in self.recode),
            *(f"{column} coarsened to {least}" for column, least in self.coarsen),
        ]
        return ", ".join(part for part in parts if part)

    @property
    def promises_crowd(self) -> bool:
        """Whether every record looks like others in all columns, and not by luck."""
        return self.k is not None and self.attribute_groups is None and self.method not in WITHOUT_CROWD

    @property
    def options(self) -> str:
        """The options of `shoal protect` that do this."""
        given = {name: value for name, value in vars(self).items() if value not in (None, ())}
        given |= {name: dict(given[name]) for name in ("treat", "recode", "coarsen") if name in given}
        if self.method not in METHODS:
            del given["method"]
        return shlex.join(word for name, value in given.items() for word in words_of(OPTIONS[name], value))


@dataclass(frozen=True)
class Outcome:
    """What a trial gave, in per cent where not said otherwise."""

    trial: Trial
    loss: float  # see MEASURES
    risk: float
    smallest_group: int  # rows
    figures: Mapping[str, float]  # what loss and risk are made of
    seconds: float = 0.0  # that the trial took, attacks included

    @property
    def promises_crowd(self) -> bool:
        """Whether every record looks like k - 1 others, whatever the data."""
        return self.trial.promises_crowd

    @property
    def score(self) -> float:
        """The mean of loss and risk: less is better."""
        return (self.loss + self.risk) / 2


def pareto_front(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that no other beats in loss and risk both, by rising risk."""
    front: list[Outcome] = []
    for outcome in sorted(outcomes, key=lambda outcome: (outcome.risk, outcome.loss, outcome.trial.name)):
        if not front or outcome.loss < front[-1].loss:
            front.append(outcome)
    return front


@dataclass(frozen=True)
class Exploration:
    """All outcomes by rising score, and what is recommended of them."""

    outcomes: tuple[Outcome, ...]
    front: tuple[Outcome, ...]  # none of the others has both less loss and less risk
    recommended: Outcome | None  # None when nothing keeps the limits
    command: str | None  # that makes the recommended release
    max_risk: float | None
    max_loss: float | None
    kind: str  # "numbers", "labels", "mixed" or "documents"
    hardened: tuple[Outcome, ...] = ()  # step by step from what was begun with, one column coarser each time
    min_k: int | None = None  # the fewest records alike that was asked for
    crowd: bool = True  # only what promises a crowd was to be recommended
    why: str = ""  # in a sentence, why it is recommended

    @property
    def measures(self) -> Measures:
        """What loss and risk are here."""
        return MEASURES[self.kind]

    def _repr_html_(self) -> str:
        chosen = self.recommended
        sentence = f"{len(self.outcomes):,} protections tried; those that no other beats in loss and risk both:"
        if chosen is not None:
            sentence = f"Recommended: {chosen.trial.name}. {sentence}"
        rows = [(one.trial.name, one.loss, one.risk, one.smallest_group, one.promises_crowd) for one in self.front]
        header = ("Protection", "Loss, %", "Risk, %", "Fewest alike", "Promises a crowd")
        return html_table(sentence, header, ((*row[:-1], "yes" if row[-1] else "no") for row in rows))


@dataclass(frozen=True)
class CurvePoint:
    """Loss and risk at one k, in per cent."""

    k: int
    loss: float
    risk: float
    seconds: float


@dataclass(frozen=True)
class Curve:
    """Loss and risk against k, estimated on a sample: a first look, not figures of the release."""

    kind: str  # as of an exploration
    points: tuple[CurvePoint, ...]
    sample: int  # records looked at
    records: int  # of all
    refined: bool = False  # a release searches for better groups and usually loses less

    @property
    def estimate(self) -> bool:
        """Whether records were left out, or groups not searched for as a release does."""
        return self.sample < self.records or not self.refined

    @property
    def measures(self) -> Measures:
        """What loss and risk are here."""
        return MEASURES[self.kind]
