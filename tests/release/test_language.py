"""A release speaks the language that was asked for; its certificate says which, and verification renders in it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal.errors import InputError
from shoal.release.writing import dump

TABLE = pd.DataFrame({"age": [20, 21, 22, 40, 41, 42], "income": [1, 2, 3, 4, 5, 6]})


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return shoal.protect(TABLE, k=3, out=tmp_path / "german", lang="de").folder


def test_a_german_release_verifies_and_names_its_language(release: Path) -> None:
    assert shoal.verify(release)
    assert '<html lang="de">' in (release / "report.html").read_text(encoding="utf-8")
    assert "# Geschützt: 6 Datensätze" in (release / "README.md").read_text(encoding="utf-8")
    assert json.loads((release / "certificate.json").read_bytes())["stated"]["report"]["language"] == "de"


def test_the_rows_and_figures_are_those_of_the_english_release(release: Path, tmp_path: Path) -> None:
    english = shoal.protect(TABLE, k=3, out=tmp_path / "english").folder
    assert (english / "table.parquet").read_bytes() == (release / "table.parquet").read_bytes()
    contents = [json.loads((folder / "certificate.json").read_bytes()) for folder in (english, release)]
    assert "language" not in contents[0]["stated"]["report"]
    del contents[1]["stated"]["report"]["language"]
    assert contents[0]["stated"] == contents[1]["stated"]


@pytest.mark.parametrize("language", ["en", "fr", "../de", 1, None])
def test_a_language_that_pages_are_not_in_fails(release: Path, language: object) -> None:
    certificate = release / "certificate.json"
    content = json.loads(certificate.read_bytes())
    content["stated"]["report"]["language"] = language
    certificate.write_bytes(dump(content))
    assert not shoal.verify(release)


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lang='fr' is not known; use one of en, de"):
        shoal.protect(TABLE, k=3, out=tmp_path / "french", lang="fr")


def test_the_page_for_a_board_is_in_the_language_that_was_asked_for(release: Path, tmp_path: Path) -> None:
    shoal.board(release, tmp_path / "board", lang="de")
    assert "Was ist zugesagt, und wer hat es gezählt?" in (tmp_path / "board" / "report.html").read_text("utf-8")


def test_the_leak_card_is_in_the_language_of_the_release(tmp_path: Path) -> None:
    table = pd.DataFrame({"age": [20 + row // 2 for row in range(60)], "income": [100 * row for row in range(60)]})
    private = shoal.protect(table, k=3, out=tmp_path / "german", lang="de").private
    page = (private / "leaks.html").read_text("utf-8")
    assert '<html lang="de">' in page
    assert "Was durchsickert" in page


def test_an_audit_has_its_page_in_german_and_its_figures_in_english(tmp_path: Path) -> None:
    for lang in ("en", "de"):
        shoal.audit(TABLE, tmp_path / lang, lang=lang, quasi=["age"])
    assert '<html lang="de">' in (tmp_path / "de" / "report.html").read_text("utf-8")
    figures = ((tmp_path / lang / "audit.json").read_bytes() for lang in ("en", "de"))
    assert len(set(figures)) == 1


def test_an_assessment_has_its_page_in_german_and_its_figures_in_english(tmp_path: Path) -> None:
    for lang in ("en", "de"):
        shoal.assess(TABLE, TABLE * 1.1, tmp_path / lang, lang=lang)
    assert '<html lang="de">' in (tmp_path / "de" / "report.html").read_text("utf-8")
    for path in (tmp_path / "en").iterdir():
        same = path.read_bytes() == (tmp_path / "de" / path.name).read_bytes()
        assert same is (path.name != "report.html")


def test_an_assessment_of_documents_is_in_english_only() -> None:
    with pytest.raises(InputError, match="lang is for tables"):
        shoal.assess(["a text"], ["a text"], lang="de")
