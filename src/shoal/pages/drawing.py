"""How pictures are drawn: a Vega-Lite specification in, an SVG in Shoal's colours out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["DEEP", "INK", "SAND", "Picture", "svg"]

DEEP = "#0b5d75"  # contrast 7.3 : 1 on white
SAND = "#c9b48a"
INK = "#21343d"
GRID = "#e3e9ec"
# vl-convert brings Liberation Sans along, so labels take the same room on every machine.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WIDTH = 480  # labels included; narrow, so that labels stay readable when a phone scales the picture down


@dataclass(frozen=True)
class Picture:
    """A drawing, the sentence that describes it to who cannot see it, and the figures it was drawn from."""

    svg: str
    description: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def svg(spec: Mapping[str, object], description: str) -> str:
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
        **spec,
    }
    # No round corners, no clipping: Vega numbers clip paths through the life of a process, and bytes would differ.
    drawn: str = vl_convert.vegalite_to_svg(whole)
    # A page needs no namespaces, and without them it holds no address at all.
    drawing = drawn[drawn.index(" class=") :]
    return f'<svg role="img" aria-label="{escape(description)}"{drawing}'
