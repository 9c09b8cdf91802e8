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
