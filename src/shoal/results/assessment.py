"""What an assessment found, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from shoal.language import sayable
from shoal.results.attacks import (
    Differenced,
    Disclosure,
    Inferred,
    IntersectedPeople,
    LeakCard,
    Rate,
    SketchAttacks,
)
from shoal.results.audit import Audit
from shoal.results.notebook import RATES, html_table, rate_rows
from shoal.results.summary import Summary
from shoal.results.survey import SurveyUtility
from shoal.results.utility import Distribution, LabelLoss, ModelUtility, SpaceUtility, TableLoss


@dataclass(frozen=True)
class Overlap:
    """The crowds that records have in both releases, and what subtracting one from the other shows."""

    k: int  # the smaller of the two promises
    both: int  # records of both releases
    left: int  # of the earlier one only
    came: int  # of the later one only
    how: str  # records of the two releases were matched
    smallest: int  # fewest records that anyone in both can be; 0 when nobody is in both
    exposed: int  # records of both with fewer than k candidates
    candidates: tuple[tuple[int, int], ...]  # (candidates, records of both), rising
    shown: tuple[str, ...]  # columns that both release as they are
    told_apart: int  # records whose values there are the difference of a published row, or of all, of fewer than k
    cells: (
        float | None
    )  # of the one record that left: the share of its numbers that the sums reveal; None: not one left
    by_guessing: float | None  # what the best guess without any release gives

    @property
    def safe(self) -> bool:
        """Whether nobody is found beyond 1/k."""
        return not self.exposed and not self.told_apart

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        crowd = sayable(
            "No record is in both releases"
            if not self.both
            else "{exposed} of {both} records in both releases have fewer than k={k} candidates left, at worst "
            "{smallest}"
            if self.exposed
            else "Everybody in both releases ({both}) still has at least {smallest} candidates",
            exposed=self.exposed,
            both=self.both,
            k=str(self.k),
            smallest=self.smallest,
        )
        return sayable(
            "{crowd}; subtracting the two shows the {columns} of {told_apart} who left, came or changed, among fewer "
            "than {k}."
            if self.told_apart
            else "{crowd}; subtracting the two shows nobody among fewer than {k}."
            if self.left + self.came
            else "{crowd}; nobody left and nobody came.",
            crowd=crowd,
            columns=", ".join(self.shown),
            told_apart=self.told_apart,
            k=str(self.k),
        )


@dataclass(frozen=True)
class TableAssessment:
    """A protected table judged against its original: what changed, and what an intruder finds."""

    rows: int
    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    how: str  # how the rows of the two tables were put side by side
    left_out: tuple[str, ...]  # columns that were not compared
    smallest_group: int  # fewest protected rows that are equal in all compared columns
    unique: int  # protected rows that no other equals
    loss: TableLoss | None  # of the numbers: change of statistics, and share of information lost
    label_loss: LabelLoss | None  # of the labels: values, tables, and share of information lost
    risk: Disclosure  # of all columns
    gdpr: tuple[Rate, ...]  # singling out, linkability, inference, of the numbers
    labels_changed: tuple[tuple[str, float], ...]  # share of the records whose label changed, by column
    labels_linked: float | None  # chance that equal labels link a record with its original
    models: ModelUtility | None = None  # what the protected table teaches of a target
    survey: SurveyUtility | None = None  # estimates before and after, where any are asked for
    leaks: LeakCard | None = None  # what attackers trained on known links find
    minimality: tuple[tuple[str, Inferred], ...] = ()  # by confidential column, what joined groups reveal
    differencing: Differenced | None = None  # what a second release without a record reveals of it
    overlap: Overlap | None = None  # with an earlier release: crowds in common, and what subtracting shows
    confidential: tuple[Rate, ...] = ()  # by confidential column: values matched to the members of their group
    people: IntersectedPeople | None = None  # where whose a row is was given
    unattacked: tuple[str, ...] = ()  # released columns that no attack used
    distributions: tuple[Distribution, ...] = ()  # of each column, before and after
    notes: tuple[str, ...] = ()  # what makes figures less certain, in a sentence each

    @property
    def mean_change(self) -> float:
        """IL, in per cent, over all columns: that of numbers and that of labels, each by its share of the columns."""
        change = 0.0 if self.loss is None else len(self.numbers) * self.loss.mean_change
        change += 0.0 if self.label_loss is None else len(self.labels) * self.label_loss.mean_change
        return change / (len(self.numbers) + len(self.labels))

    @property
    def score(self) -> float:
        """Half the change (IL), half the risk (DR), in per cent: less is better."""
        return (self.mean_change + self.risk.risk) / 2

    def label_score(self, alpha: float = 0.5) -> float | None:
        """`alpha` of the information lost in labels (L), the rest of RL, in per cent: less is better."""
        if self.label_loss is None or self.labels_linked is None:
            return None
        return 100.0 * (alpha * self.label_loss.squared.information_loss + (1.0 - alpha) * self.labels_linked)

    def data(self) -> dict[str, Any]:
        """All of it as JSON has it, chances of single records aside."""
        data: dict[str, Any] = as_data(self)
        if self.label_loss is not None:
            data["label_loss"] |= {"IL": self.label_loss.mean_change, "L": self.label_loss.squared.information_loss}
        data["risk"] |= {"DR": self.risk.risk, "linkage": self.risk.linkage}
        if self.loss is not None:
            data["loss"]["IL"] = self.loss.mean_change
            data["loss"]["PIL"] = self.loss.probabilistic.mean
            data["loss"]["squared"]["information_loss"] = self.loss.squared.information_loss
        if self.overlap is not None:
            data["overlap"] |= {"sentence": self.overlap.sentence, "safe": self.overlap.safe}
        if self.survey is not None:
            data["survey"] |= {"sentence": self.survey.sentence, "overlap": self.survey.overlap}
            data["survey"]["estimates"] = self.survey.rows()
        if self.people is not None:
            data["people"]["sentence"] = self.people.sentence
        return data | {"IL": self.mean_change, "score": self.score}

    def _repr_html_(self) -> str:
        sentence = (
            f"{self.rows:,} records; at least {self.smallest_group:,} protected rows are equal. "
            f"Loss (IL) {self.mean_change:.1f} %, risk (DR) {self.risk.risk:.1f} %, score {self.score:.1f}."
        )
        risk = self.risk
        rates = (risk.euclidean, risk.mahalanobis, risk.probabilistic, risk.interval, *self.gdpr, *self.confidential)
        return html_table(sentence, RATES, rate_rows(rates))


@dataclass(frozen=True)
class SpaceAssessment:
    """A protected vector space judged against its original: what it is still good for."""

    rows: int
    how: str
    smallest_group: int  # fewest protected documents that are equal
    unique: int
    utility: SpaceUtility
    attacks: tuple[Rate, ...] = ()  # documents recovered from the rows of their groups
    is_table: bool = False  # each record has one item of every column of a table, which shows in the groups

    def data(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        data: dict[str, Any] = as_data(self)
        figures = {"information_loss": self.utility.loss.information_loss, "query_f1": self.utility.query_f1}
        data["utility"] |= figures | {"ari": self.utility.ari}
        return data

    def _repr_html_(self) -> str:
        sentence = (
            f"{self.rows:,} documents; at least {self.smallest_group:,} are equal. Answers to queries agree by "
            f"F1 {self.utility.query_f1:.2f}; information lost: {self.utility.loss.information_loss:.1%}."
        )
        return html_table(sentence, RATES, rate_rows(self.attacks))


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
        data: dict[str, Any] = as_data(self)
        return data

    def table(self) -> list[dict[str, Any]]:
        """A line per kind of sketch: the figures to choose by."""
        return [
            {
                "kind": attacks.kind,
                "setting": attacks.setting,
                "records": attacks.records,
                "withheld": attacks.withheld,
                "components": attacks.components,
                "items_with_key": attacks.with_key.items.rate,
                "whole_with_key": attacks.with_key.whole.rate,
                "records_known": attacks.most_known.known,
                "items_by_known_records": attacks.most_known.strangers.items.rate,
                "linked_with_key": attacks.linked_with_key.rate,
                "linked_without_key": attacks.linked_without_key.rate,
                "items_by_guessing": attacks.with_key.items.baseline,
                "items_openly": None if attacks.openly is None else attacks.openly.items.rate,
                "neighbours_kept": attacks.utility.neighbours.rate,
            }
            for attacks in (self.release, *self.others)
        ]

    def _repr_html_(self) -> str:
        lines = self.table()
        header = [name.replace("_", " ") for name in lines[0]]
        return html_table(f"{self.rows:,} sketches attacked.", header, (tuple(line.values()) for line in lines))


@dataclass(frozen=True)
class Board:
    """A release that was verified; with its original, the risk before and what is left of it."""

    summary: Summary
    columns: tuple[tuple[str, str], ...]  # name and role of each released column
    seal: str
    promises: int  # that were counted, and hold
    signature: str  # who vouches, in a sentence
    reasons: Mapping[str, str] = field(default_factory=dict)  # why a column has its role, where it was proposed
    audit: Audit | None = None  # of the original
    assessment: TableAssessment | None = None  # of both


def as_data(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists; of a rate, not who was found."""
    if isinstance(value, Rate):
        shown = ("about", "rate", "low", "high", "baseline", "control", "control_low", "control_high")
        return {name: getattr(value, name) for name in shown} | {"attempts": value.n}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [as_data(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value
