"""A table to be explored: every trial takes the steps that `protect` takes, and what it would release is judged."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.assessment.exploration.documents import open_documents
from shoal.assessment.exploration.recodings import column_recodings
from shoal.assessment.exploration.released_columns import ReleasedColumn, ReleasedNumbers, released_column, share_linked
from shoal.assessment.exploration.trials import Explored, TrialSetup
from shoal.assessment.exploration.ways import LOST, Ways
from shoal.attacks.disclosure import DisclosureRisk
from shoal.data.columns import equal_rows
from shoal.data.files import shown
from shoal.data.inputs import DocumentSource, TableSource, source_of
from shoal.data.kinds.number_forms import NumberForm
from shoal.data.kinds.outlines import agreed_columns, outline_column
from shoal.data.recoding import Limits, rule_of
from shoal.data.roles import Roles, asked_choices, asked_roles, resolve_roles
from shoal.data.table import Table, read_table
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.release.protect import table_options
from shoal.release.tables.columns import TableOptions, estimator_of, table_method
from shoal.release.tables.draft import TablePublication
from shoal.release.tables.generalised import Generalised
from shoal.release.tables.records import TableRecords, reading_plan
from shoal.release.tables.rows import MaskedRows
from shoal.release.tables.steps import TableGroups, TableSteps
from shoal.request.method_options import MASKING, METHODS
from shoal.request.options import AVERAGE, BLANK, GENERALISE
from shoal.request.request import Request
from shoal.results.exploration import AS_PLANNED, OVERLAP, Outcome, Trial
from shoal.terms.hierarchy import ontologies_of
from shoal.utility.loss import table_loss
from shoal.utility.survey_estimates import SurveyOptions, survey_utility
from shoal.version import __version__

WITHHELD = 5.0  # per cent that recoding withholds, where no limit is given
CELLS = ("true", "coarser", "changed", "blank")
MADE = ("out", "force", "private", "sign", "client", "attack")  # options that change no row


def open_explored(
    request: Request, stay_true: Sequence[str] = (), max_withheld: float | None = None, varied: bool = True
) -> Explored:
    """Documents or a table, as `protect` decides, ready to be tried in any way."""
    opened, choices = source_of(request)
    if isinstance(opened, DocumentSource):
        setup = TrialSetup(request.method.refine, ontologies_of(request.method.ontology), request.k)
        return open_documents(opened, setup)
    if not opened.whole:
        raise InputError("an exploration reads one table, and these are parts; give one of them, as a sample")
    if request.publication.after is not None:
        raise InputError("a release that follows another keeps its crowds: nothing to explore; use protect", "after")
    options = table_options(request, choices)
    table = read_table(opened.parts[0], verbatim=reading_plan(opened.roles, options).verbatim)
    left_out = {*MADE, *vars(request.reading)}
    plan = Request.of(None, {name: value for name, value in request.given.items() if name not in left_out})
    explored = ExploredTable(table, plan, resolve_roles(table, opened.roles), max_withheld, tuple(stay_true), varied)
    explored.trials()  # what cannot be is refused now, not after the work
    return explored


@dataclass(frozen=True)
class MaskedTable:
    """What a trial made, before it is rounded and released."""

    steps: TableSteps
    records: TableRecords
    groups: list[TableGroups]
    masked: MaskedRows

    def published(self, coarsen: tuple[tuple[str, int], ...]) -> TablePublication:
        """The rows that would be released, with these columns coarsened, too."""
        table = replace(self.records.table, coarsen={**self.records.table.coarsen, **dict(coarsen)})
        return self.steps.publish(self.masked, self.groups, replace(self.records, table=table))


@dataclass(frozen=True, eq=False)
class ExploredTable:
    """A table as it was read, and its plan."""

    table: Table
    request: Request  # of this table
    roles: Roles
    max_withheld: float | None = None  # per cent of the records
    stay_true: tuple[str, ...] = ()  # columns that must not be averaged
    varied: bool = True  # treatments and recodings are varied, not only k

    @property
    def kind(self) -> str:
        return "numbers" if len(self.forms) == len(self.roles.quasi) else "mixed" if self.forms else "labels"

    def trials(self) -> list[Trial]:
        return self.ways.first()

    def more_trials(self, outcomes: list[Outcome], best: Outcome | None) -> list[Trial]:
        return self.ways.next_to(outcomes, best)

    def __len__(self) -> int:
        return int(self.table.data.num_rows)

    def sample(self, rows: NDArray[np.int64]) -> ExploredTable:
        table = replace(self.table, data=self.table.data.take(pa.array(rows)).combine_chunks())
        return replace(self, table=table)

    def fingerprint(self) -> str:
        asked = [(name, _content(value)) for name, value in sorted(self.request.given.items())]
        digest = hashlib.sha256(repr((__version__, asked, self.max_withheld)).encode())
        for name in self.table.data.column_names:
            digest.update(repr((name, self.table.data[name].to_pylist())).encode())
        return digest.hexdigest()

    @cached_property
    def forms(self) -> dict[str, NumberForm]:
        """The quasi-identifiers that have numbers behind them as they came."""
        options = _options(self.request)
        choices, explained = replace(options.choices, recode={}), reading_plan(self.roles, options).explained
        forms: dict[str, NumberForm] = {}
        for name in self.roles.quasi:
            try:
                outline = outline_column(name, self.table.data[name], choices, explained)
            except InputError:
                if name not in options.choices.recode:
                    raise
                continue  # words that only their recoding makes comparable
            forms |= agreed_columns([name], [{name: outline}], choices)[0]
        return forms

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        return {name: form.numbers(self.table.data[name], shown(name)) for name, form in self.forms.items()}

    @cached_property
    def ways(self) -> Ways:
        """What can be tried; what `protect` would refuse of the plan is refused."""
        plan, quasi = self.request.columns, self.roles.quasi
        options = _options(self.request)
        records = TableSteps(self.request.k, options).read(self._source)
        method, layout, promises = records.table.method, records.table.layout, self.request.promises
        averaged = not isinstance(method, Generalised)
        planned = dict.fromkeys(quasi, AVERAGE) | dict(records.table.treat)
        fixed, recode = {*(plan.treat or {})} - {*self.stay_true}, plan.recode or {}
        said = {planned[name] for name in fixed} | ({GENERALISE} if self.stay_true else set())
        simple = not (recode or fixed or self.stay_true or promises.asked or self.roles.weight or layout.has_gaps)
        recodings = {
            name: column_recodings(
                self.table, name, self.forms.get(name), self.numbers.get(name), options.method.ontology
            )
            for name in quasi
            if name not in recode and self.varied
        }
        return Ways(
            n_rows=records.table.n_rows,
            least=self.request.k,
            planned=planned,
            fixed=frozenset(fixed) if self.varied else frozenset(quasi),
            true=frozenset(self.stay_true),
            recodings=recodings,
            numbers=self.numbers,
            method=None if said & {GENERALISE, BLANK} or not self.varied else "mdav" if self.forms else "sa-mdav",
            averaged=averaged and not layout.kept and plan.coarsen is None,
            masking=self.kind == "numbers" and simple and self.varied,
            withheld=(WITHHELD if self.max_withheld is None else self.max_withheld) / 100.0,
        )

    @property
    def not_averaged(self) -> tuple[str, ...]:
        """Columns that the plan keeps, generalises or blanks."""
        return tuple(name for name, treatment in self.ways.planned.items() if treatment != AVERAGE)

    @property
    def has_gaps(self) -> bool:
        """Whether gaps of numbers are released."""
        return self.request.columns.missing != "withhold" and any(np.isnan(one).any() for one in self.numbers.values())

    @property
    def _source(self) -> TableSource:
        return TableSource((self.table,), asked_roles(self.request.columns), True)

    def masked_by(self, trial: Trial) -> MaskedTable:
        """The table masked as the release of a trial is; noise and swaps take a seed, and a release draws its own."""
        asked = trial_request(self.request, trial, self.kind)
        if asked.method.method in MASKING:
            method = estimator_of(table_method(asked.method), tuple(self.numbers), ()).set_params(random_state=0)
            asked = asked.with_options(method=method, percent=None, refine=None, ontology=None)
        steps = TableSteps(asked.k, replace(_options(asked), attack=False))
        records = steps.read(self._source)
        groups = steps.join(steps.group(records), records)
        return MaskedTable(steps, records, groups, steps.represent(groups, records))

    def try_out(self, trial: Trial) -> Outcome | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # remarks about the table are made when it is protected
            try:
                work = self.masked_by(trial)
                return self.judged(trial, work, work.published(trial.coarsen))
            except InputError:  # this way cannot keep what the plan promises
                return None

    def released_columns(self, work: MaskedTable, publication: TablePublication) -> dict[str, ReleasedColumn]:
        """The quasi-identifiers of the released rows, before and after."""
        released, recode = publication.rows, work.steps.options.choices.recode
        rows = np.array([int(name) - 1 for name in released.before.names], dtype=np.int64)
        columns: dict[str, ReleasedColumn] = {}
        for name in self.roles.quasi:
            before: Any = self.table.data[name].take(pa.array(rows))
            after: Any = released.released[name]
            if name in self.numbers:
                before = self.numbers[name][rows]
                rule = rule_of(recode[name]) if name in recode else None
                if rule is None or isinstance(rule, Limits):  # on the scale of the originals
                    after = _numbers(name, work, publication, self.forms[name])
            columns[name] = released_column(name, before, after)
        return columns

    def judged(self, trial: Trial, work: MaskedTable, publication: TablePublication) -> Outcome:
        """What the released rows lost and what they risk; withheld rows lose all, and nobody finds them."""
        released, quasi = publication.rows.released, list(self.roles.quasi)
        columns = self.released_columns(work, publication)
        there = released.num_rows / len(self)
        lost = {name: 100.0 * (there * float(column.lost.mean()) + 1.0 - there) for name, column in columns.items()}
        found = 100.0 * there * share_linked(list(columns.values()), equal_rows(released, quasi))
        facts = publication.facts[0]
        smallest = facts.smallest
        if publication.rows.before.person is not None:
            smallest = min(people or 0 for _, people, _ in facts.groups.crowds)
        cells: Counter[str] = sum(facts.cells.values(), Counter())
        shares = {
            f"{name} cells": 100.0 * cells[name] / cells.total() for name in ("true", "coarser", "changed", "blank")
        }
        figures = shares | {"withheld": 100.0 * (1.0 - there)} | {LOST + name: loss for name, loss in lost.items()}
        numbers = [column for column in columns.values() if isinstance(column, ReleasedNumbers)]
        if len(numbers) == len(columns) and not any(np.isnan(column.before).any() for column in numbers):
            of_numbers = _figures_of_numbers(quasi, numbers)
            figures |= of_numbers
            found = max(found, *(there * of_numbers[name] for name in of_numbers if name.startswith("linked")))
        if self.roles.weight:
            coded = [name for name in quasi if name not in self.numbers]
            survey = SurveyOptions(weight=self.roles.weight[0])
            before = self.table.data.select(
                [name for name in self.table.data.column_names if name in released.column_names]
            )
            figures[OVERLAP] = 100.0 * survey_utility(before, released, survey, coded=coded).overlap
        return Outcome(trial, float(np.mean(list(lost.values()))), found, smallest, figures)


def trial_request(request: Request, trial: Trial, kind: str = "numbers") -> Request:
    """The request of the release that a trial of this kind of data stands for.

    >>> import pandas as pd
    >>> from shoal.assessment.exploration.tables import trial_request
    >>> from shoal.request.request import Request
    >>> from shoal.results.exploration import Trial
    >>> people = pd.DataFrame({"age": [30, 31, 60, 61], "pay": [1, 2, 8, 9]})
    >>> trial_request(Request.of(people, {"quasi": ["age"]}), Trial("mdav", k=2)).given
    {'k': 2, 'quasi': ('age',), 'method': 'mdav'}
    """
    if trial.method == AS_PLANNED:
        return request.with_options(k=trial.k, out=None, force=None)
    given = {name: dict(getattr(trial, name)) for name in ("treat", "recode", "coarsen")}
    given |= {name: {**(getattr(request.columns, name) or {}), **given[name]} for name in ("treat", "recode")}
    changed = {**vars(trial), **{name: value or None for name, value in given.items()}, "out": None, "force": None}
    if trial.method not in METHODS:
        changed["method"] = None
    if kind == "documents" and trial.method != "semantic":  # only meanings need one
        changed["ontology"] = None
    return request.with_options(**changed)


def _options(request: Request) -> TableOptions:
    return table_options(request, asked_choices(request.columns))


def _numbers(name: str, work: MaskedTable, publication: TablePublication, form: NumberForm) -> Any:
    """Released numbers, NaN for a gap; what is written where they became bands or sets."""
    released, layout = publication.rows, work.records.table.layout
    if name in layout.numbers:
        place = layout.numbers.index(name)
        gaps = np.False_ if released.gaps is None else released.gaps[:, place]
        return np.where(gaps, np.nan, released.numbers[:, place])
    if name in layout.kept:
        return form.numbers(released.released[name], shown(name))
    return released.released[name]


def _figures_of_numbers(names: list[str], columns: list[ReleasedNumbers]) -> dict[str, float]:
    """The measures by which the literature compares maskings of numbers, in per cent."""
    before, after = (
        pa.table(dict(zip(names, (pa.array(getattr(column, side)) for column in columns), strict=True)))
        for side in ("before", "after")
    )
    cost, risk = table_loss(before, after), DisclosureRisk().run(before, after)
    return {
        "IL": cost.mean_change,
        "IL1": 100.0 * cost.values,
        "IL2": 100.0 * cost.means,
        "IL3": 100.0 * cost.covariances,
        "IL4": 100.0 * cost.variances,
        "IL5": 100.0 * cost.correlations,
        "PIL": 100.0 * cost.probabilistic.mean,
        "DR": risk.risk,
        "linked, Euclidean": 100.0 * risk.euclidean.rate,
        "linked, Mahalanobis": 100.0 * risk.mahalanobis.rate,
        "linked, probabilistic": 100.0 * risk.probabilistic.rate,
        "interval disclosure": 100.0 * risk.interval.rate,
    }


def _content(value: Any) -> Any:
    """What an option says, not where it lies."""
    if isinstance(value, Mapping):
        return [(str(name), _content(content)) for name, content in sorted(value.items(), key=str)]
    if isinstance(value, str | os.PathLike) and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    taxonomy = getattr(value, "taxonomy", None)
    if taxonomy is not None:
        return hashlib.sha256(repr(taxonomy.names).encode() + taxonomy.parents.tobytes()).hexdigest()
    return str(value)
