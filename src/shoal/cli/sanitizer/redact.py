"""shoal redact and unmask: the release of what was reviewed, and the way back for the owner of its vault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.sanitizer.options import Key, Private, choice, identities_of, probability, recipients_of
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.language import ENGLISH, LANGUAGES

if TYPE_CHECKING:
    from shoal.sanitizer.redact import Redacted


@app.command(
    epilog=examples(
        "shoal redact work/ -o release/",
        "shoal redact work/ -o release/ --format html --accept-rest 0.5",
        "shoal verify release/ --private release-private/",
    )
)
def redact(
    work: Annotated[Path, typer.Argument(help="Work folder of shoal sanitize.", **options.path("WORK"))],
    out: Annotated[Path, typer.Option("-o", "--out", help="Release folder to create.", **options.path())],
    form: Annotated[
        str, choice("Texts only, or pages with bars too", "text", "html", "docx", "pdf", flag="--format")
    ] = "text",
    accept_rest: Annotated[
        float | None,
        probability("Decide open items by a rule: mask entities from this probability on, remove blocks."),
    ] = None,
    reidentification: Annotated[
        float | None,
        probability("Mask more words, until attackers with public text find at most this share of the people."),
    ] = None,
    background: Annotated[
        Path | None,
        typer.Option(
            help="Public texts about people, by the ids of the documents, and about others.  [default: the originals]",
            **options.path("<file>"),
        ),
    ] = None,
    bars: Annotated[str, choice("What bars on PDF pages cover", "words", "lines")] = "words",
    keep_pictures: Annotated[
        bool, typer.Option("--keep-pictures", help="Keep the pictures on PDF pages, which nobody has reviewed.")
    ] = False,
    key: Key = None,
    recipient: Annotated[
        list[str] | None, typer.Option(help="Public key (age1...) of another person who may open the vault.")
    ] = None,
    private: Private = None,
    lang: Annotated[str, choice("Language of report and README", *LANGUAGES)] = ENGLISH,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make the release of a work folder in which everything is decided, and lock the folder.

    What was masked goes into a vault beside the release, sealed with your key. A key is made on first use; with
    SHOAL_PASSPHRASE set and no key given, the vault is sealed with the passphrase instead.
    """
    from shoal.sanitizer.redact import PdfBars, Sealing, redact
    from shoal.sanitizer.review.work import WorkFolder

    WorkFolder(work)  # before a key is made
    recipients, passphrase = recipients_of(key, recipient)
    with shown_progress():
        made = redact(
            work,
            out,
            Sealing(recipients, passphrase),
            form=form,
            accept_rest=accept_rest,
            reidentification=reidentification,
            background=background,
            pdf_bars=PdfBars(bars, keep_pictures),
            private=private,
            force=force,
            lang=lang,
        )
    _say_made(made, as_json)
    if not as_json:
        say(f"{work} is locked now; look at {made.folder / 'report.html'}")


def _say_made(made: Redacted, as_json: bool) -> None:
    summary = made.summary
    places = sum(kind.places for kind in summary.kinds)
    if as_json:
        figures = {"documents": summary.documents, "masked": places, "blocks": summary.blocks, "kept": summary.kept}
        folders = {"release": str(made.folder), "private": str(made.private)}
        write(json.dumps({**folders, **figures, "seal": made.certificate["seal"]}, indent=2))
        return
    write(printable(f"release      {made.folder}"))
    write(printable(f"private      {made.private}"))
    write(f"documents    {summary.documents:,}")
    write(f"masked       places: {places:,}; blocks removed: {summary.blocks:,}")
    if made.reidentification:
        r = made.reidentification
        write(f"found first  {r.before:.0%} before, {r.after:.0%} after (95 % interval {r.low:.0%} to {r.high:.0%})")
        write(f"             {r.worst:.0%} by the best attacker, {1 / r.people:.1%} by chance")
        write(
            f"words        {r.words:,} of {r.shown:,} masked for it; right person {r.k}th or worse among {r.people:,}"
        )
    write(f"seal         {made.certificate['seal']}")
    if summary.kept:
        say(f"note: {summary.kept:,} places show a string that is masked elsewhere, as reviewers or the rule decided")
    if summary.unseen:
        say(f"note: {summary.unseen:,} items were decided by --accept-rest, without review")


@app.command(epilog=examples("shoal unmask release/ -o originals/"))
def unmask(
    release: Annotated[Path, typer.Argument(help="Release made by shoal redact.", **options.path("RELEASE"))],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to create.", **options.path())],
    key: Key = None,
    private: Private = None,
) -> None:
    """Put back what was masked, to the last byte, with the vault and its key.

    The texts have the names they came with; index.csv says which document of the release is which.
    """
    from shoal.sanitizer.unmask import unmask

    identities, passphrase = identities_of(key)
    with shown_progress():
        back = unmask(release, out, identities=identities, passphrase=passphrase, private=private)
    write(printable(f"originals    {back.folder}"))
    write(f"documents    {back.documents:,}")
    say("these texts are confidential")
