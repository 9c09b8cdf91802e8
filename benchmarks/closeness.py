"""t-closeness: what enforcing it costs and reveals, by our groups, by the published methods, and by generalisation.

Sources: Soria-Comas, Domingo-Ferrer, Sánchez and Martínez (2015), merging and t-closeness first; mAnt as its source
text orders records: by distance from the origin, and the i-th of every class of confidential values make a group.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, measure, mixed

PROTECTED, CONFIDENTIAL = ("TAXINC", "POTHVAL"), ("FICA", "FEDTAX")
PLACE = {"FEDTAX": 4, "FICA": 5, "POTHVAL": 8, "TAXINC": 11}  # of the columns of Census
T_OF_ADULT = 0.3
EXCHANGES = 100

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def run() -> dict[str, Any]:
    lost = [row for column in CONFIDENTIAL for k in (5, 10) for row in of_census(column, k)]
    measure.show("Census, TAXINC and POTHVAL protected: information lost, %", lost)
    attacked = [replayed(column) for column in CONFIDENTIAL]
    measure.show("Census, k=2, t=0.25, t first: classes known once one is", attacked)
    told = [row for column in CONFIDENTIAL for row in exchanged(column, 10, 0.1)]
    measure.show(f"Census, k=10, t=0.1: releases that stay the same, of {EXCHANGES} exchanges of two values", told)
    adult = of_adult()
    measure.show(f"Adult, 5 quasi-identifiers, k=10, l=2, t={T_OF_ADULT}", adult)
    return {"census": lost, "attacked": attacked, "exchanged": told, "adult": adult}


def of_census(column: str, k: int) -> list[dict[str, Any]]:
    rows, values = census(column)
    found = []
    for t in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        lost = {name: information_loss(rows, way(values)) for name, way in ways(rows, k, t).items()}
        found.append({"confidential": column, "k": k, "t": t} | lost)
    return found


def census(column: str) -> tuple[Floats, Floats]:
    """What is protected, with standard deviations of 1, and what is not."""
    table = data.casc("census")
    quasi = table[:, [PLACE[name] for name in PROTECTED]]
    return quasi / quasi.std(axis=0), table[:, PLACE[column]]


def ways(rows: Floats, k: int, t: float) -> dict[str, Callable[[Floats], Ints]]:
    """From confidential values to groups that keep t."""
    from shoal import Microaggregation
    from shoal.promises.closeness import Close
    from shoal.promises.joining import distance_to_means, join_until

    plain, refined = (Microaggregation(k, refine=refine).fit(rows).groups_ for refine in (False, True))

    def close(values: Floats) -> Close:
        codes = np.unique(values, return_inverse=True)[1]
        return Close(codes, t, np.bincount(codes), ordered=True)

    return {
        "Shoal": lambda values: join_until(refined, [close(values)], distance_to_means(rows, refined)),
        "merging": lambda values: merged(rows, plain, close(values)),
        "t first": lambda values: first_close(rows, values, k, t),
        "mAnt": lambda values: as_mant(rows, values, k, t),
    }


def exchanged(column: str, k: int, t: float) -> list[dict[str, Any]]:
    """How often the same groups come out after two different values of a group were exchanged.

    Where they do not, an attacker who knows the method, everybody's protected values and all but two of the
    confidential ones knows which of the two has which.
    """
    from shoal.methods.mdav import numbered_by_first_row

    rows, values = census(column)
    found = []
    for name, way in ways(rows, k, t).items():
        released, draw, same = numbered_by_first_row(way(values)), np.random.default_rng(0), 0
        for _ in range(EXCHANGES):
            one = int(draw.integers(len(values)))
            others = np.flatnonzero((released == released[one]) & (values != values[one]))
            other = int(draw.choice(others))
            swapped = values.copy()
            swapped[[one, other]] = values[[other, one]]
            same += np.array_equal(numbered_by_first_row(way(swapped)), released)
        groups, lost = int(released.max()) + 1, information_loss(rows, released)
        row = {"confidential": column, "k": k, "t": t, "groups are": name, "groups": groups, "information loss %": lost}
        found.append(row | {"same release %": 100 * same / EXCHANGES})
    return found


def replayed(column: str) -> dict[str, Any]:
    """What an attacker learns of t first who repeats it, and knows one class."""
    rows, values = census(column)
    linked, right = linked_by_replay(rows, values, first_close(rows, values, 2, 0.25))
    return {"confidential": column, "records": len(rows), "linked": linked, "right %": 100 * right}


def information_loss(rows: Floats, groups: Ints) -> float:
    """In per cent; of rows with standard deviations of 1."""
    from shoal.methods.numeric import group_means

    return 100 * float(np.sum((rows - group_means(rows, groups)[groups]) ** 2)) / rows.size


def merged(rows: Floats, groups: Ints, close: Any) -> Ints:
    """While a group is too far, the farthest is merged with the nearest one."""
    members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]

    def far(some: Ints) -> float:
        return float(close.distance(np.bincount(close.codes[some])))

    distances = [far(some) for some in members]
    while max(distances) > close.t + 1e-9 and len(members) > 1:
        worst = int(np.argmax(distances))
        centres = np.array([rows[some].mean(axis=0) for some in members])
        apart = np.sum((centres - centres[worst]) ** 2, axis=1)
        apart[worst] = np.inf
        nearest = int(np.argmin(apart))
        members[worst] = np.concatenate((members[worst], members[nearest]))
        distances[worst] = far(members[worst])
        del members[nearest], distances[nearest]
    found = np.empty(len(rows), dtype=np.int64)
    for number, some in enumerate(members):
        found[some] = number
    return found


def first_close(rows: Floats, values: Floats, k: int, t: float) -> Ints:
    """Classes of confidential values of equal size; each group takes of every class the row nearest to its seed."""
    n = len(rows)
    size = max(k, int(np.ceil(n / (2 * (n - 1) * t + 1))))
    classes = [list(some) for some in np.array_split(np.argsort(values, kind="stable"), size)]
    groups = np.full(n, -1, dtype=np.int64)
    seed, number = -1, 0
    while all(classes):
        left = np.flatnonzero(groups < 0)
        centre = rows[left].mean(axis=0) if number % 2 == 0 else rows[seed]
        seed = int(left[np.argmax(np.sum((rows[left] - centre) ** 2, axis=1))])
        for some in classes:
            nearest = some[int(np.argmin(np.sum((rows[some] - rows[seed]) ** 2, axis=1)))]
            groups[nearest] = number
            some.remove(nearest)
        number += 1
    for row in np.flatnonzero(groups < 0):
        centres = np.array([rows[groups == group].mean(axis=0) for group in range(number)])
        groups[row] = int(np.argmin(np.sum((centres - rows[row]) ** 2, axis=1)))
    return groups


def linked_by_replay(rows: Floats, values: Floats, groups: Ints) -> tuple[int, float]:
    """Of t first with two classes: how many records can be linked to one known class, and how many of these rightly.

    The attacker repeats the choice of seeds. Whoever lies nearer to a seed than its partner, and was not taken, is not
    of the partner's class, and so of the seed's.
    """
    n = len(rows)
    truth = np.empty(n, dtype=np.int64)
    for number, some in enumerate(np.array_split(np.argsort(values, kind="stable"), 2)):
        truth[some] = number
    component, side = np.arange(n), np.zeros(n, dtype=np.int64)  # side: against the component's first record

    def link(one: int, other: int, differ: int) -> None:
        if component[one] == component[other]:
            return
        turned = side[one] ^ side[other] ^ differ
        moved = component == component[other]
        side[moved] ^= turned
        component[moved] = component[one]

    seed, left = -1, np.ones(n, dtype=bool)
    for number in range(int(groups.max()) + 1):
        there, members = np.flatnonzero(left), np.flatnonzero(groups == number)
        centre = rows[there].mean(axis=0) if number % 2 == 0 else rows[seed]
        seed = int(there[np.argmax(np.sum((rows[there] - centre) ** 2, axis=1))])
        if len(members) != 2:
            break
        partner = int(members[members != seed][0])
        link(seed, partner, 1)
        apart = np.sum((rows - rows[seed]) ** 2, axis=1)
        for row in there[apart[there] < apart[partner] - 1e-12].tolist():
            if row not in (seed, partner):
                link(seed, row, 0)
        left[members] = False
    largest = np.argmax(np.bincount(component))
    mine = component == largest
    right = float(np.mean(side[mine] == truth[mine]))
    return int(mine.sum()), max(right, 1.0 - right)


def as_mant(scaled: Floats, values: Floats, k: int, t: float) -> Ints:
    """Within each class, rows by their distance from the origin; the i-th of all classes are a group."""
    n = len(scaled)
    least = n / (2 * (n - 1) * t + 1)
    size = k if k > least else int(least) + 1
    size += (n % size) // (n // size)
    order, each = np.argsort(values, kind="stable"), n // size
    groups = np.empty(n, dtype=np.int64)
    for some in np.split(order, [each * number for number in range(1, size + 1)]):
        far = np.argsort(np.sum(scaled[some] ** 2, axis=1), kind="stable")
        groups[some[far]] = np.arange(len(some))
    return groups


def of_adult() -> list[dict[str, Any]]:
    """Our groups, and the best full-domain generalisation that leaves out few rows; both with k, l and t."""
    from shoal.promises.closeness import Close
    from shoal.promises.diversity import Distinct
    from shoal.promises.joining import join_until

    people = mixed.adult()
    quasi = people.drop(columns=mixed.CONFIDENTIAL)
    income = np.unique(people[mixed.CONFIDENTIAL], return_inverse=True)[1]
    close = Close(income, T_OF_ADULT, np.bincount(income), ordered=False)
    model = mixed.method(refine=True).fit(quasi)
    groups = join_until(model.groups_, [Distinct(income, mixed.L), close], model.distance_to_groups(quasi))
    lost = 100 * model.fit_groups(quasi, groups).information_loss_
    found = [{"method": "microaggregation, refined", "groups": int(groups.max()) + 1, "information loss %": lost}]
    codes, texts = {}, {}
    for name in mixed.NUMBERS:
        values = people[name].to_numpy()
        codes[name] = [(values - values.min()) // width for width in mixed.WIDTHS] + [np.zeros_like(values)]
    for name in mixed.LABELS:
        codes[name], texts[name] = mixed.label_levels(people[name], mixed.LEVELS[name])
    loss_of, best = mixed.squares_of(people), (np.inf, 0)
    for node in itertools.product(*(range(len(levels)) for levels in codes.values())):
        levels = dict(zip(codes, node, strict=True))
        classes = mixed.equal_rows([codes[name][level] for name, level in levels.items()])
        sizes = np.bincount(classes)
        apart = np.abs(np.bincount(classes, weights=income) / sizes - income.mean())
        enough = (sizes >= mixed.K) & (mixed.distinct(classes, income) >= mixed.L) & (apart <= T_OF_ADULT)
        kept = enough[classes]
        if kept.mean() < 1 - mixed.SUPPRESSED:
            continue
        classes = np.where(kept, classes, classes.max() + 1)
        released = {name: np.where(kept, texts[name][levels[name]], "any") for name in mixed.LABELS}
        best = min(best, (100 * loss_of(classes, released), len(np.unique(classes))))
    row = {"method": "full-domain generalisation, the best", "groups": best[1], "information loss %": best[0]}
    return [*found, row]
