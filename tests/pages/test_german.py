"""The second language is complete: every message has a translation, and a page in it holds no English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from gettext import GNUTranslations
from html import unescape
from string import Formatter
from typing import Any

import pytest
from jinja2 import Environment, nodes

from shoal.language import ENGLISH, LANGUAGES, speaking
from shoal.pages.board import board_html
from shoal.pages.report import release_pages
from shoal.pages.sanitized import sanitized_pages
from shoal.pages.words import said
from shoal.request.options import GroupPromises
from shoal.results.assessment import Board
from shoal.results.claims import Withheld
from shoal.results.sanitizing import KINDS, MaskedKind
from shoal.results.summary import CellShares, SketchFigures, StatedLoss
from shoal.verification.signatures import UNSIGNED
from tests.catalogue import LOCALE, messages, read
from tests.pages import test_report, test_sanitized

TRANSLATED = [language for language in LANGUAGES if language != ENGLISH]
DOCUMENTS = replace(
    test_report.DOCUMENTS,
    method="spherical microaggregation (MDAV), refined",
    withheld=(Withheld("empty", 12),),
    files=(("documents.npz", "the same weights as a SciPy CSR matrix"),),
)
TABLE = replace(
    test_report.TABLE,
    method="microaggregation (MDAV)",
    files=(("table.csv", "one row per record"),),
    promised=GroupPromises(l=2, t=0.25, beta=1.5, person="p"),
    loss=StatedLoss(0.0, 0.1, reason="fewer than 30 records, and figures about so few tell each of them"),
    figures=replace(
        test_report.TABLE.figures,
        cells=(CellShares("age", 0.25, 0.25, 0.25, 0.25),),
        insensitive=("ward",),
        allowed=("ward",),
        treated=(("age", "generalise"),),
    ),
)
UNPROMISED = replace(TABLE, promises_k=False, k=1, group_sizes=((1, 400), (2, 10)), promised=GroupPromises())
SKETCHES = replace(
    DOCUMENTS,
    method="delta sketches",
    figures=SketchFigures("crowd sketches", ((100, 5), (120, 9)), 1000, DOCUMENTS.figures.words_left_out),
)
BASKETS = replace(DOCUMENTS, figures=replace(DOCUMENTS.figures, record="basket"))
RELEASES = {
    "documents": DOCUMENTS,
    "baskets": BASKETS,
    "table": TABLE,
    "nothing promised": UNPROMISED,
    "sketches": SKETCHES,
    "single sketches": replace(SKETCHES, promises_k=False, k=1),
}
SANITIZED = replace(test_sanitized.SUMMARY, kinds=tuple(MaskedKind(kind, 2, 5) for kind in KINDS))
BOARD = Board(TABLE, (("age", "quasi"), ("diagnosis", "confidential")), "0" * 64, 12, UNSIGNED)


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_message_is_translated_and_none_is_left_over(language: str) -> None:
    catalogue = read(language)
    assert {message.id for message in catalogue if message.id} == set(messages()), "run: python -m tests.catalogue"
    assert [message.id for message in catalogue if message.id and not message.string] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_compiled_catalogue_is_that_of_the_source(language: str) -> None:
    with (LOCALE / f"{language}.mo").open("rb") as file:
        compiled = GNUTranslations(file)
    assert {text: compiled.gettext(text) for text in messages()} == {
        message.id: message.string for message in read(language) if message.id
    }


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_shows_no_value_that_the_message_does_not(language: str) -> None:
    for message in read(language):
        assert values_of(message.string) <= values_of(message.id), message.id


def values_of(message: str) -> set[str]:
    """The names and attributes in a message; the noun is on every page."""
    if "{{" in message or "{%" in message:
        tree = Environment().parse(message)
        names = {name.name for name in tree.find_all(nodes.Name)} - {"_", "noun"}
        return names | {attribute.attr for attribute in tree.find_all(nodes.Getattr)}
    return {name for _, name, _, _ in Formatter().parse(message) if name}


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("name", RELEASES)
def test_the_pages_of_a_release_hold_no_english(name: str, language: str) -> None:
    summary = RELEASES[name]
    english, other = release_pages(summary), release_pages(replace(summary, language=language))
    for page in english:
        assert untranslated(english[page], other[page], language, summary) == set()


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_pages_of_sanitized_documents_hold_no_english(language: str) -> None:
    english, other = sanitized_pages(SANITIZED), sanitized_pages(replace(SANITIZED, language=language))
    for page in english:
        assert untranslated(english[page], other[page], language, SANITIZED) == set()


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_page_for_a_board_holds_no_english(language: str) -> None:
    with speaking(language):
        other = board_html(BOARD)
    assert untranslated(board_html(BOARD), other, language, BOARD) == set()


def untranslated(english: str, other: str, language: str, shown: Any) -> set[str]:
    """Words of both pages that no translation has, and that are no data."""
    own = {word for message in read(language) for word in words_of(re.sub(r"\{.*?\}", " ", str(message.string)))}
    with speaking(language):
        data = {word for text in texts_of(asdict(shown)) if said(text) == text for word in words_of(text)}
    return (words_of(read_by_people(english)) & words_of(read_by_people(other))) - own - data


def read_by_people(page: str) -> str:
    """The text of a page, its titles and descriptions; no code."""
    if page.startswith("<"):
        text = re.sub(r"<(style|pre|code)\b.*?</\1>", " ", page, flags=re.DOTALL)
    else:
        text = re.sub(r"```[^`]*```|`[^`]*`|(?m:^ {4}[^\n]*$)", " ", page)
    labels = re.findall(r'(?:title|aria-label)="([^"]*)"', text)
    return unescape(" ".join([re.sub(r"<[^>]*>", " ", text), *labels]))


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text))


def texts_of(value: Any) -> Iterator[str]:
    """All texts within plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts_of(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts_of(one)
