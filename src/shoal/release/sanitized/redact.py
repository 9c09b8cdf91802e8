"""redact: from a work folder in which everything is decided to a release that may be shown. The folder is locked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.bundle.folders import CERTIFICATE, PUBLIC_FOLDER, check_places, folders_written_aside, private_beside
from shoal.errors import InputError, ShoalError
from shoal.io.files import PathLike
from shoal.io.private_files import PRIVATE_FOLDER
from shoal.pages.sanitized import sanitized_readme, sanitized_report
from shoal.release.certificate import dump, sealed_certificate
from shoal.release.sanitized.figures import ACCEPTED_UNSEEN, promises_of, stated_of, summary_of
from shoal.release.sanitized.html_page import html_page
from shoal.release.sanitized.leftovers import Leftovers, leftovers_of
from shoal.release.sanitized.pdf_pages import BARS, redacted_pdf
from shoal.release.sanitized.plan import Planned, check_decided, plan
from shoal.release.sanitized.secrets import (
    DECISIONS,
    RECORD,
    VAULT,
    occurrences,
    sealed_record,
    secrets_of,
    vault_digest,
)
from shoal.release.writing import EPOCH
from shoal.results.sanitized import SanitizedSummary, Secrets
from shoal.results.sanitizing import Decision
from shoal.sanitizer.pseudonyms import Vault
from shoal.sanitizer.review.items import BLOCK, Item
from shoal.sanitizer.review.outcome import Collection, Outcome, current
from shoal.sanitizer.review.replay import DISPUTED
from shoal.sanitizer.review.reviewing import Review
from shoal.sanitizer.review.strings import Strings
from shoal.sanitizer.review.work import WorkFolder

__all__ = ["FORMS", "PdfBars", "Redacted", "Sealing", "redact"]

FORMS = ("text", "html", "pdf")
UNKNOWN = "0" * 64  # in the place of a fingerprint that is not computed yet
FINGERPRINT = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


@dataclass(frozen=True)
class Sealing:
    """Who can open the vault: the holders of keys (age1…), or of a passphrase."""

    recipients: tuple[str, ...] = ()
    passphrase: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class PdfBars:
    """How pages are redacted: bars over words or over whole lines, and whether pictures stay."""

    over: str = "words"
    keep_pictures: bool = False


@dataclass(frozen=True)
class Redacted:
    """A release of sanitized documents, and where it is."""

    folder: Path
    private: Path
    certificate: dict[str, Any]
    summary: SanitizedSummary


def redact(
    work: PathLike,
    out: PathLike,
    sealing: Sealing,
    *,
    form: str = "text",
    accept_rest: float | None = None,
    pdf_bars: PdfBars = PdfBars(),
    private: PathLike | None = None,
    force: bool = False,
) -> Redacted:
    """Make a release of a work folder, and lock the folder.

    Parameters
    ----------
    sealing : Sealing
        Who can undo it: the vault is sealed for them.
    form : {"text", "html", "pdf"}
        Texts always; with "html" also as pages with bars, with "pdf" also redacted pages of what came as PDF.
    accept_rest : float
        Decide what is open: entities that are masked with at least this probability are, others stay; blocks are
        removed. None refuses while anything is open.
    """
    folder = WorkFolder(work)
    release = Path(out)
    hidden = private_beside(release) if private is None else Path(private)
    _check(form, accept_rest, pdf_bars)
    check_places(folder.path, release, hidden, force)
    with _rest_decided(folder, accept_rest):
        return _made(folder, release, hidden, sealing, form, pdf_bars)


def _made(folder: WorkFolder, release: Path, hidden: Path, sealing: Sealing, form: str, pdf_bars: PdfBars) -> Redacted:
    """The release of a folder in which everything is decided."""
    collection = current(folder)
    outcomes = list(collection.outcomes())
    check_decided(outcomes)
    seen = folder.log.read()
    planned = plan(collection, outcomes, folder.settings["style"], folder.settings["scope"])
    summary = summary_of(collection, outcomes, planned, form)
    secrets = secrets_of(planned, collection.masked_strings, summary.scope, folder.secret_digest("vault"))
    left = _leftovers(collection, outcomes, planned, secrets)
    summary = replace(summary, kept=sum(leftovers.on_purpose for leftovers in left.values()))
    secrets = replace(secrets, kept={name: leftovers.counts for name, leftovers in left.items()})
    with folders_written_aside((hidden, PRIVATE_FOLDER), (release, PUBLIC_FOLDER)) as (private_aside, aside):
        _write_documents(folder, planned, form, pdf_bars, aside)
        secrets, content = _write_pages(collection, planned, summary, secrets, aside)
        _write_private(folder, planned, secrets, sealing, private_aside)
        for path in aside.rglob("*"):
            os.utime(path, (EPOCH, EPOCH))
        _lock(folder, seen, content["seal"])
    return Redacted(release, hidden, content, summary)


def _check(form: str, accept_rest: float | None, pdf_bars: PdfBars) -> None:
    if form not in FORMS:
        raise InputError(f"form={form!r} is not known; use one of {', '.join(FORMS)}")
    if accept_rest is not None and not 0 <= accept_rest <= 1:
        raise InputError(f"accept_rest={accept_rest!r} is a probability; give a number from 0 to 1")
    if pdf_bars.over not in BARS:
        raise InputError(f"bars over {pdf_bars.over!r} are not known; use one of {', '.join(BARS)}")


@contextmanager
def _rest_decided(folder: WorkFolder, least: float | None) -> Iterator[None]:
    """What is open is decided by the rule. If no release comes of it, the rule's decisions are taken back: they win
    over those of people, who would never be asked again.
    """
    before = len(folder.log.read())
    try:
        if least is not None:
            _accept_rest(folder, least)
        yield
    except BaseException:
        made = [one.number for one in folder.log.read()[before:] if one.reviewer == ACCEPTED_UNSEEN]
        with suppress(ShoalError, OSError):  # what went wrong is told, not this
            Review(folder, ACCEPTED_UNSEEN).undo(made, reason="no release was made")
        raise


def _accept_rest(folder: WorkFolder, least: float) -> None:
    """Mask what reaches the probability, then all that has a string within it which is masked by now; leave others.

    What reviewers differ about stays open: a rule does not settle it.
    """
    review = Review(folder, ACCEPTED_UNSEEN)
    reason = f"accept-rest {least:g}"
    while True:
        collection = current(folder)
        waiting = [
            (outcome.proposals, item)
            for outcome in collection.outcomes()
            for item in outcome.open
            if collection.state.verdict(item.key).state != DISPUTED
        ]
        if not waiting:
            break
        masked = [
            item.key
            for proposals, item in waiting
            if item.kind == BLOCK or item.probability >= least or _has_masked(collection, item, folder.text(proposals))
        ]
        if masked:
            review.decide(masked, "accept", reason=reason, adjudicates=True)
        else:
            review.decide([item.key for _, item in waiting], "reject", reason=reason, adjudicates=True)


def _has_masked(collection: Collection, item: Item, text: str) -> bool:
    return any(any(collection.search.readable(text[mention.start : mention.end])) for mention in item.mentions)


def _leftovers(
    collection: Collection, outcomes: Sequence[Outcome], planned: Sequence[Planned], secrets: Secrets
) -> dict[str, Leftovers]:
    """By file. Refused if a document would show what nobody left."""
    strings = Strings(secrets.strings)
    outcome_of = {outcome.proposals.document: outcome for outcome in outcomes}
    return {
        f"documents/{document.name}.txt": leftovers_of(
            document, outcome_of[document.proposals.document], collection.work.text(document.proposals), strings
        )
        for document in planned
    }


def _write_documents(folder: WorkFolder, planned: Sequence[Planned], form: str, pdf_bars: PdfBars, aside: Path) -> None:
    documents = aside / "documents"
    documents.mkdir()
    for number, document in enumerate(planned):
        progress.step("writing", number, len(planned))
        text = document.masked.text
        (documents / f"{document.name}.txt").write_bytes(text.encode())
        if form == "html":
            page = html_page(text, [(start, end) for start, end, _ in document.masked.pieces])
            (documents / f"{document.name}.html").write_bytes(page.encode())
        elif form == "pdf" and document.proposals.pdf:
            source = folder.pdf(document.proposals)
            name = f"document {document.proposals.document}"
            redacted = redacted_pdf(source, document.original_places, name, pdf_bars.over, pdf_bars.keep_pictures)
            (documents / f"{document.name}.pdf").write_bytes(redacted)
    progress.step("writing", len(planned), len(planned))


def _write_pages(
    collection: Collection, planned: Sequence[Planned], summary: SanitizedSummary, secrets: Secrets, aside: Path
) -> tuple[Secrets, dict[str, Any]]:
    """Report, README and certificate. They have no word of a document: a masked string in them is a word of ours."""
    strings = Strings(secrets.strings)
    kept = dict(secrets.kept)
    pages = {"report.html": sanitized_report(summary), "README.md": sanitized_readme(summary)}
    for name, page in pages.items():
        (aside / name).write_text(page, encoding="utf-8", newline="\n")
        kept[name] = occurrences(strings, page)

    def content(digest: str) -> dict[str, Any]:
        promises = promises_of(summary, planned, collection.work.log.head, digest)
        return sealed_certificate("sanitized", promises, stated_of(summary), aside)

    words = Strings(string for string in secrets.strings if not string.isdigit())  # its numbers are sizes and counts
    kept[CERTIFICATE] = occurrences(words, FINGERPRINT.sub(" ", dump(content(UNKNOWN)).decode()))
    secrets = replace(secrets, kept={name: counts for name, counts in kept.items() if counts})
    certificate = content(vault_digest(secrets))
    (aside / CERTIFICATE).write_bytes(dump(certificate))
    return secrets, certificate


def _write_private(
    folder: WorkFolder, planned: Sequence[Planned], secrets: Secrets, sealing: Sealing, aside: Path
) -> None:
    vault = Vault.of((document.name, document.masked) for document in planned)
    vault.seal(aside / VAULT, sealing.recipients, sealing.passphrase)
    sources = {document.name: document.proposals.source for document in planned}
    (aside / RECORD).write_bytes(sealed_record(secrets, sources, sealing.recipients, sealing.passphrase))
    log = folder.path / DECISIONS
    (aside / DECISIONS).write_bytes(log.read_bytes() if log.exists() else b"")


def _lock(folder: WorkFolder, seen: Sequence[Decision], seal: str) -> None:
    """Only if nobody has decided anything since the release was planned."""

    def make(decisions: tuple[Decision, ...]) -> Sequence[Decision]:
        if len(decisions) != len(seen):
            raise InputError("somebody has decided more while the release was made; run redact again")
        folder.lock(seal)
        return ()

    folder.log.append(make)
