"""The second language is complete: every message has a translation, and a page in it holds no English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass, replace
from gettext import GNUTranslations
from html import unescape
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jinja2 import Environment, nodes

from shoal import assess, audit, board, protect
from shoal.language import ENGLISH, LANGUAGES, speaking
from shoal.pages.assessments import assessment_html
from shoal.pages.audit import audit_html
from shoal.pages.board import board_html
from shoal.pages.leak_card import leaks_html
from shoal.pages.report import release_pages
from shoal.pages.sanitized import sanitized_pages
from shoal.pages.words import said
from shoal.request.options import GroupPromises
from shoal.results.assessment import Board, Overlap, TableAssessment
from shoal.results.attacks import Differenced, Inferred, IntersectedPeople, Learned, Rate, Remedy
from shoal.results.claims import Withheld
from shoal.results.sanitizing import KINDS, MaskedKind
from shoal.results.summary import CellShares, SketchFigures, StatedLoss
from shoal.verification.signatures import UNSIGNED
from tests.catalogue import LOCALE, messages, read
from tests.pages import test_report, test_sanitized
from tests.release.test_leaks import card, rate

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
LEARNED = Learned("bilinear, not negative", rate(0.7), 0.7, 0.7, True, {"age": 0.2}, 1, 1, 29.7)
HELPS, HARDLY, NOT = (Remedy("age", 1500, rate(0.8), rate(after)) for after in (0.25, 0.75, 0.9))
PEOPLE = pd.DataFrame(
    {
        "age": [20 + row // 3 for row in range(60)],
        "town": ["Saltmere", None, "Osmerby"] * 20,
        "income": [row % 7 for row in range(60)],
        "sampling_weight": [10.0, 20.0] * 30,
        "hh_id": [row // 2 for row in range(60)],
        "person_id": [row // 2 for row in range(60)],
    }
)
KNOWN: dict[str, Any] = {"quasi": ["age", "town"], "confidential": ["income"]}
AUDITED: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
    "weights and households": (PEOPLE, KNOWN | {"weight": "sampling_weight", "household": "hh_id"}),
    "a population": (PEOPLE[["age", "income"]], {"quasi": ["age"], "population": 5000}),
    "gaps match": (PEOPLE[["age", "town", "income"]], KNOWN | {"missing": "match"}),
    "people": (PEOPLE[["age", "town", "income", "person_id"]], KNOWN | {"person": "person_id"}),
    "proposed": (PEOPLE, {}),
    "few, all alike": (pd.DataFrame({"town": ["Wexcombe"] * 9}), {"quasi": ["town"]}),
}
CARDS = {
    "a remedy, and a proof": card((HELPS,), proved=LEARNED),
    "a bound": card((HARDLY,), proved=replace(LEARNED, distance="weighted mean", bound=0.75, proved=False)),
    "nothing proved": card((NOT,), proved=replace(LEARNED, bound=0.1)),
    "labels tell most": card((HARDLY,), names=("town", "pay")),
}


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


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path]:
    """A table, and a release of it."""
    table = pd.DataFrame(
        {
            "age": [20 + row // 2 for row in range(60)],
            "town": ["Saltmere", "Wexcombe", "Osmerby"] * 20,
            "income": [1000.0 + 37 * row for row in range(60)],
            "w": [10.0, 20.0] * 30,
        }
    )
    release = tmp_path_factory.mktemp("people") / "release"
    protect(table, 5, release, quasi=["age", "town"], confidential=["income"], insensitive=["w"], attack=False)
    return table, release


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_owners_page_for_a_board_holds_no_english(people: tuple[pd.DataFrame, Path], language: str) -> None:
    table, release = people
    english, other = (
        board(release, original=table, population=9000, model=["age ~ town"], lang=spoken)
        for spoken in (ENGLISH, language)
    )
    with speaking(language):
        page = board_html(other)
    assert other.assessment is not None
    assert other.assessment.survey is not None
    shown = ["Poisson log-linear", *(one.about for one in other.assessment.survey.estimates)]
    assert untranslated(board_html(english), page, language, shown) == set()


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("name", AUDITED)
def test_the_page_of_an_audit_holds_no_english(name: str, language: str, tmp_path: Path) -> None:
    table, given = AUDITED[name]
    found = audit(table, tmp_path / "audit", lang=language, **given)
    page = (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")
    models = ["Zayatz", "SNB", "Pitman", "Poisson log-linear"]
    names = ["Prosecutor", "Journalist", "Marketer"]
    assert untranslated(audit_html(found), page, language, [*table.columns, *models, *names]) == set()


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_assessment_of_a_release_holds_no_english(
    people: tuple[pd.DataFrame, Path], language: str, tmp_path: Path
) -> None:
    table, release = people
    found = assess(table, release, tmp_path / "de", lang=language, weight="w", model=["age ~ town"], target="income")
    page = (tmp_path / "de" / "report.html").read_text(encoding="utf-8")
    assert isinstance(found, TableAssessment)
    assert found.survey is not None
    shown = [*table.columns, "AB", "ABC", "AC", "BC", *(one.about for one in found.survey.estimates)]
    assert untranslated(assessment_html(found), page, language, shown) == set()


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_assessment_of_numbers_and_gaps_holds_no_english(language: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    before = pd.DataFrame({"age": random.normal(50, 9, 60), "pay": random.normal(3, 1, 60), "seen": [1.0, 2.0] * 30})
    after = before + random.normal(size=before.shape) * 0.4
    before.loc[3, "pay"] = float("nan")
    options: dict[str, Any] = {"control": before.iloc[10:15], "target": "pay"}
    found = assess(before, after, tmp_path / "de", lang=language, **options)
    page = (tmp_path / "de" / "report.html").read_text(encoding="utf-8")
    assert isinstance(found, TableAssessment)
    names = ["AB", "ABC", "AC", "BC", *before.columns]
    assert untranslated(assessment_html(found), page, language, names) == set()
    assert found.overlap is None
    pair = Overlap(5, 9, 2, 1, "by their ids", 2, 3, ((2, 3), (5, 6)), ("age",), 1, 0.5, 0.1)
    person = Rate("people below k", 0.5, 0.1, 0.2, 0.6, 9)
    guessed = Inferred(replace(person, about="minimality"), 5, 2, 1)
    more = replace(
        found,
        overlap=pair,
        people=IntersectedPeople(5, 20, 2, 1, person, ()),
        minimality=(("pay", guessed),),
        differencing=Differenced(replace(person, about="differencing"), (person,)),
    )
    with speaking(language):
        page = assessment_html(more)
    assert untranslated(assessment_html(more), page, language, names) == set()


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("name", CARDS)
def test_the_leak_card_holds_no_english(name: str, language: str) -> None:
    with speaking(language):
        other = leaks_html(CARDS[name], 50)
    assert untranslated(leaks_html(CARDS[name], 50), other, language, ["age", "pay", "town", "AB", "bilinear"]) == set()


def untranslated(english: str, other: str, language: str, shown: Any) -> set[str]:
    """Words of both pages that no translation has, and that are no data."""
    own = {word for message in read(language) for word in words_of(re.sub(r"\{.*?\}", " ", str(message.string)))}
    with speaking(language):
        data = {
            word
            for text in texts_of(asdict(shown) if is_dataclass(shown) else shown)
            if said(text) == text
            for word in words_of(text)
        }
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
