"""Models: is what a protected table teaches true of the originals?

One attribute is learned from the others, in folds: trained on the protected rows of all folds but one, tested on the
originals of that one, beside the same model trained on originals and the best constant guess. An attribute of more
than ten values is learned twice: as a number, by R² = 1 - Σ(y - ŷ)² / Σ(y - ȳ)², ȳ the mean of the training rows, and
as a class, whether it is above the original's median. One of up to ten values is a class; the class of a protected
value is the nearest of them.

Rows are held out at random, as in ordinary cross-validation. Where the attribute itself was averaged within groups,
the means that a model is trained on are those without the held-out members. Where it was changed in another way, rows
with the same protected version are held out together: one of them would carry the other into training.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
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

from shoal.data.pairs import NumericPair, numeric_pair
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.language import N_
from shoal.results.utility import ModelScore, ModelUtility
from shoal.utility.spaces import fold_of_rows

MOST_CLASSES = 10
FOLDS = 5
ROUNDED = 0.05  # standard deviations that the published means of groups may be off, on average

REGRESSION: dict[str, Callable[[int], Any]] = {
    N_("ridge regression"): lambda seed: make_pipeline(StandardScaler(), Ridge()),
    N_("boosted trees"): lambda seed: HistGradientBoostingRegressor(random_state=seed),
}
CLASSIFICATION: dict[str, Callable[[int], Any]] = {
    N_("logistic regression"): lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)),
    N_("boosted trees"): lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


@dataclass(frozen=True)
class Target:
    """What is learned, row by row: numbers, or classes counted from 0."""

    name: str
    before: Floats
    after: Floats  # a class that the original has not is one that is never right
    are_classes: bool


def model_utility(original: Any, protected: Any, target: str | int | Target, random_state: int = 0) -> ModelUtility:
    """Train on protected rows, test on held-out originals.

    Parameters
    ----------
    target : a column by name or number (from 0), learned from the others; or a `Target`, learned from all columns.

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
    values = np.unique(what.before)
    if len(values) < 2:
        only = "one class" if what.are_classes else f"{values[0]:g}"
        raise InputError(f"{what.name} is {only} in all rows; there is nothing to learn, choose another target")
    is_class = what.are_classes or len(values) <= MOST_CLASSES
    middle = float(np.median(what.before))

    def class_of(y: Floats) -> Ints:
        if what.are_classes:
            return y.astype(np.int64)
        return _nearest(values, y) if is_class else (y > middle).astype(np.int64)

    classes = class_of(what.before)
    if classes.min() == classes.max():
        raise InputError(f"more than half of {what.name} is its largest value; there are no two classes, round it")
    groups = _row_numbers(pair.protected)
    averaged = _is_averaged(what, groups)
    apart = averaged or np.array_equal(what.before, what.after)
    units = _row_numbers(np.column_stack([pair.original, what.before])) if apart else groups
    folds = max(2, min(FOLDS, int(units.max()) + 1))
    fold_of_row = fold_of_rows(units, folds, random_state, classes)

    def after(held_out: NDArray[np.bool_]) -> Floats:
        return _means_of_the_rest(what, groups, held_out) if averaged else what.after

    # On tables of this size the threads of the trees wait for one another more than they work.
    with threadpool_limits(1):
        scores = [] if is_class else _scores(REGRESSION, known, what.before, after, fold_of_row, random_state)
        scores += _scores(
            CLASSIFICATION, known, classes, lambda held_out: class_of(after(held_out)), fold_of_row, random_state
        )
    return ModelUtility(what.name, folds, len(classes), known.names, tuple(scores))


def _target(pair: NumericPair, target: str | int | Target) -> tuple[NumericPair, Target]:
    """The table to learn from, and what is learned."""
    if isinstance(target, Target):
        return pair, target
    column = _column(pair, target)
    if len(pair.names) < 2:
        raise InputError("a table of one column has nothing to learn its target from; give at least 2")
    rest = [other for other in range(len(pair.names)) if other != column]
    names = tuple(pair.names[other] for other in rest)
    known = NumericPair(pair.original[:, rest], pair.protected[:, rest], names)
    return known, Target(pair.names[column], pair.original[:, column], pair.protected[:, column], False)


def _row_numbers(values: Floats) -> Ints:
    """The same number for equal rows, in an order that follows from their values and not from where they stand."""
    return np.asarray(np.unique(values, axis=0, return_inverse=True)[1].ravel(), dtype=np.int64)


def _is_averaged(target: Target, groups: Ints) -> bool:
    """Whether a target of numbers was replaced by the means of groups, but for rounding."""
    if target.are_classes:
        return False
    means = np.bincount(groups, target.before) / np.bincount(groups)
    return bool(np.mean(np.abs(target.after - means[groups])) <= ROUNDED * np.std(target.before))


def _means_of_the_rest(target: Target, groups: Ints, held_out: NDArray[np.bool_]) -> Floats:
    """The protected target as it would be had the held-out rows not been in their groups."""
    sizes, sums = np.bincount(groups), np.bincount(groups, target.before)
    rest = np.bincount(groups, ~held_out)
    rest_sums = np.bincount(groups, np.where(held_out, 0.0, target.before))
    moved = np.where(rest > 0, rest_sums / np.maximum(rest, 1), 0.0) - sums / sizes
    return np.asarray(target.after + moved[groups])


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
    after: Callable[[NDArray[np.bool_]], NDArray[Any]],
    fold_of_row: Ints,
    random_state: int,
) -> list[ModelScore]:
    """Every model, from the originals and from the protected rows, all of it held out once.

    `after` gives the protected target for those held-out rows.
    """
    is_class = models is CLASSIFICATION
    task, measure = ("classification", N_("accuracy")) if is_class else ("regression", "R2")
    guess = np.empty(len(before))
    predicted = {(name, side): np.empty(len(before)) for name in models for side in ("original", "protected")}
    for fold in range(int(fold_of_row.max()) + 1):
        rest, held_out = fold_of_row != fold, fold_of_row == fold
        guess[held_out] = np.bincount(before[rest]).argmax() if is_class else before[rest].mean()
        sides = {"original": (known.original, before), "protected": (known.protected, after(held_out))}
        for (name, side), into in predicted.items():
            X, y = sides[side]
            into[held_out] = _predict(models[name](random_state), X[rest], y[rest], known.original[held_out])

    def score(answers: Floats) -> float:
        return _score(before, answers, guess, is_class)

    return [
        ModelScore(
            task, name, measure, score(predicted[name, "original"]), score(predicted[name, "protected"]), score(guess)
        )
        for name in models
    ]


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
