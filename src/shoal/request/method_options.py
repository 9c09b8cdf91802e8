"""The option table, continued: the method and its parameters, and how documents become vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.request.option import BASKETS, DOCUMENTS, TABLES, option
from shoal.request.values import File, Files, Number, NumberByColumn, OneOf, Pairs, Switch, Text, Value, Whole

EXPLORE = ("protect", "explore")
FOR_NUMBERS = ("mdav", "ranking", "z-scores", "principal-component")
FOR_LABELS = ("sa-mdav",)
MASKING = ("rank-swap", "noise", "correlated-noise")
RECORD_SKETCHES = ("delta-sketch", "k-variance-sketch")  # of single records: they promise no crowd
SKETCHES = ("crowd-sketch", *RECORD_SKETCHES)
FOR_DOCUMENTS = ("mdav", "semantic", *SKETCHES)
METHODS = tuple(dict.fromkeys((*FOR_DOCUMENTS, *FOR_NUMBERS, *FOR_LABELS, *MASKING)))
MEANINGS = ("time_budget", "ontology", "mapping")
TAKES = {  # the options of each method, beside `refine`, and of microaggregation by what the columns are
    "mdav": ("time_budget", "ontology"),
    "semantic": ("ontology",),
    "crowd-sketch": ("time_budget", "components", "key"),
    "delta-sketch": ("delta", "max_components", "key"),
    "k-variance-sketch": ("max_components", "key"),
    "a table of numbers": ("time_budget", "attribute_groups"),
    "a table of labels": MEANINGS,
    "a table with labels": (*MEANINGS, "importance"),
    "generalised or blanked columns": ("time_budget", "ontology", "importance"),
    "microaggregation": (*MEANINGS, "importance", "attribute_groups"),
    **dict.fromkeys(MASKING, ("percent",)),
}

method_option = partial(option, heading="Method")
sketch_option = partial(option, of=(DOCUMENTS, BASKETS), heading="Sketches", see="methods/sketches.md")
word_option = partial(option, of=(DOCUMENTS, BASKETS), heading="Documents", see="methods/vector-space.md")


@dataclass(frozen=True)
class MethodOptions:
    """The method, by name or as an estimator, and its parameters; None where it is left to the method."""

    SECTION: ClassVar = "method"  # of a plan

    method: Any = method_option(
        f"One of {', '.join(METHODS)}.", OneOf(METHODS, objects=True), otherwise="by the columns", label="Method"
    )
    refine: bool = method_option(
        "Search for better groups than MDAV's.",
        Switch(),
        default=True,
        commands=EXPLORE,
        see="methods/refinement.md",
        label="Search for better groups",
    )
    time_budget: float | None = method_option(
        "Seconds that the search may take, roughly.",
        Number(unit="number of seconds", metavar="<seconds>"),
        otherwise="by size",
        see="methods/refinement.md",
        commands=EXPLORE,
    )
    attribute_groups: int | None = method_option(
        "Number of columns to protect at a time; whole records then have no crowd.",
        Whole(),
        of=(TABLES,),
        see="methods/numeric-microaggregation.md",
    )
    percent: float | Mapping[str, float] | None = method_option(
        "Rank swapping and noise: the strength in per cent, for all columns or by column, such as age=5,income=20.",
        NumberByColumn(),
        of=(TABLES,),
        see="methods/masking.md",
        label="Strength in per cent",
    )
    ontology: Any = method_option(
        "What labels and words mean: a file for all columns (of several, the first that has a value), or COLUMN=FILE.",
        Files(),
        commands=("protect", "explore", "map"),
        otherwise="WordNet",
        see="methods/ontologies.md",
        label="Labels are compared",
        column="ontology",
    )
    mapping: Any = method_option(
        "File that says which concepts the labels mean; see shoal map.",
        File(),
        of=(TABLES,),
        commands=EXPLORE,
        see="labels.md",
    )
    importance: Mapping[str, float] | None = method_option(
        "How much columns count when groups are made, such as age=2,job=1.",
        Pairs(Number(), example="COLUMN=NUMBER, age=2"),
        of=(TABLES,),
        otherwise="all count alike",
        see="treatments.md#importance",
        label="How much it counts",
        column="importance",
        commands=EXPLORE,
    )
    components: int | None = sketch_option("Crowd sketches: numbers in each sketch.", Whole(), otherwise="512")
    delta: float | None = sketch_option("Delta sketches: smallest variance of every attribute.", Number())
    max_components: int | None = sketch_option(
        "Delta and k-variance sketches: largest number of components.", Whole(), otherwise="1024, 64"
    )
    key: Any = sketch_option(
        "File with the secret key, so that sketches of several releases can be compared.",
        File(),
        otherwise="a new one, kept in the private folder",
    )

    def check_for(self, tables: bool) -> None:
        """Refuse what the method does not take, as far as that is known without the columns."""
        name = self.method
        if not isinstance(name, str | None):
            self._check_estimator()
        elif tables and name in (None, *FOR_NUMBERS, *FOR_LABELS, *MASKING):
            self.check_taken(name if name in MASKING else "microaggregation")
        elif not tables and name in (None, *FOR_DOCUMENTS):
            self.check_taken(name or "mdav")

    def check_taken(self, kind: str) -> None:
        """Refuse options of other methods."""
        for known in fields(self):
            if known.name not in ("method", "refine", *TAKES[kind]) and getattr(self, known.name) is not None:
                raise InputError(f"{{option}} is not for {kind}; leave it out", known.name)

    def _check_estimator(self) -> None:
        """An estimator has its parameters itself."""
        for known in fields(self):
            if known.name != "method" and getattr(self, known.name) != known.default:
                whose = type(self.method).__name__
                raise InputError(
                    f"{{option}} is a parameter of the method; give it to {whose}, or name the method", known.name
                )


@dataclass(frozen=True)
class WordOptions:
    """How documents become vectors: a space, or the steps of one."""

    SECTION: ClassVar = "documents"  # of a plan

    space: Any = word_option("A VectorSpace, in place of the steps below.", Value(), only_python=True)
    language: str | None = word_option(
        "Language of the texts: chooses stop words and stemmer.",
        Text(metavar="<name>"),
        of=(DOCUMENTS,),
        otherwise="english",
        label="Language",
    )
    wordnet: bool | None = word_option(
        "Keep only words that WordNet knows.", Switch(), of=(DOCUMENTS,), otherwise="for English"
    )
    stem: bool | None = word_option("Reduce words to stems.", Switch(), of=(DOCUMENTS,), otherwise="yes; semantic: no")
    min_df: int | None = word_option("Drop terms in fewer documents.", Whole(), otherwise="k")
    max_terms: int | None = word_option("Number of terms to keep, the heaviest.", Whole(), otherwise="all")
    terms_per_document: int | None = word_option(
        "Number of terms to keep per document, the heaviest.", Whole(), otherwise="all; semantic: 50"
    )
