"""The two texts people read in a release: report.html, one page for everybody, and README.md, how to load the data."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import PurePosixPath

from shoal.language import N_, _, speaking
from shoal.pages import charts
from shoal.pages.words import aside, capitalised, count, guarantee, number, page, percent, said
from shoal.results.summary import CellShares, ColumnChange, Distances, SketchFigures, Summary, TermUse, TextColumn

# How each format is read without Shoal: the import, and the call on a path.
_READERS = {
    ".npz": ("import scipy.sparse", "scipy.sparse.load_npz({path})"),
    ".parquet": ("import pyarrow.parquet", "pyarrow.parquet.read_table({path})"),
    ".txt": ("from pathlib import Path", 'Path({path}).read_text(encoding="utf-8").splitlines()'),
} | dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), ("import pandas", "pandas.read_csv({options})"))
_DTYPES = {"string": "str", "double": "float64", "int64": "int64"}
CELL_COLOURS = {
    N_("true"): charts.DEEP,
    N_("coarser"): "#7fb2c1",
    N_("changed"): charts.SAND,
    N_("blank"): "#e3e9ec",
}
_MOST_SIZE_BARS = 14
_MOST_BARS = 20


def release_pages(summary: Summary) -> dict[str, str]:
    """The pages of a release by their names."""
    with speaking(summary.language):
        return {"report.html": report_html(summary), "README.md": readme_text(summary)}


def report_html(summary: Summary) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    pictures = {
        "groups": group_sizes(summary) if summary.group_sizes else None,
        "distances": distances(summary.distances, summary.figures.record) if summary.distances.pairs else None,
        "cells": cells(getattr(summary.figures, "cells", ())),
        "spread": spread(getattr(summary.figures, "columns", ())),
        "lengths": lengths(summary.figures) if isinstance(summary.figures, SketchFigures) else None,
        "terms": terms(getattr(summary.figures, "terms", ())),
    }
    return _render("report.html.jinja", summary, pictures=pictures)


def readme_text(summary: Summary) -> str:
    """README.md: what this is, what it promises, how to check and to load it."""
    return _render("README.md.jinja", summary)


def _render(template: str, summary: Summary, **more: object) -> str:
    return page(
        f"{summary.figures.kind}_{template}",
        s=summary,
        f=summary.figures,
        noun=summary.figures.record,
        guarantee=guarantee(summary),
        aside=aside(summary),
        groups=sum(many for _, many in summary.group_sizes),
        unique=sum(many for size, many in summary.group_sizes if size == 1),
        withheld=sum(reason.count for reason in summary.withheld),
        loading=_loading(summary),
        **more,
    )


def _loading(summary: Summary) -> str:
    """Python lines that read every data file of the release without Shoal."""
    imports: dict[str, None] = {}
    calls: dict[str, str] = {}
    names = [name for name, _meaning in summary.files]
    for name in ["table.parquet"] if "table.parquet" in names else names:  # of a table and its copy, the table
        path = PurePosixPath(name)
        if (kind := "".join(path.suffixes)) in _READERS:
            needed, call = _READERS[kind]
            imports[needed] = None
            # One stem may come in two formats.
            stem = path.name.removesuffix(kind)
            variable = stem if stem not in calls else name.replace(".", "_")
            quoted = json.dumps(f"FOLDER/{name}")
            options = _text_options(quoted, getattr(summary.figures, "text_columns", ()))
            calls[variable] = call.format(path=quoted, options=options)
    if not calls:
        return ""
    return "\n".join([*imports, "", *(f"{variable} = {call}" for variable, call in calls.items())])


def _text_options(path: str, columns: Sequence[TextColumn]) -> str:
    """The path, and what pandas must know to read every cell of a text file as it was meant."""
    missing = {column.name: list(column.missing) for column in columns if column.missing}
    options = [path, *(['sep="\\t"'] if ".tsv" in path else [])]
    if columns:
        # Whole numbers with gaps are pandas' own Int64.
        types = {
            column.name: "Int64" if column.type == "int64" and column.missing else _DTYPES[column.type]
            for column in columns
        }
        options += [f"dtype={types}", "keep_default_na=False"]
    options += [f"na_values={missing}"] if missing else []
    return path if len(options) == 1 else "\n    " + ",\n    ".join(options) + ",\n"


def group_sizes(summary: Summary) -> charts.Picture:
    """How many groups have each size."""
    groups = sum(many for _size, many in summary.group_sizes)
    smallest, largest = summary.group_sizes[0][0], summary.group_sizes[-1][0]
    bars = _size_bars(summary.group_sizes, summary.k)
    description = _("Bar chart of group sizes: {groups}, the smallest of {smallest}, the largest of {largest}.").format(
        groups=count(groups, "group"), smallest=count(smallest, summary.figures.record), largest=number(largest)
    )
    heights = charts.counts(_("Groups"), [many for _size, many in bars])
    nouns = capitalised(_(summary.figures.record + "s"))
    drawing = charts.upright(bars, _("{nouns} in the group").format(nouns=nouns), heights)
    rows = tuple((number(size), number(many), number(size * many)) for size, many in summary.group_sizes)
    header = (_("Size of the group"), _("Groups"), _("{nouns} in them").format(nouns=nouns))
    return charts.picture(drawing, description, header, rows)


def lengths(figures: SketchFigures) -> charts.Picture | None:
    """How many sketches have each length; None if all have the same."""
    shortest, longest = figures.lengths[0][0], figures.lengths[-1][0]
    if shortest == longest:
        return None
    rows = _binned(figures.lengths, shortest, longest)
    description = _("Bar chart of the components of sketches, from {shortest} to {longest}.").format(
        shortest=number(shortest), longest=number(longest)
    )
    heights = charts.counts(_("Sketches"), [many for _label, many in rows])
    drawing = charts.upright(rows, _("Components of the sketch"), heights)
    header = (_("Components"), _("Sketches"))
    return charts.picture(drawing, description, header, ((label, number(many)) for label, many in rows))


def distances(measured: Distances, noun: str) -> charts.Picture:
    """How far apart pairs of records are, before and after."""
    starts, ends = measured.edges[:-1], measured.edges[1:]
    nouns = _(noun + "s")
    description = _("Two overlaid charts of the distances between pairs of {nouns}, before and after protection.")
    x, y = _("Distance between two {nouns}").format(nouns=nouns), _("Share of pairs")
    drawing = charts.before_and_after(measured.edges, measured.before, measured.after, x, y)
    rows = tuple(
        (_("{low} to {high}").format(low=number(a), high=number(b)), percent(before), percent(after))
        for a, b, before, after in zip(starts, ends, measured.before, measured.after, strict=True)
    )
    header = (_("Distance"), _("Pairs before"), _("Pairs after"))
    return charts.picture(drawing, description.format(nouns=nouns), header, rows)


def cells(columns: Sequence[CellShares]) -> charts.Picture | None:
    """What is released of each protected column: true, coarser, changed and blank cells as one bar."""
    if not columns:
        return None
    shown = columns[:_MOST_BARS]
    blocks: list[charts.Mark] = []
    for row, column in enumerate(shown):
        end = 0.0
        for what, colour in CELL_COLOURS.items():
            start, end = end, end + getattr(column, what)
            blocks.append(charts.Block(start, row - charts.BAR, end, row + charts.BAR, colour))
    drawing = charts.chart(
        charts.shares(_("Share of the cells"), (), high=1.0),
        charts.names((column.name for column in shown), longest=130),
        blocks,
        legend=[(_(what), charts.Line((), colour, 12)) for what, colour in CELL_COLOURS.items()],
    )
    description = _("Stacked bars of true, coarser, changed and blank cells in {columns}.").format(
        columns=count(len(columns), "column")
    )
    header = (_("Column"), _("True as shown"), _("Coarser"), _("Changed"), _("Blank"))
    rows = tuple((one.name, *(percent(getattr(one, what)) for what in CELL_COLOURS)) for one in columns)
    return charts.picture(drawing, description, header, rows)


def spread(columns: Sequence[ColumnChange]) -> charts.Picture | None:
    """How much of its spread every numeric column kept; the columns that changed most, when there are many."""
    kept_by = {
        column.name: column.spread_after / column.spread_before
        for column in columns
        if column.spread_before and column.spread_after is not None
    }
    changed = sorted(kept_by.items(), key=lambda column: -abs(1 - column[1]))[:_MOST_BARS]
    if not changed:
        return None
    description = _("Bar chart of the spread that {columns} kept, in percent of the spread before.").format(
        columns=count(len(changed), "column")
    )
    spreads = charts.shares(_("Spread kept"), [1.0, *(kept for _name, kept in changed)])
    drawing = charts.sideways(changed, spreads, longest=130)
    header = (_("Column"), _("Median"), _("Spread before"), _("Spread after"), _("Loss"), _("Multiples of"))
    rows = tuple(
        (
            column.name,
            column.median_in_words or _published(column.median),
            *(_published(figure, column.unit) for figure in (column.spread_before, column.spread_after)),
            _("not published") if column.loss is None else percent(column.loss),
            _("not rounded") if column.step is None else _published(column.step, column.unit),
        )
        for column in columns
    )
    return charts.picture(drawing, description, header, rows)


def _published(figure: float | None, unit: str | None = None) -> str:
    if figure is None:
        return _("not published")
    return number(figure) if unit is None else f"{number(figure)} {said(unit)}"


def terms(terms: Sequence[TermUse]) -> charts.Picture | None:
    """The most used terms and how many documents of the release have them."""
    if not terms:
        return None
    used = terms[:_MOST_BARS]
    bars = [(use.term, use.documents) for use in used]
    description = _("Bar chart of the {terms} and the documents that have each.").format(
        terms=count(len(used), "most used term")
    )
    lengths = charts.counts(_("Documents with the term"), [use.documents for use in used])
    drawing = charts.sideways(bars, lengths, longest=130)
    rows = tuple((use.term, number(use.documents), number(use.weight)) for use in terms)
    return charts.picture(drawing, description, (_("Term"), _("Documents"), _("Mean weight")), rows)


def _size_bars(sizes: Sequence[tuple[int, int]], k: int) -> list[tuple[str, int]]:
    """Bars of equal width up to 2k - 1, where a good partition ends; what is larger shares the last bar."""
    smallest, largest = sizes[0][0], sizes[-1][0]
    top = min(largest, 2 * k - 1) if smallest < 2 * k else largest
    bars = _binned(sizes, smallest, top)
    if largest > top:
        bars.append((f"{number(top + 1)}+", sum(many for size, many in sizes if size > top)))
    return bars


def _binned(sizes: Sequence[tuple[int, int]], smallest: int, top: int) -> list[tuple[str, int]]:
    """A few bars of equal width."""
    width = math.ceil((top - smallest + 1) / _MOST_SIZE_BARS)
    bars = []
    for start in range(smallest, top + 1, width):
        end = min(start + width - 1, top)
        label = number(start) if start == end else f"{number(start)}–{number(end)}"
        bars.append((label, sum(many for size, many in sizes if start <= size <= end)))
    return bars
