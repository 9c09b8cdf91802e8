"""The leak card as people read it: sentences, and pictures of who finds how many and by which attributes."""

from __future__ import annotations

from shoal.language import N_, _, fixed
from shoal.pages import charts
from shoal.pages.words import count, interval, number, page, percent, succeeds
from shoal.results.attacks import Leak, LeakCard, LeakingAttribute, Learned

MOST_ATTRIBUTES = 15  # bars
MOST_PARAMETERS = 20  # of a proof
DRAWN = 4  # attributes of the lattice: 16 sets
NEXT_TO_NOTHING = 5e-4  # a parameter
NOTABLE = 0.01  # interactions that are shown
FAMILIES = (N_("weighted mean"), N_("submodular"), N_("not negative"))  # parts of the names of distances


class CardPage:
    """What the template of the card needs."""

    def __init__(self, card: LeakCard, rows: int) -> None:
        leak = card.leak
        self.leak = leak
        self.verdict = verdict(leak)
        self.remedy = remedy(card)
        self.remedies = card.remedies
        self.attackers = _attackers(leak)
        self.attributes = _attributes(leak)
        self.lattice = _lattice(leak)
        self.letters = _letters(leak)
        self.pairs = [pair for pair in leak.pairs if abs(pair.interaction) >= NOTABLE][:5]
        self.sampled = leak.learned_on < rows
        self.proof = proof(leak)
        self.parameters = best_parameters(leak)


def card_page(card: LeakCard | None, rows: int) -> CardPage | None:
    """None when there is no card."""
    return None if card is None else CardPage(card, rows)


def leaks_html(card: LeakCard, rows: int) -> str:
    """The card as a page of its own."""
    return page("leaks.html.jinja", card=CardPage(card, rows), rows=rows)


def verdict(leak: Leak) -> str:
    """The result in two sentences."""
    key = leak.attributes[0].name
    return _(
        "An attacker trained on some known links finds {honest} of the other records, one trained on all links "
        "{worst}; weighing all columns alike finds {plain}, guessing {guessing}. The most telling column is {key}."
    ).format(
        honest=percent(leak.honest.rate),
        worst=percent(leak.worst.rate),
        plain=percent(leak.plain.rate),
        guessing=percent(leak.plain.baseline),
        key=key,
    )


def remedy(card: LeakCard) -> str:
    """What to do, measured by doing it."""
    if not card.remedies:
        return ""
    best, telling = card.remedies[0], card.leak.attributes[0].name
    tried = list(dict.fromkeys(attempt.column for attempt in card.remedies))
    if not best.helps and telling not in tried:
        return _(
            "Mask {telling} more strongly: it is the most telling column, and labels are not coarsened here; recode "
            "it, or give it a hierarchy. Coarsening {tried} instead does little."
        ).format(telling=telling, tried=_(" or ").join(tried))
    if best.after.rate >= best.before.rate:
        return _("Coarsening one column alone does not help; tried: {tried}.").format(tried=", ".join(tried))
    falls = _(
        "coarsened so that at least {least} records share each value, the worst rate falls from {before} to {after}"
    ).format(least=number(best.least), before=percent(best.before.rate), after=percent(best.after.rate))
    form = (
        N_("Mask {column} more strongly: {falls}.")
        if best.helps
        else N_("No single column is to blame: even with {column} {falls}. Protect all columns more strongly.")
    )
    return _(form).format(column=best.column, falls=falls)


def proof(leak: Leak) -> str:
    """What is known for certain of all distances of a family."""
    if leak.proof is None:
        return ""
    if leak.proof.rate.rate > leak.proof.bound:  # by less than that
        return _("Nothing is proved: some records are told apart by less than the margin that a proof needs.")
    form = (
        N_("Proved: no {family} clearly identifies more than {most}{records}.")
        if leak.proof.proved
        else N_(
            "No {family} clearly identifies more than {most}{records}; the best one found, in {seconds}, finds {found}."
        )
    )
    return _(form).format(
        family=_family(leak.proof),
        most=percent(leak.proof.found if leak.proof.proved else leak.proof.bound),
        records=_of_which(leak),
        seconds=count(round(leak.proof.seconds), "second"),
        found=percent(leak.proof.found),
    )


def _family(proof: Learned) -> str:
    """Of what something is proved."""
    if proof.distance == "weighted mean":
        return _("weighting of the columns")
    kind, *restriction = proof.distance.split(", ", 1)
    return _("{kind} distance").format(kind=kind) + "".join(f" ({_(one)})" for one in restriction)


def best_parameters(leak: Leak) -> tuple[tuple[str, float], ...]:
    """The parameters that count most in the best distance of a proof, the largest first; those of 0 are left out."""
    if leak.proof is None:
        return ()
    largest = sorted(leak.proof.parameters.items(), key=lambda pair: -abs(pair[1]))
    return tuple((name, value) for name, value in largest if abs(value) >= NEXT_TO_NOTHING)[:MOST_PARAMETERS]


def _of_which(leak: Leak) -> str:
    """A proof is about the records that were learned from, among themselves."""
    if leak.learned_on >= leak.worst.n:
        return ""
    return _(" of the {records} records drawn, among themselves").format(records=number(leak.learned_on))


def _attackers(leak: Leak) -> charts.Picture:
    rates = (
        (_("plain: all columns alike"), leak.plain),
        (_("Mahalanobis: correlations, too"), leak.mahalanobis),
        (_("learned from {links}, tried on others").format(links=count(leak.links_known, "link")), leak.honest),
        (_("learned from all links (worst case)"), leak.worst),
    )
    description = _("Chart of four attackers: the share of records each finds, with intervals, and what a guess finds.")
    rows = ((who, succeeds(rate), interval(rate), percent(rate.baseline), number(rate.n)) for who, rate in rates)
    header = (_("Attacker"), _("Finds"), _("95 % interval"), _("By guessing"), _("Records tried"))
    return charts.picture(charts.rates_with_intervals(rates, _("Records found")), description, header, rows)


def _attributes(leak: Leak) -> charts.Picture:
    shown = leak.attributes[:MOST_ATTRIBUTES]
    bars = [(attribute.name, share_of(attribute)) for attribute in shown]
    description = _("Bar chart: how much of the linking each of {columns} carries.").format(
        columns=count(len(shown), "column")
    )
    rows = (
        (
            attribute.name,
            percent(attribute.weight),
            "" if attribute.shapley is None else percent(attribute.shapley),
            percent(attribute.alone),
            "" if attribute.without is None else percent(attribute.without),
        )
        for attribute in leak.attributes
    )
    header = (_("Column"), _("Weight"), _("Shapley value"), _("Found by it alone"), _("Found without it"))
    drawing = charts.sideways(bars, charts.shares(_("Share of the linking"), [share for _, share in bars]))
    return charts.picture(drawing, description, header, rows)


def share_of(attribute: LeakingAttribute) -> float:
    """How much of the linking a column carries."""
    return attribute.weight if attribute.shapley is None else attribute.shapley


def _letters(leak: Leak) -> tuple[tuple[str, str], ...]:
    """A letter for each attribute of the lattice, the most telling first."""
    if not leak.measured:
        return ()
    return tuple((chr(ord("A") + rank), attribute.name) for rank, attribute in enumerate(leak.attributes[:DRAWN]))


def _lattice(leak: Leak) -> charts.Picture | None:
    """The sets of the most telling attributes, each over its subsets, the darker the more it weighs."""
    letters = _letters(leak)
    if len(letters) < 2:
        return None
    bits = [1 << leak.measured.index(name) for _, name in letters]
    edges: list[charts.Mark] = []
    nodes: list[charts.Mark] = []
    rows, position_of = [], {}
    for size in range(len(letters) + 1):
        level = [subset for subset in range(2 ** len(letters)) if subset.bit_count() == size]
        level.sort(key=lambda subset: [-(subset >> i & 1) for i in range(len(letters))])
        for rank, subset in enumerate(level):
            weight = leak.measure[sum(bit for i, bit in enumerate(bits) if subset >> i & 1)]
            label = "".join(letter for i, (letter, _) in enumerate(letters) if subset >> i & 1) or _("none")
            x = (rank + 1) / (len(level) + 1)
            position_of[subset] = x, size
            rows.append((label, fixed(weight, ".2f")))
            nodes += [
                charts.Dot(x, size, _shade(weight), 22, stroke=charts.DEEP),
                charts.Text(x, size, label, below=-3, bold=True),
                charts.Text(x, size, fixed(weight, ".2f"), below=12),
            ]
            for i in range(len(letters)):
                if subset >> i & 1:
                    edges.append(charts.Line([(x, size), position_of[subset ^ (1 << i)]], "#b7c6cc", 1))
    named = ", ".join(f"{letter} {name}" for letter, name in letters)
    description = _("Lattice of the sets of {named}: how much each set weighs in the learned fuzzy measure.").format(
        named=named
    )
    axes = charts.Axis("", 0, 1, ()), charts.Axis("", -0.4, len(letters) + 0.4, ())
    drawing = charts.chart(*axes, [*edges, *nodes], 70 * (len(letters) + 1), axes=False)
    return charts.picture(drawing, description, (_("Set"), _("Weight")), rows)


def _shade(weight: float) -> str:
    """From white for 0 to a blue for 1."""
    share = min(max(weight, 0.0), 1.0)
    return "#" + "".join(f"{round(255 + share * (end - 255)):02x}" for end in (0x7F, 0xB5, 0xC6))
