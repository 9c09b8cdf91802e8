"""Methods for tables: means of numbers, concepts of labels, or values swapped and blurred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import InputError
from shoal.methods.categorical import CategoricalMicroaggregation
from shoal.methods.masking import Noise, RankSwap
from shoal.methods.mixed import CATEGORICAL, MixedMicroaggregation
from shoal.methods.numeric import Microaggregation
from shoal.release.tables.labels import Concepts
from shoal.release.tables.numbers import Columnwise, Means, attribute_groups
from shoal.release.tables.rows import TableMethod
from shoal.terms.value_mapping import mappings_of

METHODS = (Microaggregation, CategoricalMicroaggregation, MixedMicroaggregation, RankSwap, Noise)


def check_method(method: Any) -> None:
    """Refuse an estimator that cannot protect a table."""
    if not isinstance(method, METHODS):
        names = ", ".join(kind.__name__ for kind in METHODS)
        raise InputError(f"{type(method).__name__} cannot protect a table; use {names}")


def averaged(method: Any, quasi: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[str, ...]:
    """The quasi-identifiers that an estimator takes for numbers."""
    if isinstance(method, CategoricalMicroaggregation):
        return ()
    if not isinstance(method, MixedMicroaggregation):
        return quasi
    roles = method.roles or {}
    kinds = roles if isinstance(roles, Mapping) else dict.fromkeys(roles, CATEGORICAL)
    return tuple(name for name in numbers if kinds.get(name) != CATEGORICAL)


def method_of(method: Any, k: int, numbers: tuple[str, ...]) -> TableMethod:
    """The method that an estimator stands for, of a table with these numbers."""
    if isinstance(method, CategoricalMicroaggregation | MixedMicroaggregation):
        return Concepts(method, k)
    if isinstance(method, Microaggregation) and len(attribute_groups(method, numbers)) == 1:
        return Means(method, k)
    return Columnwise(method, k)


def unexplained(method: Any, labels: Sequence[str]) -> list[str]:
    """Columns of labels of which the user did not say what they mean."""
    ontology = method.ontology if isinstance(method.ontology, Mapping) else {}
    return [name for name in labels if name not in ontology and not mappings_of(method.mapping, [name])[name]]
