"""The report of sanitized documents: figures and no word of a document."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.pages.sanitized import NOUNS, sanitized_readme, sanitized_report
from shoal.results.sanitizing import KINDS, MaskedKind, SanitizedSummary

SUMMARY = SanitizedSummary(
    documents=2,
    form="pdf",
    style="numbered",
    scope="collection",
    kinds=(MaskedKind("PERSON", 2, 5),),
    blocks=1,
    kept=1,
    hidden_share=0.2,
    model="by hand",
    policy="health",
    threshold=0.3,
    decisions=7,
    reviewers=1,
    unseen=1,
    rejected=1,
    withheld=1,
    dial=((0.0, 9), (0.5, 4), (1.0, 0)),
)


def test_the_report_says_what_was_hidden_who_decided_and_what_is_not_promised() -> None:
    page = sanitized_report(SUMMARY)
    for words in (
        "2 sanitized documents",
        "1 place left on purpose, by a reviewer or by the rule",
        "reviewed by 1 person",
        "20.0%",
        "1 item was decided by a rule",
        "Bars on pages are about as wide as what they hide",
        "1 document could not be read",
        "No masked string of at least 3 letters or 4 digits is in any file as whole words",
        "who and when, and why if they gave a reason",
        "That a masked name is not part of a longer word",
    ):
        assert words in page
    assert page == sanitized_report(SUMMARY)


def test_nothing_is_drawn_of_nothing() -> None:
    page = sanitized_report(replace(SUMMARY, kinds=(), dial=(), hidden_share=None, reviewers=0))
    assert "<figure>" not in page
    assert "reviewed by nobody" in page


@pytest.mark.parametrize("style", ["numbered", "category", "general"])
@pytest.mark.parametrize("form", ["text", "html", "pdf"])
def test_the_readme_explains_pseudonyms_and_files(style: str, form: str) -> None:
    text = sanitized_readme(replace(SUMMARY, style=style, form=form))
    assert ("Pers1" in text) == (style == "numbered")
    assert (".pdf" in text) == (form == "pdf")
    assert "shoal verify FOLDER" in text
    assert "how many people decided it" in text


def test_every_kind_has_a_name() -> None:
    assert set(NOUNS) == set(KINDS)
