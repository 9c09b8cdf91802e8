"""The report's pictures: figures in, an SVG and the table behind it out.

The Vega-Lite specifications are written here as plain dicts: altair would write the same ones, but importing it takes
longer than drawing all pictures of a report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from shoal.pages.drawing import DEEP, SAND, Picture, svg
from shoal.pages.words import count, number, percent
from shoal.results.summary import ColumnChange, Distances, SketchFigures, Summary, TermUse

__all__ = ["distances", "group_sizes", "lengths", "spread", "terms"]

_MOST_SIZE_BARS = 14
_MOST_BARS = 20


def group_sizes(summary: Summary) -> Picture:
    """How many groups have each size."""
    groups = sum(many for _, many in summary.group_sizes)
    smallest, largest = summary.group_sizes[0][0], summary.group_sizes[-1][0]
    bars = [{"name": label, "count": many} for label, many in _size_bars(summary.group_sizes, summary.k)]
    description = (
        f"Bar chart of group sizes: {count(groups, 'group')}, "
        f"the smallest of {count(smallest, summary.figures.record)}, the largest of {number(largest)}."
    )
    spec = _vertical(bars, f"{summary.figures.record.capitalize()}s in the group", "Groups")
    rows = tuple((number(size), number(many), number(size * many)) for size, many in summary.group_sizes)
    header = ("Size of the group", "Groups", f"{summary.figures.record.capitalize()}s in them")
    return Picture(svg(spec, description), description, header, rows)


def lengths(figures: SketchFigures) -> Picture | None:
    """How many sketches have each length; None if all have the same."""
    shortest, longest = figures.lengths[0][0], figures.lengths[-1][0]
    if shortest == longest:
        return None
    rows = _binned(figures.lengths, shortest, longest)
    description = f"Bar chart of the components of sketches, from {number(shortest)} to {number(longest)}."
    spec = _vertical([{"name": label, "count": many} for label, many in rows], "Components of the sketch", "Sketches")
    header = ("Components", "Sketches")
    return Picture(svg(spec, description), description, header, tuple((label, number(many)) for label, many in rows))


def distances(measured: Distances, noun: str) -> Picture:
    """How far apart pairs of records are, before and after."""
    starts, ends = measured.edges[:-1], measured.edges[1:]
    bars = [{"from": a, "to": b, "share": s} for a, b, s in zip(starts, ends, measured.before, strict=True)]
    # A step needs the last edge too, at the height of the last bin.
    heights = (*measured.after, measured.after[-1])
    steps = [{"from": edge, "share": share} for edge, share in zip(measured.edges, heights, strict=True)]
    description = f"Two overlaid charts of the distances between pairs of {noun}s, before and after protection."
    x = {
        "field": "from",
        "type": "quantitative",
        "title": f"Distance between two {noun}s",
        "scale": {"domain": [measured.edges[0], measured.edges[-1]], "nice": False},
        "axis": {"grid": False, "tickCount": 6},
    }
    y = {"field": "share", "type": "quantitative", "title": "Share of pairs", "axis": {"format": ".0%", "tickCount": 5}}
    if 0 < max(*measured.before, *measured.after) < 0.05:
        y["axis"] = {"format": ".1%", "tickCount": 5}
    spec = {
        "height": 220,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "binSpacing": 0},
                "encoding": {"x": x | {"bin": "binned"}, "x2": {"field": "to"}, "y": y, "color": {"datum": "before"}},
            },
            {
                "data": {"values": steps},
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2.5},
                "encoding": {"x": x, "y": y, "color": {"datum": "after"}},
            },
        ],
        "encoding": {
            "color": {
                "type": "nominal",
                "scale": {"domain": ["before", "after"], "range": [SAND, DEEP]},
                "legend": {"orient": "top", "title": None, "symbolType": "square", "symbolStrokeWidth": 0},
            }
        },
    }
    rows = tuple(
        (f"{number(a)} to {number(b)}", percent(before), percent(after))
        for a, b, before, after in zip(starts, ends, measured.before, measured.after, strict=True)
    )
    return Picture(svg(spec, description), description, ("Distance", "Pairs before", "Pairs after"), rows)


def spread(columns: Sequence[ColumnChange]) -> Picture | None:
    """How much of its spread every numeric column kept; the columns that changed most, when there are many."""
    kept_by = {
        one.name: one.spread_after / one.spread_before
        for one in columns
        if one.spread_before and one.spread_after is not None
    }
    changed = sorted(kept_by.items(), key=lambda one: -abs(1 - one[1]))[:_MOST_BARS]
    if not changed:
        return None
    bars = [{"name": name, "kept": kept} for name, kept in changed]
    description = f"Bar chart of the spread that {count(len(bars), 'column')} kept, in percent of the spread before."
    most = max([1.0, *(kept for _, kept in changed)])
    spec = _horizontal(bars, "kept", "Spread kept", {"format": ".0%", "tickCount": 5}, [0, most])
    header = ("Column", "Median", "Spread before", "Spread after", "Loss", "Multiples of")
    rows = tuple(
        (
            one.name,
            one.median_in_words or _published(one.median),
            *(_published(figure, one.unit) for figure in (one.spread_before, one.spread_after)),
            "not published" if one.loss is None else percent(one.loss),
            "not rounded" if one.step is None else _published(one.step, one.unit),
        )
        for one in columns
    )
    return Picture(svg(spec, description), description, header, rows)


def _published(figure: float | None, unit: str | None = None) -> str:
    if figure is None:
        return "not published"
    return number(figure) if unit is None else f"{number(figure)} {unit}"


def terms(terms: Sequence[TermUse]) -> Picture | None:
    """The most used terms and how many documents of the release have them."""
    if not terms:
        return None
    used = terms[:_MOST_BARS]
    bars = [{"name": one.term, "documents": one.documents} for one in used]
    description = f"Bar chart of the {count(len(used), 'most used term')} and the documents that have each."
    spec = _horizontal(
        bars, "documents", "Documents with the term", {"format": ",d", "tickCount": 5, "tickMinStep": 1}, None
    )
    rows = tuple((one.term, number(one.documents), number(one.weight)) for one in terms)
    return Picture(svg(spec, description), description, ("Term", "Documents", "Mean weight"), rows)


def _vertical(bars: Sequence[Mapping[str, object]], title: str, what: str) -> dict[str, object]:
    return {
        "height": 200,
        "data": {"values": bars},
        "mark": {"type": "bar", "color": DEEP, "width": {"band": min(0.9, 0.15 * len(bars))}},  # one bar stays a bar
        "encoding": {
            "x": {
                "field": "name",
                "type": "nominal",
                "sort": None,
                "title": title,
                "axis": {"labelAngle": 0, "labelOverlap": True},
                "scale": {"paddingInner": 0.2},
            },
            "y": {
                "field": "count",
                "type": "quantitative",
                "title": what,
                "axis": {"format": ",d", "tickMinStep": 1},
            },
        },
    }


def _horizontal(
    bars: Sequence[Mapping[str, object]], field: str, title: str, axis: dict[str, object], domain: list[float] | None
) -> dict[str, object]:
    return {
        "height": {"step": 22},
        "data": {"values": bars},
        "mark": {"type": "bar", "color": DEEP},
        "encoding": {
            "x": {
                "field": field,
                "type": "quantitative",
                "title": title,
                "axis": axis,
                "scale": {} if domain is None else {"domain": domain},
            },
            "y": {
                "field": "name",
                "type": "nominal",
                "sort": None,
                "title": None,
                "axis": {"labelLimit": 130, "grid": False, "ticks": False, "labelPadding": 6},
                "scale": {"paddingInner": 0.25},
            },
        },
    }


def _size_bars(sizes: Sequence[tuple[int, int]], k: int) -> list[tuple[str, int]]:
    """Bars of equal width up to 2k - 1, where a good partition ends; what is larger shares the last bar."""
    smallest, largest = sizes[0][0], sizes[-1][0]
    top = min(largest, 2 * k - 1) if smallest < 2 * k else largest
    bars = _binned(sizes, smallest, top)
    if largest > top:
        bars.append((f"{top + 1:,}+", sum(many for size, many in sizes if size > top)))
    return bars


def _binned(sizes: Sequence[tuple[int, int]], smallest: int, top: int) -> list[tuple[str, int]]:
    """A few bars of equal width."""
    width = math.ceil((top - smallest + 1) / _MOST_SIZE_BARS)
    bars = []
    for start in range(smallest, top + 1, width):
        end = min(start + width - 1, top)
        label = number(start) if start == end else f"{start:,}–{end:,}"
        bars.append((label, sum(many for size, many in sizes if start <= size <= end)))
    return bars
