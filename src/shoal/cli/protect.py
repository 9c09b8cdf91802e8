"""shoal protect: from files to a release."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.app import AsJson, command
from shoal.cli.options import Plan, takes_options
from shoal.cli.sign import signing_key
from shoal.cli.signals import search_stops_at_first_interrupt
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.request.plan import request_of_texts


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


def _withheld(withheld: list[dict[str, Any]]) -> str:
    """How many were withheld, and why."""
    reasons = ", ".join(f"{one['count']:,}: {one['reason']}" for one in withheld)
    return f"{sum(one['count'] for one in withheld):,} withheld" + (f" ({reasons})" if withheld else "")


def _lost(stated: dict[str, Any], measured: float | None) -> str:
    """The share that was lost, as measured, and what the release states of it if that is less."""
    known = stated["loss_range"]
    if known is None:
        return f"{stated['information_loss']:.1%} of the information"
    published = f"{known['low']:.0%} to {known['high']:.0%}"
    if measured is None:
        return f"{published} of the information"
    return f"{measured:.1%} of the information (published: {published})"


def _say_followed(seal: str, private: Path) -> None:
    """The owner alone learns what was lost: published figures would tell who left."""
    from shoal.release.folders import LOSS

    loss = json.loads((private / LOSS).read_text(encoding="utf-8"))
    lost, anew = (f"{loss[name]:.1%}" for name in ("information_loss", "starting_anew"))
    write(f"lost         {lost} of the information; starting anew would lose {anew} (not published)")
    write(f"follows      the release sealed {seal[:12]}…, whose rows are kept")


def _lengths(lengths: dict[str, int]) -> str:
    return " to ".join(f"{length:,}" for length in sorted(set(lengths.values())))


def _say_columns(parameters: dict[str, Any], columns: list[dict[str, Any]]) -> None:
    """What was done with columns that are not plain numbers or labels."""
    for column, date in parameters.get("dates", {}).items():
        period = date.get("generalised_to")
        write(f"dates        {printable(column)}: " + (f"by the {period}" if period else "averaged, in their own form"))
    for column in parameters.get("medians_of", ()):
        write(f"ordered      {printable(column)}: the middle label of each group")
    for column in parameters.get("categories", ()):
        write(f"categories   {printable(column)}: the most frequent value of each group")
    for column in parameters.get("whole_numbers", ()):
        write(f"rounded      {printable(column)}: whole numbers")
    for column in columns:
        if "gaps" in column:
            write(f"gaps         {printable(column['name'])}: {column['gaps']:,} rows, in whole groups")


def _say_cells(cells: Sequence[Any]) -> None:
    """How much of what is released is true, in all and by column."""
    if not cells:
        return
    whats = {"true": "true as shown", "coarser": "coarser", "changed": "changed", "blank": "blank"}
    mean = {what: sum(getattr(one, what) for one in cells) / len(cells) for what in whats}
    write("cells        " + ", ".join(f"{mean[what]:.1%} {words}" for what, words in whats.items()))
    for one in cells:
        shares = ", ".join(f"{getattr(one, what):.1%} {what}" for what in whats if getattr(one, what))
        write(f"             {printable(one.name)}: {shares}")


def _say_crowd(promises: dict[str, Any]) -> None:
    others, k = promises["anonymity"]["smallest_group"] - 1, promises["anonymity"]["k"]
    crowd = "1 other" if others == 1 else f"{others} others"
    aside = any(column["role"] != "quasi" for column in promises["columns"])
    write(f"promise      each looks like at least {crowd} (k={k})" + " in the protected columns" * aside)
    people = [one["people"] for one in promises.get("crowds", ()) if one["people"] is not None]
    if people:
        write(f"people       at least {min(people)} different ones in a group (k={k})")
    asked = [one["own_k"] for one in promises.get("crowds", ()) if one["own_k"] is not None]
    if asked:
        write(f"own k        every record in a group of the size it asks for, up to {max(asked):,}")


def _evenness(diversity: dict[str, Any]) -> str:
    if "equally_frequent" in diversity:
        return f", as hard to guess as {diversity['equally_frequent']:.4g} equally frequent ones (entropy)"
    return f", the most frequent {diversity['ratio']:.4g} times the rest (recursive)" if "ratio" in diversity else ""


def as_data(made: Any) -> dict[str, Any]:
    certificate = dict(made.certificate)
    paths = {"release": str(made.folder), "private": str(made.private)}
    return {**paths, "certificate": certificate, "measured_loss": made.measured_loss}


def say_protected(made: Any) -> None:
    promises, stated = made.certificate["promises"], made.certificate["stated"]
    anonymity = promises["anonymity"]
    write(printable(f"release      {made.folder}"))
    write(printable(f"report       {made.folder / 'report.html'}"))
    write(f"records      {promises['rows']:,} released, {_withheld(stated['withheld'])}")
    if anonymity["k"] is None:
        write("promise      NO crowd: a record may be one of a kind")
    elif anonymity["whole_rows"]:
        _say_crowd(promises)
    else:
        write(f"promise      values shared by at least {anonymity['k']} in each group of columns; NO k-anonymity")
    for column, least in stated["parameters"].get("coarsen", {}).items():
        write(f"coarsened    {printable(column)}: each value shared by at least {least:,}")
    _say_columns(stated["parameters"], promises["columns"])
    if "lengths" in promises:
        write(f"sketches     {_lengths(promises['lengths'])} numbers each, no words or items")
    if "after" in stated["parameters"]:
        _say_followed(stated["parameters"]["after"]["seal"], made.private)
    elif stated["information_loss"] is not None or stated["loss_range"] is not None:
        write(f"lost         {_lost(stated, made.measured_loss)}")
    _say_cells(made.cells)
    if promises["form"] is not None and stated["attacks"]:
        exactly, nearly = (one["rate"] for one in stated["attacks"])
        how = "crowds taken apart" if made.certificate["kind"] == "documents" else "crowds taken apart with the key"
        write(f"attacked     {how}: {exactly:.1%} of documents recovered exactly, {nearly:.1%} nearly")
    for diversity in promises["diversity"]["columns"]:
        column = printable(diversity["column"])
        write(f"diversity    {column}: at least {diversity['least']} value(s) in a group{_evenness(diversity)}")
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
    for closeness in promises.get("closeness", {}).get("columns", ()):
        column, t = printable(closeness["column"]), promises["closeness"]["t"]
        write(f"closeness    {column}: every group within {closeness['t']:.4f} of the whole (t={t:g})")
    for likeness in promises.get("likeness", {}).get("columns", ()):
        column, beta = printable(likeness["column"]), promises["likeness"]["bound"]
        write(f"likeness     {column}: at most {1 + likeness['gain']:.4g} times as frequent in a group (β={beta:g})")
    write(f"seal         {made.certificate['seal']}")
    signature = made.folder / "certificate.json.sig"
    write(printable(f"signature    {signature}") if signature.exists() else "signature    none; see: shoal sign")
    write(printable(f"private      {made.private} (keep it to yourself)"))
    if (made.private / "leaks.html").is_file():
        write(printable(f"leaks        {made.private / 'leaks.html'} (what a trained attacker finds)"))
