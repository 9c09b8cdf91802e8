"""The command line itself: its options, and what becomes of a mistake."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.later import load_scipy_stats_later
from shoal.cli.options import GroupedCommand
from shoal.cli.signals import Ended, end_if_signalled, ended_by_signals, leave
from shoal.cli.terminal import DONE, INTERRUPTED, WRONG, as_flag, end, say, show_warning, write
from shoal.errors import InputError, ShoalError

# What typer raises for a wrong command line. It carries a click of its own, whose names are not public.
UsageMistake: type[Any] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="shoal",
    help="Release confidential documents and tables so that every record hides in a crowd of at least k.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Replace earlier output.")]


def command(name: str | None = None, **more: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command whose options stand under headings."""
    return app.command(name, cls=GroupedCommand, **more)


@app.callback(invoke_without_command=True)
def shoal_options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Release confidential documents and tables so that every record hides in a crowd of at least k."""
    if version:
        write(f"shoal {shoal.__version__}")
        raise typer.Exit(DONE)
    if context.invoked_subcommand is None:
        write(context.get_help())


def main() -> None:
    """Run a command; a user's mistake is one line on stderr and exit code 2."""
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # what it starts imports nothing from the folder with the data
    load_scipy_stats_later()
    try:
        with ended_by_signals():
            code = _run()
    except (Ended, KeyboardInterrupt) as signalled:
        ended = signalled if isinstance(signalled, Ended) else Ended(signal.SIGINT)
        how = "interrupted" if ended.code == INTERRUPTED else f"ended by {ended.name}"
        leave(say(f"{how}; {ended.left}", ended.code))
    sys.exit(code)


def _named_alone(arguments: list[str]) -> typer.Typer:
    """The command line with the one command that is named, so that no other's options are read; else all of it."""
    named = [one for one in app.registered_commands if [one.name or getattr(one.callback, "__name__", "")] == arguments]
    if not named:
        return app
    alone = copy(app)
    alone.registered_commands, alone.registered_groups = named, []
    return alone


def _run() -> int:
    """The exit code of the command."""
    warnings.showwarning = show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not have every letter of a file's name
    try:
        code = _named_alone(sys.argv[1:2])(standalone_mode=False)
        if code == INTERRUPTED:  # what typer makes of Ctrl-C
            raise KeyboardInterrupt
        return code or DONE
    except UsageMistake as mistake:
        where = getattr(mistake, "ctx", None)
        path = where.command_path if where else "shoal"
        return say(f"{mistake.format_message().rstrip('.')}; see: {path} --help", WRONG)
    except InputError as mistake:
        return say(mistake.spelled(as_flag), WRONG)
    except ShoalError as mistake:
        return say(str(mistake), WRONG)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except MemoryError:
        return say("there is not enough memory for this input; try a part of it", WRONG)
    except OSError as problem:  # a full disk behind stdout
        end(sys.stdout)
        return say(f"the output cannot be written: {problem.strerror}; make room for it", WRONG)
    except Exception as problem:  # A traceback may quote the data, and its exit code would say "a promise is broken".
        if isinstance(problem, ImportError):
            end_if_signalled()
        place = traceback.extract_tb(problem.__traceback__)[-1]
        fault = f"{type(problem).__name__} in {Path(place.filename).name}, line {place.lineno}"
        return say(f"this is a fault in Shoal, not in what you gave it ({fault}); please report that line", WRONG)
