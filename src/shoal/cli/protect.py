"""shoal protect: from files to a release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from shoal.cli.app import AsJson, command
from shoal.cli.options import Plan, takes_options
from shoal.cli.signals import search_stops_at_first_interrupt
from shoal.cli.terminal import examples, say, shown_progress, write, write_page
from shoal.cli.verify import signing_key
from shoal.request.plan import request_of_texts

CELLS = ("true", "coarser", "changed", "blank")


@command(
    epilog=examples(
        "shoal protect letters.jsonl -k 5 -o release/ --label-column speciality",
        "shoal protect people.csv -k 5 -o release/ --quasi age,income --confidential diagnosis --l 2",
        "shoal protect people.csv -k 5 -o release/ --quasi birth,zip,sex --kind zip=code --recode birth=year",
        "shoal protect postgresql://host/study --query 'select age, income from people' -o release/",
        "shoal protect baskets.dat -k 5 -o release/ --method crowd-sketch",
        "shoal protect plan.toml",
    )
)
@takes_options("protect")
def protect(
    texts: dict[str, Any],
    source: Annotated[
        str | None,
        typer.Argument(metavar="[INPUT]", help="Folder of texts, JSONL, CSV, Parquet or .dat; .gz too. Or a plan."),
    ] = None,
    plan: Plan = None,
    as_json: AsJson = False,
) -> None:
    """Protect documents or a table and make a release that anyone can verify.

    INPUT is recognised by its content: a folder of texts, JSONL, or a table with a text column are documents; so are
    baskets of items (.dat, JSONL of lists, a column of lists), their items being the words; any other table is a table.
    Text that WordNet does not know (names, jargon) is left out of documents. A quoted pattern such as
    'letters/*.parquet' stands for documents in parts, or with roles for a table in parts; the release comes in parts
    as well.
    """
    request = request_of_texts("protect", source, plan, texts)
    if request.publication.sign is not None:
        request = request.with_options(sign=signing_key(request.publication.sign))
    with shown_progress(), search_stops_at_first_interrupt():
        from shoal.release.protect import make_release

        made = make_release(request)
    write(json.dumps(as_data(made), indent=2)) if as_json else say_protected(made)


def as_data(made: Any) -> dict[str, Any]:
    certificate = dict(made.certificate)
    paths = {"release": str(made.folder), "private": str(made.private)}
    return {**paths, "certificate": certificate, "measured_loss": made.measured_loss}


def say_protected(made: Any) -> None:
    """What was made, and what the owner should know about it."""
    from shoal.release.folders import LOSS

    followed = (made.private / LOSS).read_bytes() if "after" in made.certificate["stated"]["parameters"] else b"null"
    write_page(
        "protected.txt.jinja",
        folder=made.folder,
        private=made.private,
        certificate=made.certificate,
        measured_loss=made.measured_loss,
        followed=json.loads(followed),  # the owner alone learns what was lost: published figures would tell who left
        cells=made.cells,
        mean={what: sum(getattr(one, what) for one in made.cells) / max(1, len(made.cells)) for what in CELLS},
        signed=(made.folder / "certificate.json.sig").exists(),
        leaks=(made.private / "leaks.html").is_file(),
    )
    for note in _notes(made.certificate["promises"]):
        say(note)


def _notes(promises: dict[str, Any]) -> Iterator[str]:
    """Confidential columns that give somebody away."""
    for column in promises["diversity"]["columns"]:
        name = column["column"]
        if 2 * column["values"] > promises["rows"]:
            yield (
                f"note: {name} has {column['values']:,} different values for {promises['rows']:,} records: "
                "it all but names them; protect or drop it if others know some of them"
            )
        if column["least"] <= 1 and promises["anonymity"]["k"] is not None:
            yield (
                f"in {column['single_valued_groups']} of {column['groups']} groups all records have the same "
                f"{name}: membership reveals it; --l 2 forbids that"
            )
