"""The page of sketches under attack: one table to choose by, and what known records give away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shoal.pages.drawing import DEEP, INK, SAND, Picture, svg
from shoal.pages.templating import page
from shoal.pages.words import percent
from shoal.results.rates import Rate
from shoal.results.sketch_attacks import SketchAssessment, SketchAttacks

__all__ = ["sketches_html"]

COLOURS = (DEEP, SAND, INK, "#b0563f")  # of the kinds, the release first
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def sketches_html(found: SketchAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    kinds = (found.release, *found.others)
    return page("sketch_assessment.html.jinja", a=found, kinds=kinds, curve=_curve(kinds), broken=_broken(found))


def _broken(found: SketchAssessment) -> bool:
    """Whether the key gives clearly more than guessing and than the sums of groups would, published openly."""
    items, openly = found.release.best_with_key.items, found.release.openly
    return items.low > (items.baseline if openly is None else openly.items.high)


def _curve(kinds: Sequence[SketchAttacks]) -> Picture:
    """For each kind, the items of strangers recovered against the records known."""
    points = [
        {"kind": one.kind, "known": point.known, "items": point.strangers.items.rate}
        for one in kinds
        for point in one.knowing_records
    ]
    description = "Chart: the more records an attacker knows, the more items of other records they recover."
    names = [one.kind for one in kinds]
    scales = {"domain": names, "range": list(COLOURS[: len(names)])}
    legend = {"orient": "top", "title": None, "columns": 2, "symbolType": "stroke", "symbolSize": 500}
    axis = {"values": _apart({point.known for one in kinds for point in one.knowing_records}), "format": ",d"}
    spec = {
        "height": 240,
        "data": {"values": points},
        "mark": {"type": "line", "strokeWidth": 3, "point": {"size": 50, "filled": True}},
        "encoding": {
            "x": {
                "field": "known",
                "type": "quantitative",
                "title": "records known",
                "scale": {"type": "log"},
                "axis": axis,
            },
            "y": {
                "field": "items",
                "type": "quantitative",
                "title": "items of other records recovered",
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]},
            },
            "color": {"field": "kind", "type": "nominal", "sort": names, "scale": scales, "legend": legend},
            "strokeDash": {
                "field": "kind",
                "type": "nominal",
                "sort": names,
                "scale": {"domain": names, "range": list(DASHES[: len(names)])},
                "legend": legend,
            },
        },
    }
    header = (
        "Sketches",
        "Records known",
        "Signs right",
        "Signs right, least squares",
        "Items of others",
        "Others whole",
    )
    rows = tuple(
        (
            one.kind,
            f"{point.known:,}",
            percent(point.signs),
            percent(point.by_least_squares),
            _with_interval(point.strangers.items),
            percent(point.strangers.whole.rate),
        )
        for one in kinds
        for point in one.knowing_records
    )
    return Picture(svg(spec, description), description, header, rows)


def _apart(counts: Iterable[int]) -> list[int]:
    """Those that have room beside each other on a logarithmic axis, the largest among them."""
    kept: list[int] = []
    for count in sorted(counts, reverse=True):
        if not kept or 2 * count <= kept[-1]:
            kept.append(count)
    return kept


def _with_interval(rate: Rate) -> str:
    return f"{percent(rate.rate)} ({percent(rate.low)} to {percent(rate.high)})"
