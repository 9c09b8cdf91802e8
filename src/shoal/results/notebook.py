"""Results as notebooks show them: a plain HTML table under a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from shoal.results.attacks import Rate

RATES = ("Attack", "Succeeds", "95 % interval", "By guessing")


def html_table(sentence: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Every cell is escaped: names of columns may hold anything."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(_shown(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<p>{escape(sentence)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rate_rows(rates: Iterable[Rate]) -> list[tuple[str, ...]]:
    """A row for each attack."""
    return [
        (rate.about, f"{rate.rate:.1%}", f"{rate.low:.1%} to {rate.high:.1%}", f"{rate.baseline:.1%}") for rate in rates
    ]


def _shown(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:,.4g}" if isinstance(cell, float) else f"{cell:,}" if type(cell) is int else str(cell)
