"""The page of sanitized texts: what searches lose and no longer betray, and whether the originals are found."""

from __future__ import annotations

from shoal.pages.drawing import DEEP, SAND, Picture, svg
from shoal.pages.templating import page
from shoal.pages.words import percent
from shoal.results.searches import QueryChange, Reidentification, SearchChange, TextAssessment

__all__ = ["texts_html"]

FIGURES = (
    ("Precision (P)", "precision"),
    ("Recall (R)", "recall"),
    ("F", "f"),
    ("Coverage (C)", "coverage"),
    ("Novelty (N)", "novelty"),
    ("Average relevance (AR)", "average_relevance"),
    ("Returned (TR)", "returned"),
    ("Random (PR)", "random"),
)


def texts_html(found: TextAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    return page(
        "text_assessment.html.jinja",
        a=found,
        utility=None if found.utility is None else _queries(found.utility, "what readers look for", DEEP),
        risk=None if found.risk is None else _queries(found.risk, "what was to be hidden", SAND),
        attack=_attack(found.attack, found.unsanitized),
    )


def _queries(change: SearchChange, about: str, colour: str) -> Picture:
    """A bar for each query: how much less, or more, it finds."""
    bars = [{"name": _label(query), "change": query.changes.total} for query in change.queries]
    description = f"Bar chart: the change of {len(bars)} queries for {about}, in per cent."
    totals = [query.changes.total for query in change.queries]
    y = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 230, "grid": False, "ticks": False, "labelPadding": 6, "domain": False},
    }
    x = {
        "field": "change",
        "type": "quantitative",
        "title": "change, in per cent",
        "scale": {"domain": [min(-75.0, *totals), max(0.0, *totals)]},
        "axis": {"tickCount": 5},
    }
    spec = {
        "height": {"step": 24},
        "data": {"values": bars},
        "mark": {"type": "bar", "color": colour, "size": 14},
        "encoding": {"x": x, "y": y},
    }
    header = ("Query", "Words", *(name for name, _ in FIGURES), "NMI", "Change")
    rows = tuple((query.name, query.words, *_cells(query)) for query in change.queries)
    return Picture(svg(spec, description), description, header, rows)


def _label(query: QueryChange) -> str:
    return query.words if query.name.startswith("subject ") else query.name


def _cells(query: QueryChange) -> tuple[str, ...]:
    """Each figure before and after, in the order of the header."""
    pairs = [(getattr(query.before, field), getattr(query.after, field)) for _, field in FIGURES]
    shown = [f"{one} → {other}" if isinstance(one, int) else f"{one:.2f} → {other:.2f}" for one, other in pairs]
    return (*shown, f"{query.nmi:.2f}", f"{query.changes.total:+.1f}%")


def _attack(after: Reidentification, before: Reidentification) -> Picture:
    """Originals that come first, by how many words were searched with, sanitized and not."""
    kinds = (("sanitized", after), ("not sanitized", before))
    points = [
        {
            "kind": kind,
            "words": _words(search.words),
            "rate": search.first.rate,
            "low": search.first.low,
            "high": search.first.high,
        }
        for kind, found in kinds
        for search in found.searches
    ]
    description = "Chart: the more words are searched with, the more originals come first."
    names = [_words(search.words) for search in after.searches]
    x = {"field": "words", "type": "ordinal", "sort": names, "title": "words searched with", "axis": {"labelAngle": 0}}
    y = {
        "field": "rate",
        "type": "quantitative",
        "title": "originals that come first",
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]},
    }
    legend = {"orient": "top", "title": None, "symbolType": "stroke", "symbolSize": 500}
    scale = {"domain": [kind for kind, _ in kinds], "range": [DEEP, SAND]}
    colour = {"field": "kind", "type": "nominal", "scale": scale, "legend": legend}
    line = {"type": "line", "strokeWidth": 3, "point": {"size": 60, "filled": True}}
    spec = {
        "height": 220,
        "data": {"values": points},
        "layer": [
            {"mark": line, "encoding": {"x": x, "y": y, "color": colour}},
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
            },
        ],
    }
    header = ("Texts", "Words", "First", "95 % interval", "Among ten", "Median place")
    rows = tuple(
        (
            kind,
            _words(search.words),
            percent(search.first.rate),
            f"{percent(search.first.low)} to {percent(search.first.high)}",
            percent(search.ten.rate),
            f"{search.median_rank:g}",
        )
        for kind, found in kinds
        for search in found.searches
    )
    return Picture(svg(spec, description), description, header, rows)


def _words(count: int | None) -> str:
    return "all" if count is None else str(count)
