"""The one place where a method's name becomes the method, and the steps of a vector space become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.data.files import shown
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
SPACE_STEPS = tuple(name for name in options_of(WordOptions) if name != "space")
FOR_TABLES = (Microaggregation, CategoricalMicroaggregation, MixedMicroaggregation, RankSwap, Noise)
MEANINGS = ("time_budget", "ontology", "mapping")
TAKES = {  # the options of each method, beside `refine`, and of microaggregation by what the columns are
    "mdav": ("time_budget", "blocks", "ontology"),
    "semantic": ("ontology",),
    "crowd-sketch": ("time_budget", "blocks", "components", "key"),
    "delta-sketch": ("delta", "max_components", "key"),
    "k-variance-sketch": ("blocks", "max_components", "key"),
    "a table of numbers": ("time_budget", "blocks", "attribute_groups"),
    "a table of labels": MEANINGS,
    "a table with labels": (*MEANINGS, "importance"),
    "generalised or blanked columns": ("time_budget", "ontology", "importance"),
    "microaggregation": (*MEANINGS, "importance", "blocks", "attribute_groups"),
    **dict.fromkeys(MASKING, ("percent",)),
}


def document_method(asked: MethodOptions) -> Any:
    """What protects documents."""
    if not isinstance(asked.method, str | None):
        _check_parameters(asked)
        return asked.method
    name = asked.method or "mdav"
    if name not in FOR_DOCUMENTS:
        raise InputError(f"{{option}} cannot protect documents; use {', '.join(FOR_DOCUMENTS)}", f"method {name}")
    check_taken(asked, name)
    if name == "semantic":
        return SemanticMicroaggregation(ontology=_of_documents(asked.ontology))
    key: dict[str, Any] = {} if asked.key is None else {"key": SketchKey.read(asked.key)}
    if name == "delta-sketch":
        if asked.delta is None:
            raise InputError(
                "delta-sketch needs the least variance of every attribute; give {option}, such as 0.5 for baskets or "
                "0.01 for texts",
                "delta",
            )
        return DeltaSketch(asked.delta, **key, **_given(asked, "max_components"))
    if name == "k-variance-sketch":
        return KVarianceSketch(**key, **_given(asked, "max_components", "blocks"))
    groups = SphericalMicroaggregation(refine=asked.refine, time_budget=asked.time_budget, blocks=asked.blocks)
    return groups if name == "mdav" else CrowdSketch(method=groups, **key, **_given(asked, "components"))


@dataclass(frozen=True)
class MethodChoice:
    """What protects a table: chosen when it is known which of its quasi-identifiers are numbers and which labels."""

    asked: MethodOptions  # the method's name, None to choose it by the columns, or an estimator
    ontology: Any = None  # what the labels mean, whether or not there are any
    mapping: Any = None
    explained: OntologyColumns = field(default_factory=OntologyColumns)  # columns that either of them explains

    def estimator(self, numbers: Sequence[str], labels: Sequence[str]) -> Any:
        """The method for these columns."""
        if not isinstance(self.asked.method, str | None):
            return self.asked.method
        if self.asked.method == "rank-swap":
            return RankSwap(_strength(self.asked.percent, numbers))
        if self.asked.method in MASKING:
            return Noise(_strength(self.asked.percent, numbers), correlated=self.asked.method == "correlated-noise")
        return _microaggregation(self.asked, self.ontology, bool(numbers), bool(labels))


def _strength(percent: float | Mapping[str, float] | None, numbers: Sequence[str]) -> float | list[float]:
    """How strongly numbers are masked: all alike, or each as it was given."""
    if not isinstance(percent, Mapping):
        return percent or 0.0
    odd = sorted(set(numbers) ^ set(percent))
    if odd:
        problem = "is no number that is protected" if odd[0] in percent else "has no strength"
        raise InputError(f"{{option}}: column {shown(odd[0])} {problem}; name every protected number once", "percent")
    return [percent[name] for name in numbers]


def table_method(asked: MethodOptions) -> MethodChoice:
    """The method that was asked for, checked as far as that can be done without the columns."""
    if not isinstance(asked.method, str | None):
        _check_parameters(asked)
        if not isinstance(asked.method, FOR_TABLES):
            names = ", ".join(kind.__name__ for kind in FOR_TABLES)
            raise InputError(f"{type(asked.method).__name__} cannot protect a table; use {names}")
        ontology, mapping = (getattr(asked.method, name, None) for name in ("ontology", "mapping"))
        return MethodChoice(asked, ontology, mapping, ontology_columns(ontology, mapping))
    name, known = asked.method, (*FOR_NUMBERS, *FOR_LABELS, *MASKING)
    if name is not None and name not in known:
        raise InputError(f"{{option}} cannot protect a table; use {', '.join(known)}", f"method {name}")
    check_taken(asked, name if name in MASKING else "microaggregation")
    if name in MASKING and asked.percent is None:
        raise InputError(f"{name} needs to know how strong; give {{option}}, such as 5", "percent")
    if asked.ontology is None and asked.mapping is None:
        return MethodChoice(asked)
    ontology = ontologies_of(asked.ontology)
    return MethodChoice(asked, ontology, asked.mapping, ontology_columns(ontology, asked.mapping))


def document_space(words: WordOptions, method: Any, k: int, items: bool, ontology: Any = None) -> Any:
    """The vector space of documents: the steps that were given, and what the method needs where nothing was.

    None: nothing was given, and the method chooses. An ontology joins words; documents by meaning have it already.
    """
    steps = {name: getattr(words, name) for name in SPACE_STEPS}
    if items and ontology is not None:
        raise InputError("{option} joins words to terms, and these are baskets; leave it out", "ontology")
    if not isinstance(method, SemanticMicroaggregation):
        steps["ontology"] = _of_documents(ontology)
    given = {name: value for name, value in steps.items() if value is not None}
    if words.space is not None and given:
        raise InputError("{option} is a step of the space; give it there, or leave the space out", next(iter(given)))
    if not given:
        return words.space
    whole_words: dict[str, Any] = {"stem": False, "terms_per_document": TERMS_PER_DOCUMENT}
    needs = whole_words if isinstance(method, SemanticMicroaggregation) else {}
    needs = steps_of_records(items) if isinstance(method, DeltaSketch | KVarianceSketch) else needs
    return VectorSpace(items=items, **{"min_df": k} | needs | given)


def _of_documents(ontology: Any) -> Any:
    """What words mean."""
    if isinstance(ontology, dict):
        raise InputError("{option}: columns are of tables; for documents give the file alone", "ontology")
    return ontologies_of(ontology)


def _check_parameters(asked: MethodOptions) -> None:
    """An estimator has its parameters itself."""
    for name, known in OPTIONS.items():
        if name != "method" and getattr(asked, name) != known.default:
            whose = type(asked.method).__name__
            raise InputError(f"{{option}} is a parameter of the method; give it to {whose}, or name the method", name)


def check_taken(asked: MethodOptions, kind: str) -> None:
    """Refuse options of other methods."""
    for name in OPTIONS:
        if name not in ("method", "refine", *TAKES[kind]) and getattr(asked, name) is not None:
            raise InputError(f"{{option}} is not for {kind}; leave it out", name)


def _given(asked: MethodOptions, *names: str) -> dict[str, Any]:
    """What was given, for the estimator; it has its own defaults."""
    return {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}


def _microaggregation(asked: MethodOptions, ontology: Any, has_numbers: bool, has_labels: bool) -> Any:
    """By meaning for labels, by means for numbers, by both for a table of both."""
    name = asked.method
    search: dict[str, Any] = {"refine": asked.refine, "time_budget": asked.time_budget}
    meaning: dict[str, Any] = {"ontology": ontology, "mapping": asked.mapping}
    if name in FOR_LABELS or (name is None and not has_numbers):
        check_taken(asked, "a table of labels")
        return CategoricalMicroaggregation(**meaning, **search)
    if not has_labels or name not in (None, "mdav"):
        check_taken(asked, "a table of numbers")
        return Microaggregation(
            method=name or "mdav", attribute_groups=asked.attribute_groups, blocks=asked.blocks, **search
        )
    if not has_numbers:
        raise InputError(f"mdav averages numbers, and these are labels; use {', '.join(FOR_LABELS)}", "method")
    check_taken(asked, "a table with labels")
    return MixedMicroaggregation(weights=asked.importance, **meaning, **search)
