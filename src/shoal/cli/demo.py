"""shoal demo: all of it on a sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import shoal
from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.protect import as_data, say_protected
from shoal.cli.terminal import BROKEN, examples, printable, say, say_if_kernels_compile, shown_progress, write

if TYPE_CHECKING:
    from shoal.index.client.demo import IndexDemo
    from shoal.sanitizer.demo import SanitizerDemo


@app.command(epilog=examples("shoal demo -o demo"))
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to make.", **options.path())] = Path("demo"),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a sample of invented clinical letters, protect letters and patients, and verify both releases.

    With the extra `service`, the letters are also put, encrypted, on a server that runs for a while; they are searched,
    some are deleted, and a snapshot of the index is verified. With the extra `sanitize`, some letters are sanitized as
    well, by a rule in place of a reviewer.
    """
    from shoal.release.demo import run_demo

    say_if_kernels_compile()
    with shown_progress():
        made = run_demo(out, force=force)
        index = _index_demo(out)
        sanitized = _sanitizer_demo(out)
    shown = [as_data(protected) for protected in made]
    folders = [protected.folder for protected in made]
    if index is not None:
        shown.append({"release": str(index.snapshot), "put": index.put, "deleted": index.deleted})
        folders.append(index.snapshot)
    if sanitized is not None:
        redacted = sanitized.redacted
        shown.append({"release": str(redacted.folder), "documents": redacted.summary.documents})
        folders.append(redacted.folder)
    if as_json:
        write(json.dumps(shown, indent=2))
    else:
        for protected in made:
            say_protected(protected)
        if index is not None:
            _say_index(index)
        if sanitized is not None:
            _say_sanitized(sanitized)
    if sanitized is not None and not sanitized.verified:
        raise typer.Exit(BROKEN)
    if not all(shoal.verify(folder) for folder in folders):
        raise typer.Exit(BROKEN)
    if index is None:
        say("the index of encrypted letters was left out: it needs the extra 'service': pip install 'shoal[service]'")
    if sanitized is None:
        say("the sanitized letters were left out: they need the extra 'sanitize': pip install 'shoal[sanitize]'")
    say(f"{len(folders)} releases verified; look at {made[0].folder / 'report.html'}")


def _index_demo(out: Path) -> IndexDemo | None:
    """The letters on a server, if what it takes is installed."""
    try:
        from shoal.index.client.demo import run_index_demo
    except ImportError:
        return None
    return run_index_demo(out / "sample" / "letters.jsonl", out / "letters", out / "snapshot")


def _sanitizer_demo(out: Path) -> SanitizerDemo | None:
    """Some letters sanitized, if what it takes is installed."""
    try:
        from shoal.sanitizer.demo import run_sanitizer_demo

        return run_sanitizer_demo(out / "sample" / "letters.jsonl", out)
    except ImportError:
        return None


def _say_sanitized(sanitized: SanitizerDemo) -> None:
    summary = sanitized.redacted.summary
    places = sum(kind.places for kind in summary.kinds)
    write(f"sanitized    {summary.documents:,} letters, {places:,} places masked, blocks removed: {summary.blocks:,}")
    write(printable(f"before       {' '.join(sanitized.before.split())[:80]}…"))
    write(printable(f"after        {' '.join(sanitized.after.split())[:80]}…"))
    write(f"sanitized    {sanitized.redacted.folder}")


def _say_index(index: IndexDemo) -> None:
    write(f"index        {index.put:,} letters put, encrypted, on a server of this machine")
    write(f"search       {index.query!r}: best {index.best.name}, by {', '.join(index.best.words)}")
    write(printable(f"decrypted    {' '.join(index.text.split())[:80]}…"))
    write(f"deleted      {index.deleted:,} letters")
    write(f"snapshot     {index.snapshot}")
