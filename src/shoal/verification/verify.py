"""verify: does a release hold what its certificate promises, and do its pages show what was counted?

Independent on purpose: it reads the files, counts, and compares. It imports none of the methods it checks, and
it trusts nothing that the release says about itself but what it then finds to be so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import InputError, ShoalError
from shoal.pages.report import release_pages
from shoal.pages.sanitized import sanitized_pages
from shoal.results.claims import Claim, Statement
from shoal.results.notebook import html_table
from shoal.results.sanitizing import Secrets
from shoal.results.stated import sanitized_summary, summary_of
from shoal.results.summary import DocumentFigures
from shoal.verification.certificate import CERTIFICATE, dump, is_sealed, read_certificate
from shoal.verification.documents import DOCUMENT_FILES, document_claims
from shoal.verification.followup import FOLLOWS, following_claims
from shoal.verification.promises import Counts
from shoal.verification.release_files import NOT_PLAIN, Refused, ReleaseFolder, is_part
from shoal.verification.sanitized import sanitized_claims, sanitized_statements
from shoal.verification.sanitized_files import document_name
from shoal.verification.signatures import SIGNATURE, UNSIGNED, signature_claims
from shoal.verification.sketches import SKETCH_FILES, sketch_claims, sketch_statements
from shoal.verification.tables import TABLE_FILES, table_claims
from shoal.version import __version__

SANITIZED = "sanitized"
PAGE = "page"
PAGES = {"report.html": 4_000_000, "README.md": 1_000_000}  # and the bytes that each may have
MISSING = "(missing)"  # of a row without a label
DATA_FILES = {"documents": DOCUMENT_FILES, SANITIZED: (), "sketches": SKETCH_FILES, "table": TABLE_FILES}
CROWD = "k-anonymity"  # the promise of whole rows that are shared by k


@dataclass(frozen=True)
class Verification:
    """Every promise of a release, and whether it holds. True when all do."""

    claims: tuple[Claim, ...]
    stated: tuple[Statement, ...] = ()  # what is the owner's word, and cannot be counted
    signature: str = UNSIGNED  # who vouches for it, in a sentence
    counts: Counts = field(default_factory=Counts, repr=False, compare=False)  # what the pages show of them

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)

    @property
    def counts_hold(self) -> bool:
        """Whether all that was counted holds; pages for people are not counted."""
        return all(claim.holds for claim in self.claims if claim.promise != PAGE)

    @property
    def promises_crowd(self) -> bool:
        """Whether it is promised that whole rows are shared by k."""
        return any(claim.promise == CROWD for claim in self.claims)

    @property
    def sanitized(self) -> bool:
        """Whether these are sanitized documents, of which no crowd is expected."""
        return any(claim.promise == "documents" for claim in self.claims)

    @property
    def broken(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if not claim.holds)

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        sentence = "Every promise holds." if self.holds else f"Broken promises: {len(self.broken)}."
        rows = [("ok" if one.holds else "BROKEN", one.promise, one.file, one.detail) for one in self.claims]
        return html_table(sentence, ("", "Promise", "File", "Counted"), rows)


def verify(
    folder: str | os.PathLike[str] | ReleaseFolder,
    expect: str | None = None,
    min_k: int | None = None,
    secrets: Secrets | None = None,
    signer: str | os.PathLike[str] | None = None,
    after: str | os.PathLike[str] | None = None,
    with_pages: bool = True,
) -> Verification:
    """Every promise that can be counted from the release alone; see `shoal.verify` for what can be asked."""
    release = folder if isinstance(folder, ReleaseFolder) else opened_release(folder)
    try:
        content = read_certificate(release)
    except Refused as refused:
        return Verification((refused.claim,))
    signed, vouching = signature_claims(release, content, dump(content), signer)
    claims = [_sealed(content, expect), *signed, *_file_claims(release, content)]
    if min_k is not None:
        claims.append(_enough(content, min_k))
    if any(claim.detail == NOT_PLAIN for claim in claims):  # A pipe would block the reader, a device never end.
        return Verification(tuple(claims), signature=vouching)
    counts = Counts()
    claims += _counted(release, content, secrets, counts)
    if after is not None:
        claims += _followed(release, content, opened_release(after), all(claim.holds for claim in claims))
    statements = _statements(content, secrets)
    if with_pages and all(claim.holds for claim in claims):
        try:
            of_pages, not_ours = page_results(release, content, counts)
            claims, statements = claims + of_pages, statements + not_ours
        except Refused as refused:
            claims.append(refused.claim)
    return Verification(tuple(claims), statements, vouching, counts)


def opened_release(folder: str | os.PathLike[str]) -> ReleaseFolder:
    """The files of a release; an error if the folder is none."""
    try:
        release = ReleaseFolder(folder)
    except (OSError, ValueError):
        raise InputError(f"{str(folder)!r} is not a folder that can be read; give the folder of a release") from None
    if CERTIFICATE not in release:
        raise InputError(f"{str(folder)!r} is not a release: it has no {CERTIFICATE}; give the folder of one")
    return release


def _followed(release: ReleaseFolder, content: dict[str, Any], earlier: ReleaseFolder, holds: bool) -> Iterator[Claim]:
    """What the pair promises, where both releases hold on their own."""
    before = verify(earlier, with_pages=False)
    if not before:
        broken = before.broken[0]
        yield Claim(FOLLOWS, False, f"the earlier release does not hold: {broken.promise}, {broken.detail}")
    elif holds:
        yield from following_claims(release, content, earlier, read_certificate(earlier))


def _statements(content: dict[str, Any], secrets: Secrets | None) -> tuple[Statement, ...]:
    """What is the owner's word."""
    if content["kind"] == SANITIZED:
        return sanitized_statements(secrets)
    return sketch_statements(content) if content["kind"] == "sketches" else ()


def _sealed(content: dict[str, Any], expect: str | None) -> Claim:
    """Whether the certificate is as it was sealed, and sealed as expected."""
    if not is_sealed(content):
        return Claim("certificate", False, "the certificate was changed after it was sealed", CERTIFICATE)
    if expect is not None and content["seal"] != expect.strip().lower():
        return Claim("certificate", False, "the seal is not the one expected", CERTIFICATE)
    return Claim("certificate", True, "sealed and unchanged", CERTIFICATE)


def _enough(content: dict[str, Any], min_k: int) -> Claim:
    """Whether the crowd that is promised is as large as the one asked for."""
    promised = content["promises"].get("anonymity", {"whole_rows": False})
    k = promised["k"] if promised["whole_rows"] else None
    promise = "NO crowd is promised" if k is None else f"k={k} is promised"
    return Claim("least k", k is not None and k >= min_k, f"{promise}, at least {min_k} was asked for", CERTIFICATE)


def _file_claims(release: ReleaseFolder, content: dict[str, Any]) -> Iterator[Claim]:
    """Each certified file is there unchanged, and there is no other."""
    # A file that no count looks into could carry anything, whatever the certificate says of it.
    files, kind = content["files"], content["kind"]
    copy = content["promises"].get("copy")
    known = {*PAGES, *DATA_FILES[kind], *([copy["file"]] if copy else [])}
    for name in sorted({*release.names, *files} - {CERTIFICATE} - ({SIGNATURE} - files.keys())):
        is_document = kind == SANITIZED and document_name(name) is not None
        if name not in files or not (name in known or is_part(kind, name) or is_document):
            yield Claim("files", False, "is not part of the release; take it out", name)
        elif name not in release:
            yield Claim("files", False, "is missing", name)
        else:
            yield _unchanged(release, name, files[name])


def _unchanged(release: ReleaseFolder, name: str, fingerprint: dict[str, Any]) -> Claim:
    """Whether the file has the size and the SHA-256 that the certificate says."""
    try:
        same = release.size(name) == fingerprint["bytes"] and release.sha256(name) == fingerprint["sha256"]
    except Refused as refused:
        return refused.claim
    return Claim("files", same, "unchanged (SHA-256)" if same else "was changed: its SHA-256 differs", name)


COUNTED: dict[str, Callable[[ReleaseFolder, dict[str, Any], Counts], Iterator[Claim]]] = {
    "documents": document_claims,
    "sketches": sketch_claims,
    "table": table_claims,
}


def _counted(
    release: ReleaseFolder, content: dict[str, Any], secrets: Secrets | None, counts: Counts
) -> Iterator[Claim]:
    """The promises about the data, counted anew."""
    try:
        if content["kind"] == SANITIZED:
            yield from sanitized_claims(release, content, secrets)
        else:
            yield from COUNTED[content["kind"]](release, content["promises"], counts)
        release.check_unchanged()
    except Refused as refused:
        yield refused.claim
    except ShoalError:  # what cannot be counted here, such as a copy without its library, is no broken promise
        raise
    except Exception as problem:  # Whatever a hostile file does to a reader, the answer is that the promise fails.
        yield Claim("data", False, f"the data cannot be read as promised ({type(problem).__name__})")


def page_results(
    release: ReleaseFolder, content: dict[str, Any], counts: Counts
) -> tuple[list[Claim], tuple[Statement, ...]]:
    """Whether each page is what certificate and rows make it; one by another version is not ours to vouch for."""
    claims, statements = [], []
    pages = pages_of(content, counts)
    ours = content["versions"]["shoal"] == __version__
    for name, largest in PAGES.items():
        if name not in release:
            continue
        same = release.size(name) <= largest and release.read(name, largest) == pages[name]
        if same or ours:
            other = "is not what certificate and rows make it; rewriting the release makes it anew"
            claims.append(Claim(PAGE, same, "is what certificate and rows make it" if same else other, name))
        else:
            by = f"made by Shoal {content['versions']['shoal']}, and not ours to vouch for"
            statements.append(Statement(PAGE, f"{by}; rewriting the release makes it anew", name))
    unseen = sum(not line["after"] for _, line in _concepts(content))
    if unseen:
        word = "the label of a concept" if unseen == 1 else f"the labels of {unseen} concepts"
        statements.append(Statement(PAGE, f"{word} that no row has: the owner's word", "report.html"))
    return claims, tuple(statements)


def pages_of(content: dict[str, Any], counts: Counts) -> dict[str, bytes]:
    """The pages that belong to a certificate and the rows that were counted."""
    promises, stated = content["promises"], content["stated"]
    try:
        if content["kind"] == "sanitized":
            pages = sanitized_pages(sanitized_summary(promises, stated))
        else:
            sizes, lengths = (tuple(sorted(counter.items())) for counter in (counts.group_sizes, counts.lengths))
            summary = summary_of(content["kind"], promises, stated, sizes, lengths)
            if isinstance(summary.figures, DocumentFigures):
                _check_terms(summary.figures, counts)
            if any(use["label"] not in counts.texts[name] for name, use in _concepts(content) if use["after"]):
                raise ValueError("a label that no row has")
            pages = release_pages(summary)
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError):
        raise Refused("certificate", "the figures that are stated make no report", CERTIFICATE) from None
    return {name: page.encode() for name, page in pages.items()}


def _concepts(content: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every line of the trees of concepts that a report shows, and its column."""
    trees = content["stated"].get("report", {}).get("figures", {}).get("generalisations", [])
    lines = [(tree["name"], line) for tree in trees for line in tree["concepts"]]
    return [(name, line) for name, line in lines if line["label"] != MISSING]


def _check_terms(figures: DocumentFigures, counts: Counts) -> None:
    """The terms that a report shows are terms of the release, in as many documents as it says."""
    if figures.vocabulary != len(counts.documents_with):
        raise ValueError("another vocabulary")
    if any(counts.documents_with.get(use.term) != use.documents for use in figures.terms):
        raise ValueError("other terms")
