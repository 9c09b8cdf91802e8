"""What people see: lines on stdout and stderr, bars while they wait, and the prompt for a passphrase."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from shoal import progress
from shoal.errors import InputError, Note, SearchStopped

if TYPE_CHECKING:
    from rich.console import Console

DONE, BROKEN, WRONG, INTERRUPTED = 0, 1, 2, 130  # exit codes

PASSPHRASE = "SHOAL_PASSPHRASE"
EVERY = 0.1  # seconds between two lines of JSON on the progress of a step
LINE_EVERY = 10.0  # seconds between two lines for people who read them in a pipe or a log

_bars: Console | None = None  # where they are shown, if they are


def examples(*commands: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def write(line: str) -> None:
    """To stdout. That its reader has gone (`| head`) changes neither the work nor the exit code."""
    try:
        typer.echo(line)
    except BrokenPipeError:
        end(sys.stdout)


def say(message: str, code: int = DONE) -> int:
    """One line to stderr, not longer than one can read."""
    line = printable(" ".join(message.split()))
    line = line if len(line) <= 800 else f"{line[:400]} … {line[-400:]}"
    try:
        if _bars is not None:  # above them; they would wipe it out
            _bars.print(f"shoal: {line}", markup=False, highlight=False, soft_wrap=True)
        else:
            typer.echo(f"shoal: {line}", err=True)
    except OSError:  # the terminal is gone
        end(sys.stderr)
    return code


def say_if_kernels_compile() -> None:
    """Why the first run takes longer: numba compiles its kernels, and keeps them beside their sources."""
    from shoal import kernels

    if not any(Path(kernels.__path__[0]).rglob("*.nbi")) and "NUMBA_CACHE_DIR" not in os.environ:
        say("the first run compiles kernels, which takes about a minute; later runs start at once")


def printable(text: str) -> str:
    """Names of files and columns may hold line ends, escape sequences and bytes that are no characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _printable_value(value: Any) -> str:
    return printable(str(value))


def write_page(template: str, **values: Any) -> None:
    """The lines of a template, to stdout; names in them are made printable."""
    from shoal.pages.words import page

    for line in page(template, _printable_value, **values).splitlines():
        write(line)


def as_flag(name: str, value: str) -> str:
    """How the command line spells an option."""
    from shoal.request.request import spelled_option

    flag = spelled_option(name)
    return f"{flag} {shlex.quote(value)}" if value else flag


def show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if isinstance(message, Note):
        say(f"note: {message.spelled(as_flag)}")
    elif issubclass(category, SearchStopped):
        say(f"note: {message}; press Ctrl-C again to end without a release")
    elif issubclass(category, UserWarning):
        say(f"note: {message}")


def end(stream: TextIO) -> None:
    """Send what is still to be printed nowhere; Python would complain when it flushes at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _progress_as_json() -> progress.Listener:
    """A line per step and tenth of a second. When nobody reads them any more, nobody waits for the work either."""
    told: dict[str, float] = {}

    def show(name: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if done != total and now - told.get(name, 0.0) < EVERY:
            return
        told[name] = now
        try:
            typer.echo(json.dumps({"step": name, "done": done, "total": total}), err=True)
        except BrokenPipeError:
            end(sys.stderr)
            os.kill(os.getpid(), signal.SIGTERM)

    return show


@contextmanager
def _progress_in_lines() -> Iterator[None]:
    """The latest step, every ten seconds; a step that takes minutes is repeated."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(LINE_EVERY):
            if progress.latest is not None:
                name, done, total = progress.latest
                say(f"{name}: {done:,}" + (f" of {total:,}" if total is not None else ""))

    reporter = threading.Thread(target=repeat, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        ended.set()
        reporter.join()


@contextmanager
def shown_progress() -> Iterator[None]:
    """Bars on a terminal, a line now and then when piped; lines of JSON, or none, if the environment says so."""
    global _bars
    wanted = os.environ.get("SHOAL_PROGRESS")
    if wanted == "json":
        with progress.listening(_progress_as_json()):
            yield
        return
    if wanted == "off":
        yield
        return
    if not sys.stderr.isatty():
        with _progress_in_lines():
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    looks = TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*looks, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}
        _bars = bars.console

        def show(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        try:
            with progress.listening(show):
                yield
        finally:
            _bars = None


def asked_passphrase(confirmed: bool = False) -> str:
    """From the environment, or typed unseen; `confirmed`: typed twice."""
    if PASSPHRASE in os.environ:
        if not os.environ[PASSPHRASE]:
            raise InputError(f"{PASSPHRASE} is empty; set it to the passphrase, or unset it to type one")
        return os.environ[PASSPHRASE]
    if not sys.stdin.isatty():
        raise InputError(f"the key needs a passphrase, and there is no terminal to type it on; set {PASSPHRASE}")
    return str(typer.prompt("Passphrase of the key", hide_input=True, err=True, confirmation_prompt=confirmed))
