"""The page of an audit, on tables at the edges."""

from __future__ import annotations

from html import unescape

import pandas as pd
import pytest

from shoal import audit
from shoal.pages.audit import audit_html

TABLES = {
    "one record": (pd.DataFrame({"town": ["A"]}), {"quasi": ["town"]}),
    "all alike": (
        pd.DataFrame({"town": ["A"] * 30, "ill": ["flu"] * 30}),
        {"quasi": ["town"], "confidential": ["ill"]},
    ),
    "only gaps": (pd.DataFrame({"town": [None] * 5, "age": [1.5] * 5}), {"quasi": ["town", "age"]}),
    "all unique, of a large population": (
        pd.DataFrame({"id": range(50), "home": [1, 2] * 25}),
        {"quasi": ["id"], "household": "home", "population": 10_000_000},
    ),
    "people": (pd.DataFrame({"town": ["A", "A", "B"], "who": [1, 1, 2]}), {"quasi": ["town"], "person": "who"}),
    "a hostile name": (
        pd.DataFrame({"<script>alert(1)</script>": [1, 2, 2]}),
        {"quasi": ["<script>alert(1)</script>"]},
    ),
}


@pytest.mark.parametrize(("table", "given"), TABLES.values(), ids=TABLES)
def test_every_table_has_a_page_that_runs_nothing(table, given) -> None:
    page = audit_html(audit(table, **given))
    assert "<script" not in page
    assert "nan" not in unescape(page).replace("finan", "").lower().split()
    assert "None" not in page


def test_the_page_of_an_original_says_to_keep_it_and_what_may_be_published() -> None:
    table = pd.DataFrame({"age": [*range(100), *[50] * 900]})
    page = unescape(audit_html(audit(table, quasi=["age"], population=100_000)))
    assert "Keep this page to yourself" in page
    assert "99 records are one of a kind" in page
    assert "<td>Share in crowds below 2</td><td>about 10.0%</td>" in page
    assert "Poisson log-linear" in page
