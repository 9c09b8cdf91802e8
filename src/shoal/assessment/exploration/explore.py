"""explore: try many ways to protect a table or documents, and recommend the one that costs least under your limits."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.assessment.exploration.folder import ExplorationFolder
from shoal.assessment.exploration.harden import hardened
from shoal.assessment.exploration.tables import ExploredTable, open_explored, trial_request
from shoal.assessment.exploration.trials import Explored, Limits, reason, recommend, run_trials
from shoal.attacks.learned.leakage import FEWEST
from shoal.data.files import shown
from shoal.data.roles import listed_roles
from shoal.errors import InputError
from shoal.pages.exploration import exploration_html
from shoal.request.judging_options import ExploreOptions
from shoal.request.options import AVERAGE, GENERALISE
from shoal.request.plan import request_of
from shoal.request.request import OPTIONS, Request, checked_part, not_default
from shoal.results.exploration import Exploration, Outcome, Trial, pareto_front

ROUNDS = 2  # times that columns are varied next to the best way


def explore(
    source: Any,
    out: str | os.PathLike[str] = "exploration",
    *,
    max_risk: float | None = None,
    max_loss: float | None = None,
    min_k: int | None = None,
    max_withheld: float | None = None,
    min_overlap: float | None = None,
    stay_true: Sequence[str] | None = None,
    crowd: bool = True,
    harden: bool = False,
    workers: int | None = None,
    on_trial: Callable[[Any], None] | None = None,
    k: int = 5,
    quasi: Sequence[str] | None = None,
    confidential: Sequence[str] | None = None,
    insensitive: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    weight: str | None = None,
    calibrate: Sequence[str] | None = None,
    roles: Any = None,
    text_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    kinds: Mapping[str, str] | None = None,
    categorical: Any = None,
    order: Mapping[str, Any] | None = None,
    round: Any = None,
    recode: Mapping[str, str] | None = None,
    treat: Mapping[str, str] | None = None,
    keep_visible: Mapping[str, str] | None = None,
    coarsen: Mapping[str, int] | None = None,
    allow: Sequence[str] | None = None,
    missing: str = "refuse",
    l: float | None = None,
    diversity: str = "distinct",
    c: float | None = None,
    t: float | None = None,
    beta: float | None = None,
    person: str | None = None,
    household: str | None = None,
    pseudonym: bool = False,
    k_column: str | None = None,
    refine: bool = True,
    time_budget: float | None = None,
    ontology: Any = None,
    mapping: Any = None,
    importance: Mapping[str, float] | None = None,
    force: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    skip_rows: int | None = None,
    header_rows: int | None = None,
    missing_codes: Mapping[str, Any] | None = None,
    query: str | None = None,
) -> Exploration:
    """Protect a table or documents in many ways, judge each, and recommend one.

    Of what keeps the limits, the least loss is recommended under a limit of risk, the least risk under a limit of loss,
    and the best score without limits or with both. All that the plan promises is kept, and what it says of a column
    stands; treatment and recoding of other columns are varied, and k from the plan's on.

    The options are those of `shoal explore`; docs/cli.md has a sentence on each.

    Parameters
    ----------
    source : as for `protect`, in one piece
    out : path
        A folder for the results, written as they come: a second call goes on where the first stopped. It is made from
        the original: keep it to yourself.
    workers : int
        Processes; as many as there are cores unless given.
    on_trial : function
        Called with each outcome as it comes; those of an earlier run come first.
    """
    options = dict(locals())  # all of them, before any other name is bound
    asked = checked_part(ExploreOptions, options)
    shared = {name: options[name] for name in OPTIONS if name in options and name != "out"}
    return explore_request(request_of(source, not_default(shared)), asked)


def explore_request(request: Request, asked: ExploreOptions) -> Exploration:
    """Explore the source of a request."""
    limits = Limits(asked.max_risk, asked.max_loss, asked.min_k, asked.crowd, asked.max_withheld, asked.min_overlap)
    stay_true = tuple(asked.stay_true or ())
    request = _staying_true(request, stay_true)
    explored = open_explored(request, stay_true, asked.max_withheld)
    if asked.min_overlap is not None and not (explored.roles and explored.roles.weight):
        raise InputError(
            "{option} is for surveys; name the column with their weights: {option}", ("min_overlap", "weight")
        )
    if asked.harden:
        _check_hardening(limits, explored)
    runs = ExplorationFolder(Path(asked.out), explored.fingerprint(), request.publication.force)
    ways, new = list[Trial](), explored.trials()
    outcomes: list[Outcome] = []
    for _ in range(ROUNDS + 1):
        _run_all(explored, new, runs, asked.workers, asked.on_trial, len(ways))
        ways += new
        outcomes = [runs.done[trial.name] for trial in ways if trial.name in runs.done]
        new = [trial for trial in explored.more_trials(outcomes, recommend(outcomes, limits)) if trial not in ways]
        if not new:
            break
    if not outcomes:
        raise InputError("none of the ways to protect these records is possible; try shoal protect, which says why")
    outcomes.sort(key=lambda one: (one.score, one.trial.name))
    best, path = recommend(outcomes, limits), list[Outcome]()
    if isinstance(explored, ExploredTable) and asked.harden:
        best, path = hardened(outcomes, explored, runs, limits)
    exploration = Exploration(
        tuple(outcomes),
        tuple(pareto_front(outcomes)),
        best,
        None if best is None else _command(trial_request(request, best.trial, explored.kind), runs),
        asked.max_risk,
        asked.max_loss,
        explored.kind,
        tuple(path),
        asked.min_k,
        limits.crowd,
        "" if best is None else reason(best, outcomes, limits, request.k),
    )
    runs.write_results(exploration, exploration_html(exploration))
    return exploration


def _staying_true(request: Request, columns: Sequence[str]) -> Request:
    """The request with these columns generalised, if it does not say what else that is true becomes of them."""
    treat = request.columns.treat or {}
    for name in columns:
        if treat.get(name) == AVERAGE:
            raise InputError(
                f"column {shown(name)} is averaged and must stay true; leave out one: {{option}} or {{option}}",
                ("treat", "stay_true"),
            )
    return request.with_options(treat={**dict.fromkeys(columns, GENERALISE), **treat}) if columns else request


def trials(request: Request, workers: int | None = None) -> Iterator[Outcome]:
    """Each way to protect the source of a request, carried out and attacked: its outcome as soon as it is finished.

    Nothing is written. Closing the generator ends the trials that are under way.
    """
    explored = open_explored(request)
    return run_trials(explored, explored.trials(), workers)


def _check_hardening(limits: Limits, explored: Explored) -> None:
    n_rows = len(explored)
    if limits.max_risk is None:
        raise InputError(
            "hardening needs a limit to reach; give max_risk, in per cent of the records: {option}", "max_risk"
        )
    if explored.kind != "numbers":
        what = {"labels": "labels", "mixed": "numbers and labels", "documents": "documents"}[explored.kind]
        raise InputError(
            f"only numbers can be hardened, and these are {what}; leave {{option}} out, or raise k", "harden"
        )
    if isinstance(explored, ExploredTable) and explored.not_averaged:
        raise InputError(
            f"only averages can be hardened, and column {shown(explored.not_averaged[0])} has none; leave out "
            "{option}",
            ("harden", "treat"),
        )
    if isinstance(explored, ExploredTable) and explored.has_gaps:
        raise InputError(
            "columns with gaps cannot be coarsened; pass {option}, or leave {option} out",
            ("missing withhold", "harden"),
        )
    if limits.max_risk < 100.0 / n_rows:
        raise InputError(
            f"max_risk={limits.max_risk:g} must be a per cent from {100.0 / n_rows:.2g}, what guessing finds, to 100"
        )
    if n_rows < FEWEST:
        raise InputError(f"hardening needs at least {FEWEST} records to learn from, got {n_rows}")


def _run_all(
    explored: Explored,
    ways: Sequence[Trial],
    runs: ExplorationFolder,
    workers: int | None,
    heard: Callable[[Outcome], None] | None,
    already: int,
) -> None:
    """Every trial that is not done yet, each kept at once; those of an earlier run are heard of first."""
    done = [runs.done[trial.name] for trial in ways if trial.name in runs.done]
    if heard is not None:
        for outcome in done:
            heard(outcome)
    left = [trial for trial in ways if trial.name not in runs.done]
    try:
        for outcome in run_trials(explored, left, workers, already + len(done)):
            runs.add(outcome)
            if heard is not None:
                heard(outcome)
    except BaseException as problem:
        if not isinstance(problem, Exception):  # Ctrl-C, or a signal
            warnings.warn("what was tried so far is kept: the same command goes on from there", stacklevel=2)
        raise


def _command(request: Request, folder: ExplorationFolder) -> str:
    """The one command that makes the release; a plan for it is written, too."""
    request = request.with_options(**listed_roles(request.columns))
    try:
        plan = [str(folder.write_plan(request.with_options(out="release")))]
    except InputError:  # an object that has no name
        plan = []
    try:
        words = request.command_words
    except ValueError:  # a column has a name that no command line can spell
        return shlex.join(["shoal", "protect", *plan])
    return shlex.join(["shoal", "protect", words[0], "-o", "release", *words[1:]])
