"""Groups are joined until each has what is asked for: l different confidential values, say, or k people.

Which groups are joined must not tell which of them had too little. So groups are halved again and again by where
they lie, without a look at confidential values, and two halves are taken apart only if both have enough. Where they
have not, both are mixed evenly: what is joined tells that one of two halves had too little, and not which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal import progress
from shoal.methods.mdav import numbered_by_first_row
from shoal.methods.numeric import group_means
from shoal.promises.closeness import Close
from shoal.promises.diversity import Distinct
from shoal.promises.requirements import Floats, Ints, Requirement

AXES = 8
NOTHING = 1e-6  # of the first axis' squared length: what is left of distances is rounding
LEAST_GROUPS = 30  # a line through fewer would depend on single records
STEP = 0.25  # of the line's direction: coarse, so that one record's value hardly ever turns it
KEPT = 0.25  # of what sets groups apart along the line, where they are to be near each other otherwise


class Places:
    """Groups as points, placed by their distances alone, and the line along which a place tells most of their values.

    Where income follows from age, say, groups of like age are far from the whole in income, and have to be joined with
    groups far away. It costs least to join groups that differ along this line and are near each other otherwise.
    Nothing but the line depends on confidential values, and the line depends on those of all records together.

    `distances(rows, groups)` are squared distances of the centre of some rows to some groups; `signals` has what a
    place may tell, a column for each number that confidential values are read as.
    """

    def __init__(self, rows_of: Sequence[Ints], distances: Callable[[Ints, Ints], Floats], signals: Floats) -> None:
        self.sizes = np.array([len(rows) for rows in rows_of], dtype=np.float64)
        self.points = _points(rows_of, distances)
        told = np.array([signals[rows].mean(axis=0) for rows in rows_of])
        self.line = _line(self.points, told, self.sizes)
        self.along = self.points @ self.line
        self.flattened = self.points - (1.0 - KEPT) * np.outer(self.along, self.line)

    def spread(self, n_classes: int) -> float:
        """What is lost at least, squared, where every crowd has groups of all classes along the line."""
        classes = self._classes(n_classes)
        centre = np.average(self.along, weights=self.sizes)
        middles = [np.average(self.along[some], weights=self.sizes[some]) for some in classes]
        weights = [self.sizes[some].sum() for some in classes]
        return float(np.dot(weights, (np.array(middles) - centre) ** 2))

    def balanced(self, n_classes: int) -> Ints:
        """The crowd of each group: crowds of one group of each class along the line, as near each other as can be.

        Crowds begin with the group farthest from the middle that has none; groups that are left over join the nearest.
        """
        points, classes = self.flattened, self._classes(n_classes)
        crowd_of_group = np.full(len(points), -1, dtype=np.int64)
        crowd, n_crowds = 0, min(map(len, classes))
        for seed in np.argsort(-_squared(points, points.mean(axis=0)), kind="stable").tolist():
            if crowd_of_group[seed] >= 0:
                continue
            if crowd == n_crowds:
                break
            for place, some in enumerate(classes):
                nearest = int(np.argmin(_squared(points[some], points[seed])))
                crowd_of_group[some[nearest]] = crowd
                classes[place] = np.delete(some, nearest)
            crowd += 1
        left_over = np.flatnonzero(crowd_of_group < 0)
        taken = np.flatnonzero(crowd_of_group >= 0)
        for group in left_over.tolist():
            crowd_of_group[group] = crowd_of_group[taken[np.argmin(_squared(points[taken], points[group]))]]
        return crowd_of_group

    def _classes(self, n_classes: int) -> list[Ints]:
        return np.array_split(np.argsort(self.along, kind="stable"), n_classes)


def _squared(points: Floats, origin: Floats) -> Floats:
    squared: Floats = np.sum((points - origin) ** 2, axis=1)
    return squared


def _points(rows_of: Sequence[Ints], distances: Callable[[Ints, Ints], Floats]) -> Floats:
    """Coordinates along lines between groups far apart (FastMap: Faloutsos and Lin, SIGMOD 1995)."""
    every = np.arange(len(rows_of))
    points = np.zeros((len(rows_of), AXES))

    def left(group: int) -> Floats:
        """Squared distances from a group, less what the axes so far say of them."""
        return np.maximum(distances(rows_of[group], every) - _squared(points, points[group]), 0.0)

    longest = 0.0
    for axis in range(AXES):
        from_one = left(int(np.argmax(left(0))))
        other = int(np.argmax(from_one))
        length = float(from_one[other])
        longest = longest or length
        if length <= NOTHING * longest:
            return points[:, : max(axis, 1)]
        points[:, axis] = (from_one - left(other) + length) / (2.0 * np.sqrt(length))
    return points


def _line(points: Floats, told: Floats, sizes: Floats) -> Floats:
    """The direction, in coarse steps, of the regression that explains most of what is told."""
    weights = np.sqrt(sizes)[:, None]
    centred, to_explain = (weights * (some - np.average(some, axis=0, weights=sizes)) for some in (points, told))
    slopes = np.linalg.lstsq(centred, to_explain, rcond=None)[0]
    direction = np.round(np.linalg.svd(slopes)[0][:, 0] / STEP)
    # A line has no sign of its own: its first entry that counts is positive, whatever the solver gave.
    direction *= np.sign(direction[np.flatnonzero(direction)[0]])
    line: Floats = direction / np.linalg.norm(direction)
    return line


JOINED = "halves"  # how a certificate names this way to reach l
CLASSES = (1, 2, 3, 4)  # crowds to begin with have a group of each class of places; 1: they are groups as they are
BETTER = 0.95  # of the least loss so far: a way that loses hardly less is not taken, as a single value might decide it

# How far the centre of some rows is from some groups: (rows, groups) to distances.
GroupDistances = Callable[[Ints, Ints], Floats]


def distance_to_means(points: Floats, groups: Ints) -> GroupDistances:
    """How far the mean of some rows is from those of some groups, squared."""
    means = group_means(points, groups)

    def distance(rows: Ints, chosen: Ints) -> Floats:
        squared: Floats = np.sum((means[chosen] - points[rows].mean(axis=0)) ** 2, axis=1)
        return squared

    return distance


@dataclass(frozen=True)
class Join:
    """Two halves that were not taken apart, and the crowds made of both; all are numbers of groups."""

    halves: tuple[Ints, Ints]
    crowds: tuple[Ints, ...]
    undivided: tuple[tuple[Ints, Ints] | None, ...]  # of each crowd, the two parts that it was not divided into


def join_until(groups: Ints, requirements: Sequence[Requirement], distances: GroupDistances) -> Ints:
    """Join groups until each meets all requirements; see the module. Returns the group of each row, numbered anew.

    All rows together must meet them. `distances(rows, some)` are those of the centre of these rows to some groups,
    squared. Where values must be close to those of all, several ways to cut are tried, and the best one is taken.
    """
    joined = _joined(groups, requirements, distances)
    signals = [one.signals() for one in requirements if isinstance(one, Close)]
    rows_of = _rows_of(groups) if signals else []
    if signals and len(rows_of) >= LEAST_GROUPS:
        places = Places(rows_of, distances, np.hstack(signals))
        joined = _best_balanced(groups, requirements, distances, places, joined)
    return joined


def _best_balanced(
    groups: Ints, requirements: Sequence[Requirement], distances: GroupDistances, places: Places, joined: Ints
) -> Ints:
    """What loses least: groups joined as they are, flattened along the line that tells most, or balanced along it."""
    sizes = np.bincount(groups)

    def lost(crowd_of_row: Ints) -> float:
        crowd_of_group = np.empty(len(sizes), dtype=np.int64)
        crowd_of_group[groups] = crowd_of_row
        crowds = zip(_rows_of(crowd_of_row), _rows_of(crowd_of_group), strict=True)
        return sum(float(sizes[some] @ distances(rows, some)) for rows, some in crowds)

    least = lost(joined)
    for n_classes in CLASSES:
        if n_classes > 1 and places.spread(n_classes) >= BETTER * least:
            break
        start = groups if n_classes == 1 else places.balanced(n_classes)[groups]
        tried = _joined(start, requirements, distance_to_means(places.flattened[groups], start))
        loss = lost(tried)
        if loss < BETTER * least:
            joined, least = tried, loss
    return joined


def _joined(groups: Ints, requirements: Sequence[Requirement], distances: GroupDistances) -> Ints:
    division = _Division(groups, requirements, distances)
    division.divide(np.arange(len(division.rows_of)))
    crowd_of_group = np.empty(len(division.rows_of), dtype=np.int64)
    for number, crowd in enumerate(division.crowds):
        crowd_of_group[crowd] = number
    return numbered_by_first_row(crowd_of_group)[groups]


def joins_of(
    groups: Ints, merged: Ints, values: Sequence[Ints], least: int, distances: GroupDistances
) -> tuple[Join, ...]:
    """What anybody who repeats the grouping sees of `merged`: which halves were not taken apart.

    Of the confidential values it takes only how often each is in a released group.
    """
    division = _Division(groups, [Distinct(codes, least) for codes in values], distances)
    crowds_of = [set(merged[rows].tolist()) for rows in division.rows_of]

    def seen_apart(one: Ints, other: Ints) -> bool:
        here, there = (set().union(*(crowds_of[group] for group in some.tolist())) for some in (one, other))
        return not here & there

    division.may_be_apart = seen_apart
    division.divide(np.arange(len(division.rows_of)))
    return tuple(division.joins)


class _Division:
    """Groups divided by where they lie, as far as their requirements allow it."""

    def __init__(self, groups: Ints, requirements: Sequence[Requirement], distances: GroupDistances) -> None:
        self.rows_of = _rows_of(groups)
        self.crowds: list[Ints] = []
        self.joins: list[Join] = []
        self.may_be_apart: Callable[[Ints, Ints], bool] = self._both_have_enough
        self._requirements = requirements
        self._distances = distances
        self._enough: dict[tuple[bytes, bytes], bool] = {}  # what was found of two halves
        self._cut: dict[bytes, tuple[Ints, Ints]] = {}  # halves
        self._done = 0

    def divide(self, some: Ints) -> None:
        """Take halves apart where both may stand alone, and mix them where not."""
        if len(some) == 1:
            self._release(some)
            return
        one, other = self._halves(some)
        if self.may_be_apart(one, other):
            self.divide(one)
            self.divide(other)
            return
        first = len(self.crowds)
        undivided: list[tuple[Ints, Ints] | None] = []
        rows = self._rows(some)
        self._mix(one, other, [requirement.min_part_size(rows) for requirement in self._requirements], undivided)
        self.joins.append(Join((one, other), tuple(self.crowds[first:]), tuple(undivided)))

    def _mix(
        self,
        one: Ints,
        other: Ints,
        rooms: list[Callable[[Ints], int]],
        undivided: list[tuple[Ints, Ints] | None],
    ) -> None:
        """Divide both into halves, and put each half of one with one of the other, as long as both may stand alone.

        It is tried only where each of the four halves has room for all that a requirement asks room for, such as all
        values but the most frequent ones: else a try that fails would tell which of them those are not in.
        """
        parts = None
        if min(len(one), len(other)) > 1:
            quarters = (*self._halves(one), *self._halves(other))
            room = min(sum(len(self.rows_of[group]) for group in quarter) for quarter in quarters)
            rows = self._rows(np.concatenate((one, other)))
            if room >= max((needed(rows) for needed in rooms), default=0):
                pairs = self._matched(*quarters)
                parts = (np.concatenate(pairs[0]), np.concatenate(pairs[1]))
        if parts is not None and self.may_be_apart(*parts):
            self._mix(*pairs[0], rooms, undivided)
            self._mix(*pairs[1], rooms, undivided)
            return
        undivided.append(parts)
        self._release(np.concatenate((one, other)))

    def _both_have_enough(self, one: Ints, other: Ints) -> bool:
        pair = one.tobytes(), other.tobytes()
        if pair not in self._enough:
            halves = self._rows(one), self._rows(other)
            self._enough[pair] = all(
                requirement.met(rows) for rows in halves for requirement in self._requirements
            ) and not (self._would_tell(one) or self._would_tell(other))
        return self._enough[pair]

    def _would_tell(self, some: Ints) -> bool:
        """Whether these stay together, and only one of their halves can have had one value only, and only that one."""
        if len(some) == 1:
            return False
        rows, halves = self._rows(some), self._halves(some)
        if self._both_have_enough(*halves):
            return False  # they will be taken apart
        of_halves = [self._rows(half) for half in halves]
        # What stays together for want of something else, of people say, tells nothing of values.
        short = [one for one in self._requirements if not all(map(one.met, of_halves))]
        return any(one.reveals_values(rows, of_halves) for one in short or self._requirements)

    def _rows(self, some: Ints) -> Ints:
        return np.concatenate([self.rows_of[group] for group in some.tolist()])

    def _halves(self, some: Ints) -> tuple[Ints, Ints]:
        """Cut in the middle, along the line between two groups far from each other."""
        key = some.tobytes()
        if key not in self._cut:
            rows_of, distances = self.rows_of, self._distances
            one = some[int(np.argmax(distances(rows_of[some[0]], some)))]
            from_one = distances(rows_of[one], some)
            other = some[int(np.argmax(from_one))]
            order = some[np.argsort(from_one - distances(rows_of[other], some), kind="stable")]
            self._cut[key] = order[: len(some) // 2], order[len(some) // 2 :]
        return self._cut[key]

    def _matched(self, one: Ints, two: Ints, three: Ints, four: Ints) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """One and two, each with the one of three and four that lies nearer."""
        centres = [self._rows(some) for some in (one, two)]
        from_one, from_two = ([self._distances(rows, some).mean() for some in (three, four)] for rows in centres)
        if from_one[0] + from_two[1] <= from_one[1] + from_two[0]:
            return (one, three), (two, four)
        return (one, four), (two, three)

    def _release(self, crowd: Ints) -> None:
        self.crowds.append(np.sort(crowd))
        self._done += len(crowd)
        progress.step("joining groups", self._done, len(self.rows_of))


def _rows_of(groups: Ints) -> list[Ints]:
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[:-1]
    return list(np.split(order, ends))
