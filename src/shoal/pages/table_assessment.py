"""The page of an assessment: what changed and what an intruder finds, for those who decide."""

from __future__ import annotations

from shoal.pages.charts import named_bars, rates_with_intervals
from shoal.pages.drawing import Picture
from shoal.pages.leak_card import card_page
from shoal.pages.templating import page
from shoal.pages.words import count, number, percent
from shoal.results.assessment import TableAssessment
from shoal.results.loss import TableLoss
from shoal.results.rates import Disclosure, Rate
from shoal.results.utility import ModelUtility

__all__ = ["assessment_html"]

MOST = 20  # bars of a picture, rows of a table
NOTABLE = 0.05  # a correlation that changed by less is as it was


def assessment_html(found: TableAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    loss, risk = found.loss, found.risk
    broken = sorted(loss.pairs, key=lambda one: -abs(one.after - one.before))[:MOST] if loss else []
    return page(
        "assessment.html.jinja",
        a=found,
        verdict=verdict(found),
        moved=_moved(loss) if loss and loss.columns else None,
        attacks=_attacks(risk, (*found.gdpr, *_differenced(found))) if risk else None,
        broken=[one for one in broken if abs(one.after - one.before) >= NOTABLE],
        card=card_page(found.leaks, found.rows),
        taught=_taught(found.models) if found.models else None,
        certain=int(sum(chance > 0.999 for chance in risk.euclidean.chances)) if _has_chances(risk) else 0,  # type: ignore[union-attr]
    )


def verdict(found: TableAssessment) -> str:
    """The result in a sentence."""
    if found.risk is None or found.loss is None:
        linked = found.labels_linked or 0.0
        return f"Comparing labels word by word links {percent(linked)} of the {count(found.rows, 'record')}."
    best = max((found.risk.euclidean, found.risk.mahalanobis, found.risk.probabilistic), key=lambda rate: rate.rate)
    linked = max(best.rate, found.labels_linked or 0.0)  # by numbers or by labels, whichever tells more
    return (
        f"An intruder who knows the original values links {percent(linked)} of the {count(found.rows, 'record')} "
        f"to the right person{_learned(found)}; guessing would link {percent(best.baseline)}."
    )


def _learned(found: TableAssessment) -> str:
    if found.leaks is None or found.risk is None:
        return ""
    leak = found.leaks.leak
    return f"; one trained on known links finds {percent(leak.honest.rate)}"


def _taught(models: ModelUtility) -> str:
    """What the best model learned, in a sentence."""
    what = models.target
    if not models.learnable:
        return (
            f"Even from the originals, these models learn next to nothing of {what}: it says nothing about this table."
        )
    best = max(models.scores, key=lambda score: (score.task == "regression", score.original))
    if best.measure == "R2":
        mine, theirs = (percent(max(0.0, share)) for share in (best.protected, best.original))
        return (
            f"Models from this table explain {mine} of the differences in {what}; models from the originals {theirs}."
        )
    mine, theirs, guess = (percent(share) for share in (best.protected, best.original, best.baseline))
    return (
        f"Models from this table are right about {what} in {mine} of the cases, models from the originals in {theirs}, "
        f"and the most frequent value in {guess}."
    )


def _has_chances(risk: Disclosure | None) -> bool:
    return risk is not None and risk.euclidean.chances is not None


def _moved(loss: TableLoss) -> Picture:
    """Which columns moved most."""
    ordered = sorted(loss.columns, key=lambda one: -one.values)
    bars = [(one.column, one.values) for one in ordered[:MOST]]
    description = f"Bar chart of how far the values of {count(len(bars), 'column')} moved, relative to themselves."
    drawn = named_bars(bars, "Mean relative change", description)
    rows = tuple((one.column, percent(one.values), percent(one.mean), percent(one.variance)) for one in ordered)
    return Picture(drawn, description, ("Column", "Values", "Mean", "Variance"), rows)


def _differenced(found: TableAssessment) -> tuple[Rate, ...]:
    return () if found.differencing is None else (found.differencing.cells, found.differencing.worst)


def _attacks(risk: Disclosure, gdpr: tuple[Rate, ...]) -> Picture:
    """Every attack with its interval and what it would reach without the release."""
    rates = (risk.euclidean, risk.mahalanobis, risk.probabilistic, risk.interval, *gdpr)
    shown = [(one.about, one) for one in rates[:MOST]]
    description = f"Chart of {count(len(shown), 'attack')}: how often each succeeds, and how often it would anyway."
    drawn = rates_with_intervals(shown, "Share of attempts that succeed", description)
    controlled = any(one.control is not None for one in rates)
    rows = tuple(
        (
            one.about,
            percent(one.rate),
            f"{percent(one.low)} to {percent(one.high)}",
            percent(one.baseline),
            *([_on_strangers(one)] if controlled else []),
            number(one.n),
        )
        for one in rates
    )
    strangers = ["On strangers (95 % interval)"] if controlled else []
    header = ("Attack", "Succeeds", "95 % interval", "By guessing", *strangers, "Attempts")
    return Picture(drawn, description, header, rows)


def _on_strangers(rate: Rate) -> str:
    if rate.control is None or rate.control_low is None or rate.control_high is None:
        return ""
    return f"{percent(rate.control)} ({percent(rate.control_low)} to {percent(rate.control_high)})"
