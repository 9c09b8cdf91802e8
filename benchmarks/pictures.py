"""Pictures for docs/benchmarks.md, drawn from the results that the benchmarks left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import vl_convert

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
DASHES = {"domain": ["MDAV", "refined", "original"], "range": [[1, 0], [1, 0], [4, 3]]}
COLOURS = ["#c9b48a", "#4f9bb0", "#0b5d75"]


def attack(bars: list[dict[str, Any]], title: str, percent: bool = True) -> dict[str, Any]:
    """What an attack finds, before and after: bars with "where", "form" and "found"."""
    forms = list(dict.fromkeys(bar["form"] for bar in bars))
    axis = {"format": "%"} if percent else {"format": ",d", "tickMinStep": 1}
    y = {"field": "found", "type": "quantitative", "title": title, "axis": axis}
    labels = {"field": "found", "type": "quantitative", "format": ".0%" if percent else ",d"}
    x: dict[str, Any] = {"field": "where", "type": "nominal", "sort": None, "title": None, "axis": {"labelAngle": -25}}
    place = {"x": x, "xOffset": {"field": "form", "sort": None}, "y": y}
    colours = {"domain": forms, "range": ["#c8553d", "#0b5d75", "#c9b48a"][: len(forms)]}
    return {
        "width": 560,
        "height": 220,
        "data": {"values": bars},
        "layer": [
            {
                "mark": "bar",
                "encoding": place | {"color": {"field": "form", "sort": None, "title": None, "scale": colours}},
            },
            {"mark": {"type": "text", "dy": -6, "fontSize": 10}, "encoding": place | {"text": labels}},
        ],
    }


def unmixed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Documents recovered exactly, by collection and k."""
    columns = {"exact means": "means: recovered exactly %", "published": "published: recovered exactly %"}
    bars = [
        {"where": f"{row['documents']}, k={row['k']}", "form": form, "found": row[column] / 100}
        for row in rows
        for form, column in columns.items()
    ]
    return attack(bars, "Documents recovered exactly")


def gains(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The error that is left of MDAV's, by default, after a minute, and the least that can be left."""
    long = next(name for name in rows[0] if name.endswith(" s"))
    bars = []
    for row in rows:
        least = row[long] / (1 + row["at most % above the best"] / 100)
        shares = {"default": row["default"], long: row[long], "lower bound": least}
        for name, loss in shares.items():
            bars.append({"cell": f"{row['table']}, k={row['k']}", "search": name, "share": loss / row["MDAV"]})
    return {
        "width": 520,
        "height": 220,
        "data": {"values": bars},
        "mark": "bar",
        "encoding": {
            "x": {"field": "cell", "type": "nominal", "sort": None, "title": None, "axis": {"labelAngle": -35}},
            "xOffset": {"field": "search", "sort": None},
            "y": {"field": "share", "type": "quantitative", "title": "Error, of MDAV's", "axis": {"format": "%"}},
            "color": {"field": "search", "sort": None, "title": None, "scale": {"range": COLOURS[::-1]}},
        },
    }


def losses(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """L against k on logarithmic axes, a line a method."""
    names = ["SA-MDAV", "refined", "static", "S-MDAV", "MDAV, subsumer", "MDAV, mode"]
    points = [{"k": row["k"], "loss": row[name], "method": name} for row in rows for name in names]
    axes = {"type": "quantitative", "scale": {"type": "log"}}
    colours = ["#0b5d75", "#c8553d", "#4f9bb0", "#8fbf9f", "#c9b48a", "#8d8d8d"]
    return {
        "width": 460,
        "height": 260,
        "data": {"values": points},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "k", "title": "k", "axis": {"values": [row["k"] for row in rows]}, **axes},
            "y": {"field": "loss", "title": "Information loss, %", **axes},
            "color": {"field": "method", "title": None, "sort": None, "scale": {"range": colours}},
        },
    }


def growth(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds against rows on logarithmic axes, with the line that costs in proportion to the rows would follow."""
    blocks = [row for row in rows if row["blocks"] != "one piece"]
    first = blocks[0]
    points = [{"rows": row["rows"], "seconds": row["seconds"], "line": "in blocks"} for row in blocks]
    points += [
        {"rows": row["rows"], "seconds": first["seconds"] * row["rows"] / first["rows"], "line": "in proportion"}
        for row in blocks
    ]
    axes = {"type": "quantitative", "scale": {"type": "log"}}
    return {
        "width": 420,
        "height": 220,
        "data": {"values": points},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "rows", "title": "Passages", "axis": {"format": ",", "values": [25e3, 50e3, 100e3]}, **axes},
            "y": {"field": "seconds", "title": "Seconds", **axes},
            "color": {"field": "line", "title": None, "scale": {"range": [COLOURS[2], COLOURS[0]]}},
        },
    }


def time_and_memory(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """CPU seconds and gigabytes against rows, both on logarithmic axes."""

    def line(field: str, title: str, colour: str) -> dict[str, Any]:
        axes = {"type": "quantitative", "scale": {"type": "log"}}
        return {
            "width": 230,
            "height": 180,
            "mark": {"type": "line", "point": {"color": colour}, "color": colour},
            "encoding": {
                "x": {"field": "rows", "title": "Rows", "axis": {"format": "~s", "tickCount": 3}, **axes},
                "y": {"field": field, "title": title, "axis": {"tickCount": 4}, **axes},
            },
        }

    panels = [line("CPU seconds", "CPU seconds", COLOURS[2]), line("memory", "Memory, GB", COLOURS[1])]
    return {"data": {"values": rows}, "hconcat": panels}


def histories(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The error of an index while documents come or go, by rule."""
    events, *rules = list(rows[0])[:3]
    points = [{"events": row[events], "error": row[rule], "rule": rule} for row in rows for rule in rules]
    verb = {"deleting": "deleted", "inserting": "inserted"}[events]
    return {
        "width": 460,
        "height": 220,
        "data": {"values": points},
        "mark": "line",
        "encoding": {
            "x": {"field": "events", "type": "quantitative", "title": f"Documents {verb}", "axis": {"format": ",d"}},
            "y": {"field": "error", "type": "quantitative", "title": "Normalised SSE"},
            "color": {"field": "rule", "title": None, "scale": {"range": ["#c8553d", COLOURS[2]]}},
        },
    }


def utility(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One small chart a figure: MDAV and refined against k, what the original gives, and what the paper reports."""
    figures = [name for name in rows[0] if name not in ("k", "groups")]
    points = []
    for figure in figures:
        points += [{"figure": figure, "k": row["k"], "value": row[figure], "line": row["groups"]} for row in rows[1:]]
        if figure != "IL":
            ends = (rows[1]["k"], rows[-1]["k"])
            points += [{"figure": figure, "k": k, "value": rows[0][figure], "line": "original"} for k in ends]
    points += [{"figure": "IL", "k": k, "value": loss, "line": "paper"} for k, loss in ((2, 0.17), (20, 0.65))]
    series = ["MDAV", "refined", "original", "paper"]
    return {
        "data": {"values": points},
        "facet": {"field": "figure", "type": "nominal", "sort": figures, "title": None},
        "columns": 3,
        "resolve": {"scale": {"y": "independent"}},
        "spec": {
            "width": 170,
            "height": 120,
            "layer": [
                {
                    "transform": [{"filter": "datum.line != 'paper'"}],
                    "mark": {"type": "line"},
                    "encoding": {"strokeDash": {"field": "line", "legend": None, "scale": DASHES}},
                },
                {"transform": [{"filter": "datum.line == 'paper'"}], "mark": {"type": "point", "filled": True}},
            ],
            "encoding": {
                "x": {"field": "k", "type": "quantitative", "title": "k", "scale": {"domain": [2, 20]}},
                "y": {"field": "value", "type": "quantitative", "title": None, "scale": {"zero": True}},
                "color": {
                    "field": "line",
                    "title": None,
                    "scale": {"domain": series, "range": [COLOURS[0], COLOURS[2], "#777777", "#b3432b"]},
                },
            },
        },
    }


def risk_utility(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Risk against loss; a few that destroy everything are left out of the picture."""
    points = [{"method": str(row["masking"]).split(", k")[0].split(", ")[0], **row} for row in rows if row["IL"] <= 100]
    axes = {
        "x": {"field": "IL", "type": "quantitative", "title": "Information loss IL, per cent"},
        "y": {"field": "DR", "type": "quantitative", "title": "Disclosure risk DR, per cent"},
    }
    front = [point for point in points if point["on the front"]]
    return {
        "width": 460,
        "height": 320,
        "layer": [
            {
                "data": {"values": front},
                "mark": {"type": "line", "color": "#9fb0b8"},
                "encoding": {**axes, "order": {"field": "DR"}},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 60},
                "encoding": {**axes, "color": {"field": "method", "type": "nominal", "title": None}},
            },
        ],
    }


def draw(name: str, spec: dict[str, Any]) -> str:
    """Write the picture and return its path from the page."""
    FOLDER.mkdir(exist_ok=True)
    config = {"font": "Liberation Sans, Arial, sans-serif", "background": "white"}
    (FOLDER / f"{name}.svg").write_text(vl_convert.vegalite_to_svg({**spec, "config": config}), encoding="utf-8")
    return f"images/{name}.svg"
