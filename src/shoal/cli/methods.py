"""The one place where a method's name becomes the method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import shoal
from shoal.errors import InputError

__all__ = [
    "FOR_DOCUMENTS",
    "FOR_LABELS",
    "FOR_NUMBERS",
    "MASKING",
    "Asked",
    "document_method",
    "document_space",
    "table_method",
]

FOR_NUMBERS = ("mdav", "ranking", "z-scores", "principal-component")
FOR_LABELS = ("sa-mdav",)
MASKING: dict[str, Callable[[float], Any]] = {
    "rank-swap": lambda percent: shoal.RankSwap(percent),
    "noise": lambda percent: shoal.Noise(percent),
    "correlated-noise": lambda percent: shoal.Noise(percent, correlated=True),
}
OF_SKETCHES = ("components", "delta", "max_components", "key")


@dataclass(frozen=True)
class Asked:
    """What the command line says about the method; None where it says nothing."""

    method: str | None
    refine: bool
    time_budget: float | None
    blocks: int | None
    attribute_groups: int | None
    ontology: Any
    mapping: Any
    weights: dict[str, float] | None
    percent: float | None
    components: int | None = None
    delta: float | None = None
    max_components: int | None = None
    key: Any = None

    def refuse(self, kind: str, *options: str) -> None:
        """These options are for something else."""
        for option in options:
            if getattr(self, option) is not None:
                raise InputError(f"--{option.replace('_', '-')} is not for {kind}; leave it out")


def _by_words(asked: Asked) -> Any:
    asked.refuse("--method mdav", "ontology", *OF_SKETCHES)
    return shoal.SphericalMicroaggregation(refine=asked.refine, time_budget=asked.time_budget, blocks=asked.blocks)


def _by_meaning(asked: Asked) -> Any:
    asked.refuse("--method semantic", "time_budget", "blocks", *OF_SKETCHES)
    if isinstance(asked.ontology, dict):
        raise InputError("--ontology COLUMN=FILE is for tables; for documents give FILE alone")
    return shoal.SemanticMicroaggregation(ontology=asked.ontology)


def _crowd_sketch(asked: Asked) -> Any:
    from shoal.sketch import CrowdSketch

    asked.refuse("--method crowd-sketch", "ontology", "delta", "max_components")
    groups = shoal.SphericalMicroaggregation(refine=asked.refine, time_budget=asked.time_budget, blocks=asked.blocks)
    return CrowdSketch(method=groups, key=_key(asked), **_given(asked, "components"))


def _delta_sketch(asked: Asked) -> Any:
    from shoal.sketch import DeltaSketch

    asked.refuse("--method delta-sketch", "ontology", "time_budget", "blocks", "components")
    if asked.delta is None:
        raise InputError(
            "--method delta-sketch needs the least variance of every attribute; give --delta, such as 0.5 for baskets "
            "or 0.01 for texts"
        )
    return DeltaSketch(asked.delta, key=_key(asked), **_given(asked, "max_components"))


def _k_variance_sketch(asked: Asked) -> Any:
    from shoal.sketch import KVarianceSketch

    asked.refuse("--method k-variance-sketch", "ontology", "time_budget", "components", "delta")
    return KVarianceSketch(key=_key(asked), **_given(asked, "max_components", "blocks"))


def _given(asked: Asked, *options: str) -> dict[str, Any]:
    """What was said, for the estimator; it has its own defaults."""
    return {name: getattr(asked, name) for name in options if getattr(asked, name) is not None}


def _key(asked: Asked) -> Any:
    from shoal.sketch import SketchKey

    return None if asked.key is None else SketchKey.read(asked.key)


WITHOUT_CROWD: dict[str, Callable[[Asked], Any]] = {
    "delta-sketch": _delta_sketch,
    "k-variance-sketch": _k_variance_sketch,
}
FOR_DOCUMENTS: dict[str, Callable[[Asked], Any]] = {
    "mdav": _by_words,
    "semantic": _by_meaning,
    "crowd-sketch": _crowd_sketch,
    **WITHOUT_CROWD,
}


def document_method(asked: Asked) -> Any:
    """What protects documents."""
    name = asked.method or "mdav"
    asked.refuse("documents", "attribute_groups", "mapping", "weights", "percent")
    if name not in FOR_DOCUMENTS:
        raise InputError(f"--method {name} cannot protect documents; use {', '.join(FOR_DOCUMENTS)}")
    return FOR_DOCUMENTS[name](asked)


def document_space(method: str | None, k: int, items: bool, **steps: Any) -> Any:
    """How documents become vectors: the steps that were given, and what the method needs where nothing was."""
    from shoal.protection.documents import TERMS_PER_DOCUMENT
    from shoal.protection.sketches import steps_of_records

    whole_words: dict[str, Any] = {"stem": False, "terms_per_document": TERMS_PER_DOCUMENT}
    needs = whole_words if method == "semantic" else steps_of_records(items) if method in WITHOUT_CROWD else {}
    given = {name: value for name, value in steps.items() if value is not None}
    return shoal.VectorSpace(items=items, **{"min_df": k} | needs | given)


def table_method(asked: Asked) -> Callable[[tuple[str, ...], tuple[str, ...]], Any]:
    """What protects a table, chosen when it is known which of its quasi-identifiers are numbers and which labels."""
    name, known = asked.method, (*FOR_NUMBERS, *FOR_LABELS, *MASKING)
    asked.refuse("tables", *OF_SKETCHES)
    if name is not None and name not in known:
        raise InputError(f"--method {name} cannot protect a table; use {', '.join(known)}")
    if name in MASKING:
        asked.refuse(f"--method {name}", "time_budget", "blocks", "attribute_groups", "ontology", "mapping", "weights")
        if asked.percent is None:
            raise InputError(f"--method {name} needs to know how strong; give --percent, such as 5")
        masking = MASKING[name](asked.percent)
        return lambda numbers, labels: masking
    asked.refuse("microaggregation", "percent")
    return lambda numbers, labels: _microaggregation(asked, bool(numbers), bool(labels))


def _microaggregation(asked: Asked, has_numbers: bool, has_labels: bool) -> Any:
    """By meaning for labels, by means for numbers, by both for a table of both."""
    name = asked.method
    search: dict[str, Any] = {"refine": asked.refine, "time_budget": asked.time_budget}
    meaning: dict[str, Any] = {"ontology": asked.ontology, "mapping": asked.mapping}
    if name in FOR_LABELS or (name is None and not has_numbers):
        asked.refuse("a table of labels", "attribute_groups", "blocks", "weights")
        return shoal.CategoricalMicroaggregation(**meaning, **search)
    if not has_labels or name not in (None, "mdav"):
        asked.refuse("a table of numbers", "ontology", "mapping", "weights")
        return shoal.Microaggregation(
            method=name or "mdav", attribute_groups=asked.attribute_groups, blocks=asked.blocks, **search
        )
    if not has_numbers:
        raise InputError(f"--method mdav averages numbers, and these are labels; use {', '.join(FOR_LABELS)}")
    asked.refuse("a table with labels", "attribute_groups", "blocks")
    return shoal.MixedMicroaggregation(weights=asked.weights, **meaning, **search)
