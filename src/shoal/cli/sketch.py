"""shoal sketch: records on stdin, a sketch for each on stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import app
from shoal.cli.terminal import examples, say
from shoal.errors import InputError


@app.command(
    epilog=examples(
        "shoal sketch --key sketch.key --new-key < baskets.jsonl > sketches.jsonl",
        "tail -f clicks.jsonl | shoal sketch --key sketch.key --delta 1 >> sketches.jsonl",
    )
)
def sketch(
    key: Annotated[Path, typer.Option(help="File with the secret key.", **options.path())],
    new_key: Annotated[bool, typer.Option("--new-key", help="Make the key file first.")] = False,
    delta: Annotated[float, typer.Option(help="Least variance of every attribute.", **options.above_zero())] = 0.5,
    max_components: Annotated[int, typer.Option(help="Longest sketch.", **options.whole(1))] = 64,
    language: Annotated[str, typer.Option(help="Of texts: stop words and stems.", metavar="<name>")] = "english",
) -> None:
    """Sketch records as they are collected: JSON lines on stdin, a JSON list of numbers for each on stdout.

    A line is a list of items, an object of items and counts, or a text in quotes. A record that delta does not allow
    to be sketched gives null. Sketches promise no crowd of k: keep them, and the key, to yourself.
    """
    from shoal.data.files import shown
    from shoal.methods.sketches import DeltaSketch, SketchKey
    from shoal.methods.sketches.delta import batches_of_lines, sketch_lines
    from shoal.terms.language import check_language
    from shoal.terms.vector_space import VectorSpace

    check_language(language)
    space = VectorSpace(language=language, min_df=1)
    if new_key:
        SketchKey.draw().write(key)
    elif not key.exists():
        raise InputError(f"{shown(key)} does not exist; make a key there with --new-key")
    model = DeltaSketch(delta, max_components=max_components, key=SketchKey.read(key)).fit([])
    sketched = withheld = 0
    for batch in sketch_lines(batches_of_lines(sys.stdin.buffer), model, space):
        sys.stdout.writelines(json.dumps(row and list(map(_plain, row))) + "\n" for row in batch)
        sys.stdout.flush()
        sketched += sum(row is not None for row in batch)
        withheld += sum(row is None for row in batch)
    say(f"{sketched:,} sketched, {withheld:,} withheld")


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() else value
