"""shoal sanitize and train-sanitizer: propose what should be masked, and learn from what was decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.sanitizer.options import Model, choice, probability
from shoal.cli.signals import resumable
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.errors import InputError
from shoal.results.sanitizing import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from shoal.sanitizer.propose import Proposed

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
            help="Text, HTML, mail, RTF, ODT, DOCX, PDF with a text layer, a folder of them, JSONL, CSV or Parquet.",
            **options.path("INPUT"),
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Work folder to create, or to continue.", **options.path())],
    policy: Annotated[
        str, typer.Option(help="Risky topics: eo13526, health, gdpr, company, a TOML file, or none.")
    ] = "eo13526",
    threshold: Annotated[
        float, probability("Lowest probability at which an entity must be decided.")
    ] = DEFAULT_THRESHOLD,
    style: Annotated[str, choice("Pseudonyms", "numbered", "category", "general")] = "numbered",
    scope: Annotated[str, choice("Where an entity keeps its pseudonym", "document", "collection")] = "document",
    unit: Annotated[str, choice("What blocks consist of", "sentence", "paragraph")] = "sentence",
    reviewers: Annotated[int, typer.Option(help="Reviewers who must agree: 1 or 2.", **options.whole(1))] = 1,
    model: Model = None,
    weights: Annotated[
        Path | None, typer.Option(help="Weights written by shoal train-sanitizer.", **options.path("<file>"))
    ] = None,
    stays: Annotated[
        Path | None,
        typer.Option(help="File of names that are never masked, one per line.  [default: countries]", **options.path()),
    ] = None,
    text_column: Annotated[str | None, typer.Option(help="Column with the texts.", **options.named())] = None,
    id_column: Annotated[str | None, typer.Option(help="Column with the ids.", **options.named())] = None,
    as_json: AsJson = False,
) -> None:
    """Find people, places, dates and risky blocks in documents, and propose what to mask.

    Nothing is masked yet: decide with `shoal review`, then make the release with `shoal redact`. An
    interrupted run resumes when you start it again with the same options.
    """
    from shoal.data.files import reading
    from shoal.sanitizer.propose import Proposing, propose

    names = None
    if stays is not None:
        with reading(stays):
            names = tuple(line.strip() for line in stays.read_text(encoding="utf-8").splitlines() if line.strip())
    proposing = Proposing(policy, threshold, style, scope, unit, reviewers, model, weights, names)
    with resumable(), shown_progress():
        proposed = propose(source, out, proposing, text_column=text_column, id_column=id_column)
    _say_proposed(proposed, out, as_json)


def _say_proposed(proposed: Proposed, out: Path, as_json: bool) -> None:
    for skipped in proposed.skipped[:SHOWN]:
        say(f"note: {skipped.name} was left out: {skipped.reason}")
    if len(proposed.skipped) > SHOWN:
        say(f"note: {len(proposed.skipped) - SHOWN} more were left out; see {out / 'withheld.json'}")
    for what in sorted({proposals.lost for proposals in proposed.work.proposals if proposals.lost}):
        say(f"note: only the text is kept, without {what}")
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


@app.command(
    "train-sanitizer",
    epilog=examples(
        "shoal train-sanitizer work/ -o weights.toml", "shoal sanitize more/ -o work2/ --weights weights.toml"
    ),
)
def train_sanitizer(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Reviewed work folders, or JSONL with the fields text and masked.", **options.path("INPUT...")
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="TOML file of weights to write.", **options.path("<file>"))],
    model: Model = None,
    force: Force = False,
) -> None:
    """Learn what identifies people from reviewed documents, so that proposals fit yours.

    A few dozen documents suffice. Read the weights: they are few and have names.
    """
    from shoal.sanitizer.training import labelled_texts, train

    if out.exists() and not force:
        raise InputError(f"{out} exists; choose another name or pass --force to replace it")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out} cannot be made: there is no folder {out.absolute().parent}; choose another")
    documents = [document for source in sources for document in labelled_texts(source)]
    weights = train(documents, out, model)
    write(printable(f"weights      {out}"))
    write(f"features     {len(weights.of_feature):,}")
    say(f"learned from {len(documents):,} documents; try them: shoal sanitize INPUT -o WORK --weights {out}")
