"""Charts: a Vega-Lite specification in, an SVG in Shoal's colours out; and those that several pages have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

from shoal.results.attacks import Rate

DEEP = "#0b5d75"  # contrast 7.3 : 1 on white
SAND = "#c9b48a"
INK = "#21343d"
GRID = "#e3e9ec"
# vl-convert brings Liberation Sans along, so labels take the same room on every machine.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
QUARTERS = [0, 0.25, 0.5, 0.75, 1]  # of an axis of shares
WIDTH = 480  # labels included; narrow, so that labels stay readable when a phone scales the picture down


@dataclass(frozen=True)
class Picture:
    """A drawing, the sentence that describes it to who cannot see it, and the figures it was drawn from."""

    svg: str
    description: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def picture(
    spec: Mapping[str, object], description: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> Picture:
    """Draw a Vega-Lite specification, whose style is filled in."""
    return Picture(_drawn(json.dumps(spec), description), description, header, tuple(rows))


def quantity(field: str, title: str, **more: object) -> dict[str, object]:
    """An axis of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def names(label_limit: int, field: str = "name", **axis: object) -> dict[str, object]:
    """An axis of names, in the order given."""
    style = {"labelLimit": label_limit, "grid": False, "ticks": False, "labelPadding": 6, **axis}
    return {"field": field, "type": "nominal", "sort": None, "title": None, "axis": style}


@lru_cache(maxsize=64)  # A release that was just made, or is verified again, has the same pictures.
def _drawn(spec: str, description: str) -> str:
    import vl_convert  # brings a JavaScript engine along: loaded only when something is drawn

    axis: dict[str, Any] = {
        "labelFont": FONT,
        "labelFontSize": 13,
        "labelColor": INK,
        "titleFont": FONT,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titleColor": INK,
        "titlePadding": 8,
        "gridColor": GRID,
        "domainColor": "#9fb0b8",
        "tickColor": "#9fb0b8",
    }
    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": WIDTH,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": None,
        "config": {
            "aria": False,  # one label for the whole picture; the figures are in the table behind it
            "font": FONT,
            "view": {"stroke": None},
            "axis": axis,
            "legend": {"labelFont": FONT, "labelFontSize": 13, "labelColor": INK},
        },
        **json.loads(spec),
    }
    # No round corners, no clipping: Vega numbers clip paths through the life of a process, and bytes would differ.
    drawn: str = vl_convert.vegalite_to_svg(whole)
    # A page needs no namespaces, and without them it holds no address at all.
    drawing = drawn[drawn.index(" class=") :]
    return f'<svg role="img" aria-label="{escape(description)}"{drawing}'


def rates_with_intervals(rates: Sequence[tuple[str, Rate]], title: str) -> dict[str, object]:
    """A dot and a bar for each rate, and a light mark for what it would be without the release."""
    shown = []
    for name, rate in rates:
        without = rate.baseline if rate.control is None else rate.control
        shown.append(
            {
                "name": name,
                "rate": rate.rate,
                "low": rate.low,
                "high": rate.high,
                "without": without,
                "without_low": without if rate.control_low is None else rate.control_low,
                "without_high": without if rate.control_high is None else rate.control_high,
            }
        )
    y = names(label_limit=260)

    def x(field: str, **more: object) -> dict[str, object]:
        return quantity(field, title, axis={"format": ".0%", "values": QUARTERS}, **more)

    return {
        "height": {"step": 24},
        "data": {"values": shown},
        "layer": [
            {
                "mark": {"type": "rule", "color": SAND, "strokeWidth": 3, "yOffset": 6},
                "encoding": {"y": y, "x": x("without_low"), "x2": {"field": "without_high"}},
            },
            {
                "mark": {"type": "rule", "color": DEEP, "strokeWidth": 3},
                "encoding": {"y": y, "x": x("low"), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "color": DEEP, "opacity": 1},
                "encoding": {"y": y, "x": x("rate", scale={"domain": [0, 1]})},
            },
            {
                "mark": {"type": "tick", "color": SAND, "thickness": 4, "size": 16},
                "encoding": {"y": y, "x": x("without")},
            },
        ],
    }


def named_bars(bars: Sequence[tuple[str, float]], title: str) -> dict[str, object]:
    """A bar of a share for each name, in the order given."""
    digits = ".0%" if not bars or bars[0][1] >= 0.1 else ".1%"
    return {
        "height": {"step": 22},
        "data": {"values": [{"name": name, "share": share} for name, share in bars]},
        "mark": {"type": "bar", "color": DEEP},
        "encoding": {"x": quantity("share", title, axis={"format": digits}), "y": names(label_limit=150)},
    }
