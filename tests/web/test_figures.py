"""Every figure on a page of a release is one of its certificate, its assessment or its audit, or follows from them."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from starlette.requests import Request as WebRequest

import shoal
from shoal.cli.protect import as_data as printed
from shoal.pages.board import MOST_ESTIMATES, board_html
from shoal.pages.words import number, percent
from shoal.results.assessment import as_data
from shoal.web.jobs import Command, Job
from shoal.web.rendering import page
from shoal.web.result import rare_values

pytestmark = pytest.mark.usefixtures("without_attack")
NUMBER = re.compile(r"(?<![\w.#-])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?%?(?![\w%])")
HIDDEN = ("style", "script", "svg", "pre", "code", "title", "head")
TEMPLATES = [
    *Path("src/shoal/pages/templates").glob("*.html.jinja"),
    *Path("src/shoal/web/templates").glob("*.html.jinja"),
]


class Text(HTMLParser):
    """The lines that a reader sees: one per element."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.lines, self._hidden = [""], 0
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self._hidden += tag in HIDDEN
        if tag in ("p", "td", "th", "li", "dt", "div", "h1", "h2", "h3", "summary", "tr"):
            self.lines.append("")
        self.lines[-1] += " "

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in HIDDEN
        self.lines[-1] += " "

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.lines[-1] += data


def leaves(value: Any) -> Iterator[Any]:
    """Numbers and texts of plain data."""
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def spelled(known: Iterator[Any] | list[Any]) -> set[str]:
    """Every way in which a page may write a figure; figures in texts are as they are."""
    found: set[str] = set()
    for value in known:
        if isinstance(value, str):
            found |= set(NUMBER.findall(value))
        elif np.isfinite(value):
            texts = number(value), percent(value), f"{value:.0%}", f"{value:.1f}", number(round(value, 1))
            found |= {token for text in (*texts, number(round(value))) for token in NUMBER.findall(text)}
    return found


def in_templates() -> set[str]:
    """Figures that are words of the page, such as those of "95 % interval"."""
    found: set[str] = {"1", "2", "3", "4", "5", "6"}  # the questions of the board are numbered
    for path in TEMPLATES:
        text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found |= {token for line in Text(text).lines for token in NUMBER.findall(line)}
    return found


def derived(certificate: Mapping[str, Any], sizes: list[int]) -> list[float]:
    """What a page may compute of the certificate: no other figure is its own."""
    promises, stated = certificate["promises"], certificate["stated"]
    rows, crowd = promises["rows"], promises["anonymity"]
    withheld = sum(one["count"] for one in stated["withheld"])
    cells = stated["report"]["figures"]["cells"]
    figures = [withheld, rows + withheld, withheld / (rows + withheld), len(promises["columns"])]
    figures += [crowd["smallest_group"] - 1, (crowd["k"] or 1) - 1, rows / len(sizes), len(sizes), *sizes]
    for size in {*sizes}:
        figures += [sizes.count(size), size * sizes.count(size)]
    for what in ("true", "coarser", "changed", "blank"):
        figures.append(sum(one[what] for one in cells) / max(1, len(cells)))
    if stated["linked"] is not None and stated["information_loss"] is not None:
        figures.append(50 * (stated["information_loss"] + stated["linked"]))
    return figures


def without_source(html: str, known: set[str]) -> list[tuple[str, str]]:
    """Figures that come from nowhere, with the line that each stands in."""
    return [
        (token, " ".join(line.split())[:160])
        for line in Text(html).lines
        for token in NUMBER.findall(line)
        if token not in known
    ]


def tables() -> dict[str, pa.Table]:
    """Amounts; labels with gaps; a survey with weights."""
    draw = np.random.default_rng(5)
    ages, towns = draw.integers(18, 91, 60).tolist(), draw.choice(["Aa", "Bo", "Ci", "Du"], 60).tolist()
    pay, flu = draw.lognormal(7, 0.6, 60).round(2).tolist(), draw.choice(["flu", "cold", "gout"], 60).tolist()
    gaps = [None if row % 13 == 4 else town for row, town in enumerate(towns)]
    weights = draw.uniform(1, 9, 60).round(1).tolist()
    return {
        "amounts": pa.table({"age": ages, "pay": pay, "illness": flu}),
        "labels": pa.table({"age": ages, "town": gaps, "illness": flu}),
        "survey": pa.table({"age": ages, "town": towns, "pay": pay, "illness": flu, "w": weights}),
    }


TABLES = tables()
COLUMNS = {
    "amounts": {"quasi": ["age", "pay"], "confidential": ["illness"]},
    "labels": {"quasi": ["age", "town"], "confidential": ["illness"], "categorical": {"town": "most frequent"}},
    "survey": {
        "quasi": ["age", "town"],
        "confidential": ["pay"],
        "drop": ["illness"],
        "weight": "w",
        "categorical": {"town": "most frequent"},
    },
}


@st.composite
def plans(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A table and what is asked of its release."""
    name = draw(st.sampled_from(sorted(TABLES)))
    asked: dict[str, Any] = {**COLUMNS[name], "k": draw(st.integers(2, 9))}
    asked |= draw(st.sampled_from([{}, {"l": 2}, {"t": 0.8}, {"beta": 3.0}]))
    if name == "labels":
        asked["missing"] = draw(st.sampled_from(["withhold", "group"]))
    if draw(st.booleans()):
        asked["treat"] = {"age": draw(st.sampled_from(["generalise", "blank"]))}
    return name, asked


def result_page(folder: Path, made: Any) -> str:
    """The page of the job that made the release."""
    job = Job("0" * 16, "protect", "Release", Command(("protect",), ""), folder, {"upload": "x"}, state="done")
    (folder / "result.json").write_text(json.dumps(printed(made)))
    request = WebRequest({"type": "http", "method": "GET", "path": "/jobs/x", "headers": [], "query_string": b""})
    return bytes(page(request, "protect_job.html.jinja", job=job, assessments=[]).body).decode()


def mistaken_figures(name: str, asked: dict[str, Any]) -> list[Any]:
    """Of the pages of a release that is made for it: figures without a source, or under the name of another."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        made = shoal.protect(TABLES[name], out=folder / "work" / "release", refine=False, **asked)
        certificate = json.loads(json.dumps(dict(made.certificate)))
        quasi = [column["name"] for column in certificate["promises"]["columns"] if column["role"] == "quasi"]
        rows = pq.read_table(made.folder / "table.parquet", columns=quasi)
        sizes = rows.append_column("n", pa.array([1] * len(rows))).group_by(quasi).aggregate([("n", "sum")])["n_sum"]
        public = in_templates() | spelled([*leaves(certificate), *derived(certificate, sizes.to_pylist())])
        report = (made.folder / "report.html").read_text(encoding="utf-8")
        lost = without_source(report, public)
        answered = shoal.board(made.folder)
        promises = {number(answered.promises)}  # counted by `verify`
        lost += without_source(board_html(answered), public | promises)
        owners = shoal.board(made.folder, original=TABLES[name], weight=asked.get("weight"))
        assert owners.audit is not None and owners.assessment is not None
        before = owners.audit
        shares = [before.below[0] / before.rows, *(one.added / before.rows for one in before.columns)]
        private = spelled([*leaves(as_data(before)), *leaves(as_data(owners.assessment)), *shares])
        if (survey := owners.assessment.survey) is not None:
            overlaps = [estimate.overlap for estimate in survey.estimates]
            sides = [side for estimate in survey.estimates for side in (estimate.before, estimate.after) if side]
            overlaps += [end for side in sides for end in (side.low, side.high)]
            private |= spelled(
                [survey.sentence, survey.median_error or 0.0, min(len(overlaps), MOST_ESTIMATES), *overlaps]
            )
        lost += without_source(board_html(owners), public | promises | private)
        shown = result_page(folder, made)
        rare = [one.records for one in rare_values(made.folder, certificate["seal"])]
        lost += without_source(shown, public | spelled([made.measured_loss or 0.0, *rare]))
        return lost + mislabelled(shown, report, board_html(owners), made, before)


def labelled(html: str, pattern: str) -> dict[str, list[str]]:
    """The figures that stand out on a page, by the words beside each."""
    found: dict[str, list[str]] = {}
    for match in re.finditer(pattern, html, re.DOTALL):
        found.setdefault(match["label"], []).append(match["figure"])
    return found


HEADLINES = r"<dt>(?P<label>[^<]+)</dt><dd><b>(?P<figure>[^<]+)</b> <span>[^<]*</span>"
TILES = r'<div><b>(?P<figure>[^<]+)</b><span class="what">(?P<label>[^<:]+)[^<]*</span>'
ANSWERS = r"(?P<label>Information lost, as the certificate states it): <b>(?P<figure>[^<]+)</b>"
SINGLED = r"<b>(?P<figure>[\d,]+) records? (?P<label>(is|are) one of a kind)</b>"


def mislabelled(result: str, report: str, board: str, made: Any, before: Any) -> list[Any]:
    """Figures that stand out on the three pages, where one is not what the words beside it say."""
    promises, stated = made.certificate["promises"], made.certificate["stated"]
    smallest, rows = number(promises["anonymity"]["smallest_group"]), number(promises["rows"])
    known = stated["loss_range"]
    lost = percent(stated["information_loss"]) if known is None else f"{known['low']:.0%} to {known['high']:.0%}"
    least = [number(column["least"]) for column in promises["diversity"]["columns"]]
    found = {
        **labelled(result, HEADLINES),
        **{f"report: {label}": figure for label, figure in labelled(report, TILES).items()},
        **labelled(board, ANSWERS),
        "uniques": [match["figure"] for match in re.finditer(SINGLED, board)],
    }
    meant = {
        "Crowd": [smallest],
        "Records": [rows],
        "Diversity": least,
        "Information lost": [percent(made.measured_loss)],
        "report: records released": [rows],
        "report: k": [number(promises["anonymity"]["k"])],
        "report: groups of identical records, columns released unchanged aside": [
            number(promises["diversity"]["columns"][0]["groups"])
        ],
        "report: records in the smallest group": [smallest],
        "report: information lost": [lost],
        "Information lost, as the certificate states it": [lost],
        "uniques": [number(before.below[0])],
    }
    labels = {**meant, **found}
    return [(one, found.get(one), meant.get(one)) for one in labels if found.get(one) != meant.get(one)]


@settings(max_examples=4, phases=[Phase.explicit, Phase.generate])
@given(plans())
def test_every_figure_of_a_page_is_the_certificates_or_the_assessments(plan: tuple[str, dict[str, Any]]) -> None:
    assert mistaken_figures(*plan) == []


def test_a_figure_that_comes_from_nowhere_is_noticed() -> None:
    known = spelled([0.256, 60, "k = 4"])
    assert without_source("<p>60 records, k = 4; 25.6% lost</p>", known) == []
    assert without_source("<p>60 records</p><p>43% lost</p>", known) == [("43%", "43% lost")]


def test_a_right_figure_under_a_wrong_name_is_noticed(tmp_path: Path) -> None:
    made = shoal.protect(TABLES["amounts"], out=tmp_path / "work" / "release", refine=False, **COLUMNS["amounts"], k=4)
    before = shoal.audit(TABLES["amounts"], quasi=COLUMNS["amounts"]["quasi"])
    result, report = result_page(tmp_path, made), (made.folder / "report.html").read_text(encoding="utf-8")
    board = board_html(shoal.board(made.folder, original=TABLES["amounts"]))
    assert mislabelled(result, report, board, made, before) == []
    exchanged = result.replace("<dt>Crowd</dt>", "<dt>?</dt>").replace("<dt>Records</dt>", "<dt>Crowd</dt>")
    wrong = mislabelled(exchanged.replace("<dt>?</dt>", "<dt>Records</dt>"), report, board, made, before)
    assert {label for label, _, _ in wrong} == {"Crowd", "Records"}
