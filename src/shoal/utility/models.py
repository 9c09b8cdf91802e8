"""Models: is what a protected table teaches true of the originals?

One attribute is learnt from the others, in folds: trained on the protected rows of all folds but one, tested on the
originals of that one, beside the same model trained on originals and the best constant guess. An attribute of more
than ten values is learnt twice: as a number, by R² = 1 - Σ(y - ŷ)² / Σ(y - ȳ)², ȳ the mean of the training rows, and
as a class, whether it is above the original's median. One of up to ten values is a class; the class of a protected
value is the nearest of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from shoal.errors import InputError
from shoal.io.pairs import NumericPair, numeric_pair
from shoal.results.utility import ModelScore, ModelUtility
from shoal.utility.folds import fold_of_rows
from shoal.utility.spaces import class_of_rows

__all__ = ["MOST_CLASSES", "Target", "model_utility"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CLASSES = 10
FOLDS = 5

REGRESSION: dict[str, Callable[[int], Any]] = {
    "ridge regression": lambda seed: make_pipeline(StandardScaler(), Ridge()),
    "boosted trees": lambda seed: HistGradientBoostingRegressor(random_state=seed),
}
CLASSIFICATION: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)),
    "boosted trees": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


@dataclass(frozen=True)
class Target:
    """What is learnt, row by row: numbers, or classes counted from 0."""

    name: str
    before: Floats
    after: Floats  # a class that the original has not is one that is never right
    are_classes: bool


def model_utility(
    original: Any,
    protected: Any,
    target: str | int | Sequence[Any] | Target,
    random_state: int = 0,
    folds: int | None = None,
) -> ModelUtility:
    """Train on protected rows, test on held-out originals.

    Parameters
    ----------
    target : a column by name or number (from 0), learnt from the other columns; or the labels of all rows, not
        protected themselves, or a `Target`, learnt from all columns.
    folds : int, at least 2; unless given 5, or as many as there are different protected rows

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.utility.models import model_utility
    >>> x = np.arange(100.0)
    >>> table = np.column_stack([x, 2 * x + 1])
    >>> found = model_utility(table, table, target=1)
    >>> found.scores[0].model, round(found.scores[0].original, 2), found.scores[0].baseline
    ('ridge regression', 1.0, 0.0)
    """
    pair = numeric_pair(original, protected)
    known, what = _target(pair, target)
    before, after, name = what.before, what.after, what.name
    # Groups in an order that follows from their values, so that the order of the rows has no part in the folds.
    groups = np.unique(pair.protected, axis=0, return_inverse=True)[1].ravel()
    values = np.unique(before)
    if len(values) < 2:
        told = "one class" if what.are_classes else f"{values[0]:g}"
        raise InputError(f"{name} is {told} in all rows; there is nothing to learn, choose another target")
    is_class = what.are_classes or len(values) <= MOST_CLASSES
    if what.are_classes:
        classes_before, classes_after = before.astype(np.int64), after.astype(np.int64)
    elif is_class:
        classes_before, classes_after = _nearest(values, before), _nearest(values, after)
    else:
        middle = float(np.median(before))
        classes_before, classes_after = ((y > middle).astype(np.int64) for y in (before, after))
    if classes_before.min() == classes_before.max():
        raise InputError(f"more than half of {name} is its largest value; there are no two classes, round it")
    folds = max(2, min(FOLDS, int(groups.max()) + 1)) if folds is None else folds
    fold_of_row = fold_of_rows(groups, folds, random_state, classes_before)
    # On tables of this size the threads of the trees wait for one another more than they work.
    with threadpool_limits(1):
        scores = [] if is_class else _scores(REGRESSION, known, before, after, fold_of_row, random_state)
        scores += _scores(CLASSIFICATION, known, classes_before, classes_after, fold_of_row, random_state)
    return ModelUtility(name, folds, len(before), known.names, tuple(scores))


def _target(pair: NumericPair, target: str | int | Sequence[Any] | Target) -> tuple[NumericPair, Target]:
    """The table to learn from, and what is learnt."""
    if isinstance(target, Target):
        return pair, target
    if isinstance(target, str | int):
        column = _column(pair, target)
        if len(pair.names) < 2:
            raise InputError("a table of one column has nothing to learn its target from; give at least 2")
        rest = [other for other in range(len(pair.names)) if other != column]
        names = tuple(pair.names[other] for other in rest)
        known = NumericPair(pair.original[:, rest], pair.protected[:, rest], names)
        return known, Target(pair.names[column], pair.original[:, column], pair.protected[:, column], False)
    classes = class_of_rows(target, len(pair.original))[0].astype(np.float64)
    if len(np.unique(classes)) > MOST_CLASSES:
        raise InputError(f"there are {len(np.unique(classes))} different labels; at most {MOST_CLASSES} are learnt")
    return pair, Target("labels", classes, classes, True)


def _column(pair: NumericPair, target: str | int) -> int:
    column = pair.names.index(target) if target in pair.names else target
    if isinstance(column, str) or not 0 <= column < len(pair.names):
        raise InputError(f"target={target!r} is not a column; there are: {', '.join(pair.names)}")
    return int(column)


def _nearest(values: Floats, y: Floats) -> Ints:
    """Which of the values (in rising order) is nearest; ties to the lower."""
    return np.asarray(np.searchsorted((values[1:] + values[:-1]) / 2, y, side="left"))


def _scores(
    models: dict[str, Callable[[int], Any]],
    known: NumericPair,
    before: NDArray[Any],
    after: NDArray[Any],
    fold_of_row: Ints,
    random_state: int,
) -> list[ModelScore]:
    """Every model, from the originals and from the protected rows, all of it held out once."""
    is_class = models is CLASSIFICATION
    found = []
    guess = np.empty(len(before))
    for fold in range(int(fold_of_row.max()) + 1):
        rest, held_out = fold_of_row != fold, fold_of_row == fold
        guess[held_out] = np.bincount(before[rest]).argmax() if is_class else before[rest].mean()
    for name, make in models.items():
        scores = []
        for X, y in ((known.original, before), (known.protected, after)):
            predicted = np.empty(len(before))
            for fold in range(int(fold_of_row.max()) + 1):
                rest, held_out = fold_of_row != fold, fold_of_row == fold
                predicted[held_out] = _predict(make(random_state), X[rest], y[rest], known.original[held_out])
            scores.append(_score(before, predicted, guess, is_class))
        task, measure = ("classification", "accuracy") if is_class else ("regression", "R2")
        scores.append(_score(before, guess, guess, is_class))
        found.append(ModelScore(task, name, measure, *scores))
    return found


def _predict(model: Any, X: Floats, y: NDArray[Any], held_out: Floats) -> Floats:
    if y.min() == y.max():  # protection may leave one class, or one value, to learn
        return np.full(len(held_out), float(y[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fit that is not quite the best is a result as well
        return np.asarray(model.fit(X, y).predict(held_out), dtype=np.float64)


def _score(truth: NDArray[Any], predicted: Floats, guess: Floats, is_class: bool) -> float:
    if is_class:
        return float(np.mean(truth == predicted))
    return float(1.0 - np.sum((truth - predicted) ** 2) / np.sum((truth - guess) ** 2))
