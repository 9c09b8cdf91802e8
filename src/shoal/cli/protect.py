"""shoal protect: from files to a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.methods import (
    FOR_DOCUMENTS,
    FOR_LABELS,
    FOR_NUMBERS,
    MASKING,
    Asked,
    document_method,
    document_space,
    table_method,
)
from shoal.cli.signals import search_stops_at_first_interrupt
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.errors import InputError

__all__ = ["as_data", "protect", "roles_from", "say_protected"]

METHODS = tuple(dict.fromkeys((*FOR_DOCUMENTS, *FOR_NUMBERS, *FOR_LABELS, *MASKING)))


@app.command(
    epilog=examples(
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
        str | None,
        typer.Option(help=f"One of {', '.join(METHODS)}.  [default: by the columns]", **options.one_of(*METHODS)),
    ] = None,
    attribute_groups: Annotated[
        int | None, typer.Option(help="Table: protect so many columns at a time.", **options.whole(1))
    ] = None,
    ontology: Annotated[
        list[str] | None, typer.Option(help="Labels: hierarchy, FILE or COLUMN=FILE.  [default: WordNet]")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="Labels: which concepts the values mean; see shoal map.", **options.path())
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Numbers and labels: what columns count, such as age=2,job=1.")
    ] = None,
    percent: Annotated[
        float | None, typer.Option(help="Rank swapping and noise: how strong, in per cent.", **options.above_zero())
    ] = None,
    coarsen: Annotated[
        list[str] | None,
        typer.Option(help="Numbers: then average a column again, at least K records a value.", metavar="COLUMN=K"),
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
    language: Annotated[
        str | None, typer.Option(help="Documents: chooses stop words and stemmer.  [default: english]")
    ] = None,
    wordnet: Annotated[
        bool | None, typer.Option("--wordnet/--no-wordnet", help="Documents: keep only words in WordNet.")
    ] = None,
    stem: Annotated[
        bool | None, typer.Option("--stem/--no-stem", help="Documents: reduce words to stems.  [default: stem]")
    ] = None,
    min_df: Annotated[
        int | None, typer.Option(help="Documents: drop terms in fewer documents.  [default: k]", **options.whole(1))
    ] = None,
    max_terms: Annotated[
        int | None, typer.Option(help="Documents: keep the heaviest terms only.", **options.whole(1))
    ] = None,
    terms_per_document: Annotated[
        int | None,
        typer.Option(help="Documents: of each its heaviest terms.  [default: all; semantic: 50]", **options.whole(1)),
    ] = None,
    private: Annotated[
        Path | None, typer.Option(help="Folder for the private side.  [default: OUT-private]", **options.path())
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Input in parts: address of a Dask scheduler, such as tcp://host:8786.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Protect documents or a table and make a release that anyone can verify.

    INPUT is recognised by its content: a folder of texts, JSONL, or a table with a text column are documents; any other
    table is a table. Text that WordNet does not know (names, jargon) is left out of documents. A quoted pattern such as
    'letters/*.parquet' stands for documents in parts, or with roles for a table in parts; the release comes in parts
    as well.
    """
    columns = roles_from(roles, quasi, confidential, insensitive, drop)
    from shoal.release.sources import open_source

    opened = open_source(
        source,
        roles=columns,
        text_column=text_column,
        id_column=id_column,
        label_column=label_column,
        on_cluster=scheduler is not None,
    )
    documents = opened.kind == "documents"
    steps = {"language": language, "wordnet": wordnet, "stem": stem, "min_df": min_df, "max_terms": max_terms}
    steps |= {"terms_per_document": terms_per_document}
    given = [f"--{name.replace('_', '-')}" for name, value in steps.items() if value is not None]
    if given and not documents:
        raise InputError(f"{source} is a table: {given[0]} is for documents; leave it out, or name a --text-column")
    asked = Asked(
        method,
        refine,
        time_budget,
        blocks,
        attribute_groups,
        options.ontologies(ontology),
        mapping,
        options.weights(weights),
        percent,
    )
    with shown_progress(), search_stops_at_first_interrupt():
        made = shoal.protect(
            opened,
            k,
            out,
            text_column=text_column,
            id_column=id_column,
            label_column=label_column,
            roles=columns,
            space=document_space(method, k, **steps) if documents else None,
            method=document_method(asked) if documents else table_method(asked),
            l=l,
            missing=missing,
            coarsen=options.coarsening(coarsen),
            private=private,
            force=force,
            client=scheduler,
        )
    if as_json:
        write(json.dumps(as_data(made), indent=2))
    else:
        say_protected(made)


def roles_from(path: Path | None, *lists: str | None) -> Any:
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


def _lost(stated: dict[str, Any]) -> str:
    """The share that was lost, or between which two it lies."""
    known = stated["loss_range"]
    return f"{stated['information_loss']:.1%}" if known is None else f"{known['low']:.0%} to {known['high']:.0%}"


def as_data(made: Any) -> dict[str, Any]:
    return {"release": str(made.folder), "private": str(made.private), "certificate": dict(made.certificate)}


def say_protected(made: Any) -> None:
    promises, stated = made.certificate["promises"], made.certificate["stated"]
    anonymity = promises["anonymity"]
    write(printable(f"release      {made.folder}"))
    write(printable(f"report       {made.folder / 'report.html'}"))
    write(f"records      {promises['rows']:,} released, {_withheld(stated['withheld'])}")
    if anonymity["k"] is None:
        write("promise      NO crowd: a record may be one of a kind")
    elif anonymity["whole_rows"]:
        others = anonymity["smallest_group"] - 1
        crowd = "1 other" if others == 1 else f"{others} others"
        write(f"promise      each looks like at least {crowd} (k={anonymity['k']})")
    else:
        write(f"promise      values shared by at least {anonymity['k']} in each group of columns; NO k-anonymity")
    for column, least in stated["parameters"].get("coarsen", {}).items():
        write(f"coarsened    {printable(column)}: each value shared by at least {least:,}")
    write(f"lost         {_lost(stated)} of the information")
    if promises["form"] is not None and stated["attacks"]:
        exactly, nearly = (one["rate"] for one in stated["attacks"])
        write(f"attacked     crowds taken apart: {exactly:.1%} of documents recovered exactly, {nearly:.1%} nearly")
    for diversity in promises["diversity"]["columns"]:
        column = printable(diversity["column"])
        write(f"diversity    {column}: at least {diversity['least']} value(s) in a group")
        if 2 * diversity["values"] > promises["rows"]:
            say(
                f"note: {column} has {diversity['values']:,} different values for {promises['rows']:,} records: "
                "it all but names them"
            )
        if diversity["least"] <= 1 and anonymity["k"] is not None:
            say(
                f"in {diversity['single_valued_groups']} of {diversity['groups']} groups all records have the same "
                f"{column}: membership tells it; --l 2 forbids that"
            )
    write(f"seal         {made.certificate['seal']}")
    write(printable(f"private      {made.private} (keep it to yourself)"))
    if (made.private / "leaks.html").is_file():
        write(printable(f"leaks        {made.private / 'leaks.html'} (what an attacker who learns finds)"))
