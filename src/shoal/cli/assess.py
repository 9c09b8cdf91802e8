"""shoal assess: judge a protected table or collection against its original; shoal board: one page about a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, say, shown_progress, write, write_page
from shoal.request.request import parsed_options


@command(
    epilog=examples(
        "shoal assess people.csv release/ -o assessment",
        "shoal assess people.csv masked.csv -o assessment --key id --columns age,income",
        "shoal assess letters/ sanitized/ -o assessment --policy health",
    )
)
@takes_options("assess")
def assess(
    original: Annotated[
        Path, typer.Argument(help="The table, documents or texts as they were, or the plan.", **path("ORIGINAL"))
    ],
    protected: Annotated[
        Path, typer.Argument(help="The same, protected or sanitized, or a release.", **path("PROTECTED"))
    ],
    texts: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Judge a protected table or collection, whoever made it: what was lost, and what an intruder finds.

    Rows are put side by side by the key, by a release's private mapping, or by their place. The report is made from the
    original: keep it to yourself.
    """
    options = parsed_options("assess", texts)
    with shown_progress():
        found = shoal.assess(original, protected, **options)
    if as_json:
        write(json.dumps(found.data(), indent=2))
        return
    if "out" in options:
        write(printable(f"report       {Path(options['out']) / 'report.html'}"))
    write_page("assessment.txt.jinja", f=found, **_in_words(found))
    for note in _notes(found):
        say(note)


def _in_words(found: Any) -> dict[str, Any]:
    """What the template does not find as it is in the result."""
    if hasattr(found, "attack"):
        queries = f"queries of {found.policy}"
        about = ("information", found.utility, "queries for subjects"), ("risk", found.risk, queries)
        return {"kind": "texts", "changes": [(f"{name:<13}", change, words) for name, change, words in about]}
    if hasattr(found, "risk"):
        return {"kind": "table", "leak_lines": [] if found.leaks is None else _of_leaks(found.leaks)}
    if hasattr(found, "release"):
        return {"kind": "sketches"}
    scores = {(one.classifier, one.train, one.test): one.accuracy for one in found.utility.classifiers}
    names = dict.fromkeys(one.classifier for one in found.utility.classifiers)
    trained = [(name, scores[name, "protected", "original"], scores[name, "original", "original"]) for name in names]
    return {"kind": "documents", "classified": trained}


def _of_leaks(card: Any) -> list[tuple[str, str]]:
    """What trained attackers go by, and what helps."""
    from shoal.pages.leak_card import best_parameters, proof, remedy

    telling = [one for one in card.leak.attributes if one.without is not None][:3]
    lines = {
        "telling": ", ".join(f"{one.name} ({one.without:.1%} found without it)" for one in telling),
        "advice": remedy(card),
        "proof": proof(card.leak),
        "best by": ", ".join(f"{name} {value:.3g}" for name, value in best_parameters(card.leak)[:5]),
    }
    return [(f"{name:<13}", line) for name, line in lines.items()]


def _notes(found: Any) -> list[str]:
    """What was not warned of while the figures were made."""
    if hasattr(found, "attack"):
        return list(found.notes)
    models = getattr(found, "models", None)
    if models is None or models.learnable:
        return []
    return [f"even from the originals, models learn next to nothing of {models.target}; choose another --target"]


@command(
    epilog=examples(
        "shoal board release/ -o board",
        "shoal board release/ -o board-private --original people.csv --weight w",
    )
)
@takes_options("board")
def board(
    release: Annotated[Path, typer.Argument(help="Folder of a release of a table.", **path("RELEASE"))],
    texts: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Answer what a disclosure board asks of a release, on one page to print and sign.

    From the release alone it is the public version; with --original it is the owner's.
    """
    options = parsed_options("board", texts)
    with shown_progress():
        found = shoal.board(release, **options)
    version = "public" if found.audit is None else "owner's"
    if as_json:
        write(json.dumps({"version": version, "promises": found.promises, "seal": found.seal}, indent=2))
        return
    if "out" in options:
        write(printable(f"page         {Path(options['out']) / 'report.html'} ({version} version)"))
    write(f"promises     {found.promises} counted, all hold; {found.signature}")
    if found.audit is not None and found.assessment is not None:
        write(f"before       {found.audit.below[0]:,} of {found.audit.rows:,} records one of a kind")
    write(printable(f"seal         {found.seal}"))
