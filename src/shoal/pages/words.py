"""Figures in words, and templates that use them: how a page writes numbers, shares and the promise itself."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension

from shoal.language import N_, Sayable, _, fixed, in_figures, say, spoken, translated
from shoal.results.attacks import Rate
from shoal.results.claims import DISTINCT, ENTROPY, RECURSIVE
from shoal.results.summary import SketchFigures, StatedLoss, Summary
from shoal.results.survey import Estimate

# What records are, and what they are counted in.
_ONE = (N_("record"), N_("document"), N_("basket"), N_("person"), N_("household"))
_MANY = (N_("records"), N_("documents"), N_("baskets"), N_("people"), N_("households"))
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
FEWEST_ATTEMPTS = 5  # of an attack; below, its interval spans nearly everything

_SHARES = (
    (0.01, N_("about a hundredth")),
    (0.02, N_("about a fiftieth")),
    (0.05, N_("about a twentieth")),
    (0.075, N_("less than a tenth")),
    (0.1, N_("about a tenth")),
    (1 / 7, N_("about a seventh")),
    (0.2, N_("about a fifth")),
    (0.25, N_("about a quarter")),
    (0.3, N_("about three tenths")),
    (1 / 3, N_("about a third")),
    (0.4, N_("about two fifths")),
    (0.5, N_("about half")),
    (0.6, N_("about three fifths")),
    (2 / 3, N_("about two thirds")),
    (0.75, N_("about three quarters")),
    (0.8, N_("about four fifths")),
    (0.9, N_("about nine tenths")),
    (0.98, N_("nearly all")),
)

_FIRST_TENTHS = (N_("none"), N_("a tenth"), N_("a fifth"), N_("three tenths"), N_("two fifths"), N_("half"))
_TENTHS = (*_FIRST_TENTHS, N_("three fifths"), N_("seven tenths"), N_("four fifths"), N_("nine tenths"), N_("all"))


def number(value: float) -> str:
    """Thousands separated; four significant digits where there are decimals.

    >>> number(7673), number(1234.5), number(0.30452), number(2.0)
    ('7,673', '1,234', '0.3045', '2')
    """
    if not math.isfinite(value):
        return _("unknown")
    if value == int(value):
        return in_figures(f"{int(value):,}")
    size = abs(value)
    if size >= 1000:
        return in_figures(f"{value:,.0f}")
    if size < 0.0001:
        return in_figures(f"{value:.1e}")
    return in_figures(f"{value:.4g}")


def percent(share: float) -> str:
    """One decimal; never rounds something to nothing, nor nearly all to all.

    >>> percent(0.3045), percent(0.0002), percent(0.9999), percent(1.0)
    ('30.4%', 'under 0.1%', 'over 99.9%', '100%')
    """
    if share in (0, 1):
        return fixed(share, ".0%")
    if 0 < share < 0.001:
        return _("under 0.1%")
    if 0.999 < share < 1:
        return _("over 99.9%")
    return fixed(share, ".1%")


def estimated(estimate: Estimate | None, statistic: str) -> str:
    """A figure of the population and its 95 % interval."""
    if estimate is None:
        return _("not estimable")
    spelled = percent if statistic == "share" else number
    return f"{spelled(estimate.value)} ({_between(spelled(estimate.low), spelled(estimate.high))})"


def _between(low: str, high: str) -> str:
    return _("{low} to {high}").format(low=low, high=high)


def succeeds(rate: Rate) -> str:
    """How often an attack succeeds, where there were attempts enough to say so.

    >>> succeeds(Rate("singling out", 0.0, 0.0, 0.0, 0.793, n=1)), succeeds(Rate("linkage", 0.5, 0.1, 0.24, 0.76, n=10))
    ('too few attempts', '50.0%')
    """
    return _("too few attempts") if rate.n < FEWEST_ATTEMPTS else percent(rate.rate)


def interval(rate: Rate) -> str:
    """From where to where the true rate may lie; nothing where there were too few attempts.

    >>> interval(Rate("linkage", 0.5, 0.1, 0.24, 0.76, n=10))
    '24.0% to 76.0%'
    """
    return "" if rate.n < FEWEST_ATTEMPTS else _between(percent(rate.low), percent(rate.high))


def with_interval(rate: Rate, strangers: bool = False) -> str:
    """How often an attack succeeds, or would on strangers, and the interval, on one line.

    >>> with_interval(Rate("linkage", 0.5, 0.1, 0.24, 0.76, n=10))
    '50.0% (24.0% to 76.0%)'
    """
    if rate.n < FEWEST_ATTEMPTS:
        return _("too few attempts")
    figures = (rate.control, rate.control_low, rate.control_high) if strangers else (rate.rate, rate.low, rate.high)
    share, low, high = (fixed(figure or 0.0, ".1%") for figure in figures)
    return f"{share} ({_between(low, high)})"


def count(how_many: int, one: str, many: str | None = None) -> str:
    """The number with its noun.

    >>> count(1, "group"), count(1534, "group"), count(2, "is", "are")
    ('1 group', '1,534 groups', '2 are')
    """
    return f"{in_figures(f'{how_many:,}')} {_(one if how_many == 1 else many or one + 's')}"


def share_in_words(share: float) -> str:
    """The nearest everyday fraction, to be followed by "of …".

    >>> share_in_words(0.0), share_in_words(0.24), share_in_words(1.0)
    ('none', 'about a quarter', 'all')
    """
    if share <= 0:
        return _("none")
    if share >= 1:
        return _("all")
    if share < 0.005:
        return _("hardly any")
    return _(min(_SHARES, key=lambda known: abs(known[0] - share))[1])


def loss_in_figures(loss: StatedLoss) -> str:
    """The share that was lost, or between which two it lies.

    >>> loss_in_figures(StatedLoss(0.304, 0.304)), loss_in_figures(StatedLoss(0.0, 0.1, reason="few records"))
    ('30.4%', '0% to 10%')
    """
    return percent(loss.low) if loss.reason is None else _between(fixed(loss.low, ".0%"), fixed(loss.high, ".0%"))


def loss_in_words(loss: StatedLoss) -> str:
    """How much of the detail was given up, to be followed by "of …".

    >>> loss_in_words(StatedLoss(0.24, 0.24)), loss_in_words(StatedLoss(0.0, 0.1, reason="few records"))
    ('about a quarter', 'at most a tenth')
    >>> loss_in_words(StatedLoss(0.0, 1.0, reason="the originals are encrypted"))
    'an unknown share'
    """
    if (loss.low, loss.high) == (0.0, 1.0):
        return _("an unknown share")
    if loss.reason is None:
        return share_in_words(loss.low)
    return _("at most {tenths}").format(tenths=_(_TENTHS[round(10 * loss.high)]))


def guarantee(summary: Summary) -> str:
    """The promise in one sentence, or plainly that there is none."""
    noun, k = _(summary.figures.record), number(summary.k)
    nouns = _(summary.figures.record + "s")
    sketches = isinstance(summary.figures, SketchFigures)
    if sketches and not summary.promises_k:
        return _(
            "No crowd is promised: every {noun} is sketched on its own, and whoever gets the key, or knows enough of "
            "the {nouns} behind the sketches, may recover it."
        ).format(noun=noun, nouns=nouns)
    if not summary.promises_k:
        return _(
            "No promise is made that a {noun} hides among others: the method used ({method}) changes values "
            "but does not make whole {nouns} identical, so a {noun} may still be one of a kind."
        ).format(noun=noun, nouns=nouns, method=said(summary.method))
    others = count(summary.k - 1, "other")
    if summary.promised.unit is not None:
        whose = "person" if summary.promised.household is None else "household"
        form = N_("{noun} of another {whose}") if summary.k == 2 else N_("{nouns} of as many other {units}")
        others = _("{count} {others}").format(
            count=number(summary.k - 1),
            others=_(form).format(noun=noun, nouns=nouns, whose=_(whose), units=_(summary.promised.units)),
        )
    every = _("Every one of the {records}").format(records=count(summary.rows, summary.figures.record))
    crowd = _("nobody can tell which of {k} or more is yours").format(k=k)
    words = {"every": every, "others": others, "crowd": crowd}
    if sketches:
        return _("{every} has the same sketch as at least {others} in this release: by its sketch, {crowd}.").format(
            **words
        )
    if not aside(summary):
        return _("{every} is identical to at least {others} in this release: {crowd}.").format(**words)
    # Confidential and insensitive columns are released as they are, so the promise is about everything else.
    if summary.figures.kind == "documents":
        return _(
            "{every} has the same terms and weights as at least {others} in this release: by its words, {crowd}."
        ).format(**words)
    promise = _("{every} is identical to at least {others} in the columns that the owner named for protection").format(
        **words
    )
    allowed = getattr(summary.figures, "allowed", ())
    if allowed:
        form = (
            N_("{promise}. But {columns} is released unchanged, and whoever knows a value there may find the {noun}.")
            if len(allowed) == 1
            else N_(
                "{promise}. But {columns} are released unchanged, and whoever knows a value there may find the {noun}."
            )
        )
        return _(form).format(promise=promise, columns=", ".join(allowed), noun=noun)
    return _("{promise}: by those columns, {crowd}.").format(promise=promise, crowd=crowd)


def aside(summary: Summary) -> str:
    """What does not count where records are called identical: columns that are released as they are."""
    if not summary.diversity and not getattr(summary.figures, "insensitive", ()):
        return ""
    return _(", columns released unchanged aside") if summary.figures.kind == "table" else _(", labels aside")


def value_promises(summary: Summary) -> list[str]:
    """What is promised of the confidential values of a group, a sentence each, without the full stop."""
    asked = summary.promised
    sentences = []
    if asked.l is not None and summary.diversity:
        form = {
            DISTINCT: N_("Every group has at least {l} values of each confidential column"),
            ENTROPY: N_(
                "In every group a confidential value is at least as hard to guess as one of {l} equally frequent ones"
            ),
            RECURSIVE: N_(
                "In every group the most frequent value of a confidential column is less than {c} times as frequent "
                "as all from number {l} on together"
            ),
        }[asked.diversity]
        sentences.append(_(form).format(l=number(asked.l), c=number(asked.c or 0)))
    if asked.t is not None and summary.diversity:
        sentences.append(
            _(
                "The confidential values of a group are at most t = {t} from those of the whole release (t-closeness)"
            ).format(t=number(asked.t))
        )
    if asked.beta is not None:
        sentences.append(
            _(
                "In every group a confidential value is at most {times} times as frequent as in the whole "
                "release (enhanced β-likeness, β = {beta})"
            ).format(times=fixed(1.0 + asked.beta, "g"), beta=fixed(asked.beta, "g"))
        )
    return sentences


def said(wording: str) -> str:
    """A wording of the certificate in the language spoken, by the parts between commas; # stands for a number."""
    if isinstance(wording, Sayable):
        return say(wording)
    if "#" in wording:
        return wording
    numbers = iter(_NUMBER.findall(wording))
    parts = map(_, _NUMBER.sub("#", wording).split(", "))
    return re.sub("#", lambda _sign: in_figures(next(numbers)), ", ".join(parts))


def page(template: str, finalize: Callable[[Any], Any] | None = None, /, **values: object) -> str:
    """The template with these values, each as `finalize` makes it; HTML is escaped, a value not given is a mistake."""
    return _environment(finalize, spoken()).get_template(template).render(**values)


class Translated(Extension):
    """Templates in the language that is spoken when they are compiled."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        if name is None or not name.endswith(".jinja"):
            return source
        return translated(source, PurePosixPath(name).suffixes[-2])


def capitalised(text: str) -> str:
    """The text with a capital first; what follows stays, for in German nouns have capitals, too."""
    return text[:1].upper() + text[1:]


@cache
def _environment(finalize: Callable[[Any], Any] | None, language: str) -> Environment:
    """It keeps the templates that it has compiled, in one language."""
    environment = Environment(
        loader=PackageLoader("shoal.pages", "templates"),
        autoescape=lambda name: name is not None and name.endswith(".html.jinja"),
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=[Translated],
    )
    environment.globals |= {"language": language, "_": _}
    environment.filters |= {
        "number": number,
        "percent": percent,
        "count": count,
        "capitalize": capitalised,
        "said": said,
        "digits": format,
        "fixed": fixed,
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
