"""explore: try many ways to protect a table, and recommend the one that costs least under the risk you accept."""

from __future__ import annotations

import hashlib
import os
import shlex
import signal
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypedDict, Unpack

import pyarrow as pa

from shoal import progress
from shoal.errors import InputError
from shoal.exploration.folder import ExplorationFolder
from shoal.exploration.harden import hardened
from shoal.exploration.limits import Limits
from shoal.exploration.trials import TrialSetup, label_trials, number_trials, try_out
from shoal.io import Roles, check_complete, quasi_matrix, read_table, resolve_roles
from shoal.io.files import shown
from shoal.io.table import Role, check_labels, holds_numbers
from shoal.ontology.value_mapping import check_mapping, explained_columns
from shoal.pages.exploration import exploration_html
from shoal.results.exploration import Exploration, Outcome, Trial
from shoal.risk.learned.leakage import FEWEST

__all__ = ["explore", "pareto_front", "recommend"]


class MoreOptions(TypedDict, total=False):
    """What else `explore` takes, by name."""

    ontology: Any
    mapping: Any
    refine: bool
    workers: int | None
    repeated: Sequence[str]


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
    """Protect a table in many ways, judge each, and recommend one.

    Parameters
    ----------
    source : path or any dataframe; its quasi-identifiers are all numbers or all labels
    out : path
        A folder for the results, written as they come: a second call goes on where the first stopped. It is made from
        the original: keep it to yourself.
    max_risk, max_loss : float
        Limits in per cent: of the disclosure risk DR and the change of statistics IL of numbers, of the records linked
        and the information lost of labels. Of what keeps them, the least loss is recommended under a limit of risk,
        the least risk under a limit of loss, and the best score without limits or with both.
    min_k : int
        Recommend only what makes at least so many records alike.
    harden : bool
        Go on from where plain linkage finds about `max_risk` per cent of the records: coarsen the column that leaks
        most and attack again, until an attacker trained on all links finds no more than that either. For numbers.
    ontology, mapping : as for `CategoricalMicroaggregation`
    refine : bool, True by default
        Search for better groups than MDAV's.
    workers : int
        Processes; as many as there are cores unless given.
    repeated : sequence of str
        Options to repeat in the command that makes the recommended release, such as ("--mapping", "jobs.csv").
    """
    for name in more.keys() - MoreOptions.__annotations__.keys():
        raise TypeError(f"explore() got an unexpected keyword argument {name!r}")
    limits = Limits(max_risk, max_loss, min_k)
    setup = TrialSetup(more.get("refine", True), more.get("ontology"), more.get("mapping"))
    quasi, given_roles, kind = _quasi(source, roles, setup)
    if harden:
        _check_hardening(limits, quasi.num_rows, kind)
    trials = number_trials(quasi.num_rows, quasi.num_columns) if kind == "numbers" else label_trials(quasi.num_rows)
    runs = ExplorationFolder(Path(out), _fingerprint(quasi, setup, kind), force)
    _run_all([trial for trial in trials if trial.name not in runs.done], quasi, setup, runs, more.get("workers"))

    outcomes = sorted((runs.done[trial.name] for trial in trials), key=lambda one: (one.score, one.trial.name))
    best, path = hardened(outcomes, quasi, setup, runs, limits) if harden else (recommend(outcomes, limits), [])
    found = Exploration(
        tuple(outcomes),
        tuple(pareto_front(outcomes)),
        best,
        None if best is None else _command(source, given_roles, best.trial, more.get("repeated", ()), runs),
        max_risk,
        max_loss,
        kind,
        tuple(path),
        min_k,
    )
    runs.write_results(found, exploration_html(found))
    return found


def _check_hardening(limits: Limits, n_rows: int, kind: str) -> None:
    if limits.max_risk is None:
        raise InputError("hardening needs a limit to reach; give max_risk, in per cent of the records: --max-risk")
    if kind == "labels":
        raise InputError("only numbers can be hardened, and these are labels; leave --harden out, or raise k")
    if limits.max_risk < 100.0 / n_rows:
        raise InputError(
            f"max_risk={limits.max_risk:g} must be a per cent from {100.0 / n_rows:.2g}, what guessing finds, to 100"
        )
    if n_rows < FEWEST:
        raise InputError(f"hardening needs at least {FEWEST} records to learn from, got {n_rows}")


def pareto_front(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that no other beats in loss and risk both, by rising risk."""
    front: list[Outcome] = []
    for one in sorted(outcomes, key=lambda one: (one.risk, one.loss, one.trial.name)):
        if not front or one.loss < front[-1].loss:
            front.append(one)
    return front


def recommend(outcomes: Sequence[Outcome], limits: Limits) -> Outcome | None:
    """The best that keeps the limits; None when none does."""
    allowed = [one for one in outcomes if limits.kept_by(one)]
    if limits.max_risk is not None and limits.max_loss is None:
        return min(allowed, key=lambda one: (one.loss, one.risk, one.trial.name), default=None)
    if limits.max_loss is not None and limits.max_risk is None:
        return min(allowed, key=lambda one: (one.risk, one.loss, one.trial.name), default=None)
    return min(allowed, key=lambda one: (one.score, one.trial.name), default=None)


def _quasi(source: Any, roles: Roles | None, setup: TrialSetup) -> tuple[pa.Table, Roles, str]:
    """The quasi-identifiers, and whether they are numbers or labels."""
    ontology, mapping = setup.ontology, setup.mapping
    table = read_table(source, verbatim=explained_columns(ontology, mapping))
    check_mapping(mapping, table.data.column_names)
    roles = resolve_roles(table, roles)
    numbers = [holds_numbers(table.data[name].type) for name in roles.quasi]
    if all(numbers):
        values, complete = quasi_matrix(table, roles)
        check_complete(table, roles, complete, remedy="")
        return pa.table({name: values[:, place] for place, name in enumerate(roles.quasi)}), roles, "numbers"
    if any(numbers):
        mixed = ", ".join(shown(name) for name, number in zip(roles.quasi, numbers, strict=True) if not number)
        raise InputError(f"numbers and labels ({mixed}) cannot be explored together; name columns of one kind: --quasi")
    check_labels(table, roles.quasi, hierarchy=ontology is not None or mapping is not None)
    return table.data.select(list(roles.quasi)).combine_chunks(), roles, "labels"


def _fingerprint(quasi: pa.Table, setup: TrialSetup, kind: str) -> str:
    """What the results depend on; of the data, only a digest that leads nowhere."""
    meaning = [] if kind == "numbers" else [_content(setup.mapping), _content(setup.ontology)]
    settings = version("shoal"), quasi.schema.names, quasi.num_rows, setup.refine, meaning
    digest = hashlib.sha256(repr(settings).encode())
    for column in quasi.columns:
        digest.update(repr(column.to_pylist()).encode())
    return digest.hexdigest()


def _content(value: Any) -> Any:
    """What an ontology or a mapping says, not where it lies."""
    if isinstance(value, Mapping):
        return [(str(name), _content(one)) for name, one in sorted(value.items(), key=str)]
    if isinstance(value, str | os.PathLike) and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    taxonomy = getattr(value, "taxonomy", None)
    if taxonomy is not None:
        return hashlib.sha256(repr(taxonomy.names).encode() + taxonomy.parents.tobytes()).hexdigest()
    return str(value)


def _leave_signals_to_the_parent() -> None:
    """Those that a terminal sends to all; the parent ends its workers by SIGTERM."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def _run_all(
    trials: list[Trial], quasi: pa.Table, setup: TrialSetup, runs: ExplorationFolder, workers: int | None
) -> None:
    """Every trial, several at a time."""
    already = len(runs.done)
    total = already + len(trials)
    progress.step("exploring", already, total)
    if not trials:
        return
    n_workers = min(workers or os.cpu_count() or 1, len(trials))
    if n_workers == 1:
        for trial in trials:
            runs.add(try_out(trial, quasi, setup))
            progress.step("exploring", len(runs.done), total)
        return
    pool = ProcessPoolExecutor(n_workers, mp_context=get_context("spawn"), initializer=_leave_signals_to_the_parent)
    try:
        waiting = [pool.submit(try_out, trial, quasi, setup) for trial in trials]
        for ready in as_completed(waiting):
            runs.add(ready.result())
            progress.step("exploring", len(runs.done), total)
    except BaseException as problem:
        if not isinstance(problem, Exception):  # Ctrl-C, or a signal
            warnings.warn("what was tried so far is kept: the same command goes on from there", stacklevel=2)
        for worker in list(pool._processes.values()):  # their trials would run to the end
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _command(source: Any, roles: Roles, trial: Trial, repeated: Sequence[str], folder: ExplorationFolder) -> str:
    """The one command that makes the release."""
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else "TABLE"
    name = f"./{name}" if name.startswith("-") else name
    given = ["shoal", "protect", name, "-o", "release"]
    if all(_can_be_listed(column) for role in Role for column in roles.columns(role)):
        lists = {"--quasi": roles.quasi, "--confidential": roles.confidential, "--insensitive": roles.insensitive}
        given += [word for option, columns in lists.items() if columns for word in (option, ",".join(columns))]
    else:
        given += ["--roles", str(folder.write_roles(roles))]
    return " ".join([*map(shlex.quote, given), trial.options, *map(shlex.quote, repeated)])


def _can_be_listed(column: str) -> bool:
    """Whether a name survives in a list of names, comma-separated; else it needs a file."""
    return "," not in column and column == column.strip() and column.isprintable()
