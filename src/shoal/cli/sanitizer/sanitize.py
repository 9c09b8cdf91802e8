"""shoal sanitize: what should be masked, proposed for review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, app
from shoal.cli.sanitizer.options import probability
from shoal.cli.signals import resumable
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.sanitizer.identifying.dial import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from shoal.release.sanitized.propose import Proposed

__all__ = ["sanitize"]

SHOWN = 10  # files that could not be read


@app.command(
    epilog=examples(
        "shoal sanitize letters/ -o work/",
        "shoal sanitize cases.jsonl -o work/ --policy health --scope collection",
        "shoal review work/ --reviewer ana",
    )
)
def sanitize(
    source: Annotated[
        Path,
        typer.Argument(
            help="Text, Markdown, HTML, DOCX, PDF with a text layer, a folder of them, JSONL, CSV or Parquet.",
            **options.path("INPUT"),
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Work folder to make, or to go on with.", **options.path())],
    policy: Annotated[
        str, typer.Option(help="Risky topics: eo13526, health, gdpr, company, a TOML file, or none.")
    ] = "eo13526",
    threshold: Annotated[
        float, typer.Option(help="Least probability of an entity that must be decided.", **probability())
    ] = DEFAULT_THRESHOLD,
    style: Annotated[
        str,
        typer.Option(
            help="Pseudonyms: numbered, category or general.", **options.one_of("numbered", "category", "general")
        ),
    ] = "numbered",
    scope: Annotated[
        str,
        typer.Option(
            help="Where a pseudonym is the same: document or collection.", **options.one_of("document", "collection")
        ),
    ] = "document",
    unit: Annotated[
        str, typer.Option(help="Bounds of blocks: sentence or paragraph.", **options.one_of("sentence", "paragraph"))
    ] = "sentence",
    reviewers: Annotated[int, typer.Option(help="How many must agree: 1 or 2.", **options.whole(1))] = 1,
    model: Annotated[
        str | None, typer.Option(help="Name of a spaCy model.  [default: an English one that is installed]")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="Weights of shoal train-sanitizer.", **options.path("<file>"))
    ] = None,
    stays: Annotated[
        Path | None,
        typer.Option(help="File of names that are never masked, one a line.  [default: countries]", **options.path()),
    ] = None,
    text_column: Annotated[str | None, typer.Option(help="Column of texts.", **options.named())] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of ids.", **options.named())] = None,
    as_json: AsJson = False,
) -> None:
    """Find people, places, dates and risky blocks in documents, and propose what to mask.

    Nothing is masked yet: decide with `shoal review`, then make the release with `shoal redact`. A run that was
    interrupted goes on where it ended when it is started again in the same way.
    """
    from shoal.io.files import reading
    from shoal.release.sanitized.propose import Proposing, propose

    names = None
    if stays is not None:
        with reading(stays):
            names = tuple(line.strip() for line in stays.read_text(encoding="utf-8").splitlines() if line.strip())
    proposing = Proposing(policy, threshold, style, scope, unit, reviewers, model, weights, names)
    with resumable(), shown_progress():
        proposed = propose(source, out, proposing, text_column=text_column, id_column=id_column)
    _say_proposed(proposed, out, as_json)


def _say_proposed(proposed: Proposed, out: Path, as_json: bool) -> None:
    for one in proposed.skipped[:SHOWN]:
        say(f"note: {one.name} was left out: {one.reason}")
    if len(proposed.skipped) > SHOWN:
        say(f"note: {len(proposed.skipped) - SHOWN} more were left out; see {out / 'withheld.json'}")
    lost = sorted({one.lost for one in proposed.work.proposals if one.lost})
    for what in lost:
        say(f"note: only text is kept; lost are {what}")
    documents = len(proposed.work.proposals)
    if as_json:
        figures = {"documents": documents, "entities": proposed.entities, "blocks": proposed.blocks}
        write(json.dumps({"work": str(out), **figures, "left_out": len(proposed.skipped)}, indent=2))
        return
    write(printable(f"work         {out}"))
    write(f"documents    {documents:,}")
    write(f"entities     {proposed.entities:,} to decide, by {proposed.work.settings['model']}")
    write(f"blocks       {proposed.blocks:,} to decide, by the policy {proposed.work.settings['policy']}")
    say(f"next: shoal review {out}")
