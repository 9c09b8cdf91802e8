"""Make a release of a work folder in which everything is decided, and lock the folder."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.data.files import PathLike
from shoal.data.private_files import PRIVATE_FOLDER
from shoal.errors import InputError, ShoalError
from shoal.language import ENGLISH, LANGUAGES
from shoal.pages.sanitized import sanitized_pages
from shoal.release.folders import CERTIFICATE, PUBLIC_FOLDER, check_places, folders_written_aside, private_beside
from shoal.release.writing import EPOCH, dump, sealed_certificate
from shoal.results.sanitizing import Decision, PeopleFound, SanitizedSummary, Secrets
from shoal.sanitizer.release.figures import promises_of, published, stated_of, summary_of
from shoal.sanitizer.release.masking import PlannedDocument, check_decided, leftovers, plan
from shoal.sanitizer.release.pages import BARS, PdfBars, docx_page, html_page, redacted_pdf
from shoal.sanitizer.release.vault import RECORD, VAULT, Vault, sealed_record, secrets_of, vault_digest
from shoal.sanitizer.review.decisions import ACCEPTED_UNSEEN, DISPUTED
from shoal.sanitizer.review.outcome import ReviewedCollection, current
from shoal.sanitizer.review.review import Review
from shoal.sanitizer.review.strings import Strings
from shoal.sanitizer.review.work import BLOCK, DECISIONS, Item, WorkFolder

__all__ = ["FORMS", "PdfBars", "Redacted", "Sealing", "redact"]

FORMS = ("text", "html", "docx", "pdf")
UNKNOWN = "0" * 64  # in the place of a fingerprint that is not computed yet
FINGERPRINT = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


@dataclass(frozen=True)
class Sealing:
    """Who can open the vault: the holders of keys (age1…), or of a passphrase."""

    recipients: tuple[str, ...] = ()
    passphrase: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Redacted:
    """A release of sanitized documents, and where it is."""

    folder: Path
    private: Path
    certificate: dict[str, Any]
    summary: SanitizedSummary
    reidentification: PeopleFound | None = None  # for the owner: of few documents the summary has no rates


def redact(
    work: PathLike,
    out: PathLike,
    sealing: Sealing,
    *,
    form: str = "text",
    accept_rest: float | None = None,
    reidentification: float | None = None,
    background: PathLike | None = None,
    pdf_bars: PdfBars = PdfBars(),
    private: PathLike | None = None,
    force: bool = False,
    lang: str = ENGLISH,
) -> Redacted:
    """Make a release of a work folder, and lock the folder.

    Parameters
    ----------
    sealing : Sealing
        Who can undo it: the vault is sealed for them.
    form : {"text", "html", "docx", "pdf"}
        Texts always; with "html" or "docx" also as pages with bars, with "pdf" also redacted pages of what came as PDF.
    accept_rest : float
        Decide what is open: entities that are masked with at least this probability are, others stay; blocks are
        removed. None refuses while anything is open.
    reidentification : float
        Mask more words, until attackers with public text find at most this share of the people whom the documents are
        about. None masks what was decided and nothing else.
    background : path
        Texts about people, by the ids of the documents and more. None: the attackers have the originals.
    lang : {"en", "de"}
        The language of report and README.
    """
    folder = WorkFolder(work)
    _check(form, accept_rest, pdf_bars)
    if lang not in LANGUAGES:
        raise InputError(f"lang={lang!r} is not known; use one of {', '.join(LANGUAGES)}")
    release = Path(out)
    hidden = private_beside(release) if private is None else Path(private)
    check_places(folder.path, release, hidden, force)
    if background is not None and reidentification is None:
        raise InputError("a background needs a rate of re-identification; give both", option="reidentification")
    with _rest_decided(folder, accept_rest):
        planned, found = _planned(folder, reidentification, background)
        return _released(folder, planned, found, (release, hidden), sealing, form, pdf_bars, lang)


def _planned(
    folder: WorkFolder, rate: float | None, background: PathLike | None
) -> tuple[tuple[PlannedDocument, ...], PeopleFound | None]:
    outcomes = list(current(folder).outcomes())
    check_decided(outcomes)
    planned = plan(folder, outcomes)
    if rate is None:
        return planned, None
    from shoal.sanitizer.release.reidentification import without_people  # SciPy takes a while to load

    return without_people(planned, rate, background)


def _released(
    folder: WorkFolder,
    planned: Sequence[PlannedDocument],
    found: PeopleFound | None,
    places: tuple[Path, Path],
    sealing: Sealing,
    form: str,
    pdf_bars: PdfBars,
    lang: str,
) -> Redacted:
    """Masked texts, pages, secrets: everything is written, or nothing."""
    release, hidden = places
    seen = folder.log.read()
    strings = current(folder).search
    kept, on_purpose = leftovers(planned, strings)
    summary = replace(
        summary_of(folder, planned, form, on_purpose),
        reidentification=published(found, len(planned)),
        language=lang,
    )
    secrets = secrets_of(planned, strings.strings, summary.scope, folder.secret_digest("vault"), kept)
    with folders_written_aside((hidden, PRIVATE_FOLDER), (release, PUBLIC_FOLDER)) as (private_aside, aside):
        _write_documents(folder, planned, form, pdf_bars, aside)
        secrets = _write_pages(summary, secrets, strings, aside)
        secrets, certificate = _write_certificate(folder, planned, summary, secrets, aside)
        _write_private(folder, planned, secrets, sealing, private_aside)
        for path in aside.rglob("*"):
            os.utime(path, (EPOCH, EPOCH))
        _lock(folder, seen, certificate["seal"])
    return Redacted(release, hidden, certificate, summary, found)


def _check(form: str, accept_rest: float | None, pdf_bars: PdfBars) -> None:
    if form not in FORMS:
        raise InputError(f"form={form!r} is not known; use one of {', '.join(FORMS)}")
    if accept_rest is not None and not 0 <= accept_rest <= 1:
        raise InputError(f"accept_rest={accept_rest!r} is a probability; give a number from 0 to 1")
    if pdf_bars.over not in BARS:
        raise InputError(f"bars over {pdf_bars.over!r} are not known; use one of {', '.join(BARS)}")


@contextmanager
def _rest_decided(folder: WorkFolder, least: float | None) -> Iterator[None]:
    """Decide by the rule what is open. If no release comes of it, the rule's decisions are taken back: they win over
    those of people, who would never be asked again.
    """
    before = len(folder.log.read())
    try:
        if least is not None:
            decide_rest(folder, least)
        yield
    except BaseException:
        made = [d.number for d in folder.log.read()[before:] if d.reviewer == ACCEPTED_UNSEEN]
        with suppress(ShoalError, OSError):  # the first problem is reported, not this one
            Review(folder, ACCEPTED_UNSEEN).undo(made, reason="no release was made")
        raise


def decide_rest(folder: WorkFolder, least: float) -> None:
    """Mask what reaches the probability, then all that has a string within it which is masked by now; leave others.

    A string that is no direct identifier is masked in other documents only if a person accepted it somewhere: one
    "judge" that need be masked would take the word from the whole collection. What reviewers differ about stays open.
    """
    review = Review(folder, ACCEPTED_UNSEEN)
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
            if item.kind == BLOCK or item.probability >= least or _has_any(collection, item, folder.text(proposals))
        ]
        keys, action = (masked, "accept") if masked else ([item.key for _, item in waiting], "reject")
        review.decide(keys, action, reason=f"accept-rest {least:g}", adjudicates=True)


def _has_any(collection: ReviewedCollection, item: Item, text: str) -> bool:
    """Whether an item has a string within it that is masked in this document, or everywhere."""
    return any(
        collection.masked_strings[found.string].is_masked_in(item.document)
        for mention in item.mentions
        for found in collection.search.readable(text[mention.start : mention.end])
    )


def _write_documents(
    folder: WorkFolder, planned: Sequence[PlannedDocument], form: str, pdf_bars: PdfBars, aside: Path
) -> None:
    documents = aside / "documents"
    documents.mkdir()
    for number, document in enumerate(planned):
        progress.step("writing", number, len(planned))
        text = document.masked.text
        (documents / f"{document.name}.txt").write_bytes(text.encode())
        if form in ("html", "docx"):
            spans = [(start, end) for start, end, _ in document.masked.pieces]
            page = html_page(text, spans).encode() if form == "html" else docx_page(text, spans)
            (documents / f"{document.name}.{form}").write_bytes(page)
        elif form == "pdf" and document.proposals.pdf:
            source, name = folder.pdf(document.proposals), f"document {document.proposals.document}"
            redacted = redacted_pdf(source, document.original_spans, name, pdf_bars)
            (documents / f"{document.name}.pdf").write_bytes(redacted)
    progress.step("writing", len(planned), len(planned))


def _write_pages(summary: SanitizedSummary, secrets: Secrets, strings: Strings, aside: Path) -> Secrets:
    """Report and README. They have no word of a document: a masked string in them is a word of ours."""
    kept = dict(secrets.kept)
    for name, page in sanitized_pages(summary).items():
        (aside / name).write_text(page, encoding="utf-8", newline="\n")
        kept[name] = _occurrences(strings, page)
    return replace(secrets, kept=kept)


def _write_certificate(
    folder: WorkFolder, planned: Sequence[PlannedDocument], summary: SanitizedSummary, secrets: Secrets, aside: Path
) -> tuple[Secrets, dict[str, Any]]:
    """It holds the fingerprint of the secrets, which say how often a masked string is a word of the certificate."""

    def content(digest: str) -> dict[str, Any]:
        promises = promises_of(summary, planned, folder.log.head, digest)
        return sealed_certificate("sanitized", promises, stated_of(summary), aside)

    words = Strings(string for string in secrets.strings if not string.isdigit())  # its numbers are sizes and counts
    own = _occurrences(words, FINGERPRINT.sub(" ", dump(content(UNKNOWN)).decode()))
    kept = {name: counts for name, counts in {**secrets.kept, CERTIFICATE: own}.items() if counts}
    secrets = replace(secrets, kept=kept)
    certificate = content(vault_digest(secrets))
    (aside / CERTIFICATE).write_bytes(dump(certificate))
    return secrets, certificate


def _occurrences(strings: Strings, text: str) -> dict[str, int]:
    """How often each string is in a text."""
    return dict(sorted(Counter(occurrence.string for occurrence in strings.find(text)).items()))


def _write_private(
    folder: WorkFolder, planned: Sequence[PlannedDocument], secrets: Secrets, sealing: Sealing, aside: Path
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
            raise InputError("more was decided while the release was being made; run redact again")
        folder.lock(seal)
        return ()

    folder.log.append(make)
