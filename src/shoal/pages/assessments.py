"""The pages of assessments: tables, documents, sanitized texts and sketches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from shoal.language import N_, _
from shoal.pages import charts
from shoal.pages.leak_card import card_page
from shoal.pages.report import distances
from shoal.pages.words import FEWEST_ATTEMPTS, count, estimated, interval, number, page, percent, said, succeeds
from shoal.results.assessment import SketchAssessment, SpaceAssessment, TableAssessment
from shoal.results.attacks import Disclosure, Rate, SketchAttacks
from shoal.results.searches import QueryChange, Reidentification, SearchChange, TextAssessment
from shoal.results.summary import Distances
from shoal.results.survey import MODELS, TABLES, TOTALS, ComparedEstimate, Estimate, SurveyUtility
from shoal.results.utility import ClassifierScore, Distribution, ModelUtility, QueryAgreement, SpaceUtility, TableLoss

MOST = 20  # bars of a picture, rows of a table
NO_LABELS = (N_("(missing)"), N_("(all others)"))
# Parts of what attacks are about.
ABOUT = (N_("probabilistic linkage"), N_("one to one"), N_("best weight"), N_("sample of #"))
ABOUT_LABELS = (N_("labels by their frequency"), N_("all columns alike"))
NOTABLE = 0.05  # a correlation that changed by less is as it was
# What a classifier was trained on and tested on, in the order of the columns.
SCENARIOS = (("original", "original"), ("original", "protected"), ("protected", "protected"), ("protected", "original"))
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
COLOURS = (charts.DEEP, charts.SAND, charts.INK, "#b0563f")  # of the kinds, the release first
DASHES = ("", "6 3", "2 2", "8 3 2 3")


def assessment_html(assessment: TableAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    loss, risk, second = assessment.loss, assessment.risk, assessment.differencing
    repeated = () if second is None else (second.cells, second.worst)
    certain = () if risk.euclidean.chances is None else risk.euclidean.chances > 0.999
    broken = sorted(loss.pairs, key=lambda pair: -abs(pair.after - pair.before))[:MOST] if loss else []
    return page(
        "assessment.html.jinja",
        a=assessment,
        verdict=verdict(assessment),
        moved=_moved(loss) if loss and loss.columns else None,
        attacks=_attacks(risk, (*assessment.gdpr, *repeated)),
        broken=[pair for pair in broken if abs(pair.after - pair.before) >= NOTABLE],
        card=card_page(assessment.leaks, assessment.rows),
        taught=_taught(assessment.models) if assessment.models else None,
        survey=_survey(assessment.survey) if assessment.survey else None,
        distributions=[
            _distribution(one) for one in sorted(assessment.distributions, key=lambda one: -one.moved)[:MOST]
        ],
        certain=int(sum(certain)),
    )


def _distribution(found: Distribution) -> charts.Picture:
    """A column before and after: overlaid histograms of numbers, bars of labels."""
    description = _("{column}: shares of the records before and after.").format(column=found.column)
    edges, sides = found.edges, (found.before, found.after)
    if edges:
        drawing = charts.before_and_after(edges, *sides, found.column, _("Share of records"))
        bins = [_("{low} to {high}").format(low=number(low), high=number(high)) for low, high in pairwise(edges)]
    else:
        bins = [_(label) if label in NO_LABELS else label for label in found.labels]
        drawing = charts.bars_before_and_after(bins, *sides, _("Share of records"))
    rows = ((name, percent(one), percent(other)) for name, one, other in zip(bins, *sides, strict=True))
    return charts.picture(drawing, description, (found.column, _("Before"), _("After")), rows)


def _survey(found: SurveyUtility) -> tuple[tuple[str, charts.Picture], ...]:
    """Each part as a picture, the worst first, and its figures as a table."""
    pictures = []
    for part, heading in ((TOTALS, _("Columns")), (TABLES, _("Tables")), (MODELS, _("Models"))):
        shares = [one for one in found.of(part) if one.statistic == "share"]
        others = [one for one in found.of(part) if one.statistic != "share"]
        if shares:
            pictures.append(
                (_("{part}: shares of the population").format(part=heading), _estimates(shares, _dots(shares[:MOST])))
            )
        if others:
            description = _("Bar chart of how far the intervals of {estimates} overlap.").format(
                estimates=count(len(others[:MOST]), "estimate")
            )
            bars = [(f"{_(one.statistic)} {one.about}", one.overlap) for one in others[:MOST]]
            drawing = charts.sideways(
                bars, charts.shares(_("Overlap of the 95 % intervals"), (), high=1.0), longest=260
            )
            pictures.append((heading, _estimates(others, (drawing, description))))
    return tuple(pictures)


def _dots(shares: Sequence[ComparedEstimate]) -> tuple[str, str]:
    """The drawing of shares with their intervals, and its description."""
    pairs = [(one.about, _ends(one.before), _ends(one.after)) for one in shares]
    description = _("Dots of {shares} before and after, with their 95 % intervals.").format(
        shares=count(len(shares), "share")
    )
    return charts.shares_before_and_after(pairs, _("Share of the population")), description


def _estimates(estimates: Sequence[ComparedEstimate], drawn: tuple[str, str]) -> charts.Picture:
    of_models = estimates[0].part == MODELS
    rows = (
        (
            f"{_(one.statistic)}: {one.about}",
            estimated(one.before, one.statistic),
            estimated(one.after, one.statistic),
            "" if one.relative_error is None else percent(one.relative_error),
            percent(one.overlap),
            *([_("yes" if one.kept else "no")] if of_models else []),
        )
        for one in estimates
    )
    kept = [_("Conclusion kept")] if of_models else []
    header = (_("Estimate"), _("Original"), _("Protected"), _("Off by"), _("Overlap"), *kept)
    return charts.picture(*drawn, header, rows)


def _ends(estimate: Estimate | None) -> charts.Interval | None:
    return None if estimate is None else (estimate.value, estimate.low, estimate.high)


def verdict(assessment: TableAssessment) -> str:
    """The result in a sentence."""
    best = max(
        (assessment.risk.euclidean, assessment.risk.mahalanobis, assessment.risk.probabilistic),
        key=lambda rate: rate.rate,
    )
    linked = max(best.rate, assessment.labels_linked or 0.0)  # by numbers or by labels, whichever tells more
    trained = ""
    if assessment.leaks:
        trained = _("; one trained on known links finds {share}").format(
            share=percent(assessment.leaks.leak.honest.rate)
        )
    return _(
        "An intruder who knows the original values links {linked} of the {records} to the right person{trained}; "
        "guessing would link {guessed}."
    ).format(
        linked=percent(linked),
        records=count(assessment.rows, "record"),
        trained=trained,
        guessed=percent(best.baseline),
    )


def _taught(models: ModelUtility) -> str:
    """What the best model learned, in a sentence."""
    what = models.target
    if not models.learnable:
        return _(
            "Even from the originals, these models learn next to nothing of {what}: it says nothing about this table."
        ).format(what=what)
    best = max(models.scores, key=lambda score: (score.task == "regression", score.original))
    if best.measure == "R2":
        mine, theirs = (percent(max(0.0, share)) for share in (best.protected, best.original))
        return _(
            "Models from this table explain {mine} of the differences in {what}; models from the originals {theirs}."
        ).format(mine=mine, what=what, theirs=theirs)
    mine, theirs, guess = (percent(share) for share in (best.protected, best.original, best.baseline))
    return _(
        "Models from this table are right about {what} in {mine} of the cases, models from the originals in {theirs}, "
        "and the most frequent value in {guess}."
    ).format(mine=mine, what=what, theirs=theirs, guess=guess)


def _moved(loss: TableLoss) -> charts.Picture:
    """Which columns moved most."""
    ordered = sorted(loss.columns, key=lambda column: -column.values)
    bars = [(column.column, column.values) for column in ordered[:MOST]]
    description = _("Bar chart of how far the values of {columns} moved, relative to themselves.").format(
        columns=count(len(bars), "column")
    )
    rows = (
        (column.column, percent(column.values), percent(column.mean), percent(column.variance)) for column in ordered
    )
    drawing = charts.sideways(bars, charts.shares(_("Mean relative change"), [moved for _, moved in bars]))
    return charts.picture(drawing, description, (_("Column"), _("Values"), _("Mean"), _("Variance")), rows)


def _attacks(risk: Disclosure, gdpr: tuple[Rate, ...]) -> charts.Picture:
    """Every attack with its interval and what it would reach without the release."""
    rates = (risk.euclidean, risk.mahalanobis, risk.probabilistic, risk.interval, *gdpr)
    enough = [rate for rate in rates if rate.n >= FEWEST_ATTEMPTS] or rates
    shown = [(said(rate.about), rate) for rate in enough[:MOST]]
    description = _("Chart of {attacks}: how often each succeeds, and how often it would anyway.").format(
        attacks=count(len(shown), "attack")
    )
    controlled = any(rate.control is not None for rate in rates)
    rows = tuple(
        (
            said(rate.about),
            succeeds(rate),
            interval(rate),
            percent(rate.baseline),
            *([_on_strangers(rate)] if controlled else []),
            number(rate.n),
        )
        for rate in rates
    )
    strangers = [_("On strangers (95 % interval)")] if controlled else []
    header = (_("Attack"), _("Succeeds"), _("95 % interval"), _("By guessing"), *strangers, _("Attempts"))
    return charts.picture(
        charts.rates_with_intervals(shown, _("Share of attempts that succeed")), description, header, rows
    )


def _on_strangers(rate: Rate) -> str:
    if rate.control is None or rate.control_low is None or rate.control_high is None:
        return ""
    between = _("{low} to {high}").format(low=percent(rate.control_low), high=percent(rate.control_high))
    return f"{percent(rate.control)} ({between})"


def space_html(assessment: SpaceAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    utility = assessment.utility
    measured = Distances(
        edges=tuple(tenth / 10 for tenth in range(11)),
        before=utility.original.distances,
        after=utility.protected.distances,
        pairs=utility.pairs,
        sampled=utility.sampled,
    )
    return page(
        "space.html.jinja",
        a=assessment,
        queries=_query_agreement(utility.queries),
        classifiers=_classifiers(utility.classifiers),
        best=_best(utility),
        distances=distances(measured, "document"),
    )


def _query_agreement(queries: Sequence[QueryAgreement]) -> charts.Picture:
    """For each kind of query how alike the answers are, beside what they can be and what chance gives."""
    kinds: dict[str, list[QueryAgreement]] = {}
    for query in queries:
        kinds.setdefault(query.kind, []).append(query)
    points = [
        {
            "f1": sum(query.f1 for query in alike) / len(alike),
            "ceiling": sum(query.ceiling for query in alike) / len(alike),
            "chance": sum(query.baseline for query in alike) / len(alike),
        }
        for alike in kinds.values()
    ]
    description = f"Chart of {count(len(points), 'kind')} of queries: how alike the answers before and after are."
    x = charts.Axis("F1 of the answers", 0, 1, tuple((quarter / 4, f"{quarter / 4:.2f}") for quarter in range(5)))
    marks: list[charts.Mark] = []
    for row, point in enumerate(points):
        limits = point["ceiling"], point["chance"]
        marks += [charts.Line([(limit, row - 0.33), (limit, row + 0.33)], charts.SAND, 4) for limit in limits]
        marks.append(charts.Dot(point["f1"], row, charts.DEEP, 5))
    drawing = charts.chart(x, charts.names(kinds, 260), marks)
    rows = tuple(
        (kind, *(f"{point[name]:.3f}" for name in ("chance", "f1", "ceiling")))
        for kind, point in zip(kinds, points, strict=True)
    )
    header = ("Query by", "By chance", "Before and after", "At best")
    return charts.picture(drawing, description, header, rows)


def _classifiers(scores: Sequence[ClassifierScore]) -> tuple[tuple[str, ...], ...]:
    """A row for each classifier: the accuracy in each scenario."""
    classifiers = dict.fromkeys(score.classifier for score in scores)
    accuracy = {(score.classifier, score.train, score.test): score.accuracy for score in scores}
    return tuple((name, *(f"{accuracy[(name, *scenario)]:.1%}" for scenario in SCENARIOS)) for name in classifiers)


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


def texts_html(assessment: TextAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    return page(
        "text_assessment.html.jinja",
        a=assessment,
        utility=None
        if assessment.utility is None
        else _query_changes(assessment.utility, "what readers look for", charts.DEEP),
        risk=None if assessment.risk is None else _query_changes(assessment.risk, "what was to be hidden", charts.SAND),
        attack=_attack(assessment.attack, assessment.unsanitized),
    )


def _query_changes(change: SearchChange, about: str, colour: str) -> charts.Picture:
    """A bar for each query: how much less, or more, it finds."""
    totals = [query.changes.total for query in change.queries]
    description = f"Bar chart: the change of {len(totals)} queries for {about}, in per cent."
    x = charts.amounts("change, in per cent", [0.0, -75.0, *totals], low=None)
    drawing = charts.sideways([(_label(query), query.changes.total) for query in change.queries], x, 230, colour)
    header = ("Query", "Words", *(name for name, _ in FIGURES), "NMI", "Change")
    rows = tuple((query.name, query.words, *_cells(query)) for query in change.queries)
    return charts.picture(drawing, description, header, rows)


def _label(query: QueryChange) -> str:
    return query.words if query.name.startswith("subject ") else query.name


def _cells(query: QueryChange) -> tuple[str, ...]:
    """Each figure before and after, in the order of the header."""
    pairs = [(getattr(query.before, field), getattr(query.after, field)) for _, field in FIGURES]
    shown = [f"{one} → {other}" if isinstance(one, int) else f"{one:.2f} → {other:.2f}" for one, other in pairs]
    return (*shown, f"{query.nmi:.2f}", f"{query.changes.total:+.1f}%")


def _attack(after: Reidentification, before: Reidentification) -> charts.Picture:
    """Originals that come first, by how many words were searched with, sanitized and not."""
    kinds = (("sanitized", after), ("not sanitized", before))
    description = "Chart: the more words are searched with, the more originals come first."
    marks: list[charts.Mark] = []
    for (_kind, attack), colour in zip(kinds, (charts.DEEP, charts.SAND), strict=True):
        firsts = [(place, search.first) for place, search in enumerate(attack.searches)]
        marks += [charts.Line([(place, first.low), (place, first.high)], colour, 2) for place, first in firsts]
        marks.append(charts.Line([(place, first.rate) for place, first in firsts], colour, 3))
        marks += [charts.Dot(place, first.rate, colour, 4) for place, first in firsts]
    x = charts.names((_words(search.words) for search in after.searches), title="words searched with")
    legend = [
        (kind, charts.Line((), colour, 3)) for (kind, _), colour in zip(kinds, (charts.DEEP, charts.SAND), strict=True)
    ]
    drawing = charts.chart(x, charts.quarters("originals that come first"), marks, 220, legend=legend)
    header = ("Texts", "Words", "First", "95 % interval", "Among ten", "Median place")
    rows = tuple(
        (
            kind,
            _words(search.words),
            percent(search.first.rate),
            interval(search.first),
            percent(search.ten.rate),
            f"{search.median_rank:g}",
        )
        for kind, attack in kinds
        for search in attack.searches
    )
    return charts.picture(drawing, description, header, rows)


def _words(count: int | None) -> str:
    return "all" if count is None else str(count)


def sketches_html(assessment: SketchAssessment) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    kinds = (assessment.release, *assessment.others)
    return page(
        "sketch_assessment.html.jinja", a=assessment, kinds=kinds, curve=_curve(kinds), broken=_broken(assessment)
    )


def _broken(assessment: SketchAssessment) -> bool:
    """Whether the key gives clearly more than guessing and than the sums of groups would, published openly."""
    items, openly = assessment.release.with_key.items, assessment.release.openly
    return items.low > (items.baseline if openly is None else openly.items.high)


def _curve(kinds: Sequence[SketchAttacks]) -> charts.Picture:
    """For each kind, the items of strangers recovered against the records known."""
    description = "Chart: the more records an attacker knows, the more items of other records they recover."
    known = [point.known for attacks in kinds for point in attacks.knowing_records]
    marks: list[charts.Mark] = []
    legend = []
    for attacks, colour, dash in zip(kinds, COLOURS, DASHES, strict=False):
        curve = [(math.log10(point.known), point.strangers.items.rate) for point in attacks.knowing_records]
        marks += [charts.Line(curve, colour, 3, dash), *(charts.Dot(*point, colour, 4) for point in curve)]
        legend.append((attacks.kind, charts.Line((), colour, 3, dash)))
    x = charts.logarithms("records known", known, sorted(_apart(set(known))))
    drawing = charts.chart(x, charts.quarters("items of other records recovered"), marks, 240, legend=legend)
    header = (
        "Sketches",
        "Records known",
        "Signs right",
        "Items of others",
        "Others whole",
    )
    rows = tuple(
        (
            attacks.kind,
            f"{point.known:,}",
            percent(point.signs),
            f"{succeeds(point.strangers.items)} ({interval(point.strangers.items)})",
            percent(point.strangers.whole.rate),
        )
        for attacks in kinds
        for point in attacks.knowing_records
    )
    return charts.picture(drawing, description, header, rows)


def _apart(counts: Iterable[int]) -> list[int]:
    """Those that have room beside each other on a logarithmic axis, the largest among them."""
    kept: list[int] = []
    for known in sorted(counts, reverse=True):
        if not kept or 2 * known <= kept[-1]:
            kept.append(known)
    return kept
