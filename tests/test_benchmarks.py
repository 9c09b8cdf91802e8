"""The benchmarks of the papers run, in a small form; whether the others call what is there, mypy sees."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from benchmarks import page, papers

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_benchmarks_of_the_papers_run_in_a_small_form():
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.smoke"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "learned_paper: " in ran.stdout


def test_every_table_and_figure_of_the_papers_is_compared_or_has_a_reason_and_the_page_is_what_the_benchmarks_make_it():
    entries = tomllib.loads(papers.ENTRIES.read_text(encoding="utf-8"))["entry"]
    assert [entry["item"] for entry in entries if ("ours" in entry) == ("reason" in entry)] == []
    items = Counter((entry["paper"], entry["item"].partition(",")[0].rstrip("ab")) for entry in entries)
    numbered = {
        "000": (range(1, 13), range(1, 3)),
        "002": (range(1, 15), ()),
        "003": (range(1, 2), range(1, 3)),
        "004": (range(1, 13), range(1, 2)),
        "001": (
            [
                "1.1",
                *(f"2.{n}" for n in range(1, 12)),
                *(f"3.{n}" for n in range(1, 4)),
                *(f"4.{n}" for n in range(1, 14)),
                *(f"5.{n}" for n in range(1, 10)),
            ],
            [f"{chapter}.{n}" for chapter, most in ((2, 4), (3, 8), (4, 8), (5, 20)) for n in range(1, most + 1)],
        ),
    }
    there = {
        (paper, f"{kind} {number}")
        for paper, both in numbered.items()
        for kind, numbers in zip(("Figure", "Table"), both, strict=True)
        for number in numbers
    }
    assert there == set(items)
    found = papers.tables(page.PAGE.read_text(encoding="utf-8"))
    made = papers.made(found)
    assert papers.PAGE.read_text(encoding="utf-8") == made
    assert "{" not in made, "every cell was filled"
    assert {line.count("|") for line in made.splitlines() if line.startswith("|")} == {5}
    assert [line for line in made.splitlines() if re.search(r"\w \|\s*\|", line)] == [], "no cell is blank"
