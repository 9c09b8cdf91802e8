"""The report and the README say what the summary says, to anybody, without fetching or running anything."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from shoal.pages.report import readme_text, report_html
from shoal.pages.words import guarantee, number, percent, share_in_words
from shoal.request.options import GroupPromises
from shoal.results.claims import Diversity, Withheld
from shoal.results.summary import (
    ColumnChange,
    Distances,
    DocumentFigures,
    StatedLoss,
    Summary,
    TableFigures,
    TermUse,
    WordsLeftOut,
)

HOSTILE = "<script>alert(1)</script>"

DOCUMENTS = Summary(
    k=5,
    method="spherical MDAV",
    promises_k=True,
    rows=7673,
    smallest_group=5,
    group_sizes=((5, 1533), (8, 1)),
    loss=StatedLoss(0.25, 0.25, sse=25.0, ssa=75.0),
    distances=Distances(edges=(0.0, 0.5, 1.0), before=(0.1, 0.9), after=(0.3, 0.7), pairs=4950, sampled=True),
    withheld=(Withheld("no term left", 1), Withheld("empty", 12)),
    diversity=(),
    figures=DocumentFigures(
        form="pooled counts, tf-idf",
        loss_of_means=None,
        terms=(TermUse("trade", 2100, 0.21), TermUse("oil", 900, 0.33)),
        vocabulary=5127,
        stemmed=True,
        in_meaning=False,
        words_read=1000,
        words_left_out=(WordsLeftOut("stop words", 20, 300), WordsLeftOut("not in WordNet", 90, 100)),
    ),
    files=(
        ("documents.parquet", "terms and weights"),
        ("documents.npz", "the same as a sparse matrix"),
        ("certificate.json", "what is promised"),
    ),
)
TABLE = Summary(
    k=3,
    method="MDAV",
    promises_k=True,
    rows=420,
    smallest_group=3,
    group_sizes=((3, 140),),
    loss=StatedLoss(0.1, 0.1, sse=10.0, ssa=90.0),
    distances=Distances(edges=(0.0, 4.0, 8.0), before=(0.5, 0.5), after=(0.6, 0.4), pairs=87990, sampled=False),
    withheld=(),
    diversity=(Diversity("diagnosis", least=1, single_valued_groups=12, groups=140, values=9),),
    figures=TableFigures(
        columns=(ColumnChange("age", 44.5, 16.0, 12.0, 0.4375, 0.5), ColumnChange("always 7", 7.0, 0.0, 0.0, 0.0)),
        dropped_columns=2,
    ),
    files=(("table.csv", "the protected table"),),
)
BOTH = pytest.mark.parametrize("summary", [DOCUMENTS, TABLE], ids=["documents", "table"])


def bare(summary: Summary) -> Summary:
    """The same release with every part left out that can be."""
    figures: dict[str, object] = {"terms": (), "vocabulary": 0, "words_read": 0, "words_left_out": ()}
    if isinstance(summary.figures, TableFigures):
        figures = {"columns": (), "dropped_columns": 0}
    return replace(
        summary,
        figures=replace(summary.figures, **figures),
        group_sizes=(),
        loss=StatedLoss(0.0, 0.0),
        distances=Distances((), (), (), 0, False),
        withheld=(),
        diversity=(),
        files=(),
    )


def of_kind(summary: Summary, **figures: object) -> Summary:
    """The same release with other figures of its kind."""
    return replace(summary, figures=replace(summary.figures, **figures))


def text_of(page: str) -> str:
    """What a reader sees, in single spaces."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL).replace("</td>", " </td>")
    return " ".join(unescape(re.sub(r"<[^>]*>", "", body)).split())


@BOTH
def test_the_page_fetches_nothing_and_runs_nothing(summary: Summary) -> None:
    page = report_html(summary)
    assert page.startswith("<!DOCTYPE html>")
    assert "http" not in page.replace("http-equiv", "")
    assert not re.search(r"<(script|link|iframe|object|embed|img|base)\b|@import|javascript:|\son\w+=", page)
    assert set(re.findall(r'href="([^"]*)"', page)) == {"#fish"}
    assert not re.search(r"\bsrc=|url\(", page)


@BOTH
def test_the_same_summary_gives_the_same_bytes(summary: Summary) -> None:
    assert report_html(summary) == report_html(summary)
    assert readme_text(summary) == readme_text(summary)


@BOTH
def test_every_element_is_closed_in_order(summary: Summary) -> None:
    void = {"meta", "use", "path", "line", "rect"}
    unclosed: list[str] = []

    class Elements(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in void:
                unclosed.append(tag)

        def handle_endtag(self, tag: str) -> None:
            if tag not in void:
                assert unclosed.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            pass

    Elements().feed(report_html(summary))
    assert unclosed == []


@BOTH
def test_both_kinds_render_with_nothing_optional_in_them(summary: Summary) -> None:
    assert "None: every" in text_of(report_html(bare(summary)))
    assert "shoal verify FOLDER" in readme_text(bare(summary))


def test_hostile_terms_and_names_are_shown_and_not_obeyed() -> None:
    documents = replace(
        of_kind(
            DOCUMENTS,
            terms=(TermUse(HOSTILE, 9, 0.5), TermUse('"><svg onload=alert(1)>', 8, 0.5)),
            words_left_out=(WordsLeftOut(HOSTILE, 1, 1),),
        ),
        method=HOSTILE,
        withheld=(Withheld(HOSTILE, 1),),
        files=((f"{HOSTILE}.csv", HOSTILE),),
    )
    table = replace(
        of_kind(TABLE, columns=(ColumnChange(HOSTILE, 1.0, 2.0, 1.0, 0.75),)),
        diversity=(Diversity(HOSTILE, least=1, single_valued_groups=1, groups=2, values=2),),
    )
    for page in (report_html(documents), report_html(table)):
        assert "<script" not in page
        assert "<svg onload" not in page
        assert HOSTILE in text_of(page)


def test_a_column_name_cannot_leave_its_code_span_in_the_readme() -> None:
    table = of_kind(TABLE, columns=(ColumnChange("a`\n# b <b>", 1.0, 2.0, 1.0, 0.75),))
    assert "`` a` # b <b> `` was protected" in readme_text(table)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_a_warning_stands_there_exactly_when_a_group_has_a_single_value(least: int) -> None:
    diversity = Diversity("diagnosis", least, 12 if least == 1 else 0, 140, 9)
    page = text_of(report_html(replace(TABLE, diversity=(diversity,))))
    warning = (
        "In 12 of 140 groups all records have the same value of “diagnosis”: "
        "whoever knows that somebody is in such a group knows the value."
    )
    assert (warning in page) == (least == 1)
    assert ("Warning" in page) == (least == 1)
    assert ("--l 2" in page) == (least == 1)


def test_diversity_that_was_demanded_and_holds_is_said_to_be_promised() -> None:
    held = replace(TABLE, promised=GroupPromises(l=2), diversity=(Diversity("diagnosis", 3, 0, 140, 9),))
    sentence = "Every group has at least 2 different values of “diagnosis”"
    assert sentence in text_of(report_html(held))
    assert sentence not in text_of(report_html(replace(held, promised=GroupPromises())))


def test_diversity_that_was_demanded_and_does_not_hold_is_not_said_to_be_promised() -> None:
    broken = replace(TABLE, promised=GroupPromises(l=4), diversity=(Diversity("diagnosis", 3, 0, 140, 9),))
    page = text_of(report_html(broken))
    assert "Warning: diagnosis" in page
    assert "Promised: diagnosis" not in page


def test_the_promise_names_the_crowd() -> None:
    promise = (
        "Every one of the 7,673 documents is identical to at least 4 others in this release: "
        "nobody can tell which of 5 or more is yours."
    )
    assert promise in text_of(report_html(DOCUMENTS))
    assert promise in readme_text(DOCUMENTS)


def test_with_confidential_columns_the_promise_is_about_the_others() -> None:
    assert "identical to at least 2 others in the columns that the owner named for protection" in readme_text(TABLE)
    labelled = replace(DOCUMENTS, diversity=TABLE.diversity)
    assert "has the same terms and weights as at least 4 others" in readme_text(labelled)


@BOTH
def test_without_a_promise_of_k_none_is_made(summary: Summary) -> None:
    unpromised = replace(summary, promises_k=False, smallest_group=1, group_sizes=((1, 400), (2, 10)))
    for text in (text_of(report_html(unpromised)), readme_text(unpromised)):
        assert "No promise is made" in text
        assert "Every one of the" not in text
        assert "at least" not in text
        assert f"k = {summary.k}" not in text
        assert "410 groups" not in text
    noun = "documents" if summary.figures.kind == "documents" else "records"
    assert f"No crowd is promised: 400 of {summary.rows:,} {noun} are one of a kind" in readme_text(unpromised)
    assert "all records have the same value" not in readme_text(unpromised)
    assert "This method promises no crowd: how many look alike is luck." in text_of(report_html(unpromised))
    alone = replace(unpromised, group_sizes=((1, summary.rows),))
    assert f"Nobody: no two {noun} of this release are alike." in text_of(report_html(alone))


def test_words_withheld_are_counted_and_not_listed() -> None:
    page = text_of(report_html(DOCUMENTS))
    assert "The documents had 1,000 words in all, repetitions counted. 400 of them were left out (40.0%)" in page
    assert "The words themselves are not listed" in page


def test_records_withheld_are_counted_with_their_reasons() -> None:
    page = text_of(report_html(DOCUMENTS))
    assert "13 documents of 7,686 are not in this release (0.2%)" in page
    assert "no term left 1 empty 12" in page


def test_every_picture_has_a_description_and_its_figures_in_a_table() -> None:
    page = report_html(DOCUMENTS)
    assert page.count('<svg role="img" aria-label="') == 3
    assert page.count("<details>") == 3
    assert "5 1,533 7,665 8 1 8" in text_of(page)


def test_group_sizes_without_groups_keep_their_place_on_the_axis() -> None:
    axis = re.findall(r">(\d)</text>", report_html(replace(bare(DOCUMENTS), group_sizes=((5, 3), (8, 1)))))
    assert {"5", "6", "7", "8"} <= set(axis)


def test_very_large_groups_share_the_last_bar() -> None:
    page = report_html(replace(bare(DOCUMENTS), group_sizes=((5, 3), (700, 1), (9000, 1))))
    assert ">10+</text>" in page


def test_each_data_file_comes_with_the_line_that_reads_it() -> None:
    readme = readme_text(DOCUMENTS)
    assert 'documents = pyarrow.parquet.read_table("FOLDER/documents.parquet")' in readme
    assert 'documents_npz = scipy.sparse.load_npz("FOLDER/documents.npz")' in readme
    assert "certificate.json" in readme
    assert 'table = pandas.read_csv("FOLDER/table.csv")' in readme_text(TABLE)


def test_one_is_singular() -> None:
    page = text_of(report_html(replace(DOCUMENTS, withheld=(Withheld("empty", 1),), k=2)))
    assert "1 document of 7,674 is not in this release" in page
    assert "at least 1 other in this release" in page


@pytest.mark.parametrize(
    ("share", "in_words", "in_percent"),
    [
        (0.0, "none", "0%"),
        (0.0004, "hardly any", "under 0.1%"),
        (0.26, "about a quarter", "26.0%"),
        (0.5, "about half", "50.0%"),
        (0.9999, "nearly all", "over 99.9%"),
        (1.0, "all", "100%"),
    ],
)
def test_shares_read_as_everyday_fractions(share: float, in_words: str, in_percent: str) -> None:
    assert share_in_words(share) == in_words
    assert percent(share) == in_percent


def test_numbers_have_thousands_separators_and_four_digits() -> None:
    shown = [number(value) for value in (7673, 1234567.8, 0.30452, -2.0, 0.00001234, float("nan"))]
    assert shown == ["7,673", "1,234,568", "0.3045", "-2", "1.2e-05", "unknown"]


def test_columns_released_unchanged_are_named_and_records_not_called_identical() -> None:
    summary = of_kind(replace(TABLE, diversity=()), insensitive=("ward",))
    assert "in the columns that the owner named for protection" in guarantee(summary)
    assert "nothing protects it: ward." in report_html(summary)
    assert "`ward` is released as it was, and nothing protects it." in readme_text(summary)
