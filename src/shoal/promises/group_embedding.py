"""Places of groups, and the line along which a place tells most of confidential values.

Where income follows from age, say, groups of like age are far from the whole in income, and have to be joined with
groups far away. It costs least to join groups that differ along this line and are near each other otherwise.
Nothing but the line depends on confidential values, and the line depends on those of all records together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

AXES = 8
NOTHING = 1e-6  # of the first axis' squared length: what is left of distances is rounding
LEAST_GROUPS = 30  # a line through fewer would depend on single records
STEP = 0.25  # of the line's direction: coarse, so that one record's value hardly ever turns it
KEPT = 0.25  # of what sets groups apart along the line, where they are to be near each other otherwise


class Places:
    """Groups as points, placed by their distances alone.

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
