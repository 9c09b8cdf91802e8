"""Coarser truths and blanks: Adult and a made survey, beside Mondrian, the best recoding and sdcMicro's blanks."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, measure
from benchmarks.truthful_baselines import mondrian, people_alone, sdcmicro_blanks

KS = (5, 10, 25)
BEST = 25.0  # seconds of search
WITHHELD = 0.05  # share of the rows that a full-domain recoding may leave out
WIDTHS = (1, 5, 10, 20, 40, 1000)  # bands of numbers, level by level
BANDS = np.array([10.0, 10.0])  # of numbers where cells are blanked

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Quasi-identifiers, the outcome that a regression explains, and what is totalled by region."""

    numbers: Floats  # (n, 2)
    codes: Ints  # (n, b)
    outcome: Floats  # (n,)
    weights: Floats  # (n,)
    region: int | None = None  # column of codes


@dataclass(frozen=True)
class Shown:
    """What users see of each row: middle and loss of bands, shares of values and loss of sets; NaN loss: withheld."""

    middles: Floats  # (n, 2)
    sets: list[Floats]  # per column of codes (n, values): the chance of each value
    losses: Floats  # (n, columns)
    alone: int | None = None  # people whose values fit one row only; counted where cells are blanked


def adult() -> Table:
    rows = data.adult(("age", "hours-per-week", "education", "occupation", "native-country", "income"))
    columns = list(zip(*rows, strict=True))
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns[2:5]])
    outcome = np.array([float(income.strip().startswith(">")) for income in columns[5]])
    return Table(np.array(columns[:2], dtype=np.float64).T.copy(), codes, outcome, np.ones(len(rows)))


def survey(n: int = 20_000) -> Table:
    """A made survey with 180 regions.

    Region r has a share in proportion to 1 / (r + 20). Households of 1 to 5 (.3, .3, .2, .15, .05) live in one region;
    adults are 18 to 90 (18 + a gamma of shape 3 and mean 27), hours normal (38, 9) of 0 to 80; sector is one of 12, by
    shares that shift with the region; education one of 6 by a Poisson of 2. Weights are 50 to 150 by region. Employed
    is a draw with chance .9 - .01 |age - 42| + .02 education, of .05 to .98.
    """
    random = np.random.default_rng(29)
    shares = 1 / (np.arange(180) + 20.0)
    sizes = random.choice([1, 2, 3, 4, 5], n, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    region = np.repeat(random.choice(180, n, p=shares / shares.sum()), sizes)[:n]
    age = np.clip(np.round(18 + random.gamma(3, 9, n)), 18, 90)
    hours = np.clip(np.round(random.normal(38, 9, n)), 0, 80)
    sector = (random.poisson(2.5, n) + region % 7) % 12
    education = np.minimum(random.poisson(2, n), 5)
    chance = np.clip(0.9 - 0.01 * np.abs(age - 42) + 0.02 * education, 0.05, 0.98)
    codes = np.column_stack([education, sector, region]).astype(np.int64)
    employed = (random.random(n) < chance).astype(float)
    return Table(np.column_stack([age, hours]), codes, employed, 50 + region % 101.0, region=2)


def run() -> dict[str, Any]:
    tables = {"Adult": adult(), "survey": survey()}
    rows = [
        measure.once("common_values", f"{name}, k={k}, {method}", lambda: compared(name, table, k, method))  # noqa: B023
        for name, table in tables.items()
        for k in KS
        for method in METHODS
        if method != "keep region" or table.region is not None
    ]
    for row in rows:
        base = next(other for other in rows if other["method"] == "Mondrian" and same_case(row, other))
        row["of Mondrian's"] = row["NCP"] / base["NCP"]
    measure.show("Coarser truths and blanks", rows)
    sizes = [measure.once("common_values", f"{n} rows", lambda: scaled(n)) for n in (50_000, 200_000)]  # noqa: B023
    measure.show("Larger surveys, k=10", sizes)
    return {"rows": rows, "scale": sizes}


def same_case(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (one["table"], one["k"]) == (other["table"], other["k"])


def compared(name: str, table: Table, k: int, method: str) -> dict[str, Any]:
    start = time.process_time()
    shown = METHODS[method](table, k)
    cpu = time.process_time() - start
    blank = np.isnan(shown.losses)
    losses = np.where(blank, 1.0, shown.losses)
    return {
        "table": name,
        "k": k,
        "method": method,
        "NCP": float(losses.mean()),
        "true %": 100 * float((losses == 0).mean()),
        "coarser %": 100 * float(((losses > 0) & ~blank).mean()),
        "changed %": 0.0,
        "blank %": 100 * float(blank.mean()),
        "blanks": int(blank.sum()),
        "found alone": shown.alone,
        "regression error": regression_error(table, shown),
        "regional error %": regional_error(table, shown),
        "CPU s": cpu,
    }


def regression_error(table: Table, shown: Shown) -> float:
    """Largest change of a coefficient of the outcome on numbers and the first column, in standard errors of before.

    Users put the middle of a band and equal chances for the values of a set; rows with a blank are left out.
    """

    def fitted(numbers: Floats, chances: Floats, outcome: Floats) -> tuple[Floats, Floats]:
        design = np.column_stack([chances, numbers])
        solution, *_ = np.linalg.lstsq(design, outcome, rcond=None)
        residual = outcome - design @ solution
        variance = residual @ residual / (len(outcome) - design.shape[1])
        return solution, np.sqrt(variance * np.diag(np.linalg.pinv(design.T @ design)))

    before, errors = fitted(table.numbers, np.eye(table.codes[:, 0].max() + 1)[table.codes[:, 0]], table.outcome)
    there = ~np.isnan(shown.losses[:, :3]).any(axis=1)
    after, _ = fitted(shown.middles[there], shown.sets[0][there], table.outcome[there])
    return float(np.max(np.abs(after - before) / errors))


def regional_error(table: Table, shown: Shown) -> float | str:
    """Mean relative error of the weighted number of employed by region, where the region is shown as it is."""
    if table.region is None:
        return "-"
    amounts = table.weights * table.outcome
    truth = np.bincount(table.codes[:, table.region], weights=amounts)
    chances = np.where(np.isnan(shown.losses[:, [2 + table.region]]), 0.0, shown.sets[table.region])
    return 100 * float(np.mean(np.abs(amounts @ chances - truth) / truth))


def of_groups(table: Table, groups: Ints) -> Shown:
    """The common band and set of each group."""
    from shoal.methods.common_values import bands, value_sets

    low, high, _ = bands(table.numbers, groups)
    losses = [((high - low) / np.ptp(table.numbers, axis=0))[groups]]
    sets = []
    for codes in table.codes.T:
        indptr, values = value_sets(codes, groups)
        n_values = np.diff(indptr)
        chances = np.zeros((len(n_values), codes.max() + 1))
        chances[np.repeat(np.arange(len(n_values)), n_values), values] = np.repeat(1 / n_values, n_values)
        sets.append(chances[groups])
        losses.append(np.where(n_values > 1, n_values / len(np.unique(codes)), 0.0)[groups][:, None])
    return Shown(((low + high) / 2)[groups], sets, np.hstack(losses))


def generalised(table: Table, k: int, seconds: float | None = None, *, keep: bool = False) -> Shown:
    from shoal.methods.common_values import widening_groups, widening_of

    strata = table.codes[:, table.region] if keep and table.region is not None else None
    widening = widening_of(table.numbers, table.codes)
    return of_groups(
        table, widening_groups(table.numbers, table.codes, k, widening, strata=strata, time_budget=seconds)
    )


def recoded(table: Table, k: int) -> Shown:
    """The best node: numbers in bands of growing width, values as they are, in halves of their order, or any."""
    from shoal.methods.recoding import Levels, best_recoding

    columns = []
    for values in table.numbers.T:
        span = np.ptp(values)
        codes = [((values - values.min()) // width).astype(np.int64) for width in WIDTHS]
        losses = [np.full(own.max() + 1, min(width - 1, span) / span) for own, width in zip(codes, WIDTHS, strict=True)]
        columns.append(Levels(codes, losses))
    for values in table.codes.T:
        n_values = len(np.unique(values))
        widths = [1 << level for level in range(int(np.ceil(np.log2(n_values))) + 1)]
        codes = [values // width for width in widths]
        losses = [
            np.full(own.max() + 1, min(w, n_values) / n_values * (w > 1)) for own, w in zip(codes, widths, strict=True)
        ]
        columns.append(Levels(codes, losses))
    best = best_recoding(columns, k, WITHHELD)
    if best is None:
        raise SystemExit("no recoding keeps the limit")
    levels = [column.codes[level] for column, level in zip(columns, best.levels, strict=True)]
    lost = [column.losses[level][own] for column, level, own in zip(columns, best.levels, levels, strict=True)]
    losses = np.where(best.withheld[:, None], np.nan, np.column_stack(lost))
    groups = np.unique(np.column_stack(levels), axis=0, return_inverse=True)[1].ravel()
    return replace(of_groups(table, groups), losses=losses)


def blanked(table: Table, k: int, *, twin: bool) -> Shown:
    """Numbers in bands of ten, then blanks: of the twin they match everything, of ours they are values of their own."""
    from shoal.methods.common_values import Widening, widening_groups

    low = table.numbers.min(axis=0)
    bands = ((table.numbers - low) // BANDS).astype(np.int64)
    codes = np.column_stack([bands, table.codes])
    if twin:
        blanks = sdcmicro_blanks(codes, k)
    else:
        n_columns = codes.shape[1]
        ones = Widening(np.zeros(0), np.ones(n_columns, dtype=np.int64), [None] * n_columns, np.ones(n_columns))
        groups = widening_groups(np.zeros((len(codes), 0)), codes, k, ones)
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
        several = np.minimum.reduceat(codes[order], starts) != np.maximum.reduceat(codes[order], starts)
        blanks = several[groups]
    losses = np.column_stack([np.tile((BANDS - 1) / np.ptp(table.numbers, axis=0), (len(codes), 1)), 0.0 * table.codes])
    middles = low + bands * BANDS + (BANDS - 1) / 2
    sets = [np.eye(column.max() + 1)[column] for column in table.codes.T]
    return Shown(middles, sets, np.where(blanks, np.nan, losses), people_alone(codes, blanks))


METHODS = {
    "Mondrian": lambda table, k: of_groups(table, mondrian(table.numbers, table.codes, k)),
    "best full-domain node": recoded,
    "generalise": generalised,
    "generalise, best": lambda table, k: generalised(table, k, BEST),
    "keep region": lambda table, k: generalised(table, k, keep=True),
    "sdcMicro's blanks": lambda table, k: blanked(table, k, twin=True),
    "blank": lambda table, k: blanked(table, k, twin=False),
}


def scaled(n: int) -> dict[str, Any]:
    start = time.perf_counter()
    cpu, peak = measure.apart(LargeSurvey(n))
    return {"rows": n, "CPU s": cpu, "seconds": time.perf_counter() - start, "GB": peak}


@dataclass(frozen=True)
class LargeSurvey:
    """A job for a process of its own."""

    n: int

    def __call__(self) -> float:
        table = survey(self.n)
        start = time.process_time()
        generalised(table, 10)
        return time.process_time() - start
