"""shoal protect: from files to a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import shoal
from shoal.cli import options, reading
from shoal.cli import protect_options as given
from shoal.cli.app import AsJson, Force, app
from shoal.cli.sign import signing_key
from shoal.cli.signals import search_stops_at_first_interrupt
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.errors import InputError
from shoal.request.options import DISTINCT
from shoal.request.request import Request


@app.command(
    epilog=examples(
        "shoal protect letters.jsonl -k 5 -o release/ --label-column speciality",
        "shoal protect people.csv -k 5 -o release/ --quasi age,income --confidential diagnosis --l 2",
        "shoal protect people.csv -k 5 -o release/ --quasi birth,zip,sex --kind zip=code --generalise birth=year",
        "shoal protect postgresql://host/study --query 'select age, income from people' -o release/",
        "shoal protect baskets.dat -k 5 -o release/ --method crowd-sketch",
    )
)
def protect(
    source: given.Source,
    out: given.Out,
    k: given.K = None,
    text_column: given.TextColumn = None,
    id_column: given.IdColumn = None,
    label_column: given.LabelColumn = None,
    roles: given.Roles = None,
    quasi: given.Quasi = None,
    confidential: given.Confidential = None,
    insensitive: given.Insensitive = None,
    drop: given.Drop = None,
    missing: given.Missing = "refuse",
    kind: given.Kind = None,
    categorical: given.Categorical = None,
    order: given.Order = None,
    round: given.Round = None,
    generalise: given.Generalise = None,
    method: given.Method = None,
    attribute_groups: given.AttributeGroups = None,
    ontology: given.Ontology = None,
    mapping: given.Mapping = None,
    weights: given.Weights = None,
    percent: given.Percent = None,
    components: given.Components = None,
    delta: given.Delta = None,
    max_components: given.MaxComponents = None,
    key: given.Key = None,
    coarsen: given.Coarsen = None,
    blocks: given.Blocks = None,
    refine: given.Refine = True,
    time_budget: given.TimeBudget = None,
    l: given.L = None,
    diversity: given.Diversity = DISTINCT,
    c: given.C = None,
    t: given.T = None,
    beta: given.Beta = None,
    person: given.Person = None,
    k_column: given.KColumn = None,
    language: given.Language = None,
    wordnet: given.Wordnet = None,
    stem: given.Stem = None,
    min_df: given.MinDf = None,
    max_terms: given.MaxTerms = None,
    terms_per_document: given.TermsPerDocument = None,
    private: given.Private = None,
    scheduler: given.Scheduler = None,
    attack: given.Attack = True,
    after: given.After = None,
    earlier_private: given.EarlierPrivate = None,
    sign: given.Sign = None,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    sheet: reading.Sheet = None,
    query: reading.Query = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Protect documents or a table and make a release that anyone can verify.

    INPUT is recognised by its content: a folder of texts, JSONL, or a table with a text column are documents; so are
    baskets of items (.dat, JSONL of lists, a column of lists), their items being the words; any other table is a table.
    Text that WordNet does not know (names, jargon) is left out of documents. A quoted pattern such as
    'letters/*.parquet' stands for documents in parts, or with roles for a table in parts; the release comes in parts
    as well.
    """
    if method == "delta-sketch" and k is not None:
        raise InputError("{option} is not for delta-sketch, which has no crowd; leave it out", "k")
    asked: dict[str, Any] = {
        "k": k,
        "out": out,
        "text_column": text_column,
        "id_column": id_column,
        "label_column": label_column,
        "roles": roles,
        "quasi": options.listed(quasi),
        "confidential": options.listed(confidential),
        "insensitive": options.listed(insensitive),
        "drop": options.listed(drop),
        "method": method,
        "attribute_groups": attribute_groups,
        "ontology": options.ontologies(ontology),
        "mapping": mapping,
        "weights": options.weights(weights),
        "percent": percent,
        "components": components,
        "delta": delta,
        "max_components": max_components,
        "key": key,
        "blocks": blocks,
        "refine": refine,
        "time_budget": time_budget,
        "language": language,
        "wordnet": wordnet,
        "stem": stem,
        "min_df": min_df,
        "max_terms": max_terms,
        "terms_per_document": terms_per_document,
        "l": l,
        "diversity": diversity,
        "c": c,
        "t": t,
        "beta": beta,
        "person": person,
        "k_column": k_column,
        "missing": missing,
        "kinds": options.pairs("--kind", kind, "zip=code"),
        "categorical": options.categories(categorical),
        "order": options.orders(order),
        "round": options.listed(round),
        "generalise": options.pairs("--generalise", generalise, "birth=year"),
        "coarsen": options.coarsening(coarsen),
        "private": private,
        "force": force,
        "client": scheduler,
        "attack": attack,
        "after": after,
        "earlier_private": earlier_private,
        "sign": signing_key(sign),
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
        "sheet": sheet,
        "query": query,
    }
    request = Request.of(source, asked)
    with shown_progress(), search_stops_at_first_interrupt():
        from shoal.release.protect import make_release

        made = make_release(request)
    write(json.dumps(as_data(made), indent=2)) if as_json else say_protected(made)


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
    for column, how in parameters.get("categories", {}).items():
        write(f"categories   {printable(column)}: the {how}{' value' if how != 'set' else ' of values'} of each group")
    for column in parameters.get("whole_numbers", ()):
        write(f"rounded      {printable(column)}: whole numbers")
    for column in columns:
        if "gaps" in column:
            write(f"gaps         {printable(column['name'])}: {column['gaps']:,} rows, in whole groups")


def _say_crowd(promises: dict[str, Any]) -> None:
    others, k = promises["anonymity"]["smallest_group"] - 1, promises["anonymity"]["k"]
    crowd = "1 other" if others == 1 else f"{others} others"
    write(f"promise      each looks like at least {crowd} (k={k})")
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
