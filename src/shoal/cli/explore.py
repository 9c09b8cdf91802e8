"""shoal explore: many ways to protect a table or documents, and the one to take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import shoal
from shoal.cli import options, reading
from shoal.cli import protect_options as given
from shoal.cli.app import AsJson, Force, app
from shoal.cli.protect import roles_from
from shoal.cli.terminal import examples, printable, say, shown_progress, write

if TYPE_CHECKING:
    from shoal.results.exploration import Exploration


@app.command(
    epilog=examples(
        "shoal explore people.csv -o exploration --quasi age,income --max-risk 20",
        "shoal explore people.csv -o exploration --quasi age,income --max-risk 5 --harden",
        "shoal explore people.csv -o exploration --quasi age,town --ontology town=towns.csv --max-loss 10",
        "shoal explore letters.jsonl -o exploration --max-risk 10",
    )
)
def explore(
    source: Annotated[Path, typer.Argument(help="A table or documents, as for protect.", **options.path("INPUT"))],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the results.", **options.path())],
    text_column: Annotated[
        str | None, typer.Option(help="Documents: column with the text, or with lists of items.", **options.named())
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Documents: column that names them.", **options.named())] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Documents: confidential label, released as it is.", **options.named())
    ] = None,
    roles: Annotated[
        Path | None, typer.Option(help="Table: TOML file with the columns of each role.", **options.path())
    ] = None,
    quasi: Annotated[str | None, typer.Option(help="Table: columns to protect, comma-separated.")] = None,
    confidential: Annotated[str | None, typer.Option(help="Table: columns released as they are, watched.")] = None,
    insensitive: Annotated[str | None, typer.Option(help="Table: columns released as they are.")] = None,
    drop: Annotated[str | None, typer.Option(help="Table: columns to leave out.")] = None,
    max_risk: Annotated[
        float | None, typer.Option(help="Most risk you accept, in per cent.", **options.above_zero())
    ] = None,
    max_loss: Annotated[
        float | None,
        typer.Option(help="Most loss you accept, in per cent.", **options.above_zero()),
    ] = None,
    min_k: Annotated[
        int | None, typer.Option(help="Recommend only what makes at least so many records alike.", **options.whole(2))
    ] = None,
    crowd: Annotated[
        bool, typer.Option("--crowd/--no-crowd", help="Recommend only what promises a crowd, or anything.")
    ] = True,
    harden: Annotated[
        bool, typer.Option("--harden", help="Coarsen what leaks until a trained attacker finds at most --max-risk.")
    ] = False,
    ontology: Annotated[
        list[str] | None,
        typer.Option(help="Labels: hierarchy, FILE or COLUMN=FILE.  [default: WordNet] Documents: try meaning, too."),
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="Labels: which concepts the values mean.", **options.path())
    ] = None,
    missing: given.Missing = "refuse",
    kind: given.Kind = None,
    categorical: given.Categorical = None,
    order: given.Order = None,
    refine: Annotated[bool, typer.Option("--refine/--no-refine", help="Search for better groups than MDAV's.")] = True,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    sheet: reading.Sheet = None,
    query: reading.Query = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Try many ways to protect a table or documents, judge each, and recommend one.

    Results are kept as they come: after an interruption the same command goes on. They are made from the original: keep
    them to yourself.
    """
    repeated = [part for name in ontology or () for part in ("--ontology", name)]
    repeated += ["--mapping", str(mapping)] if mapping is not None else []
    repeated += ["--missing", missing] if missing != "refuse" else []
    repeated += ["--kind", kind] if kind else []
    repeated += ["--categorical", categorical] if categorical else []
    repeated += [part for one in order or () for part in ("--order", one)]
    how = delimiter, decimal, encoding, sheet, query
    repeated += reading.repeated(how)
    with shown_progress():
        found = shoal.explore(
            reading.table_source(source, *how),
            out,
            roles=roles_from(roles, quasi, confidential, insensitive, drop),
            max_risk=max_risk,
            max_loss=max_loss,
            min_k=min_k,
            harden=harden,
            crowd=crowd,
            text_column=text_column,
            id_column=id_column,
            label_column=label_column,
            ontology=options.ontologies(ontology),
            mapping=mapping,
            missing=missing,
            kinds=options.pairs("--kind", kind, "zip=code"),
            categorical=options.categories(categorical),
            order=options.orders(order),
            refine=refine,
            repeated=repeated if refine else [*repeated, "--no-refine"],
            force=force,
        )
    if as_json:
        from shoal.results.assessment import as_data

        write(json.dumps(as_data(found), indent=2))
        return
    write(printable(f"report       {out / 'report.html'}"))
    _show(found)


def _show(found: Exploration) -> None:
    """What was tried, and what is recommended."""
    from shoal.pages.words import count
    from shoal.results.exploration import LEARNED

    write(f"tried        {len(found.outcomes)} ways, {len(found.front)} of them on the front")
    if found.hardened:
        begun, ended = (one.figures[LEARNED] for one in (found.hardened[0], found.hardened[-1]))
        steps = count(len(found.hardened) - 1, "step")
        write(f"hardened     {steps}: a trained attacker found {begun:.1f} %, now {ended:.1f} %")
    if found.recommended is None or found.command is None:
        what, also = (
            ("nothing that promises a crowd", ", or accept none: --no-crowd") if found.crowd else ("nothing", "")
        )
        say(f"{what} keeps these limits; raise --max-risk or --max-loss, or lower --min-k{also}")
        return
    best = found.recommended
    loss, risk = found.measures.loss, found.measures.risk
    write(f"recommended  {best.trial.name}: {loss} {best.loss:.2f}, {risk} {best.risk:.2f}, score {best.score:.2f}")
    if best.trial.promises_crowd:
        others = count(best.smallest_group - 1, "other")
        write(f"promise      each looks like at least {others} (k={best.trial.k})")
    else:
        write("promise      NO crowd: a record may be one of a kind; without --no-crowd a crowd is recommended")
    write(printable(f"make it      {found.command}"))
