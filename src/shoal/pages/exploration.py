"""The page of an exploration: risk against loss for everything tried, the front, and the recommendation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.pages.charts import DEEP, GREY, INK, SAND, Axis, Dot, Line, Mark, Picture, Text, amounts, chart, picture
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
    outcomes, top = exploration.outcomes, _most_loss(exploration)
    families = sorted({_family(outcome) for outcome in outcomes})
    colour_of = dict(zip(families, COLOURS, strict=False))
    description = (
        f"Map of risk against loss for {count(len(outcomes), 'protection')}; "
        f"{count(len(exploration.front), 'of them is', 'of them are')} on the front, where less risk costs more loss."
    )
    x = amounts(_title(exploration.measures.loss_in_words), (), high=top)
    y = amounts(_title(exploration.measures.risk_in_words), [outcome.risk for outcome in outcomes])
    front = sorted((outcome.risk, outcome.loss) for outcome in exploration.front if outcome.loss <= top)
    marks: list[Mark] = [
        Line([(loss, risk) for risk, loss in front], GREY),
        *(
            Dot(outcome.loss, outcome.risk, colour_of.get(_family(outcome), INK), 4, cross=not outcome.promises_crowd)
            for outcome in outcomes
            if outcome.loss <= top
        ),
    ]
    marks += _sizes_of_crowds(exploration.front, x, y)
    if (chosen := exploration.recommended) is not None:
        marks.append(Dot(chosen.loss, chosen.risk, "none", 9, stroke=INK))
    for channel, limit in _limits(exploration).items():
        ends = [(0.0, limit), (top, limit)] if channel == "y" else [(limit, 0.0), (limit, y.high)]
        marks.append(Line(ends, INK, 1, dash="4 4"))
    legend = [
        *((family, Dot(0, 0, colour)) for family, colour in colour_of.items()),
        *((words, Dot(0, 0, INK, cross=cross)) for words, cross in ((CROWD, False), (NO_CROWD, True))),
    ]
    rows = tuple(
        (outcome.trial.name, number(outcome.score), number(outcome.loss), number(outcome.risk), _alike(outcome))
        for outcome in exploration.outcomes
    )
    header = ("Protection", "Score", "Loss", "Risk", "Fewest alike")
    drawing = chart(x, y, marks, 360, legend=legend, width=600)
    return picture(drawing, description, header, rows)


def _title(measure: str) -> str:
    return f"{measure[0].upper()}{measure[1:]}, per cent"


def _sizes_of_crowds(front: Sequence[Outcome], x: Axis, y: Axis) -> Iterator[Text]:
    """k beside the points of the front, where there is room for it."""
    taken: list[tuple[float, float]] = []
    for outcome in front:
        place = x.share(outcome.loss), y.share(outcome.risk)
        crowded = any(abs(place[0] - left) < 0.1 and abs(place[1] - up) < 0.06 for left, up in taken)
        if outcome.trial.k is not None and outcome.loss <= x.high and not crowded:
            taken.append(place)
            yield Text(outcome.loss, outcome.risk, f"k = {outcome.trial.k}", below=-9)


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
    path = [(outcome.loss, outcome.figures[LEARNED]) for outcome in exploration.hardened]
    description = f"Line of {count(len(path) - 1, 'step')}: what a trained attacker finds against the loss."
    limit = exploration.max_risk
    x = amounts(_title(exploration.measures.loss_in_words), [loss for loss, _ in path], low=None)
    y = amounts("Found by a trained attacker, per cent", [*(found for _, found in path), limit or 0.0])
    marks: list[Mark] = [Line(path, DEEP), *(Dot(*point, DEEP, 4) for point in path)]
    if limit is not None:
        marks.append(Line([(x.low, limit), (x.high, limit)], INK, 1, dash="4 4"))
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
    return picture(chart(x, y, marks, 260), description, header, rows)


def _alike(outcome: Outcome) -> str:
    return number(outcome.smallest_group) + ("" if outcome.promises_crowd else ", no crowd promised")


def _family(outcome: Outcome) -> str:
    """The method, as the legend lists it."""
    partial = outcome.trial.attribute_groups is not None
    return f"{outcome.trial.method}, some columns" if partial else outcome.trial.method
