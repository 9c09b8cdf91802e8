"""The page of an exploration: risk against loss for everything tried, the front, and the recommendation."""

from __future__ import annotations

from shoal.pages.charts import DEEP, INK, SAND, Picture, picture, quantity
from shoal.pages.words import count, number, page
from shoal.results.exploration import LEARNED, Exploration, Outcome, Trial
from shoal.results.summary import IN_WORDS

CROWD, NO_CROWD = "promises a crowd", "promises no crowd"
COLOURS = [DEEP, SAND, "#b0563b", "#4f9bb0", "#7a6fa8", "#6b8e4e", "#c98a1b", INK]


def exploration_html(exploration: Exploration) -> str:
    """The whole page: style and picture inside, nothing to fetch, nothing to run."""
    return page(
        "exploration.html.jinja",
        e=exploration,
        recommended=None if exploration.recommended is None else in_words(exploration.recommended.trial),
        picture=risk_utility_map(exploration),
        limits=len(_limits(exploration)),
        asked=_asked(exploration),
        beyond=sum(outcome.loss > _most_loss(exploration) for outcome in exploration.outcomes),
        fronts={outcome.trial.name for outcome in exploration.front},
        loss=exploration.measures.loss_in_words,
        risk=exploration.measures.risk_in_words,
        what="documents" if exploration.kind == "documents" else "a table",
        record="document" if exploration.kind == "documents" else "record",
        without_crowd=sum(not outcome.promises_crowd for outcome in exploration.outcomes),
        learned=LEARNED,
        hardening=hardening_path(exploration) if exploration.hardened else None,
    )


def risk_utility_map(exploration: Exploration) -> Picture:
    """Every trial as a point, the front as a line, the limits as rules."""
    points = [_point(outcome) for outcome in exploration.outcomes]
    families = list(dict.fromkeys(point["method"] for point in sorted(points, key=lambda point: str(point["method"]))))
    description = (
        f"Map of risk against loss for {count(len(points), 'protection')}; "
        f"{count(len(exploration.front), 'of them is', 'of them are')} on the front, where less risk costs more loss."
    )
    top = _most_loss(exploration)
    measured = exploration.measures.loss_in_words, exploration.measures.risk_in_words
    titles = [f"{words[0].upper()}{words[1:]}, per cent" for words in measured]
    x, y = quantity("loss", titles[0], scale={"domain": [0, top]}), quantity("risk", titles[1])
    layers: list[dict[str, object]] = [
        {
            "data": {"values": [_point(outcome) for outcome in exploration.front if outcome.loss <= top]},
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
    if exploration.recommended is not None:
        layers.append(
            {
                "data": {"values": [_point(exploration.recommended)]},
                "mark": {"type": "point", "size": 260, "strokeWidth": 2.5, "color": INK},
                "encoding": {"x": x, "y": y},
            }
        )
    for channel, limit in _limits(exploration).items():
        rule = {"datum": limit, "type": "quantitative"}
        mark = {"type": "rule", "strokeDash": [4, 4], "color": INK}
        layers.append({"data": {"values": [{}]}, "mark": mark, "encoding": {channel: rule}})
    rows = tuple(
        (outcome.trial.name, number(outcome.score), number(outcome.loss), number(outcome.risk), _alike(outcome))
        for outcome in exploration.outcomes
    )
    header = ("Protection", "Score", "Loss", "Risk", "Fewest alike")
    return picture({"width": 600, "height": 360, "layer": layers}, description, header, rows)


def in_words(trial: Trial) -> str:
    """A protection in the words of people who do not know our names."""
    return trial.name.replace(trial.method, IN_WORDS.get(trial.method, trial.method), 1)


def _asked(exploration: Exploration) -> str:
    """The limits that were set, in words."""
    limits = {
        "at most {} % of the records found by a trained attacker"
        if exploration.hardened
        else "risk at most {} %": exploration.max_risk,
        "loss at most {} %": exploration.max_loss,
        "at least {} records alike": exploration.min_k,
    }
    return ", ".join(words.format(number(limit)) for words, limit in limits.items() if limit is not None)


def _limits(exploration: Exploration) -> dict[str, float]:
    """The limits that lie within the picture, by the axis they are on."""
    most = {"y": 1.1 * max(outcome.risk for outcome in exploration.outcomes), "x": _most_loss(exploration)}
    limits = {
        "y": None if exploration.hardened else exploration.max_risk,
        "x": exploration.max_loss,
    }  # hardening limits another rate
    return {channel: limit for channel, limit in limits.items() if limit is not None and limit <= most[channel]}


def _most_loss(exploration: Exploration) -> float:
    """How much loss the picture shows: a few that destroy everything would press all others into a corner."""
    losses = sorted(outcome.loss for outcome in exploration.outcomes)
    chosen = 0.0 if exploration.recommended is None else exploration.recommended.loss
    return max(1.5 * losses[int(0.7 * (len(losses) - 1))], 1.2 * chosen, 1.0)


def hardening_path(exploration: Exploration) -> Picture:
    """What a trained attacker finds, step by step, against what it costs."""
    points = [
        {"step": step, "loss": outcome.loss, "learned": outcome.figures[LEARNED]}
        for step, outcome in enumerate(exploration.hardened)
    ]
    description = f"Line of {count(len(points) - 1, 'step')}: what a trained attacker finds against the loss."
    x = quantity("loss", "Information lost, per cent", scale={"zero": False})
    y = quantity("learned", "Found by an attacker trained on all links, per cent")
    layers: list[dict[str, object]] = [
        {
            "data": {"values": points},
            "mark": {"type": "line", "color": DEEP, "point": {"color": DEEP, "size": 50}},
            "encoding": {"x": x, "y": {**y, "scale": {"zero": True}}, "order": {"field": "step"}},
        },
        {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "strokeDash": [4, 4], "color": INK},
            "encoding": {"y": {"datum": exploration.max_risk, "type": "quantitative"}},
        },
    ]
    before = [{}, *(dict(outcome.trial.coarsen) for outcome in exploration.hardened)]
    rows = tuple(
        (
            str(step),
            ", ".join(
                f"{name} to {least:,}" for name, least in outcome.trial.coarsen if before[step].get(name) != least
            ),
            number(round(outcome.figures[LEARNED], 2)),
            number(outcome.loss),
            number(outcome.risk),
        )
        for step, outcome in enumerate(exploration.hardened)
    )
    header = ("Step", "Coarsened", "Found, %", "Lost, %", "Linked, %")
    return picture({"height": 260, "layer": layers}, description, header, rows)


def _alike(outcome: Outcome) -> str:
    return number(outcome.smallest_group) + ("" if outcome.promises_crowd else ", no crowd promised")


def _point(outcome: Outcome) -> dict[str, object]:
    partial = outcome.trial.attribute_groups is not None
    method = f"{outcome.trial.method}, some columns" if partial else outcome.trial.method
    crowd = CROWD if outcome.promises_crowd else NO_CROWD
    return {"method": method, "loss": outcome.loss, "risk": outcome.risk, "crowd": crowd}
