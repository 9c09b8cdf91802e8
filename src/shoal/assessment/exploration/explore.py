"""explore: try many ways to protect a table or documents, and recommend the one that costs least under your limits."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from shoal.assessment.exploration.folder import ExplorationFolder
from shoal.assessment.exploration.harden import hardened
from shoal.assessment.exploration.tables import ExploredTable, open_explored
from shoal.assessment.exploration.trials import Explored, Limits, TrialSetup, recommend, run_trials
from shoal.attacks.learned.leakage import FEWEST
from shoal.data import Roles
from shoal.data.roles import Role, column_choices
from shoal.errors import InputError
from shoal.pages.exploration import exploration_html
from shoal.request.request import checked_value
from shoal.results.exploration import Exploration, Outcome, Trial, pareto_front


class SourceOptions(TypedDict, total=False):
    """How the source is read and protected, by name."""

    ontology: Any
    mapping: Any
    refine: bool
    workers: int | None
    text_column: str | None
    id_column: str | None
    label_column: str | None
    kinds: Mapping[str, str] | None
    categorical: Any
    order: Mapping[str, Any] | None
    missing: str


class MoreOptions(SourceOptions, total=False):
    """What else `explore` takes, by name."""

    repeated: Sequence[str]
    crowd: bool
    on_trial: Callable[[Outcome], None] | None


def explore(
    source: Any,
    out: str | os.PathLike[str],
    *,
    roles: Roles | None = None,
    max_risk: float | None = None,
    max_loss: float | None = None,
    min_k: int | None = None,
    harden: bool = False,
    force: bool = False,
    **more: Unpack[MoreOptions],
) -> Exploration:
    """Protect a table or documents in many ways, judge each, and recommend one.

    Parameters
    ----------
    source : as for `protect`, in one piece
    out : path
        A folder for the results, written as they come: a second call goes on where the first stopped. It is made from
        the original: keep it to yourself.
    max_risk, max_loss : float
        Limits in per cent: of the disclosure risk DR and the change of statistics IL of numbers; of the records linked
        and the information lost of labels, alone or with numbers; of the documents linked and the order of distances
        lost. Of what keeps them, the least loss is recommended under a limit of risk, the least risk under a limit of
        loss, and the best score without limits or with both.
    min_k : int
        Recommend only what makes at least so many records alike.
    harden : bool
        Go on from where plain linkage finds about `max_risk` per cent of the records: coarsen the column that leaks
        most and attack again, until an attacker trained on all links finds no more than that either. For numbers.
    ontology, mapping : as for the estimators
        Of labels, what they mean. With an ontology documents are tried by meaning as well.
    refine : bool, True by default
        Search for better groups than MDAV's.
    workers : int
        Processes; as many as there are cores unless given.
    repeated : sequence of str
        Options to repeat in the command that makes the recommended release, such as ("--mapping", "jobs.csv").
    text_column, id_column, label_column : str
        For documents, as in `protect`.
    kinds, categorical, order : as for `protect`
        What the columns of a table hold, where that is not recognised.
    missing : as for `protect`
        Rows with gaps are refused, withheld, or tried with the mean of the column in place of each gap.
    crowd : bool, True by default
        Recommend only what promises a crowd. Rank swapping, noise and sketches of single records promise none.
    on_trial : function
        Called with each outcome as it comes; those of an earlier run come first.
    """
    for name in more.keys() - MoreOptions.__annotations__.keys():
        raise TypeError(f"explore() got an unexpected keyword argument {name!r}")
    limits = Limits(max_risk, max_loss, min_k, more.get("crowd", True))
    explored = opened(source, roles, more)
    if harden:
        _check_hardening(limits, explored)
    ways = explored.trials()
    runs = ExplorationFolder(Path(out), explored.fingerprint(), force)
    _run_all(explored, ways, runs, more.get("workers"), more.get("on_trial"))

    tried = [runs.done[trial.name] for trial in ways if trial.name in runs.done]
    if not tried:
        raise InputError("none of the ways to protect these records is possible; try shoal protect, which says why")
    outcomes = sorted(tried, key=lambda one: (one.score, one.trial.name))
    best, path = recommend(outcomes, limits), list[Outcome]()
    if isinstance(explored, ExploredTable) and harden:
        best, path = hardened(outcomes, explored.quasi, explored.setup, runs, limits)
    exploration = Exploration(
        tuple(outcomes),
        tuple(pareto_front(outcomes)),
        best,
        None if best is None else _command(source, explored, best.trial, more.get("repeated", ()), runs),
        max_risk,
        max_loss,
        explored.kind,
        tuple(path),
        min_k,
        limits.crowd,
    )
    runs.write_results(exploration, exploration_html(exploration))
    return exploration


def trials(source: Any, *, roles: Roles | None = None, **more: Unpack[SourceOptions]) -> Iterator[Outcome]:
    """Each way to protect a table or documents, carried out and attacked: its outcome as soon as it is finished.

    Nothing is written. Closing the generator ends the trials that are under way. Parameters are those of `explore`.
    """
    explored = opened(source, roles, more)
    return run_trials(explored, explored.trials(), more.get("workers"))


def protect_options(
    trial: Trial, source: Any, *, roles: Roles | None = None, **more: Unpack[SourceOptions]
) -> dict[str, Any]:
    """The keyword arguments of `shoal.protect` that release the source as the trial did; `trial.options` for a shell.

    >>> import pandas as pd
    >>> from shoal.assessment.exploration.explore import protect_options
    >>> from shoal.results.exploration import Trial
    >>> people = pd.DataFrame({"age": [30, 31, 60, 61], "pay": [1, 2, 8, 9]})
    >>> sorted(protect_options(Trial("mdav", k=2), people))
    ['coarsen', 'k', 'method', 'roles']
    """
    return opened(source, roles, more).protect_with(trial)


def opened(source: Any, roles: Roles | None, more: SourceOptions | MoreOptions) -> Explored:
    """The source, ready to be tried in any way."""
    setup = TrialSetup(more.get("refine", True), more.get("ontology"), more.get("mapping"))
    columns = {
        "text_column": more.get("text_column"),
        "id_column": more.get("id_column"),
        "label_column": more.get("label_column"),
    }
    asked = column_choices(more.get("kinds"), more.get("categorical"), more.get("order"))
    return open_explored(source, roles, setup, columns, asked, checked_value("missing", more.get("missing", "refuse")))


def _check_hardening(limits: Limits, explored: Explored) -> None:
    n_rows = len(explored)
    if limits.max_risk is None:
        raise InputError("hardening needs a limit to reach; give max_risk, in per cent of the records: --max-risk")
    if explored.kind != "numbers":
        what = {"labels": "labels", "mixed": "numbers and labels", "documents": "documents"}[explored.kind]
        raise InputError(f"only numbers can be hardened, and these are {what}; leave --harden out, or raise k")
    if isinstance(explored, ExploredTable) and explored.filled:
        raise InputError("columns with gaps cannot be coarsened; pass --missing withhold, or leave --harden out")
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
) -> None:
    """Every trial that is not done yet, each kept at once."""
    done = [runs.done[trial.name] for trial in ways if trial.name in runs.done]
    if heard is not None:
        for outcome in done:
            heard(outcome)
    try:
        for outcome in run_trials(
            explored, [trial for trial in ways if trial.name not in runs.done], workers, len(done)
        ):
            runs.add(outcome)
            if heard is not None:
                heard(outcome)
    except BaseException as problem:
        if not isinstance(problem, Exception):  # Ctrl-C, or a signal
            warnings.warn("what was tried so far is kept: the same command goes on from there", stacklevel=2)
        raise


def _command(source: Any, explored: Explored, trial: Trial, repeated: Sequence[str], folder: ExplorationFolder) -> str:
    """The one command that makes the release."""
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else "INPUT"
    name = f"./{name}" if name.startswith("-") else name
    given = ["shoal", "protect", name, "-o", "release"]
    roles = explored.roles
    if roles is None:
        columns = {f"--{option.replace('_', '-')}": column for option, column in explored.columns.items()}
        given += [word for option, column in columns.items() if column is not None for word in (option, column)]
    elif _needs_no_file(roles):
        lists = {"--quasi": roles.quasi, "--confidential": roles.confidential, "--insensitive": roles.insensitive}
        given += [word for option, columns in lists.items() if columns for word in (option, ",".join(columns))]
    else:
        given += ["--roles", str(folder.write_roles(roles))]
    again = list(repeated)
    if roles is None and trial.method != "semantic" and "--ontology" in again:  # only meanings need one
        option = again.index("--ontology")
        del again[option : option + 2]
    return " ".join([*map(shlex.quote, given), trial.options, *map(shlex.quote, again)])


def _needs_no_file(roles: Roles) -> bool:
    """Whether lists of names say all of it: the names survive there, and nothing is said of kinds and orders."""
    names = [column for role in Role for column in roles.columns(role)]
    listed = all("," not in name and name == name.strip() and name.isprintable() for name in names)
    return listed and not roles.kinds and not roles.order
