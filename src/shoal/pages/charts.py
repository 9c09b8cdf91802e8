"""Charts that several pages have: rates with their intervals, and bars with names."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.pages.drawing import DEEP, SAND, svg
from shoal.results.rates import Rate

__all__ = ["named_bars", "rates_with_intervals"]


def rates_with_intervals(rates: Sequence[tuple[str, Rate]], title: str, description: str) -> str:
    """A dot and a bar for each rate, and a light mark for what it would be without the release."""
    shown = [
        {
            "name": name,
            "rate": one.rate,
            "low": one.low,
            "high": one.high,
            "without": _without(one),
            "without_low": _without(one) if one.control_low is None else one.control_low,
            "without_high": _without(one) if one.control_high is None else one.control_high,
        }
        for name, one in rates
    ]
    y = _names(label_limit=260)
    axis = {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}
    x = {"type": "quantitative", "title": title, "axis": axis}
    spec = {
        "height": {"step": 24},
        "data": {"values": shown},
        "layer": [
            {
                "mark": {"type": "rule", "color": SAND, "strokeWidth": 3, "yOffset": 6},
                "encoding": {"y": y, "x": {"field": "without_low", **x}, "x2": {"field": "without_high"}},
            },
            {
                "mark": {"type": "rule", "color": DEEP, "strokeWidth": 3},
                "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "color": DEEP, "opacity": 1},
                "encoding": {"y": y, "x": {"field": "rate", **x, "scale": {"domain": [0, 1]}}},
            },
            {
                "mark": {"type": "tick", "color": SAND, "thickness": 4, "size": 16},
                "encoding": {"y": y, "x": {"field": "without", **x}},
            },
        ],
    }
    return svg(spec, description)


def named_bars(bars: Sequence[tuple[str, float]], title: str, description: str) -> str:
    """A bar of a share for each name, in the order given."""
    digits = ".0%" if not bars or bars[0][1] >= 0.1 else ".1%"
    spec = {
        "height": {"step": 22},
        "data": {"values": [{"name": name, "share": share} for name, share in bars]},
        "mark": {"type": "bar", "color": DEEP},
        "encoding": {
            "x": {"field": "share", "type": "quantitative", "title": title, "axis": {"format": digits}},
            "y": _names(label_limit=150),
        },
    }
    return svg(spec, description)


def _names(label_limit: int) -> dict[str, object]:
    axis = {"labelLimit": label_limit, "grid": False, "ticks": False, "labelPadding": 6}
    return {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": axis}


def _without(rate: Rate) -> float:
    return rate.baseline if rate.control is None else rate.control
