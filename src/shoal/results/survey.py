"""Estimates of a survey before and after protection, with their intervals, as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from shoal.language import _, fixed, in_figures

TWO_SIDED_95 = 1.959963984540054  # the normal distribution's 97.5 % point
TOTALS, TABLES, MODELS = "columns", "tables", "models"


@dataclass(frozen=True)
class Estimate:
    """A figure of the population with its standard error."""

    value: float
    error: float

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return self.value - TWO_SIDED_95 * self.error

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return self.value + TWO_SIDED_95 * self.error

    @property
    def significant(self) -> bool:
        """Whether the 95 % interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class ComparedEstimate:
    """One figure from the original and from the protected table."""

    part: str  # TOTALS, TABLES or MODELS
    statistic: str  # "mean", "total", "share", "median", "Gini", "coefficient", ...
    about: str  # the column, the cell of a table, the term of a model
    before: Estimate
    after: Estimate | None  # None: the protected table cannot give it

    @property
    def relative_error(self) -> float | None:
        """How far off the protected table is, as a share of the original figure; None where that is 0, or no figure."""
        if self.after is None or self.before.value == 0:
            return None
        return abs(self.after.value - self.before.value) / abs(self.before.value)

    @property
    def overlap(self) -> float:
        """The mean share of the two 95 % intervals that is in both (Karr et al. 2006); 0 if they are apart."""
        if self.after is None:
            return 0.0
        ends = (self.before.low, self.before.high), (self.after.low, self.after.high)
        if all(math.isclose(*pair, rel_tol=1e-9, abs_tol=1e-12) for pair in zip(*ends, strict=True)):
            return 1.0  # a constant, but for the rounding of its sum
        common = min(self.before.high, self.after.high) - max(self.before.low, self.after.low)
        if common < 0:
            return 0.0
        lengths = (self.before.high - self.before.low, self.after.high - self.after.low)
        return sum(common / length if length > 0 else 1.0 for length in lengths) / 2

    @property
    def kept(self) -> bool:
        """Whether significance at 5 % is as in the original, and the sign of what is significant."""
        after = self.after
        if after is None or self.before.significant != after.significant:
            return False
        return not self.before.significant or math.copysign(1, self.before.value) == math.copysign(1, after.value)

    def row(self) -> dict[str, Any]:
        """A line of estimates.csv."""
        after = self.after
        return {
            "part": self.part,
            "statistic": self.statistic,
            "of": self.about,
            "original": _steady(self.before.value),
            "original_error": _steady(self.before.error),
            "protected": None if after is None else _steady(after.value),
            "protected_error": None if after is None else _steady(after.error),
            "relative_error": None if self.relative_error is None else _steady(self.relative_error),
            "overlap": _steady(self.overlap),
            "conclusion_kept": self.kept if self.part == MODELS else None,
        }


@dataclass(frozen=True)
class SurveyUtility:
    """What a survey estimates from the protected table, beside what the original gives."""

    design: str  # how standard errors were computed, in words
    estimates: tuple[ComparedEstimate, ...] = field(repr=False)
    skipped: tuple[str, ...] = ()  # what was not estimated, and why, a sentence each

    def of(self, part: str) -> tuple[ComparedEstimate, ...]:
        """The estimates of one part, the worst overlap first."""
        chosen = [estimate for estimate in self.estimates if estimate.part == part]
        return tuple(sorted(chosen, key=lambda estimate: estimate.overlap))

    @property
    def overlap(self) -> float:
        """Mean over all estimates."""
        return _mean([estimate.overlap for estimate in self.estimates])

    @property
    def median_error(self) -> float | None:
        """The median relative error, of the figures that have one."""
        errors = [estimate.relative_error for estimate in self.estimates]
        there = [error for error in errors if error is not None]
        return median(there) if there else None

    @property
    def within(self) -> int:
        """Figures of the protected table that lie within the original's 95 % interval."""
        return sum(
            estimate.after is not None and estimate.before.low <= estimate.after.value <= estimate.before.high
            for estimate in self.estimates
        )

    @property
    def conclusions(self) -> tuple[int, int]:
        """Coefficients that keep their conclusion, and all of them."""
        coefficients = [estimate for estimate in self.estimates if estimate.part == MODELS]
        return sum(estimate.kept for estimate in coefficients), len(coefficients)

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        kept, coefficients = self.conclusions
        models = _(
            "; {kept} of {coefficients} coefficients keep their significance at 5 %, and their sign if significant"
        ).format(kept=kept, coefficients=coefficients)
        return _(
            "{within} of {estimates} estimates from the protected table lie within the original's 95 % interval; the "
            "intervals overlap by {overlap} on average{models}."
        ).format(
            within=in_figures(f"{self.within:,}"),
            estimates=in_figures(f"{len(self.estimates):,}"),
            overlap=fixed(self.overlap, ".0%"),
            models=models if coefficients else "",
        )

    def rows(self) -> list[dict[str, Any]]:
        """All estimates as a table."""
        return [estimate.row() for estimate in self.estimates]


def _steady(figure: float) -> float:
    """Without the last digits, in which machines differ."""
    return float(f"{figure:.9g}")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
