"""The page of protected documents judged against their originals: what their vectors are still good for."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.pages import report_charts as plots
from shoal.pages.drawing import DEEP, SAND, Picture, svg
from shoal.pages.templating import page
from shoal.pages.words import count
from shoal.results.assessment import SpaceAssessment
from shoal.results.summary import Distances
from shoal.results.utility import ClassifierScore, QueryAgreement, SpaceUtility

__all__ = ["space_html"]

# What a classifier was trained on and tested on, in the order of the columns.
SCENARIOS = (("original", "original"), ("original", "protected"), ("protected", "protected"), ("protected", "original"))


def space_html(found: SpaceAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    utility = found.utility
    measured = Distances(
        edges=tuple(tenth / 10 for tenth in range(11)),
        before=utility.original.distances,
        after=utility.protected.distances,
        pairs=utility.pairs,
        sampled=utility.sampled,
    )
    return page(
        "space.html.jinja",
        a=found,
        queries=_queries(utility.queries),
        classifiers=_classifiers(utility.classifiers),
        best=_best(utility),
        distances=plots.distances(measured, "document"),
    )


def _queries(queries: Sequence[QueryAgreement]) -> Picture:
    """For each kind of query how alike the answers are, beside what they can be and what chance gives."""
    kinds: dict[str, list[QueryAgreement]] = {}
    for one in queries:
        kinds.setdefault(one.kind, []).append(one)
    points = [
        {
            "kind": kind,
            "f1": sum(one.f1 for one in some) / len(some),
            "ceiling": sum(one.ceiling for one in some) / len(some),
            "chance": sum(one.baseline for one in some) / len(some),
        }
        for kind, some in kinds.items()
    ]
    description = f"Chart of {count(len(points), 'kind')} of queries: how alike the answers before and after are."
    y = {
        "field": "kind",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 260, "grid": False, "ticks": False, "labelPadding": 6},
    }
    x = {
        "type": "quantitative",
        "title": "F1 of the answers",
        "scale": {"domain": [0, 1]},
        "axis": {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2f"},
    }
    marks = {"f1": {"type": "point", "filled": True, "size": 90, "color": DEEP, "opacity": 1}}
    marks |= {name: {"type": "tick", "color": SAND, "thickness": 4, "size": 16} for name in ("ceiling", "chance")}
    layers = [{"mark": marks[name], "encoding": {"y": y, "x": {"field": name, **x}}} for name in marks]
    rows = tuple((str(one["kind"]), *(f"{one[name]:.3f}" for name in ("chance", "f1", "ceiling"))) for one in points)
    header = ("Query by", "By chance", "Before and after", "At best")
    return Picture(
        svg({"height": {"step": 28}, "data": {"values": points}, "layer": layers}, description),
        description,
        header,
        rows,
    )


def _classifiers(scores: Sequence[ClassifierScore]) -> tuple[tuple[str, ...], ...]:
    """A row for each classifier: the accuracy in each scenario."""
    names = dict.fromkeys(score.classifier for score in scores)
    accuracy = {(score.classifier, score.train, score.test): score.accuracy for score in scores}
    return tuple((name, *(f"{accuracy[(name, *scenario)]:.1%}" for scenario in SCENARIOS)) for name in names)


def _best(utility: SpaceUtility) -> tuple[float, float] | None:
    """The accuracy of the classifier that is best on originals: trained on protected vectors, and on originals."""
    own = [score for score in utility.classifiers if score.train == score.test == "original"]
    if not own:
        return None
    best = max(own, key=lambda score: score.accuracy)
    for score in utility.classifiers:
        if (score.classifier, score.train, score.test) == (best.classifier, "protected", "original"):
            return score.accuracy, best.accuracy
    return None
