"""Protection of tables: how rows are masked. Means of numbers, concepts of labels, or values swapped and blurred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import InputError
from shoal.masking import Noise, RankSwap
from shoal.microaggregation import CategoricalMicroaggregation, Microaggregation, MixedMicroaggregation
from shoal.microaggregation.labels.mixed_table import CATEGORICAL
from shoal.ontology.value_mapping import mappings_of
from shoal.protection.tables.columnwise import Columnwise, attribute_groups
from shoal.protection.tables.concepts import Concepts
from shoal.protection.tables.layout import TableProtection
from shoal.protection.tables.means import Means

__all__ = ["TableProtection", "averaged", "check_method", "table_method", "table_protection", "unexplained"]

METHODS = (Microaggregation, CategoricalMicroaggregation, MixedMicroaggregation, RankSwap, Noise)


def check_method(method: Any) -> None:
    """Refuse what cannot protect a table; None and a function choose by the columns."""
    if method is not None and not isinstance(method, METHODS) and not callable(method):
        names = ", ".join(kind.__name__ for kind in METHODS)
        raise InputError(f"{type(method).__name__} cannot protect a table; use {names}")


def table_method(method: Any, numbers: tuple[str, ...], labels: tuple[str, ...]) -> Any:
    """The estimator for these quasi-identifiers: as given, or chosen by what they are."""
    if isinstance(method, METHODS):
        return method
    if method is not None:
        return method(numbers, labels)
    if not labels:
        return Microaggregation()
    return MixedMicroaggregation() if numbers else CategoricalMicroaggregation(refine=True)


def averaged(method: Any, quasi: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[str, ...]:
    """The quasi-identifiers that an estimator takes for numbers."""
    if isinstance(method, CategoricalMicroaggregation):
        return ()
    if not isinstance(method, MixedMicroaggregation):
        return quasi
    roles = method.roles or {}
    kinds = roles if isinstance(roles, Mapping) else dict.fromkeys(roles, CATEGORICAL)
    return tuple(name for name in numbers if kinds.get(name) != CATEGORICAL)


def table_protection(method: Any, k: int, numbers: tuple[str, ...]) -> TableProtection:
    """The protection that an estimator stands for, of a table with these numbers."""
    if isinstance(method, CategoricalMicroaggregation | MixedMicroaggregation):
        return Concepts(method, k)
    if isinstance(method, Microaggregation) and len(attribute_groups(method, numbers)) == 1:
        return Means(method, k)
    return Columnwise(method, k)


def unexplained(method: Any, labels: Sequence[str]) -> list[str]:
    """Columns of labels of which the user did not say what they mean."""
    ontology = method.ontology if isinstance(method.ontology, Mapping) else {}
    return [name for name in labels if name not in ontology and not mappings_of(method.mapping, [name])[name]]
