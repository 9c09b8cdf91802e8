"""Methods for documents, from what was asked: how they become vectors, are grouped, and what stands for each group."""

from __future__ import annotations

from copy import copy
from typing import Any

from shoal.errors import InputError
from shoal.methods.semantic import SemanticMicroaggregation
from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch, SketchKey
from shoal.methods.spherical import SphericalMicroaggregation
from shoal.release.documents.by_meaning import TERMS_PER_DOCUMENT, ByMeaning
from shoal.release.documents.by_words import ByWords
from shoal.request.method_options import FOR_DOCUMENTS, MethodOptions, WordOptions
from shoal.request.option import options_of
from shoal.terms.hierarchy import ontologies_of
from shoal.terms.vector_space import VectorSpace

SPACE_STEPS = tuple(name for name in options_of(WordOptions) if name != "space")
DocumentMethod = ByWords | ByMeaning  # both do the same things, each in its own way


def document_method(asked: MethodOptions) -> Any:
    """The estimator that protects documents."""
    if not isinstance(asked.method, str | None):
        return asked.method
    name = asked.method or "mdav"
    if name not in FOR_DOCUMENTS:
        raise InputError(f"{{option}} cannot protect documents; use {', '.join(FOR_DOCUMENTS)}", f"method {name}")
    if name == "semantic":
        return SemanticMicroaggregation(ontology=_of_documents(asked.ontology), refine=asked.refine)
    # What was given, for the estimator; it has its own defaults.
    given = {
        part: getattr(asked, part) for part in ("components", "max_components") if getattr(asked, part) is not None
    }
    given |= {} if asked.key is None else {"key": SketchKey.read(asked.key)}
    if name == "delta-sketch":
        if asked.delta is None:
            raise InputError(
                "delta-sketch needs the least variance of every attribute; give {option}, such as 0.5 for baskets or "
                "0.01 for texts",
                "delta",
            )
        return DeltaSketch(asked.delta, **given)
    if name == "k-variance-sketch":
        return KVarianceSketch(**given)
    groups = SphericalMicroaggregation(refine=asked.refine, time_budget=asked.time_budget)
    return groups if name == "mdav" else CrowdSketch(method=groups, **given)


def document_space(words: WordOptions, method: Any, k: int, of_items: bool, ontology: Any = None) -> VectorSpace:
    """The vector space of documents: the steps that were given, and what the method needs where nothing was.

    An ontology joins words; documents by meaning have it already.
    """
    given = {name: getattr(words, name) for name in SPACE_STEPS if getattr(words, name) is not None}
    if of_items and ontology is not None:
        raise InputError("{option} joins words to terms, and these are baskets; leave it out", "ontology")
    if ontology is not None and not isinstance(method, SemanticMicroaggregation):
        given["ontology"] = _of_documents(ontology)
    if words.space is None:
        return VectorSpace(items=of_items, **space_steps(method, k, of_items) | given)
    if given:
        raise InputError("{option} is a step of the space; give it there, or leave the space out", next(iter(given)))
    if bool(words.space.items) != of_items:
        there = "baskets" if of_items else "texts"
        raise InputError(f"these are {there}, and the space has items={words.space.items}; give it items={of_items}")
    space: VectorSpace = words.space
    return space


def space_steps(method: Any, k: int, of_items: bool) -> dict[str, Any]:
    """How documents become rows by default."""
    if isinstance(method, DeltaSketch | KVarianceSketch):  # every term counts, in baskets as often as it occurs
        return {"min_df": 1, "weighting": "tf" if of_items else "tf-idf"}
    whole_words = {"stem": False, "terms_per_document": TERMS_PER_DOCUMENT}
    return {"min_df": k} | (whole_words if isinstance(method, SemanticMicroaggregation) else {})


def _of_documents(ontology: Any) -> Any:
    """What words mean."""
    if isinstance(ontology, dict):
        raise InputError("{option}: columns are of tables; for documents give the file alone", "ontology")
    return ontologies_of(ontology)


def method_of(method: Any, space: VectorSpace, k: int) -> DocumentMethod:
    """The method that an estimator stands for; None is spherical microaggregation."""
    if isinstance(method, SemanticMicroaggregation):
        if space.items:
            raise InputError(
                "these are baskets, and only words have meanings; use SphericalMicroaggregation ({option})",
                "method mdav",
            )
        return ByMeaning(space, method, k)
    if method is None or isinstance(method, SphericalMicroaggregation):
        return ByWords(space, method or SphericalMicroaggregation(), k)
    raise InputError(
        f"{type(method).__name__} cannot protect documents; use SphericalMicroaggregation or SemanticMicroaggregation, "
        "or a sketch"
    )


def with_space(method: DocumentMethod, space: VectorSpace) -> DocumentMethod:
    """The method with a fitted space."""
    fitted = copy(method)
    fitted.space = space
    return fitted
