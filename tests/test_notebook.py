"""What a notebook shows of a result: a table, and nothing of the data that becomes markup."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal.results.notebook import html_table
from shoal.sample import write_sample

ROLES = {"quasi": ["age", "height_cm", "income"], "confidential": ["diagnosis"]}


@pytest.fixture(scope="module")
def subjects(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    return folder, write_sample(folder / "sample").subjects


def test_cells_are_escaped_and_numbers_grouped():
    shown = html_table("a < b", ("n", "<b>"), [(12345, None), (0.123456, "<script>")])
    assert "<p>a &lt; b</p>" in shown and "<th>&lt;b&gt;</th>" in shown
    assert "<td>12,345</td><td></td>" in shown
    assert "<td>0.1235</td><td>&lt;script&gt;</td>" in shown


def test_an_inspection_lists_its_columns():
    shown = shoal.inspect(pa.table({"<age>": [31, 45, None], "zip": ["01005", "01007", "01005"]}))._repr_html_()
    assert "3 rows" in shown and "<td>&lt;age&gt;</td>" in shown and "<td>quasi</td>" in shown


def test_a_release_its_check_and_its_judgements_are_tables(subjects, without_attack):
    folder, table = subjects
    made = shoal.protect(table, k=5, out=folder / "release", **ROLES)
    assert "each like at least 4 others" in made._repr_html_()
    assert "Every promise holds." in shoal.verify(made.folder)._repr_html_()
    judged = shoal.assess(table, made.folder)
    assert f"score {judged.score:.1f}" in judged._repr_html_()
    audited = shoal.audit(table, quasi=["age", "height_cm"])
    assert "<td>prosecutor</td>" in audited._repr_html_() and f"k = {audited.k}" in audited._repr_html_()
