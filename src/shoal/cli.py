"""The command line: one function a command. Each translates options, calls one function, and prints what came back."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal import options, progress
from shoal.errors import InputError, ShoalError

__all__ = ["app", "main"]

DONE, BROKEN, WRONG, INTERRUPTED = 0, 1, 2, 130  # exit codes

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
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier release.")]
METHODS = ("mdav", "ranking", "z-scores", "principal-component")


def _examples(*commands: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


@app.command(
    epilog=_examples(
        "shoal protect letters.jsonl -k 5 -o release/ --label-column speciality",
        "shoal protect people.csv -k 5 -o release/ --quasi age,income --confidential diagnosis --l 2",
    )
)
def protect(
    source: Annotated[
        Path, typer.Argument(help="Folder of texts, JSONL, CSV or Parquet; .gz too.", **options.path("INPUT"))
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to make for the release.", **options.path())],
    k: Annotated[int, typer.Option("-k", help="Least number of records that look alike.", **options.whole(2))] = 5,
    text_column: Annotated[str | None, typer.Option(help="Documents: column with the text.", **options.named())] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Documents: column that names them (private).", **options.named())
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Documents: confidential label, released as it is.", **options.named())
    ] = None,
    roles: Annotated[
        Path | None, typer.Option(help="Table: TOML file with the columns of each role.", **options.path())
    ] = None,
    quasi: Annotated[str | None, typer.Option(help="Table: columns to protect, comma-separated.")] = None,
    confidential: Annotated[str | None, typer.Option(help="Table: columns released as they are, watched.")] = None,
    insensitive: Annotated[str | None, typer.Option(help="Table: columns released as they are.")] = None,
    drop: Annotated[str | None, typer.Option(help="Table: columns to leave out; those without a role are too.")] = None,
    missing: Annotated[
        str,
        typer.Option(help="Table: rows that lack a value: refuse or withhold.", **options.one_of("refuse", "withhold")),
    ] = "refuse",
    method: Annotated[
        str,
        typer.Option(help="mdav; for tables also ranking, z-scores, principal-component.", **options.one_of(*METHODS)),
    ] = "mdav",
    attribute_groups: Annotated[
        int | None, typer.Option(help="Table: protect so many columns at a time.", **options.whole(1))
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(help="Group at most so many records at a time.  [default: all up to 50,000]", **options.whole(6)),
    ] = None,
    refine: Annotated[bool, typer.Option("--refine/--no-refine", help="Search for better groups than MDAV's.")] = True,
    time_budget: Annotated[
        float | None,
        typer.Option(help="About how many seconds that may take.  [default: by size]", **options.seconds()),
    ] = None,
    l: Annotated[
        int | None, typer.Option("--l", help="Least number of confidential values in a group.", **options.whole(2))
    ] = None,
    language: Annotated[str, typer.Option(help="Documents: chooses stop words and stemmer.")] = "english",
    wordnet: Annotated[
        bool | None, typer.Option("--wordnet/--no-wordnet", help="Documents: keep only words in WordNet.")
    ] = None,
    stem: Annotated[bool, typer.Option("--stem/--no-stem", help="Documents: reduce words to stems.")] = True,
    min_df: Annotated[
        int | None, typer.Option(help="Documents: drop terms in fewer documents.  [default: k]", **options.whole(1))
    ] = None,
    max_terms: Annotated[
        int | None, typer.Option(help="Documents: keep the heaviest terms only.", **options.whole(1))
    ] = None,
    private: Annotated[
        Path | None, typer.Option(help="Folder for the private side.  [default: OUT-private]", **options.path())
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Documents in parts: address of a Dask scheduler, such as tcp://host:8786.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Protect documents or a table and make a release that anyone can verify.

    INPUT is recognised by its content: a folder of texts, JSONL, or a table with a text column are documents; any other
    table is a table. Text that WordNet does not know (names, jargon) is left out of documents. A quoted pattern such as
    'letters/*.parquet' stands for documents in parts; their release comes in parts as well.
    """
    columns = _roles(roles, quasi, confidential, insensitive, drop)
    from shoal.release.protect import in_parts, is_documents

    documents = scheduler is not None or in_parts(source) or is_documents(source, columns, text_column)
    space = None
    if documents:
        space = shoal.VectorSpace(
            language=language, wordnet=wordnet, stem=stem, min_df=k if min_df is None else min_df, max_terms=max_terms
        )
    elif (min_df, max_terms, wordnet, stem, language) != (None, None, None, True, "english"):
        given = "--min-df, --max-terms, --wordnet, --stem and --language"
        raise InputError(f"{source} is a table: {given} are for documents; leave them out, or name a --text-column")
    with _shown_progress():
        made = shoal.protect(
            source,
            k,
            out,
            text_column=text_column,
            id_column=id_column,
            label_column=label_column,
            roles=columns,
            space=space,
            method=_method(documents, method, attribute_groups, refine=refine, time_budget=time_budget, blocks=blocks),
            l=l,
            missing=missing,
            private=private,
            force=force,
            client=scheduler,
        )
    if as_json:
        _print(json.dumps(_as_data(made), indent=2))
    else:
        _say_protected(made)


@app.command(epilog=_examples("shoal verify release/", "shoal verify release/ --expect SEAL"))
def verify(
    folder: Annotated[Path, typer.Argument(help="Folder of a release.", **options.path("RELEASE"))],
    expect: Annotated[str | None, typer.Option(help="The certificate's seal, as you got it by another way.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check every promise of a release by counting. Exit code 0 only when all hold, 1 when one does not."""
    result = shoal.verify(folder, expect)
    if as_json:
        claims = [vars(claim) for claim in result.claims]
        _print(json.dumps({"holds": result.holds, "claims": claims}, indent=2))
    else:
        for claim in result.claims:
            mark = "ok     " if claim.holds else "BROKEN "
            _print(_printable(f"{mark} {claim.promise:<13} {claim.file or '':<17} {claim.detail}"))
    if not result.holds:
        first = result.broken[0]
        where = f"{first.file}: " if first.file else ""
        _say(
            f"{len(result.broken)} of {len(result.claims)} promises do not hold; "
            f"first: {first.promise} ({where}{first.detail})"
        )
        raise typer.Exit(BROKEN)
    _say(f"all {len(result.claims)} promises hold; report.html and README.md are the owner's words, not counted")


@app.command(epilog=_examples("shoal demo -o demo"))
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to make.", **options.path())] = Path("demo"),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a sample of invented clinical letters, protect letters and patients, and verify both releases."""
    from shoal.release.demo import run_demo

    with _shown_progress():
        made = run_demo(out, force=force)
    if as_json:
        _print(json.dumps([_as_data(protected) for protected in made], indent=2))
    else:
        for protected in made:
            _say_protected(protected)
    if not all(shoal.verify(protected.folder) for protected in made):
        raise typer.Exit(BROKEN)
    _say(f"both releases verified; look at {made[0].folder / 'report.html'}")


@app.callback(invoke_without_command=True)
def shoal_options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Release confidential documents and tables so that every record hides in a crowd of at least k."""
    if version:
        _print(f"shoal {shoal.__version__}")
        raise typer.Exit(DONE)
    if context.invoked_subcommand is None:
        _print(context.get_help())


def main() -> None:
    """Run a command; a user's mistake is one line on stderr and exit code 2."""
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not have every letter of a file's name
    try:
        code = app(standalone_mode=False)
    except UsageMistake as mistake:
        where = getattr(mistake, "ctx", None)
        path = where.command_path if where else "shoal"
        code = _say(f"{mistake.format_message().rstrip('.')}; see: {path} --help", WRONG)
    except ShoalError as mistake:
        code = _say(str(mistake), WRONG)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except MemoryError:
        code = _say("there is not enough memory for this input; try a part of it", WRONG)
    except OSError as problem:  # a full disk behind stdout
        _end_stdout()
        code = _say(f"the output cannot be written: {problem.strerror}; make room for it", WRONG)
    except Exception as problem:  # A traceback may quote the data, and its exit code would say "a promise is broken".
        place = traceback.extract_tb(problem.__traceback__)[-1]
        fault = f"{type(problem).__name__} in {Path(place.filename).name}, line {place.lineno}"
        code = _say(f"this is a fault in Shoal, not in what you gave it ({fault}); please report that line", WRONG)
    if code == INTERRUPTED:  # typer, too, says it by this code
        _say("interrupted; nothing unfinished is left behind")
    sys.exit(code or DONE)


def _end_stdout() -> None:
    """Send what is still to be printed nowhere; Python would complain when it flushes at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _method(documents: bool, name: str, attribute_groups: int | None, **search: Any) -> Any:
    """The one place where a method's name becomes the method."""
    if documents:
        known: dict[str, Callable[[], Any]] = {"mdav": lambda: shoal.SphericalMicroaggregation(**search)}
        if attribute_groups is not None:
            raise InputError("--attribute-groups is for tables; leave it out")
    else:
        known = {
            table_method: lambda table_method=table_method: shoal.Microaggregation(  # type: ignore[misc]
                method=table_method, attribute_groups=attribute_groups, **search
            )
            for table_method in METHODS
        }
    if name not in known:
        what = "documents" if documents else "a table"
        raise InputError(f"--method {name} cannot protect {what}; use {', '.join(known)}")
    return known[name]()


def _roles(path: Path | None, *lists: str | None) -> Any:
    """Roles from the file or from the four lists, None when there are neither."""
    if path is not None:
        if any(given is not None for given in lists):
            raise InputError("--roles excludes --quasi, --confidential, --insensitive, --drop; give one or the other")
        return shoal.Roles.from_toml(path)
    if all(given is None for given in lists):
        return None
    names = [tuple(name.strip() for name in (given or "").split(",") if name.strip()) for given in lists]
    return shoal.Roles(quasi=names[0], confidential=names[1], insensitive=names[2], identifier=names[3])


def _withheld(withheld: list[dict[str, Any]]) -> str:
    """How many were withheld, and why."""
    reasons = ", ".join(f"{one['count']:,}: {one['reason']}" for one in withheld)
    return f"{sum(one['count'] for one in withheld):,} withheld" + (f" ({reasons})" if withheld else "")


def _as_data(made: Any) -> dict[str, Any]:
    return {"release": str(made.folder), "private": str(made.private), "certificate": dict(made.certificate)}


def _say_protected(made: Any) -> None:
    promises, stated = made.certificate["promises"], made.certificate["stated"]
    anonymity = promises["anonymity"]
    _print(_printable(f"release      {made.folder}"))
    _print(_printable(f"report       {made.folder / 'report.html'}"))
    _print(f"records      {promises['rows']:,} released, {_withheld(stated['withheld'])}")
    if anonymity["whole_rows"]:
        _print(f"promise      each looks like at least {anonymity['smallest_group'] - 1} others (k={anonymity['k']})")
    else:
        _print(f"promise      values shared by at least {anonymity['k']} in each group of columns; NO k-anonymity")
    _print(f"lost         {stated['information_loss']:.1%} of the information")
    for diversity in promises["diversity"]["columns"]:
        column = _printable(diversity["column"])
        _print(f"diversity    {column}: at least {diversity['least']} value(s) in a group")
        if 2 * diversity["values"] > promises["rows"]:
            _say(
                f"note: {column} has {diversity['values']:,} different values for {promises['rows']:,} records: "
                "it all but names them"
            )
        if diversity["least"] <= 1:
            _say(
                f"in {diversity['single_valued_groups']} of {diversity['groups']} groups all records have the same "
                f"{column}: membership tells it; --l 2 forbids that"
            )
    _print(f"seal         {made.certificate['seal']}")
    _print(_printable(f"private      {made.private} (keep it to yourself)"))


def _print(line: str) -> None:
    """To stdout. That its reader has gone (`| head`) changes neither the work nor the exit code."""
    try:
        typer.echo(line)
    except BrokenPipeError:
        _end_stdout()


def _say(message: str, code: int = DONE) -> int:
    """One line to stderr, not longer than one can read."""
    line = _printable(" ".join(message.split()))
    line = line if len(line) <= 800 else f"{line[:400]} … {line[-400:]}"
    typer.echo(f"shoal: {line}", err=True)
    return code


def _printable(text: str) -> str:
    """Names of files and columns may hold line ends, escape sequences and bytes that are no characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, UserWarning):
        _say(f"note: {message}")


@contextmanager
def _shown_progress() -> Iterator[None]:
    """Bars on a terminal, nothing when piped."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    looks = TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*looks, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        with progress.listening(show):
            yield
