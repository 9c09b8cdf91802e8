"""What an audit of one table found, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.language import N_, sayable
from shoal.results.notebook import html_table

LIMITS = (2, 3, 5)  # keys with fewer records are counted for every combination
FEWEST = 10  # records that a step of a published share stands for, at least
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Attacker:
    """The chance that an attacker names the right record, over all records."""

    name: str  # prosecutor, journalist or marketer
    average: float
    highest: float | None = None  # None for the marketer, who looks at all records at once
    above: int | None = None  # records with more than the threshold


@dataclass(frozen=True)
class ExpectedRisk:
    """The chance that each record, or one of its household, is found; summed up."""

    expected: float  # records found, on average, if all are tried
    share: float  # of all records
    highest: float
    above: int  # records with more than the threshold
    bands: tuple[tuple[float, float, int], ...]  # from, to, records


@dataclass(frozen=True)
class ModelEstimate:
    """Unique people in the population, by one model; None where it has no solution."""

    model: str
    uniques: float | None


@dataclass(frozen=True)
class PopulationUniques:
    """How many people are one of a kind in the population."""

    size: int  # of the population
    fraction: float  # of it that is in the table
    estimates: tuple[ModelEstimate, ...]
    dankar: str  # the model that Dankar's rule names
    chosen: str  # the model that we trust
    of_sample_uniques: float  # expected records unique in the table that are unique in the population, too

    def uniques(self, model: str) -> float | None:
        """The estimate of a model."""
        return next(estimate.uniques for estimate in self.estimates if estimate.model == model)


@dataclass(frozen=True)
class ConfidentialValues:
    """What the values of a confidential column reveal of people with equal keys; the worst over all keys."""

    column: str
    distinct_l: int  # fewest different values
    entropy_l: float  # as hard to guess as so many equally frequent values
    recursive_c: float | None  # recursive (c, l): for this l and any larger c; None where l is 1
    t: float  # largest earth mover's distance from all records
    alpha: float  # largest share of one value
    beta: float  # largest gain of a value, relative to its share
    enhanced_beta: float  # the same, at most -ln of the share
    delta: float  # largest |ln| of a share by the share among all
    ordered: bool  # t counts ranks of numbers
    missing: int  # records without a value, left out


@dataclass(frozen=True)
class Combination:
    """Records whose key by these columns fewer than 2, 3, 5 records have."""

    columns: tuple[str, ...]
    below: tuple[int, ...]  # for each of LIMITS

    @property
    def uniques(self) -> int:
        """Records that these columns single out."""
        return self.below[0]


@dataclass(frozen=True)
class ColumnUniqueness:
    """How much a column does to make records unique."""

    column: str
    values: int
    missing: int
    alone: int  # records that it singles out alone
    added: float  # uniques that it adds on average to a small combination
    without: int  # records unique by all other columns


@dataclass(frozen=True)
class SpecialUniques:
    """Minimal sample uniques (MSU): records singled out by few columns, and by no fewer of them."""

    max_size: int  # columns of the largest combinations searched
    records: int  # that have at least one
    by_size: tuple[int, ...]  # MSUs of 1, 2, ... columns
    highest_score: int
    scores: tuple[tuple[int, int], ...]  # score, records with it; the highest first
    contributions: tuple[tuple[str, float], ...]  # share of the score in which a column takes part
    dis: float | None  # chance that a match with a unique record is right; None where the population is unknown
    highest_dis_score: float | None
    dis_above: int | None  # records whose DIS-SUDA score is above the threshold


@dataclass(frozen=True)
class Audit:
    """How risky a table is as it stands."""

    rows: int
    release: bool  # what was audited is public
    quasi: tuple[str, ...]
    proposed: bool  # the roles were proposed by `inspect`
    confidential: tuple[str, ...]
    missing: str  # how gaps were read
    people: int | None  # with `person`: how many there are
    threshold: float
    known_from: str  # where the population is known from: weights, its size, or nowhere
    k: int
    keys: int
    below: tuple[int, ...]  # records in crowds below each of LIMITS
    crowds: tuple[tuple[int, int, int], ...]  # smallest crowd, largest, records in such crowds
    attackers: tuple[Attacker, ...]
    individual: ExpectedRisk
    household: ExpectedRisk | None
    population: PopulationUniques | None
    values: tuple[ConfidentialValues, ...]
    combinations: tuple[Combination, ...]  # the most uniques first, in each size
    columns: tuple[ColumnUniqueness, ...]  # what adds most first
    special: SpecialUniques
    notes: tuple[str, ...]
    risks: NDArray[np.float64] = field(repr=False, compare=False)  # of each record

    def attacker(self, name: str) -> Attacker | None:
        """The prosecutor, the journalist or the marketer; None where it could not be estimated."""
        return next((attacker for attacker in self.attackers if attacker.name == name), None)

    @property
    def step(self) -> float | None:
        """Shares may be published to multiples of this, so that no single record decides them; None: not at all."""
        return next((step for step in STEPS if step * self.rows >= FEWEST), None)

    @property
    def publishable(self) -> dict[str, float]:
        """Figures that may be published: of a release all, of an original shares in steps of at least ten records.

        Not among them: whatever the riskiest record decides (k, highest risks, l, t, α, β, δ, scores), and counts by
        combination. The difference of two such counts, with and without a person, says whether these columns single
        that person out.
        """
        shares: dict[str, float] = {
            sayable("share in crowds below {limit}", limit=limit): n / self.rows
            for limit, n in zip(LIMITS, self.below, strict=True)
        }
        shares[N_("expected share re-identified")] = self.individual.share
        shares |= {f"average {attacker.name} risk": attacker.average for attacker in self.attackers}
        if self.population is not None and (uniques := self.population.uniques(self.population.chosen)) is not None:
            shares[N_("share unique in the population")] = uniques / self.population.size
        if self.release:
            return shares
        step = self.step
        return {} if step is None else {name: round(round(share / step) * step, 2) for name, share in shares.items()}

    def _repr_html_(self) -> str:
        sentence = (
            f"{self.rows:,} records, {self.keys:,} keys of {', '.join(self.quasi)}; k = {self.k:,}; "
            f"{self.below[0]:,} records are alone. {self.individual.expected:,.1f} would be found on average."
        )
        rows = [
            (one.name, f"{one.average:.2%}", "" if one.highest is None else f"{one.highest:.2%}", one.above)
            for one in self.attackers
        ]
        return html_table(sentence, ("Attacker", "Average risk", "Highest", f"Above {self.threshold:.0%}"), rows)

    def data(self) -> dict[str, Any]:
        """All figures: what may be published, and what its owner keeps."""
        step = None if self.release else self.step
        figures = asdict(self)
        del figures["risks"]
        return {"publishable": {"step": step, "figures": self.publishable}, "owner": figures}
