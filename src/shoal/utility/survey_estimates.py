"""What a survey estimates from a protected table, beside the original: of columns, and tables and models on request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from shoal.data.columns import plain
from shoal.data.files import counted, shown, unknown_column
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.language import N_, Sayable, sayable
from shoal.results.survey import MODELS, TABLES, TOTALS, ComparedEstimate, Estimate, SurveyUtility
from shoal.utility import survey
from shoal.utility.column_values import Labels, PairedColumn, as_labels, as_numbers, is_missing, paired_column
from shoal.utility.survey import Design

QUANTILES = {N_("10th percentile"): 0.1, N_("median"): 0.5, N_("90th percentile"): 0.9}
MOST_LEVELS = 30  # labels of a column whose shares are estimated without being asked for
MOST_CELLS = 1_000  # of a table that is asked for
MOST_TERMS = 200  # of a model
BETWEEN = " | "  # the values of a released set
FEW_NUMBERS = 10  # different ones, in a table: categories


@dataclass(frozen=True)
class SurveyOptions:
    """The design of the survey, and the tables and models to compare; see `assess`."""

    weight: str | None = None
    strata: str | None = None
    cluster: str | None = None
    tabulate: Sequence[str] = ()
    model: Sequence[str] = ()

    @property
    def asked(self) -> bool:
        """Whether any of it was."""
        return any(vars(self).values())

    @property
    def of_design(self) -> set[str]:
        """The columns that are no subject of an estimate."""
        return {name for name in (self.weight, self.strata, self.cluster) if name is not None}


def survey_utility(
    before: pa.Table, after: pa.Table, options: SurveyOptions, without: Sequence[str] = (), coded: Sequence[str] = ()
) -> SurveyUtility:
    """Estimate from both tables, whose rows belong together.

    `without` are columns that name rows or people, `coded` those whose digits are names.
    """
    sides = _Sides(before, after, *_designs(before, after, options), coded)
    names = [
        name
        for name in before.column_names
        if name in after.column_names and name not in options.of_design and name not in without
    ]
    columns = [column for name in names if (column := sides.column(name)) is not None]
    estimates = [estimate for column in columns for estimate in _of_column(column, sides)]
    for asked in options.tabulate or _usual_tables(columns):
        estimates += _of_table(asked, sides)
    for asked in options.model:
        estimates += _of_model(asked, sides)
    notes = [sides.read[name].note for name in sides.read if sides.read[name].note]
    for form, listed in (
        (
            N_("nothing is estimated of {columns}: dates and lists"),
            [name for name in names if sides.column(name) is None],
        ),
        (
            N_("more than {most} labels: shares of {columns} are not listed"),
            [one.name for one in columns if not one.is_number and len(_levels(one.before)) > MOST_LEVELS],
        ),
    ):
        if listed:
            notes.append(sayable(form, most=MOST_LEVELS, columns=", ".join(map(shown, listed))))
    if not estimates:
        raise InputError("there is nothing to estimate: the two tables have no column of numbers or labels in common")
    return SurveyUtility(_in_words(options, after), tuple(estimates), tuple(notes))


@dataclass(frozen=True)
class _Sides:
    """Both tables, and the design of each."""

    before: pa.Table
    after: pa.Table
    design: Design
    design_after: Design
    coded: Sequence[str]
    read: dict[str, PairedColumn] = field(default_factory=dict)

    def column(self, name: str) -> PairedColumn | None:
        """A column of both, read once."""
        if name not in self.read:
            for table, called in ((self.before, "the original"), (self.after, "the protected table")):
                if name not in table.column_names:
                    raise unknown_column(name, table.column_names, called)
            column = paired_column(name, self.before[name], self.after[name], name in self.coded)
            if column is None:
                return None
            self.read[name] = column
        return self.read[name]

    def category(self, name: str) -> PairedColumn:
        """A column as labels."""
        column = self.needed(name)
        if not column.is_number:
            return column
        return PairedColumn(name, _as_texts(column.before), _as_texts(column.after), False)

    def needed(self, name: str) -> PairedColumn:
        column = self.column(name)
        if column is None:
            raise InputError(f"column {shown(name)} holds dates or lists, of which nothing is estimated; leave it out")
        return column

    def compared(
        self, part: str, statistic: str, about: str, before: Estimate | None, after: Estimate | None
    ) -> Iterator[ComparedEstimate]:
        """Nothing where the original gives no estimate either."""
        if before is not None and np.isfinite([before.value, before.error]).all():
            usable = after is not None and np.isfinite([after.value, after.error]).all()
            yield ComparedEstimate(part, statistic, about, before, after if usable else None)


def _designs(before: pa.Table, after: pa.Table, options: SurveyOptions) -> tuple[Design, Design]:
    """Of both tables: weights as released where they are, strata and clusters as drawn."""
    n_rows = before.num_rows
    for name in options.of_design:
        if name not in before.column_names:
            raise unknown_column(name, before.column_names, "the original")
    strata, clusters = (
        None if name is None else _numbered(before[name], name) for name in (options.strata, options.cluster)
    )
    if options.weight is None:
        return (Design(np.ones(n_rows), strata, clusters),) * 2
    weights = [
        _weights(table[options.weight], options.weight) if options.weight in table.column_names else None
        for table in (before, after)
    ]
    assert weights[0] is not None
    released = weights[0] if weights[1] is None else weights[1]
    return Design(weights[0], strata, clusters), Design(released, strata, clusters)


def _weights(column: pa.ChunkedArray, name: str) -> Floats:
    weights = as_numbers(plain(column).combine_chunks())
    if weights is None or not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
        raise InputError(f"{shown(name)} is no column of weights: give numbers of 0 or more, none missing", "weight")
    return weights


def _numbered(column: pa.ChunkedArray, name: str) -> Ints:
    labels = as_labels(plain(column).combine_chunks())
    gaps = int(np.count_nonzero(is_missing(labels)))
    if gaps:
        raise InputError(f"{counted(gaps, 'row')} without a value in {shown(name)}; strata and clusters need one each")
    return np.unique(labels.astype(str), return_inverse=True)[1].astype(np.int64)


def _in_words(options: SurveyOptions, after: pa.Table) -> Sayable:
    if not options.weight:
        weighted = sayable("every record counts once")
    elif options.weight in after.column_names:
        weighted = sayable("weighted by {weight}", weight=options.weight)
    else:
        weighted = sayable("weighted by {weight} (the original's: it is not released)", weight=options.weight)
    strata, cluster = options.strata or "", options.cluster or ""
    if strata and cluster:
        drawn = sayable("strata {strata} and clusters {cluster}", strata=strata, cluster=cluster)
    else:
        drawn = sayable("strata {strata}", strata=strata) if strata else sayable("clusters {cluster}", cluster=cluster)
    errors = (
        sayable("for {drawn}, by Taylor linearisation", drawn=drawn)
        if strata or cluster
        else sayable("as of records drawn with replacement")
    )
    return sayable("{weighted}; standard errors {errors}", weighted=weighted, errors=errors)


def _of_column(column: PairedColumn, sides: _Sides) -> Iterator[ComparedEstimate]:
    """Total, mean, quantiles and Gini index of numbers; the share of each label."""
    if not column.is_number:
        levels = _levels(column.before)
        for level in levels if len(levels) <= MOST_LEVELS else ():
            before, after = (
                survey.share(_portions(values, level), ~is_missing(values), design)
                for values, design in ((column.before, sides.design), (column.after, sides.design_after))
            )
            yield from sides.compared(TOTALS, N_("share"), f"{column.name} = {level}", before, after)
        return
    statistics: dict[str, Callable[[Floats, Design], Estimate | None]] = {
        N_("total"): survey.total,
        N_("mean"): survey.mean,
    }
    statistics |= {name: _quantile(p) for name, p in QUANTILES.items()} | {N_("Gini"): survey.gini}
    for name, statistic in statistics.items():
        before, after = statistic(column.before, sides.design), statistic(column.after, sides.design_after)
        yield from sides.compared(TOTALS, name, column.name, before, after)


def _quantile(p: float) -> Callable[[Floats, Design], Estimate | None]:
    return lambda values, design: survey.quantile(values, p, design)


def _usual_tables(columns: Sequence[PairedColumn]) -> list[str]:
    """Where none are asked for: the three columns with the fewest labels, by twos."""
    labels = {column.name: len(_levels(column.before)) for column in columns if not column.is_number}
    few = sorted((name for name in labels if 2 <= labels[name] <= MOST_LEVELS), key=lambda name: labels[name])[:3]
    return [f"{one}:{other}" for number, one in enumerate(few) for other in few[number + 1 :]]


def _of_table(asked: str, sides: _Sides) -> Iterator[ComparedEstimate]:
    """Shares of the cells of two columns of labels, or the means of numbers by labels."""
    one, colon, other = (part.strip() for part in asked.partition(":"))
    if not colon or not one or not other:
        raise InputError(f"{shown(asked)} is no table; write two columns, such as region:sex", "tabulate")
    rows, columns = sides.category(one), sides.needed(other)
    levels = _levels(rows.before)
    if columns.is_number and len(np.unique(columns.before[~np.isnan(columns.before)])) > FEW_NUMBERS:
        for level in levels:
            before, after = (
                survey.mean(np.where(labels == level, values, np.nan), design)
                for labels, values, design in (
                    (rows.before, columns.before, sides.design),
                    (rows.after, columns.after, sides.design_after),
                )
            )
            yield from sides.compared(TABLES, "mean", f"{other}, {one} = {level}", before, after)
        return
    columns = sides.category(other)
    cells = Counter(zip(rows.before.tolist(), columns.before.tolist(), strict=True))
    cells = Counter({cell: number for cell, number in cells.items() if None not in cell})
    if len(cells) > MOST_CELLS:
        raise InputError(f"table {shown(asked)} has {len(cells):,} cells; choose columns with at most {MOST_CELLS:,}")
    for cell in sorted(cells):
        before, after = (
            survey.share(
                _portions(first, cell[0]) * _portions(second, cell[1]),
                ~(is_missing(first) | is_missing(second)),
                design,
            )
            for first, second, design in (
                (rows.before, columns.before, sides.design),
                (rows.after, columns.after, sides.design_after),
            )
        )
        about = f"{one} = {cell[0]}, {other} = {cell[1]}"
        yield from sides.compared(TABLES, "share", about, before, after)


def _of_model(asked: str, sides: _Sides) -> Iterator[ComparedEstimate]:
    """The coefficients of a linear or logistic model of both tables, the original's terms."""
    response, tilde, terms = asked.partition("~")
    predictors = [term.strip() for term in terms.split("+")]
    if not tilde or not response.strip() or not all(predictors):
        raise InputError(f'{shown(asked)} is no model; write it like "income ~ age + region"', "model")
    y_before, y_after, is_event, what = _response(response.strip(), sides)
    terms_of = [_terms(predictor, sides) for predictor in predictors]
    names = ["intercept", *(name for term in terms_of for name in term.names)]
    if len(names) > MOST_TERMS:
        raise InputError(f"model {shown(asked)} has {len(names)} terms, more than {MOST_TERMS}; choose fewer labels")
    fitted: list[list[Estimate | None]] = []
    for y, parts, design in (
        (y_before, [term.before for term in terms_of], sides.design),
        (y_after, [term.after for term in terms_of], sides.design_after),
    ):
        X = np.column_stack([np.ones(len(y)), *parts])
        whole = np.isfinite(y) & np.isfinite(X).all(axis=1)
        if not whole.any() or y[whole].min() == y[whole].max():
            fitted.append([None] * X.shape[1])
            continue
        fit = survey.logistic if is_event else survey.linear
        fitted.append(fit(np.where(whole, y, 0.0), np.where(whole[:, None], X, 0.0), design.within(whole)))
    # The column of labels that only the release has comes last in each part, and has no counterpart.
    places = _places([(len(term.names), term.after.shape[1]) for term in terms_of])
    for position, name in enumerate(names):
        before, after = fitted[0][position], fitted[1][places[position]]
        yield from sides.compared(MODELS, N_("coefficient"), f"{what} ~ {name}", before, after)


def _places(widths: Sequence[tuple[int, int]]) -> list[int]:
    """Where the columns of the original's model stand in that of the release, which may have more."""
    places, start = [0], 1
    for own, all_of_them in widths:
        places += range(start, start + own)
        start += all_of_them
    return places


def _response(text: str, sides: _Sides) -> tuple[Floats, Floats, bool, str]:
    """What is modelled: numbers, or an event (1 or 0)."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if text in sides.before.column_names:
        name, equals = text, ""
    column = sides.category(name) if equals else sides.needed(name)
    if column.is_number:
        two = set(np.unique(column.before[~np.isnan(column.before)]).tolist()) <= {0.0, 1.0}
        after = np.where(column.after >= 0.5, 1.0, 0.0) if two else column.after
        return column.before, np.where(np.isnan(column.after), np.nan, after), two, name
    levels = _levels(column.before)
    if equals and value not in levels:
        raise InputError(f"no record of the original has {shown(value)} in {shown(name)}; choose one that is there")
    if not equals and len(levels) != 2:
        raise InputError(
            f"column {shown(name)} has {len(levels)} labels; name the one to model, as in {name}=label", "model"
        )
    event = value if equals else sorted(levels)[1]
    before, after = (
        np.where(is_missing(side), np.nan, (side == event).astype(np.float64)) for side in (column.before, column.after)
    )
    return before, after, True, f"{name}={event}"


@dataclass(frozen=True)
class _Terms:
    """A predictor as columns of a model; the release may have one more, at the end."""

    names: list[str]
    before: Floats
    after: Floats


def _terms(predictor: str, sides: _Sides) -> _Terms:
    """A number as it is; labels as columns of 0 and 1, all but the most frequent one that both tables have."""
    as_category = re.fullmatch(r"C\((.+)\)", predictor)
    column = sides.category(as_category[1].strip()) if as_category else sides.needed(predictor)
    if column.is_number:
        return _Terms([column.name], column.before[:, None], column.after[:, None])
    released = set(column.after.tolist())
    levels = _levels(column.before)
    common = [level for level in levels if level in released]
    reference = common[0] if common else levels[0]
    own = sorted(level for level in levels if level != reference)
    only_released = released - {None, *levels}  # sets, and more general labels: one column for all of them
    after = _indicators(column.after, own)
    if only_released:
        others = np.isin(column.after.astype(str), [str(label) for label in only_released])
        after = np.column_stack([after, np.where(np.isnan(after).any(axis=1), np.nan, others.astype(np.float64))])
    return _Terms([f"{column.name}: {level}" for level in own], _indicators(column.before, own), after)


def _indicators(labels: Labels, levels: Sequence[str]) -> Floats:
    columns = np.zeros((len(labels), len(levels)))
    place = {level: number for number, level in enumerate(levels)}
    for row, label in enumerate(labels.tolist()):
        if label is None:
            columns[row] = np.nan
        elif label in place:
            columns[row, place[label]] = 1.0
    return columns


def _portions(labels: Labels, level: str) -> Floats:
    """How much of each record counts for a label: a record that shows a set is shared evenly by its values."""
    portion = {None: 0.0}
    for label in set(labels.tolist()) - {None}:
        values = label.split(BETWEEN)
        portion[label] = 1.0 if label == level else (level in values) / len(values)
    return np.array([portion[label] for label in labels.tolist()])


def _levels(labels: Labels) -> list[str]:
    """The labels, the most frequent first."""
    counts = Counter(label for label in labels.tolist() if label is not None)
    return sorted(counts, key=lambda label: (-counts[label], label))


def _as_texts(numbers: Floats) -> Labels:
    texts = np.empty(len(numbers), dtype=object)
    texts[:] = [None if number != number else f"{number:g}" for number in numbers.tolist()]
    return texts
