"""report.html and README.md: made again from the certificate and what was counted, and compared."""

from __future__ import annotations

from typing import Any

from shoal.pages.report import release_pages
from shoal.pages.sanitized import sanitized_pages
from shoal.results.claims import Claim, Statement
from shoal.results.stated import sanitized_summary, summary_of
from shoal.results.summary import DocumentFigures
from shoal.verification.certificate import CERTIFICATE
from shoal.verification.promises import Counts
from shoal.verification.release_files import Refused, ReleaseFolder
from shoal.version import __version__

PAGE = "page"
PAGES = {"report.html": 4_000_000, "README.md": 1_000_000}  # and the bytes that each may have
MISSING = "(missing)"  # of a row without a label


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
