"""The one place where a method's name becomes the method, and the steps of a vector space become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.data.kinds.outlines import OntologyColumns
from shoal.errors import InputError
from shoal.methods.categorical import CategoricalMicroaggregation
from shoal.methods.masking import Noise, RankSwap
from shoal.methods.mixed import MixedMicroaggregation
from shoal.methods.numeric import Microaggregation
from shoal.methods.semantic import SemanticMicroaggregation
from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch, SketchKey
from shoal.methods.spherical import SphericalMicroaggregation
from shoal.release.documents.methods import TERMS_PER_DOCUMENT
from shoal.release.sketches.records import steps_of_records
from shoal.request.method_options import FOR_DOCUMENTS, FOR_LABELS, FOR_NUMBERS, MASKING, MethodOptions, WordOptions
from shoal.request.option import options_of
from shoal.terms.hierarchy import ontologies_of
from shoal.terms.value_mapping import ontology_columns
from shoal.terms.vector_space import VectorSpace

OPTIONS = options_of(MethodOptions)
FOR_TABLES = (Microaggregation, CategoricalMicroaggregation, MixedMicroaggregation, RankSwap, Noise)
OF_SKETCHES = ("components", "delta", "max_components", "key")


def document_method(asked: MethodOptions) -> Any:
    """What protects documents."""
    if not _is_name(asked.method):
        _check_parameters(asked)
        return asked.method
    name = asked.method or "mdav"
    _refuse(asked, "documents", "attribute_groups", "mapping", "weights", "percent")
    if name not in FOR_DOCUMENTS:
        raise InputError(f"{{option}} cannot protect documents; use {', '.join(FOR_DOCUMENTS)}", f"method {name}")
    return _FOR_DOCUMENTS[name](asked)


@dataclass(frozen=True)
class MethodChoice:
    """What protects a table: chosen when it is known which of its quasi-identifiers are numbers and which labels."""

    asked: MethodOptions
    ontology: Any  # what the labels mean, whether or not there are any
    mapping: Any
    explained: OntologyColumns  # columns of labels that either of them explains

    def estimator(self, numbers: Sequence[str], labels: Sequence[str]) -> Any:
        """The method for these columns."""
        if not _is_name(self.asked.method):
            return self.asked.method
        if self.asked.method in MASKING:
            return _MASKING[self.asked.method](self.asked.percent or 0.0)
        return _microaggregation(self.asked, self.ontology, bool(numbers), bool(labels))


def table_method(asked: MethodOptions) -> MethodChoice:
    """The method that was asked for, checked as far as that can be done without the columns."""
    if not _is_name(asked.method):
        _check_parameters(asked)
        if not isinstance(asked.method, FOR_TABLES):
            names = ", ".join(kind.__name__ for kind in FOR_TABLES)
            raise InputError(f"{type(asked.method).__name__} cannot protect a table; use {names}")
        ontology, mapping = (getattr(asked.method, name, None) for name in ("ontology", "mapping"))
        return MethodChoice(asked, ontology, mapping, ontology_columns(ontology, mapping))
    name, known = asked.method, (*FOR_NUMBERS, *FOR_LABELS, *MASKING)
    _refuse(asked, "tables", *OF_SKETCHES)
    if name is not None and name not in known:
        raise InputError(f"{{option}} cannot protect a table; use {', '.join(known)}", f"method {name}")
    if name in MASKING:
        _refuse(asked, name, "time_budget", "blocks", "attribute_groups", "ontology", "mapping", "weights")
        if asked.percent is None:
            raise InputError(f"{name} needs to know how strong; give {{option}}, such as 5", "percent")
    else:
        _refuse(asked, "microaggregation", "percent")
    ontology = ontologies_of(asked.ontology)
    return MethodChoice(asked, ontology, asked.mapping, ontology_columns(ontology, asked.mapping))


def document_space(words: WordOptions, method: Any, k: int, items: bool) -> Any:
    """The vector space of documents: the steps that were given, and what the method needs where nothing was.

    None: nothing was given, and the method chooses.
    """
    steps = {name: getattr(words, name) for name in options_of(WordOptions) if name != "space"}
    given = {name: value for name, value in steps.items() if value is not None}
    if words.space is not None and given:
        raise InputError("{option} is a step of the space; give it there, or leave the space out", next(iter(given)))
    if not given:
        return words.space
    whole_words: dict[str, Any] = {"stem": False, "terms_per_document": TERMS_PER_DOCUMENT}
    needs = whole_words if isinstance(method, SemanticMicroaggregation) else {}
    needs = steps_of_records(items) if isinstance(method, DeltaSketch | KVarianceSketch) else needs
    return VectorSpace(items=items, **{"min_df": k} | needs | given)


def _is_name(method: Any) -> bool:
    """Whether a method is named, or left to be chosen; else it is an estimator."""
    return method is None or isinstance(method, str)


def _check_parameters(asked: MethodOptions) -> None:
    """An estimator has its parameters itself."""
    for name, known in OPTIONS.items():
        if name != "method" and getattr(asked, name) != known.default:
            whose = type(asked.method).__name__
            raise InputError(f"{{option}} is a parameter of the method; give it to {whose}, or name the method", name)


def _refuse(asked: MethodOptions, kind: str, *names: str) -> None:
    """These options are for something else."""
    for name in names:
        if getattr(asked, name) is not None:
            raise InputError(f"{{option}} is not for {kind}; leave it out", name)


def _by_words(asked: MethodOptions) -> Any:
    _refuse(asked, "mdav", "ontology", *OF_SKETCHES)
    return SphericalMicroaggregation(refine=asked.refine, time_budget=asked.time_budget, blocks=asked.blocks)


def _by_meaning(asked: MethodOptions) -> Any:
    _refuse(asked, "semantic", "time_budget", "blocks", *OF_SKETCHES)
    ontology = ontologies_of(asked.ontology)
    if isinstance(ontology, dict):
        raise InputError("{option}: columns are of tables; for documents give the file alone", "ontology")
    return SemanticMicroaggregation(ontology=ontology)


def _crowd_sketch(asked: MethodOptions) -> Any:
    _refuse(asked, "crowd-sketch", "ontology", "delta", "max_components")
    groups = SphericalMicroaggregation(refine=asked.refine, time_budget=asked.time_budget, blocks=asked.blocks)
    return CrowdSketch(method=groups, key=_key(asked), **_given(asked, "components"))


def _delta_sketch(asked: MethodOptions) -> Any:
    _refuse(asked, "delta-sketch", "ontology", "time_budget", "blocks", "components")
    if asked.delta is None:
        raise InputError(
            "delta-sketch needs the least variance of every attribute; give {option}, such as 0.5 for baskets or 0.01 "
            "for texts",
            "delta",
        )
    return DeltaSketch(asked.delta, key=_key(asked), **_given(asked, "max_components"))


def _k_variance_sketch(asked: MethodOptions) -> Any:
    _refuse(asked, "k-variance-sketch", "ontology", "time_budget", "components", "delta")
    return KVarianceSketch(key=_key(asked), **_given(asked, "max_components", "blocks"))


_FOR_DOCUMENTS: dict[str, Callable[[MethodOptions], Any]] = {
    "mdav": _by_words,
    "semantic": _by_meaning,
    "crowd-sketch": _crowd_sketch,
    "delta-sketch": _delta_sketch,
    "k-variance-sketch": _k_variance_sketch,
}
_MASKING: dict[str, Callable[[float], Any]] = {
    "rank-swap": lambda percent: RankSwap(percent),
    "noise": lambda percent: Noise(percent),
    "correlated-noise": lambda percent: Noise(percent, correlated=True),
}


def _given(asked: MethodOptions, *names: str) -> dict[str, Any]:
    """What was given, for the estimator; it has its own defaults."""
    return {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}


def _key(asked: MethodOptions) -> Any:
    return None if asked.key is None else SketchKey.read(asked.key)


def _microaggregation(asked: MethodOptions, ontology: Any, has_numbers: bool, has_labels: bool) -> Any:
    """By meaning for labels, by means for numbers, by both for a table of both."""
    name = asked.method
    search: dict[str, Any] = {"refine": asked.refine, "time_budget": asked.time_budget}
    meaning: dict[str, Any] = {"ontology": ontology, "mapping": asked.mapping}
    if name in FOR_LABELS or (name is None and not has_numbers):
        _refuse(asked, "a table of labels", "attribute_groups", "blocks", "weights")
        return CategoricalMicroaggregation(**meaning, **search)
    if not has_labels or name not in (None, "mdav"):
        _refuse(asked, "a table of numbers", "ontology", "mapping", "weights")
        return Microaggregation(
            method=name or "mdav", attribute_groups=asked.attribute_groups, blocks=asked.blocks, **search
        )
    if not has_numbers:
        raise InputError(f"mdav averages numbers, and these are labels; use {', '.join(FOR_LABELS)}", "method")
    _refuse(asked, "a table with labels", "attribute_groups", "blocks")
    return MixedMicroaggregation(weights=asked.weights, **meaning, **search)
