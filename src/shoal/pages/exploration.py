"""The page of an exploration: risk against loss for everything tried, the front, and the recommendation."""

from __future__ import annotations

from shoal.pages.drawing import DEEP, INK, SAND, Picture, svg
from shoal.pages.templating import page
from shoal.pages.words import count, number
from shoal.results.exploration import LEARNED, Exploration, Outcome, Trial
from shoal.results.methods import IN_WORDS

__all__ = ["exploration_html", "in_words", "hardening_path", "risk_utility_map"]

CROWD, NO_CROWD = "promises a crowd", "promises no crowd"
COLOURS = [DEEP, SAND, "#b0563b", "#4f9bb0", "#7a6fa8", "#6b8e4e", "#c98a1b", INK]


def exploration_html(found: Exploration) -> str:
    """The whole page: style and picture inside, nothing to fetch, nothing to run."""
    return page(
        "exploration.html.jinja",
        e=found,
        recommended=None if found.recommended is None else in_words(found.recommended.trial),
        picture=risk_utility_map(found),
        limits=len(_limits(found)),
        asked=_asked(found),
        beyond=sum(one.loss > _most_loss(found) for one in found.outcomes),
        fronts={one.trial.name for one in found.front},
        loss=found.measures.loss_in_words,
        risk=found.measures.risk_in_words,
        what="documents" if found.kind == "documents" else "a table",
        record="document" if found.kind == "documents" else "record",
        without_crowd=sum(not one.promises_crowd for one in found.outcomes),
        learned=LEARNED,
        hardening=hardening_path(found) if found.hardened else None,
    )


def risk_utility_map(found: Exploration) -> Picture:
    """Every trial as a point, the front as a line, the limits as rules."""
    points = [_point(one) for one in found.outcomes]
    families = list(dict.fromkeys(point["method"] for point in sorted(points, key=lambda point: str(point["method"]))))
    description = (
        f"Map of risk against loss for {count(len(points), 'protection')}; "
        f"{count(len(found.front), 'of them is', 'of them are')} on the front, where less risk costs more loss."
    )
    top = _most_loss(found)
    titles = [f"{words[0].upper()}{words[1:]}, per cent" for words in _words(found)]
    x = {"field": "loss", "type": "quantitative", "title": titles[0], "scale": {"domain": [0, top]}}
    y = {"field": "risk", "type": "quantitative", "title": titles[1]}
    layers: list[dict[str, object]] = [
        {
            "data": {"values": [_point(one) for one in found.front if one.loss <= top]},
            "mark": {"type": "line", "color": "#9fb0b8", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "order": {"field": "risk"}},
        },
        {
            "data": {"values": [point for point in points if float(str(point["loss"])) <= top]},
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 0.9},
            "encoding": {
                "x": x,
                "y": y,
                "shape": {
                    "field": "crowd",
                    "type": "nominal",
                    "scale": {"domain": [CROWD, NO_CROWD], "range": ["circle", "cross"]},
                    "legend": {"orient": "bottom", "title": None},
                },
                "color": {
                    "field": "method",
                    "type": "nominal",
                    "scale": {"domain": families, "range": COLOURS[: len(families)]},
                    "legend": {"orient": "bottom", "title": None, "columns": 3, "labelLimit": 220},
                },
            },
        },
    ]
    if found.recommended is not None:
        layers.append(
            {
                "data": {"values": [_point(found.recommended)]},
                "mark": {"type": "point", "size": 260, "strokeWidth": 2.5, "color": INK},
                "encoding": {"x": x, "y": y},
            }
        )
    for channel, limit in _limits(found).items():
        rule = {"datum": limit, "type": "quantitative"}
        mark = {"type": "rule", "strokeDash": [4, 4], "color": INK}
        layers.append({"data": {"values": [{}]}, "mark": mark, "encoding": {channel: rule}})
    rows = tuple(
        (one.trial.name, number(one.score), number(one.loss), number(one.risk), _alike(one)) for one in found.outcomes
    )
    header = ("Protection", "Score", "Loss", "Risk", "Fewest alike")
    return Picture(svg({"width": 600, "height": 360, "layer": layers}, description), description, header, rows)


def in_words(trial: Trial) -> str:
    """A protection in the words of people who do not know our names."""
    return trial.name.replace(trial.method, IN_WORDS.get(trial.method, trial.method), 1)


def _words(found: Exploration) -> tuple[str, str]:
    return found.measures.loss_in_words, found.measures.risk_in_words


def _asked(found: Exploration) -> str:
    """The limits that were set, in words."""
    limits = {
        "at most {} % of the records found by a trained attacker"
        if found.hardened
        else "risk at most {} %": found.max_risk,
        "loss at most {} %": found.max_loss,
        "at least {} records alike": found.min_k,
    }
    return ", ".join(words.format(number(limit)) for words, limit in limits.items() if limit is not None)


def _limits(found: Exploration) -> dict[str, float]:
    """The limits that lie within the picture, by the axis they are on."""
    most = {"y": 1.1 * max(one.risk for one in found.outcomes), "x": _most_loss(found)}
    limits = {"y": None if found.hardened else found.max_risk, "x": found.max_loss}  # hardening limits another rate
    return {channel: limit for channel, limit in limits.items() if limit is not None and limit <= most[channel]}


def _most_loss(found: Exploration) -> float:
    """How much loss the picture shows: a few that destroy everything would press all others into a corner."""
    losses = sorted(one.loss for one in found.outcomes)
    chosen = 0.0 if found.recommended is None else found.recommended.loss
    return max(1.5 * losses[int(0.7 * (len(losses) - 1))], 1.2 * chosen, 1.0)


def hardening_path(found: Exploration) -> Picture:
    """What a trained attacker finds, step by step, against what it costs."""
    points = [
        {"step": step, "loss": one.loss, "learned": one.figures[LEARNED]} for step, one in enumerate(found.hardened)
    ]
    description = f"Line of {count(len(points) - 1, 'step')}: what a trained attacker finds against the loss."
    x = {
        "field": "loss",
        "type": "quantitative",
        "title": "Change of statistics IL, per cent",
        "scale": {"zero": False},
    }
    y = {"field": "learned", "type": "quantitative", "title": "Found by an attacker trained on all links, per cent"}
    layers: list[dict[str, object]] = [
        {
            "data": {"values": points},
            "mark": {"type": "line", "color": DEEP, "point": {"color": DEEP, "size": 50}},
            "encoding": {"x": x, "y": {**y, "scale": {"zero": True}}, "order": {"field": "step"}},
        },
        {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "strokeDash": [4, 4], "color": INK},
            "encoding": {"y": {"datum": found.max_risk, "type": "quantitative"}},
        },
    ]
    before = [{}, *(dict(one.trial.coarsen) for one in found.hardened)]
    rows = tuple(
        (
            str(step),
            ", ".join(f"{name} to {least:,}" for name, least in one.trial.coarsen if before[step].get(name) != least),
            number(round(one.figures[LEARNED], 2)),
            number(one.loss),
            number(one.risk),
        )
        for step, one in enumerate(found.hardened)
    )
    header = ("Step", "Coarsened", "Found, %", "Loss IL", "Risk DR")
    return Picture(svg({"height": 260, "layer": layers}, description), description, header, rows)


def _alike(one: Outcome) -> str:
    return number(one.smallest_group) + ("" if one.promises_crowd else ", no crowd promised")


def _point(one: Outcome) -> dict[str, object]:
    some = one.trial.attribute_groups is not None
    method = f"{one.trial.method}, some columns" if some else one.trial.method
    crowd = CROWD if one.promises_crowd else NO_CROWD
    return {"method": method, "loss": one.loss, "risk": one.risk, "crowd": crowd}
