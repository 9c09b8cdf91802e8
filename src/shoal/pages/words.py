"""Figures in words, and templates that use them: how a page writes numbers, shares and the promise itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.results.attacks import Rate
from shoal.results.claims import DISTINCT, ENTROPY, RECURSIVE
from shoal.results.summary import SketchFigures, StatedLoss, Summary
from shoal.results.survey import Estimate

FEWEST_ATTEMPTS = 5  # of an attack; below, its interval spans nearly everything

_SHARES = (
    (0.01, "about a hundredth"),
    (0.02, "about a fiftieth"),
    (0.05, "about a twentieth"),
    (0.075, "less than a tenth"),
    (0.1, "about a tenth"),
    (1 / 7, "about a seventh"),
    (0.2, "about a fifth"),
    (0.25, "about a quarter"),
    (0.3, "about three tenths"),
    (1 / 3, "about a third"),
    (0.4, "about two fifths"),
    (0.5, "about half"),
    (0.6, "about three fifths"),
    (2 / 3, "about two thirds"),
    (0.75, "about three quarters"),
    (0.8, "about four fifths"),
    (0.9, "about nine tenths"),
    (0.98, "nearly all"),
)

_FIRST_TENTHS = ("none", "a tenth", "a fifth", "three tenths", "two fifths", "half")
_TENTHS = (*_FIRST_TENTHS, "three fifths", "seven tenths", "four fifths", "nine tenths", "all")


def number(value: float) -> str:
    """Thousands separated; four significant digits where there are decimals.

    >>> number(7673), number(1234.5), number(0.30452), number(2.0)
    ('7,673', '1,234', '0.3045', '2')
    """
    if not math.isfinite(value):
        return "unknown"
    if value == int(value):
        return f"{int(value):,}"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size < 0.0001:
        return f"{value:.1e}"
    return f"{value:.4g}"


def percent(share: float) -> str:
    """One decimal; never rounds something to nothing, nor nearly all to all.

    >>> percent(0.3045), percent(0.0002), percent(0.9999), percent(1.0)
    ('30.4%', 'under 0.1%', 'over 99.9%', '100%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1:
        return "over 99.9%"
    return f"{share:.1%}"


def estimated(estimate: Estimate | None, statistic: str) -> str:
    """A figure of the population and its 95 % interval."""
    if estimate is None:
        return "not estimable"
    spelled = percent if statistic == "share" else number
    return f"{spelled(estimate.value)} ({spelled(estimate.low)} to {spelled(estimate.high)})"


def succeeds(rate: Rate) -> str:
    """How often an attack succeeds, where there were attempts enough to say so.

    >>> succeeds(Rate("singling out", 0.0, 0.0, 0.0, 0.793, n=1)), succeeds(Rate("linkage", 0.5, 0.1, 0.24, 0.76, n=10))
    ('too few attempts', '50.0%')
    """
    return "too few attempts" if rate.n < FEWEST_ATTEMPTS else percent(rate.rate)


def interval(rate: Rate) -> str:
    """From where to where the true rate may lie; nothing where there were too few attempts.

    >>> interval(Rate("linkage", 0.5, 0.1, 0.24, 0.76, n=10))
    '24.0% to 76.0%'
    """
    return "" if rate.n < FEWEST_ATTEMPTS else f"{percent(rate.low)} to {percent(rate.high)}"


def with_interval(rate: Rate, strangers: bool = False) -> str:
    """How often an attack succeeds, or would on strangers, and the interval, on one line.

    >>> with_interval(Rate("linkage", 0.5, 0.1, 0.24, 0.76, n=10))
    '50.0% (24.0% to 76.0%)'
    """
    if rate.n < FEWEST_ATTEMPTS:
        return "too few attempts"
    figures = (rate.control, rate.control_low, rate.control_high) if strangers else (rate.rate, rate.low, rate.high)
    return "{:.1%} ({:.1%} to {:.1%})".format(*figures)


def count(how_many: int, one: str, many: str | None = None) -> str:
    """The number with its noun.

    >>> count(1, "group"), count(1534, "group"), count(2, "is", "are")
    ('1 group', '1,534 groups', '2 are')
    """
    return f"{how_many:,} {one if how_many == 1 else many or one + 's'}"


def share_in_words(share: float) -> str:
    """The nearest everyday fraction, to be followed by "of …".

    >>> share_in_words(0.0), share_in_words(0.24), share_in_words(1.0)
    ('none', 'about a quarter', 'all')
    """
    if share <= 0:
        return "none"
    if share >= 1:
        return "all"
    if share < 0.005:
        return "hardly any"
    return min(_SHARES, key=lambda known: abs(known[0] - share))[1]


def loss_in_figures(loss: StatedLoss) -> str:
    """The share that was lost, or between which two it lies.

    >>> loss_in_figures(StatedLoss(0.304, 0.304)), loss_in_figures(StatedLoss(0.0, 0.1, reason="few records"))
    ('30.4%', '0% to 10%')
    """
    return percent(loss.low) if loss.reason is None else f"{loss.low:.0%} to {loss.high:.0%}"


def loss_in_words(loss: StatedLoss) -> str:
    """How much of the detail was given up, to be followed by "of …".

    >>> loss_in_words(StatedLoss(0.24, 0.24)), loss_in_words(StatedLoss(0.0, 0.1, reason="few records"))
    ('about a quarter', 'at most a tenth')
    >>> loss_in_words(StatedLoss(0.0, 1.0, reason="the originals are encrypted"))
    'an unknown share'
    """
    if (loss.low, loss.high) == (0.0, 1.0):
        return "an unknown share"
    return share_in_words(loss.low) if loss.reason is None else f"at most {_TENTHS[round(10 * loss.high)]}"


def guarantee(summary: Summary) -> str:
    """The promise in one sentence, or plainly that there is none."""
    noun = summary.figures.record
    sketches = isinstance(summary.figures, SketchFigures)
    if sketches and not summary.promises_k:
        return (
            f"No crowd is promised: every {noun} is sketched on its own, and whoever gets the key, or knows enough of "
            f"the {noun}s behind the sketches, may recover it."
        )
    if not summary.promises_k:
        return (
            f"No promise is made that a {noun} hides among others: the method used ({summary.method}) changes values "
            f"but does not make whole {noun}s identical, so a {noun} may still be one of a kind."
        )
    others = count(summary.k - 1, "other")
    if summary.promised.unit is not None:
        whose = "person" if summary.promised.household is None else "household"
        many = f"{noun}s of as many other {summary.promised.units}"
        others = count(summary.k - 1, f"{noun} of another {whose}", many)
    every = f"Every one of the {count(summary.rows, noun)}"
    crowd = f"nobody can tell which of {summary.k:,} or more is yours"
    if sketches:
        return f"{every} has the same sketch as at least {others} in this release: by its sketch, {crowd}."
    if not aside(summary):
        return f"{every} is identical to at least {others} in this release: {crowd}."
    # Confidential and insensitive columns are released as they are, so the promise is about everything else.
    if summary.figures.kind == "documents":
        return f"{every} has the same terms and weights as at least {others} in this release: by its words, {crowd}."
    promise = f"{every} is identical to at least {others} in the columns that the owner named for protection"
    allowed = getattr(summary.figures, "allowed", ())
    if allowed:
        are = "is" if len(allowed) == 1 else "are"
        found = f"whoever knows a value there may find the {noun}"
        return f"{promise}. But {', '.join(allowed)} {are} released unchanged, and {found}."
    return f"{promise}: by those columns, {crowd}."


def aside(summary: Summary) -> str:
    """What does not count where records are called identical: columns that are released as they are."""
    if not summary.diversity and not getattr(summary.figures, "insensitive", ()):
        return ""
    return ", columns released unchanged aside" if summary.figures.kind == "table" else ", labels aside"


def value_promises(summary: Summary) -> list[str]:
    """What is promised of the confidential values of a group, a sentence each, without the full stop."""
    asked = summary.promised
    sentences = []
    if asked.l is not None and summary.diversity:
        sentences.append(
            {
                DISTINCT: f"Every group has at least {number(asked.l)} values of each confidential column",
                ENTROPY: "In every group a confidential value is at least as hard to guess as one of "
                f"{number(asked.l)} equally frequent ones",
                RECURSIVE: "In every group the most frequent value of a confidential column is less than "
                f"{number(asked.c or 0)} times as frequent as all from number {number(asked.l)} on together",
            }[asked.diversity]
        )
    if asked.t is not None and summary.diversity:
        sentences.append(
            f"The confidential values of a group are at most t = {number(asked.t)} from those of the whole release "
            "(t-closeness)"
        )
    if asked.beta is not None:
        sentences.append(
            f"In every group a confidential value is at most {1.0 + asked.beta:g} times as frequent as in the whole "
            f"release (enhanced β-likeness, β = {asked.beta:g})"
        )
    return sentences


def page(template: str, finalize: Callable[[Any], Any] | None = None, /, **values: object) -> str:
    """The template with these values, each as `finalize` makes it; HTML is escaped, a value not given is a mistake."""
    return _environment(finalize).get_template(template).render(**values)


@cache
def _environment(finalize: Callable[[Any], Any] | None) -> Environment:
    """It keeps the templates that it has compiled."""
    environment = Environment(
        loader=PackageLoader("shoal.pages", "templates"),
        autoescape=lambda name: name is not None and name.endswith(".html.jinja"),
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": number,
        "percent": percent,
        "count": count,
        "digits": format,
        "with_interval": with_interval,
        "interval": interval,
        "succeeds": succeeds,
        "estimated": estimated,
        "share_in_words": share_in_words,
        "loss_in_figures": loss_in_figures,
        "loss_in_words": loss_in_words,
        "value_promises": value_promises,
        "code": _markdown_code,
    }
    return environment


def _markdown_code(text: str) -> str:
    """A code span that whatever is in the text cannot leave: fenced by more backticks than it holds."""
    line = " ".join(text.split())
    fence = "`"
    while fence in line:
        fence += "`"
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"
