"""shoal assess: judge a protected table or collection against its original."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.request.request import parsed_options


@command(
    epilog=examples(
        "shoal assess people.csv release/ -o assessment",
        "shoal assess people.csv masked.csv -o assessment --key id --columns age,income",
        "shoal assess letters/ sanitized/ -o assessment --policy health",
    )
)
@takes_options("assess")
def assess(
    original: Annotated[
        Path, typer.Argument(help="The table, the documents or the texts as they were.", **path("ORIGINAL"))
    ],
    protected: Annotated[
        Path, typer.Argument(help="The same, protected or sanitized, or a release.", **path("PROTECTED"))
    ],
    texts: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Judge a protected table or collection, whoever made it: what was lost, and what an intruder finds.

    Rows are put side by side by the key, by a release's private mapping, or by their place. The report is made from the
    original: keep it to yourself.
    """
    options = parsed_options("assess", texts)
    with shown_progress():
        found = shoal.assess(original, protected, **options)
    if as_json:
        write(json.dumps(found.data(), indent=2))
        return
    if "out" in options:
        write(printable(f"report       {Path(options['out']) / 'report.html'}"))
    write(f"records      {found.rows:,}, side by side {printable(found.how)}")
    for line in _lines(found):
        write(line)
    write(f"alike        {_alike(found)}")


def _lines(found: Any) -> Iterator[str]:
    if hasattr(found, "attack"):
        return _of_texts(found)
    if hasattr(found, "risk"):
        return _of_a_table(found)
    return _of_sketches(found) if hasattr(found, "release") else _of_documents(found)


def _alike(found: Any) -> str:
    if found.unique == found.rows:
        return "no two records: each is one of a kind"
    if found.unique:
        return f"{found.unique:,} of {found.rows:,} records {'is' if found.unique == 1 else 'are'} one of a kind"
    return f"at least {found.smallest_group:,} records; none is one of a kind"


def _share(rate: Any) -> str:
    """How often an attack succeeds, and its interval, where there were attempts enough to say so."""
    from shoal.pages.words import FEWEST_ATTEMPTS

    if rate.n < FEWEST_ATTEMPTS:
        return "too few attempts"
    return f"{rate.rate:.1%} ({rate.low:.1%} to {rate.high:.1%})"


def _in(kind: str, found: Any) -> str:
    return f" in {kind}" if found.loss is not None and found.label_loss is not None else ""


def _of_a_table(found: Any) -> Iterator[str]:
    for rate in (found.risk.euclidean, found.risk.mahalanobis, found.risk.probabilistic):
        yield f"linked       {_share(rate)} by {rate.about}"
    yield f"risk         {found.risk.risk:.2f} (DR: disclosure risk, in per cent)"
    yield f"changed      {found.mean_change:.2f} (IL: mean change of statistics and tables, in per cent)"
    yield f"score        {found.score:.2f} (mean of DR and IL; less is better)"
    if found.loss is not None:
        yield f"lost         {found.loss.squared.information_loss:.1%} of the information{_in('numbers', found)}"
    if found.label_loss is not None:
        lost = found.label_loss.squared.information_loss
        yield f"lost         {lost:.1%} of the information{_in('labels', found)} (L)"
    yield from _of_leaks(found)
    for column, inferred in found.minimality:
        guess = inferred.guess
        yield (
            f"joined       {printable(column)}: certain of {inferred.certain:,} of {inferred.joined:,} records in "
            f"joined groups; {_share(guess)} of all guessed right, "
            f"{guess.baseline:.1%} without knowing the method"
        )
    for rate in found.confidential:
        yield f"matched      {_share(rate)} by {printable(rate.about)}; at random {rate.baseline:.1%}"
    if found.people is not None:
        yield printable(f"people       {found.people.sentence}")
    for rate in () if found.people is None else found.people.constants:
        yield f"constant     {_share(rate)}: {printable(rate.about)}; by one group {rate.baseline:.1%}"
    for rate in found.gdpr:
        if rate.control is not None:
            strangers = replace(rate, rate=rate.control, low=rate.control_low, high=rate.control_high)
            yield (
                f"strangers    {printable(rate.about)}: {_share(strangers)} of them, "
                f"{rate.rate:.1%} of those in the table"
            )
    if found.differencing is not None:
        cells, worst = found.differencing.cells, found.differencing.worst
        yield (
            f"differencing {_share(cells)} of a removed record's cells known, "
            f"by guessing {cells.baseline:.1%}; at worst {printable(worst.about)} {worst.rate:.1%}"
        )
    if found.overlap is not None:
        yield printable(f"together     {found.overlap.sentence}")
    if found.labels_linked is not None:
        yield f"labels       {found.labels_linked:.2%} linked by equal labels (RL)"
    if found.unattacked:
        yield printable(f"not attacked {', '.join(found.unattacked)}: released, and used by no attack")
    for score in () if found.models is None else found.models.scores:
        yield (
            f"learned      {printable(found.models.predicted(score))} by {score.model}: {score.measure} "
            f"{score.protected:.3f}, from the originals {score.original:.3f}, by guessing {score.baseline:.3f}"
        )
    if found.survey is not None:
        worst = min(found.survey.estimates, key=lambda estimate: estimate.overlap)
        yield f"estimates    {found.survey.sentence}"
        yield printable(f"worst        {worst.statistic} {worst.about}: intervals overlap by {worst.overlap:.0%}")
    if found.models is not None and not found.models.learnable:
        say(f"even from the originals, models learn next to nothing of {found.models.target}; choose another --target")


def _of_leaks(found: Any) -> Iterator[str]:
    """What trained attackers find."""
    if found.leaks is None:
        return
    from shoal.pages.leak_card import best_parameters, proof, remedy

    leak = found.leaks.leak
    yield (
        f"attacker     trained on {leak.links_known:,} links finds {_share(leak.honest)} of the others; trained on all "
        f"links, {leak.worst.rate:.1%} of all"
    )
    telling = [one for one in leak.attributes if one.without is not None][:3]
    without = ", ".join(f"{printable(one.name)} ({one.without:.1%} found without it)" for one in telling)
    yield f"telling      {without}"
    best = ", ".join(f"{name} {value:.3g}" for name, value in best_parameters(leak)[:5])
    for name, line in (("advice", remedy(found.leaks)), ("proof", proof(leak)), ("best by", best)):
        if line:
            yield printable(f"{name:<13}{line}")


def _of_documents(found: Any) -> Iterator[str]:
    yield f"lost         {found.utility.loss.information_loss:.1%} of the information"
    for one in found.attacks:
        yield f"taken apart  {one.rate:.1%} of {one.about} (the row itself gives {one.baseline:.1%} away)"
    if found.is_table:
        yield "table        every record has exactly one item of each of several columns: protect it as a table"
    kept = found.utility.order_kept
    if kept is not None:
        yield f"order        the nearer of two pairs is still the nearer one in {kept:.1%} (chance: 50%)"
    yield f"queries      {found.utility.query_f1:.3f} (F1 of the answers before and after)"
    scores = {(one.classifier, one.train, one.test): one.accuracy for one in found.utility.classifiers}
    for name in dict.fromkeys(one.classifier for one in found.utility.classifiers):
        learned, before = scores[name, "protected", "original"], scores[name, "original", "original"]
        yield f"classified   {learned:.1%} right by {name}, from the originals {before:.1%}"
    if found.utility.ari is not None:
        yield f"clusters     {found.utility.ari:.3f} (adjusted Rand index)"


def _of_sketches(found: Any) -> Iterator[str]:
    attacks = found.release
    yield f"sketches     {attacks.kind}, {attacks.setting}; {attacks.components:,} components (median)"
    best, known = attacks.with_key, attacks.most_known.strangers
    yield (
        f"with the key {_share(best.items)} of the items recovered, "
        f"{best.whole.rate:.1%} of the records whole; guessing gives {best.items.baseline:.1%}"
    )
    if attacks.openly is not None:
        yield f"openly       {attacks.openly.items.rate:.1%} of the items from the groups' sums, published as they are"
    yield (
        f"known        whoever knows {attacks.most_known.known:,} records recovers {_share(known.items)} of the items "
        f"of others; guessing gives {known.items.baseline:.1%}"
    )
    for rate in (attacks.linked_with_key, attacks.linked_without_key):
        chance = f"by chance {rate.baseline:.2%}"
        yield f"linked       {_share(rate)} by {rate.about}; {chance}"
    for other in found.others:
        yield (
            f"beside       {other.kind} ({other.setting}): {other.with_key.items.rate:.1%} of the items with the "
            f"key, {other.linked_with_key.rate:.1%} linked"
        )
    nearest = attacks.utility.neighbours
    yield (
        f"neighbours   {nearest.rate:.1%} of the nearest records are among the nearest by sketch "
        f"(by chance {nearest.baseline:.1%})"
    )


def _of_texts(found: Any) -> Iterator[str]:
    yield f"left         {found.words_left:.1%} of the words"
    kinds = (("information", found.utility, "queries for subjects"), ("risk", found.risk, f"queries of {found.policy}"))
    for name, change, about in kinds:
        if change is None:
            yield printable(f"{name:<13}{about}: found nothing, before or after")
            continue
        around = "" if change.low is None else f" ({change.low:+.1f} to {change.high:+.1f})"
        yield printable(
            f"{name:<13}{change.mean:+.1f}%{around}, {len(change.queries)} {about}; -75%: a search finds nothing"
        )
    search, named = found.attack.with_all_words, found.attack.named
    yield (
        f"found        {_share(search.first)} of the originals come first among {found.attack.background:,}, "
        f"by guessing {search.first.baseline:.1%}; median place {search.median_rank:g}, "
        f"by guessing {found.attack.random_rank:g}"
    )
    yield (
        f"named        {_share(named)} rightly with confidence; of texts whose original is not there, "
        f"{named.control:.1%}"
    )
    for note in found.notes:
        say(note)
