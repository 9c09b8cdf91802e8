"""shoal audit: what it prints and leaves, and one line for every mistake."""

from __future__ import annotations

import json

import pytest

from tests.cli.run import run, snapshot

TABLE = "town,age,w,hh,ill\nA,30,10,1,flu\nA,30,20,1,gout\nB,30,30,2,flu\nB,41,5,3,s3cret\n"


def test_the_figures_are_printed_and_the_folder_is_made(tmp_path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    asked = ("--quasi", "town,age", "--confidential", "ill", "--weight", "w", "--household", "hh")
    ran = run(tmp_path, "audit", "t.csv", "-o", "out", *asked)
    assert ran.code == 0
    assert "2 one of a kind (50.0%)" in ran.out
    for word in ("report", "prosecutor", "journalist", "marketer", "households", "population", "values", "special"):
        assert f"\n{word}" in f"\n{ran.out}"
    assert "s3cret" not in ran.out + (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    again = run(tmp_path, "audit", "t.csv", "--json", *asked)
    assert json.loads(again.out)["owner"]["k"] == 1


MISTAKES = {
    "an unknown column": ("--quasi town,agee", "did you mean age?"),
    "an empty list": ("--quasi ,", "names no column"),
    "weights of text": ("--quasi age --weight town", "text"),
    "a population of none": ("--quasi age --population 0", "whole number of at least 1"),
    "a population below the table": ("--quasi age --population 3", "population=3 must be from 4"),
    "a population of more than there are": ("--quasi age --population " + "9" * 30, "to 1,000,000,000,000"),
    "an unknown way to read gaps": ("--quasi age --missing skip", "group, match"),
    "a threshold above 1": ("--quasi age --threshold 5", "at most 1"),
    "people and matching gaps": ("--quasi age --person hh --missing match", "--missing match counts records"),
}


@pytest.mark.parametrize(("words", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(words, said, tmp_path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    before = snapshot(tmp_path)
    ran = run(tmp_path, "audit", "t.csv", "-o", "out", *words.split())
    assert ran.code == 2
    assert len(ran.complaints) == 1
    assert said in ran.complaints[0]
    assert "s3cret" not in ran.err
    assert snapshot(tmp_path) == before


def test_what_has_no_columns_is_refused(tmp_path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("words")
    assert run(tmp_path, "audit", "texts").code == 2
    assert run(tmp_path, "audit", "nowhere.csv").code == 2
