"""Pictures of sketches for docs/benchmarks.md."""

from __future__ import annotations

from typing import Any

COLOURS = {
    "crowd": "#0b5d75",
    "k-variance": "#c8553d",
    "delta": "#c9b48a",
    "original": "#777777",
    "chance": "#bbbbbb",
}
MEASURES = {"accuracy": "Accuracy, 5 nearest neighbours", "similarity": "Similarity to centroids, 10 clusters"}
SIZE = {"width": 150, "height": 120}


def evaluation(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A row of charts for each measure against k, and for each against delta; a chart for each collection."""
    return {
        "vconcat": [_against(rows, measure, title) for title in ("k", "delta") for measure in MEASURES],
        "resolve": {"scale": {"color": "shared"}},
    }


def _against(rows: list[dict[str, Any]], measure: str, title: str) -> dict[str, Any]:
    shown = ("delta",) if title == "delta" else ("k-variance", "crowd")
    ends = (0.2, 1.0) if title == "delta" else (2, 20)
    points = []
    for row in rows:
        fixed = row["protection"] in ("original", "chance")
        for x in ends if fixed else [row["k or delta"]] if row["protection"] in shown else []:
            points.append({"records": row["records"], "x": x, "y": row[measure], "line": row["protection"]})
    collections = list(dict.fromkeys(row["records"] for row in rows))
    similar = measure == "similarity"  # what chance gives differs by collection
    return {
        "title": {"text": f"{MEASURES[measure]}, against {title}", "anchor": "start", "fontSize": 12},
        "data": {"values": points},
        "facet": {"field": "records", "type": "nominal", "sort": collections, "title": None},
        "columns": 3,
        "resolve": {"scale": {"y": "independent" if similar else "shared"}},
        "spec": {
            **SIZE,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "x", "type": "quantitative", "title": title, "scale": {"zero": False}},
                "y": {
                    "field": "y",
                    "type": "quantitative",
                    "title": None,
                    "scale": {"zero": False} if similar else {"domain": [0, 1]},
                },
                "color": {
                    "field": "line",
                    "title": None,
                    "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
                },
            },
        },
    }


def items(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What is left of the original's figures, against the number of items."""
    lines = [f"{row['protection']} {row['k or delta']:g}" for row in rows]
    points = [
        {"items": row["items"], "share": row[f"{measure} / original"], "line": line, "measure": title}
        for measure, title in MEASURES.items()
        for row, line in zip(rows, lines, strict=True)
    ]
    colours = ["#a8935f", "#c9b48a", "#e2d5b8", COLOURS["crowd"]]
    return {
        "data": {"values": points},
        "facet": {"field": "measure", "type": "nominal", "sort": list(MEASURES.values()), "title": None},
        "columns": 2,
        "spec": {
            "width": 220,
            "height": 160,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "items", "type": "quantitative", "title": "Items", "scale": {"zero": False}},
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "Of the original's",
                    "scale": {"domain": [0, 1]},
                    "axis": {"format": "%"},
                },
                "color": {"field": "line", "title": None, "sort": None, "scale": {"range": colours}},
            },
        },
    }


def records(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds against records, a chart for each method."""
    return _seconds(rows, "records", "Records")


def nonzeros(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds against the mean number of items, a chart for each method."""
    return _seconds(rows, "items of a basket", "Items of a basket")


def _seconds(rows: list[dict[str, Any]], field: str, title: str) -> dict[str, Any]:
    """Seconds of all cores, with the line that costs in proportion would follow."""
    points = []
    for row in rows:
        first = next(other for other in rows if other["method"] == row["method"])
        in_proportion = first["CPU seconds"] * row[field] / first[field]
        lines = {"CPU seconds": row["CPU seconds"], "in proportion": in_proportion}
        points += [{"method": row["method"], "x": row[field], "y": y, "line": line} for line, y in lines.items()]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    return {
        "data": {"values": points},
        "facet": {"field": "method", "type": "nominal", "sort": methods, "title": None},
        "columns": 3,
        "resolve": {"scale": {"y": "independent"}},
        "spec": {
            **SIZE,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "x", "type": "quantitative", "title": title, "axis": {"format": "~s", "tickCount": 5}},
                "y": {"field": "y", "type": "quantitative", "title": "CPU seconds"},
                "color": {
                    "field": "line",
                    "title": None,
                    "sort": None,
                    "scale": {"range": [COLOURS["crowd"], COLOURS["delta"]]},
                },
            },
        },
    }
