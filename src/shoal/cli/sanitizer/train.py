"""shoal train-sanitizer: weights of what identifies, learned from one's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import Force, app
from shoal.cli.terminal import examples, printable, say, write
from shoal.errors import InputError

__all__ = ["train_sanitizer"]


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
            help="Work folders that were reviewed, or JSONL of text and masked.", **options.path("INPUT...")
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="TOML file of weights to make.", **options.path("<file>"))],
    model: Annotated[
        str | None, typer.Option(help="Name of a spaCy model.  [default: an English one that is installed]")
    ] = None,
    force: Force = False,
) -> None:
    """Learn from documents in which it is decided what identifies, so that proposals suit your own.

    It takes some dozens of documents. Look at the weights: they are few and have names.
    """
    from shoal.release.sanitized.labelled import labelled_texts
    from shoal.sanitizer.identifying.training import train

    if out.exists() and not force:
        raise InputError(f"{out} exists; choose another name or pass --force to replace it")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out} cannot be made: there is no folder {out.absolute().parent}; choose another")
    documents = [document for source in sources for document in labelled_texts(source)]
    weights = train(documents, out, model)
    write(printable(f"weights      {out}"))
    write(f"features     {len(weights.of_feature):,}")
    say(f"learned from {len(documents):,} documents; try them: shoal sanitize INPUT -o WORK --weights {out}")
