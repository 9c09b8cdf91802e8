"""docs/papers.md: every table and figure of the papers beside ours, from papers.toml and docs/benchmarks.md."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from benchmarks import page

ENTRIES = Path(__file__).with_suffix(".toml")
PAGE = page.PAGE.with_name("papers.md")
CELL = re.compile(r"\{([^{}|]+) \| ([^{}|]*) \| ([^{}|]+)\}")
PAPERS = {
    "000": "Abril, Navarro-Arribas, Torra: Spherical microaggregation (2015)",
    "001": "Abril: thesis on linkage, sanitizing and vector spaces",
    "002": "Aggarwal, Yu: sketches of text and binary data (2007)",
    "003": "Navarro-Arribas, Abril, Torra: Dynamic anonymous index (2014)",
    "004": "Martínez, Sánchez, Valls: Semantic adaptive microaggregation of categorical microdata",
}
HEAD = """# The papers, figure by figure

For readers of the papers.

Written by `make bench` from `benchmarks/papers.toml` and the tables of [benchmarks](benchmarks.md), where it says what
each is made from; do not edit. For every table and figure of the five papers: what it prints and what Shoal gives on
the same definition, or why the two cannot be compared. Values are rounded to three digits.
"""

Tables = dict[str, list[dict[str, str]]]


def write() -> None:
    """The page, as far as its figures are on the other one."""
    PAGE.write_text(made(tables(page.PAGE.read_text(encoding="utf-8"))), encoding="utf-8")


def made(found: Tables) -> str:
    """The page from the tables of the other one."""
    entries = tomllib.loads(ENTRIES.read_text(encoding="utf-8"))["entry"]
    parts = [HEAD]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}\n\n| | what | paper | Shoal |\n|---|---|---|---|")
        for entry in (entry for entry in entries if entry["paper"] == paper):
            ours = filled(entry["ours"] if "ours" in entry else f"not comparable: {entry['reason']}", found)
            theirs = entry.get("theirs", "no value printed")
            parts.append(f"| {entry['item']} | {entry['subject']} | {theirs} | {ours} |")
        parts.append("")
    return "\n".join(parts)


def filled(text: str, found: Tables) -> str:
    """The text with cells in place of their names."""
    return CELL.sub(lambda match: cell(match[1], match[2], match[3], found), text)


def cell(section: str, where: str, column: str, found: Tables) -> str:
    """A value of a table of the other page, rounded."""
    asked = dict(pair.split("=", 1) for pair in where.split(", "))
    rows = [row for row in found[section] if all(row[name] == value for name, value in asked.items())]
    if len(rows) != 1:
        raise KeyError(f"{section}: {len(rows)} rows with {where}")
    value = rows[0][column]
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def tables(text: str) -> Tables:
    """The tables of a page, by section."""
    found: Tables = {}
    for part in text.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        lines = [[c.strip() for c in line.strip("|").split("|")] for line in body.splitlines() if line.startswith("|")]
        if lines:
            found[title] = [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    return found


if __name__ == "__main__":
    write()
