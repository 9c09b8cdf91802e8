"""Methods for documents: how they are grouped, and what is published of each group. By words, or by meaning."""

from __future__ import annotations

from copy import copy
from typing import Any

from shoal.errors import InputError
from shoal.methods.semantic import SemanticMicroaggregation
from shoal.methods.spherical import SphericalMicroaggregation
from shoal.release.documents.by_meaning import TERMS_PER_DOCUMENT, ByMeaning
from shoal.release.documents.by_words import ByWords
from shoal.terms.vector_space import VectorSpace

__all__ = ["TERMS_PER_DOCUMENT", "DocumentMethod", "check_space", "method_of", "with_space"]

DocumentMethod = ByWords | ByMeaning  # both do the same things, each in its own way


def method_of(method: Any, space: VectorSpace | None, k: int, of_items: bool = False) -> DocumentMethod:
    """The method that an estimator stands for; None is spherical microaggregation. `of_items`: for baskets."""
    _check_meanings(method, of_items)
    check_space(space, of_items)
    if isinstance(method, SemanticMicroaggregation):
        chosen = VectorSpace(min_df=k, stem=False, terms_per_document=TERMS_PER_DOCUMENT) if space is None else space
        return ByMeaning(chosen, method, k)
    if method is None or isinstance(method, SphericalMicroaggregation):
        chosen = VectorSpace(min_df=k, items=of_items) if space is None else space
        return ByWords(chosen, method or SphericalMicroaggregation(), k)
    raise InputError(
        f"{type(method).__name__} cannot protect documents; use SphericalMicroaggregation or SemanticMicroaggregation, "
        "or a sketch"
    )


def _check_meanings(method: Any, of_items: bool) -> None:
    if of_items and isinstance(method, SemanticMicroaggregation):
        raise InputError(
            "these are baskets, and only words have meanings; use SphericalMicroaggregation ({option})", "method mdav"
        )


def check_space(space: VectorSpace | None, of_items: bool) -> None:
    """Refuse a space of texts for baskets, and the other way round."""
    if space is not None and bool(space.items) != of_items:
        there = "baskets" if of_items else "texts"
        raise InputError(f"these are {there}, and the space has items={space.items}; give it items={of_items}")


def with_space(method: DocumentMethod, space: VectorSpace) -> DocumentMethod:
    """The method with a fitted space."""
    fitted = copy(method)
    fitted.space = space
    return fitted
