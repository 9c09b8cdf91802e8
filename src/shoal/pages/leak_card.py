"""The leak card as people read it: sentences, and pictures of who finds how many and by which attributes."""

from __future__ import annotations

from shoal.pages import charts
from shoal.pages.words import count, interval, page, percent, succeeds
from shoal.results.attacks import Leak, LeakCard, LeakingAttribute, Learned

MOST_ATTRIBUTES = 15  # bars
MOST_PARAMETERS = 20  # of a proof
DRAWN = 4  # attributes of the lattice: 16 sets
NEXT_TO_NOTHING = 5e-4  # a parameter
NOTABLE = 0.01  # interactions that are shown


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
    return (
        f"An attacker trained on some known links finds {percent(leak.honest.rate)} of the other records, one trained "
        f"on all links {percent(leak.worst.rate)}; weighing all columns alike finds {percent(leak.plain.rate)}, "
        f"guessing {percent(leak.plain.baseline)}. The most telling column is {key}."
    )


def remedy(card: LeakCard) -> str:
    """What to do, measured by doing it."""
    if not card.remedies:
        return ""
    best, telling = card.remedies[0], card.leak.attributes[0].name
    tried = list(dict.fromkeys(attempt.column for attempt in card.remedies))
    if not best.helps and telling not in tried:
        return (
            f"Mask {telling} more strongly: it is the most telling column, and labels are not coarsened here; recode "
            f"it, or give it a hierarchy. Coarsening {' or '.join(tried)} instead does little."
        )
    if best.after.rate >= best.before.rate:
        return f"Coarsening one column alone does not help; tried: {', '.join(tried)}."
    falls = (
        f"coarsened so that at least {best.least:,} records share each value, the worst rate falls from "
        f"{percent(best.before.rate)} to {percent(best.after.rate)}"
    )
    if not best.helps:
        return f"No single column is to blame: even with {best.column} {falls}. Protect all columns more strongly."
    return f"Mask {best.column} more strongly: {falls}."


def proof(leak: Leak) -> str:
    """What is known for certain of all distances of a family."""
    if leak.proof is None:
        return ""
    if leak.proof.rate.rate > leak.proof.bound:  # by less than that
        return "Nothing is proved: some records are told apart by less than the margin that a proof needs."
    if leak.proof.proved:
        most = f"{percent(leak.proof.found)}{_of_which(leak)}"
        return f"Proved: no {_family(leak.proof)} clearly identifies more than {most}."
    most = f"{percent(leak.proof.bound)}{_of_which(leak)}"
    return (
        f"No {_family(leak.proof)} clearly identifies more than {most}; the best one "
        f"found, in {count(round(leak.proof.seconds), 'second')}, finds {percent(leak.proof.found)}."
    )


def _family(proof: Learned) -> str:
    """Of what something is proved."""
    if proof.distance == "weighted mean":
        return "weighting of the columns"
    kind, _, restriction = proof.distance.partition(", ")
    return f"{kind} distance" + (f" ({restriction})" if restriction else "")


def best_parameters(leak: Leak) -> tuple[tuple[str, float], ...]:
    """The parameters that count most in the best distance of a proof, the largest first; those of 0 are left out."""
    if leak.proof is None:
        return ()
    largest = sorted(leak.proof.parameters.items(), key=lambda pair: -abs(pair[1]))
    return tuple((name, value) for name, value in largest if abs(value) >= NEXT_TO_NOTHING)[:MOST_PARAMETERS]


def _of_which(leak: Leak) -> str:
    """A proof is about the records that were learned from, among themselves."""
    return f" of the {leak.learned_on:,} records drawn, among themselves" if leak.learned_on < leak.worst.n else ""


def _attackers(leak: Leak) -> charts.Picture:
    rates = (
        ("plain: all columns alike", leak.plain),
        ("Mahalanobis: correlations, too", leak.mahalanobis),
        (f"learned from {count(leak.links_known, 'link')}, tried on others", leak.honest),
        ("learned from all links (worst case)", leak.worst),
    )
    description = "Chart of four attackers: the share of records each finds, with intervals, and what a guess finds."
    rows = ((who, succeeds(rate), interval(rate), percent(rate.baseline), f"{rate.n:,}") for who, rate in rates)
    header = ("Attacker", "Finds", "95 % interval", "By guessing", "Records tried")
    return charts.picture(charts.rates_with_intervals(rates, "Records found"), description, header, rows)


def _attributes(leak: Leak) -> charts.Picture:
    shown = leak.attributes[:MOST_ATTRIBUTES]
    bars = [(attribute.name, share_of(attribute)) for attribute in shown]
    description = f"Bar chart: how much of the linking each of {count(len(shown), 'column')} carries."
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
    header = ("Column", "Weight", "Shapley value", "Found by it alone", "Found without it")
    drawing = charts.sideways(bars, charts.shares("Share of the linking", [share for _, share in bars]))
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
            label = "".join(letter for i, (letter, _) in enumerate(letters) if subset >> i & 1) or "none"
            x = (rank + 1) / (len(level) + 1)
            position_of[subset] = x, size
            rows.append((label, f"{weight:.2f}"))
            nodes += [
                charts.Dot(x, size, _shade(weight), 22, stroke=charts.DEEP),
                charts.Text(x, size, label, below=-3, bold=True),
                charts.Text(x, size, f"{weight:.2f}", below=12),
            ]
            for i in range(len(letters)):
                if subset >> i & 1:
                    edges.append(charts.Line([(x, size), position_of[subset ^ (1 << i)]], "#b7c6cc", 1))
    named = ", ".join(f"{letter} {name}" for letter, name in letters)
    description = f"Lattice of the sets of {named}: how much each set weighs in the learned fuzzy measure."
    axes = charts.Axis("", 0, 1, ()), charts.Axis("", -0.4, len(letters) + 0.4, ())
    drawing = charts.chart(*axes, [*edges, *nodes], 70 * (len(letters) + 1), axes=False)
    return charts.picture(drawing, description, ("Set", "Weight"), rows)


def _shade(weight: float) -> str:
    """From white for 0 to a blue for 1."""
    share = min(max(weight, 0.0), 1.0)
    return "#" + "".join(f"{round(255 + share * (end - 255)):02x}" for end in (0x7F, 0xB5, 0xC6))
