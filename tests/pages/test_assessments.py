"""The page of an assessed table."""

from __future__ import annotations

import warnings
from html import unescape

import pandas as pd

from shoal import assess


def test_a_rate_of_one_attempt_is_called_too_few_attempts(tmp_path) -> None:
    """The original's smallest and largest value are one value: a single description is left, of one attempt or two."""
    table = pd.DataFrame({"age": [20.0, 20.0, 20.0, 60.0, 60.0, 60.0], "pay": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    masked = pd.DataFrame({"age": [40.0] * 6, "pay": [2.0, 2.0, 2.0, 5.0, 5.0, 5.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = assess(table, masked, tmp_path / "out", aligned=True)
    singling = found.gdpr[0]
    assert singling.n < 5
    page = unescape((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    line = page[page.index("<td>singling out by 1 attribute</td>") :].partition("</tr>")[0]
    assert "too few attempts" in line
    assert " to " not in line


def test_every_column_is_drawn_before_and_after_numbers_in_bins_and_labels_by_name(tmp_path) -> None:
    table = pd.DataFrame({"age": [20.0, 30.0, 40.0, 120.0], "town": ["Aa", "Aa", "Bo", "<b>"]})
    masked = pd.DataFrame({"age": [25.0, 25.0, 80.0, 80.0], "town": ["Aa", "Aa", "Aa", "<b>"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = assess(table, masked, tmp_path / "out", aligned=True)
    age, town = found.distributions
    assert (age.edges[0], age.edges[-1]) == (20.0, 120.0)
    assert [place for place, share in enumerate(age.before) if share] == [0, 2, 4, 19]  # bins of 5 years
    assert {place: share for place, share in enumerate(age.after) if share} == {1: 0.5, 12: 0.5}
    assert (town.labels, town.before, town.after) == (("Aa", "<b>", "Bo"), (0.5, 0.25, 0.25), (0.75, 0.25, 0.0))
    assert (age.moved, town.moved) == (1.0, 0.25)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    drawn = page[page.index("Columns before and after") :].partition("</section>")[0]
    assert drawn.index("<h3>age</h3>") < drawn.index("<h3>town</h3>") and "<b>" not in drawn
    assert drawn.count("<td>Aa</td><td>50.0%</td><td>75.0%</td>") == 1
