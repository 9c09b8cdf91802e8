"""Matching the confidential values of a group to its members by a model of these values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from shoal.attacks.rates import rate_of
from shoal.kernels import Floats, Ints
from shoal.language import sayable
from shoal.results.attacks import Rate

MOST_ROWS = 10_000  # of more, whole groups drawn at random
TREES = 100
ROWS_OF_A_LEAF = 5  # where there are enough to learn from
ENOUGH = 100
LEAST_CHANCE = 1e-3  # of a value that the model thinks impossible
MOST_LABELS = 100  # that are learned; rarer ones as one


class MatchingAttack:
    """Give the confidential values of a group to its members, each where it fits best.

    The attacker knows everybody's quasi-identifiers, and so who is in which group, and the confidential values of half
    of the groups. From these they learn what goes with which quasi-identifiers. In every other group they give the
    values, which are released as they are, to the members by the best assignment. Then the halves change places.

    The baseline gives the values of a group to its members at random.

    Parameters
    ----------
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.attacks.matching import MatchingAttack
    >>> age, income, group = np.array([[20.0], [60.0], [20.0], [60.0]]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    >>> found = MatchingAttack().run("income", age, income, group)
    >>> found.rate, found.baseline
    (1.0, 0.5)
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def run(self, about: str, known: Floats, values: Ints | Floats, group_of_row: Ints) -> Rate | None:
        """Values given to the right member; None if there are not two groups to learn from and to try.

        `known` (rows, quasi-identifiers) are true values; `values` are numbers, or whole numbers for labels.
        """
        groups = _shuffled_groups(group_of_row, np.random.default_rng(self.random_state))
        if len(groups) < 2:
            return None
        right, by_chance = [], []
        for learned, tried in ((groups[::2], groups[1::2]), (groups[1::2], groups[::2])):
            rows = np.concatenate(tried)
            predicted = self._predicted(known, values, np.concatenate(learned), rows)
            for part in np.split(np.arange(len(rows)), np.cumsum([len(group) for group in tried])[:-1]):
                own = values[rows[part]]
                member, given = linear_sum_assignment(predicted.costs(part))
                right.append(own[member] == own[given])
                by_chance.append((own[:, None] == own).mean(axis=1))
        chances = np.concatenate(right).astype(np.float64)
        targets = np.concatenate([*groups[1::2], *groups[::2]])
        about = sayable("matching of {column} within groups", column=about)
        return rate_of(about, chances, float(np.concatenate(by_chance).mean()), targets=targets)

    def _predicted(self, known: Floats, values: Ints | Floats, learned: Ints, tried: Ints) -> Predicted:
        """What a model of the rows learned from expects of those tried."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # it takes a while to load

        leaf = ROWS_OF_A_LEAF if len(learned) >= ENOUGH else 1
        settings = {"n_estimators": TREES, "min_samples_leaf": leaf, "random_state": self.random_state}
        if values.dtype == np.float64:
            model = RandomForestRegressor(**settings).fit(known[learned], values[learned])
            return Predicted(model.predict(known[tried])[:, None], values[tried])
        labels = _common(values)
        classifier = RandomForestClassifier(**settings).fit(known[learned], labels[learned])
        chances = np.zeros((len(tried), int(labels.max()) + 1))
        chances[:, classifier.classes_] = classifier.predict_proba(known[tried])
        return Predicted(-np.log(np.maximum(chances, LEAST_CHANCE)), labels[tried])


@dataclass(frozen=True)
class Predicted:
    """What a model expects of each row: a number, or of each label how little it is expected."""

    expected: Floats  # (rows, 1) or (rows, labels)
    values: Ints | Floats  # (rows,), to be given to them

    def costs(self, rows: Ints) -> Floats:
        """How badly each value of some rows fits each of these, (rows, values)."""
        if self.values.dtype == np.float64:
            return np.asarray((self.expected[rows] - self.values[rows]) ** 2)
        return np.asarray(self.expected[np.ix_(rows, self.values[rows].astype(np.int64))])


def _shuffled_groups(group_of_row: Ints, random: np.random.Generator) -> list[Ints]:
    """The rows of each group, in no order: so equal costs are broken by chance; whole groups up to the most rows."""
    order = random.permutation(len(group_of_row))
    order = order[np.argsort(group_of_row[order], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(group_of_row[order])) + 1)
    groups = [groups[number] for number in random.permutation(len(groups)).tolist()]
    within = np.cumsum([len(group) for group in groups]) <= MOST_ROWS
    return [group for group, taken in zip(groups, within.tolist(), strict=True) if taken]


def _common(values: Ints | Floats) -> Ints:
    """Labels numbered by how common they are, the commonest first; rare ones have the last number."""
    _, label, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(rank[label], MOST_LABELS - 1)
