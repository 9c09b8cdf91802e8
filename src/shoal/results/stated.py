"""What a certificate states beside its promises: figures with their types, and texts that are Shoal's own wordings.

The report of a release is a function of this, of the promises and of the counted rows. No text in it is free: one that
Shoal does not word so itself is published as "other".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from shoal.request.options import DISTINCT, GroupPromises
from shoal.results.attacks import Rate
from shoal.results.claims import Closeness, Crowd, Diversity, FurtherPromise, Withheld, likeness_in_words
from shoal.results.sanitizing import MaskedKind, SanitizedSummary
from shoal.results.summary import (
    IN_WORDS,
    Distances,
    DocumentFigures,
    SketchFigures,
    StatedLoss,
    Summary,
    TableFigures,
)

OTHER = "other"
LONGEST_LABEL = 100  # characters of a concept's name
MOST_NUMBERS = 101  # of a list of numbers: the edges of bins
FIGURES: dict[str, Any] = {"documents": DocumentFigures, "sketches": SketchFigures, "table": TableFigures}
ELSEWHERE = {"form", "lengths", "loss_of_means", "linked", "above_optimum", "insensitive", "gaps"}  # not in the report
# Names of parameters: of the vector space, the method and the sketch, and what is stated of columns.
NAMES = frozenset(
    [
        "after",
        "attribute_groups",
        "blocks",
        "categories",
        "coarsen",
        "components",
        "correlated",
        "dates",
        "delta",
        "diversity",
        "drop_stop_words",
        "few_values",
        "form",
        "generalised_to",
        "items",
        "k",
        "kept",
        "kept_columns",
        "language",
        "mapping",
        "masking",
        "max_components",
        "max_terms",
        "medians_of",
        "method",
        "microaggregation",
        "min_df",
        "min_letters",
        "missing",
        "ontology",
        "p",
        "random_state",
        "recoded",
        "refine",
        "roles",
        "rounded_to",
        "seal",
        "sketch",
        "stem",
        "terms_per_document",
        "time_budget",
        "vector_space",
        "weighting",
        "weights",
        "whole_numbers",
        "wordnet",
    ]
)
_NUMBER = r"-?\d{1,15}(\.\d{1,15})?(e[+-]?\d{1,3})?"
_METHODS = (
    *map(re.escape, IN_WORDS.values()),
    r"(spherical|semantic) microaggregation \(MDAV\)",
    "(delta|k-variance) sketches",
    "dynamic index, pools of k or more documents that never change",
)
_ATTACKS = (
    "distance-based linkage, (euclidean|mahalanobis)",
    r"interval disclosure(, \d+ of \d+ columns)?",
    r"linkage learned from (known links, tried on others|all links \(worst case\))",
    "documents recovered (exactly|nearly)",
)
_REASONS = (
    r"(in some column )?(of )?fewer than \d+ records( changed)?, and figures about so few tell each of them",
    r"of fewer than \d+ records, figures about the originals tell each of them",
    "(in some column )?one record makes up more than a third of what varies, and such figures would tell it",
    "(in some column )?compared with those of the release before, such figures would tell who left",
    "(in some column )?no group shows a value",
    "the originals are encrypted, and nobody has all of them|in no group yet|a quasi-identifier is missing",
    "fewer than k records have these values of the kept columns",
    "records with these values of the kept columns have too few confidential values",
    "fewer than k newcomers: they wait for a later release",
    "newcomers with fewer than l values: coming later, among others, they would tell them",
    "others of the group left or have other values, which would show if these stayed",
    "left an earlier release, or was withheld from one: nobody comes back",
    rf"no component meets (delta|k)={_NUMBER}|no term left after the vector space's steps|empty",
    "not (UTF-8 text|JSON|a JSON object|a regular file)|binary, not text|broken gzip",
    "cannot be read|no permission to read it",
    f"every attribute of a record is estimated with a variance of at least {_NUMBER}",
    r"products of a record with its \d+ nearest neighbours are estimated too coarsely to tell them apart",
)
_FILES = (
    "the matrix's columns: one term per line|every term of the release, one per line",
    "the same weights as a SciPy CSR matrix|(folder of parts, )?one row per record",
    "(folder of parts, )?one row per (document|basket): terms, how often the documents of its group have each of them, "
    "and weights(, its label)?",
    "(folder of parts, )?one row per (document|basket): its sketch, a list of numbers(, and its label)?",
    "the same rows(, written as the input was| for (SPSS|Stata)| as a spreadsheet| as a Feather file)",
    "the same rows for SAS; its format has no labels of values, so they are in place of their codes",
    r"(table|vectors|sketches)(\.(csv|tsv|csv\.gz|tsv\.gz|parquet|npz|sav|dta|xpt|xlsx|feather))?|terms\.txt",
)
_SETTINGS = (
    "mdav|sa-mdav|ranking|z-scores|principal-component|rank-swap|noise|correlated-noise|tf|tf-idf|halves|given|set",
    "WordNet|Hierarchy|Roles|most frequent|median|stored|month|year|decade|withhold|impute|group|refuse",
    "(dan|engl|finn|ir|pol|span|swed|turk)ish|german|french|italian|portuguese|dutch|norwegian|russian|hungarian|romanian",
    "arabic|basque|catalan|greek|hindi|indonesian|lithuanian|nepali|tamil|armenian|serbian|yiddish|the owner's own",
    r"(%[YmdHMSfz]|[-/. :TZ]){1,20}|(year|month|day|minute|second|step)s|string|int64|double|document|basket",
    "stop words|not in WordNet|too (short|rare)|everywhere|beyond (the|a document's) heaviest terms",
    r"[0-9a-f]{64}|[a-z]{2}_core_(web|news)_(sm|md|lg|trf) \d+(\.\d+){1,3}|none|own|health|legal|personal|press|court",
)
_SUFFIX = "((, refined)?(, sketched)?(, after an earlier release)?)"
WORDS = re.compile(
    "|".join([OTHER, *(f"({form}){_SUFFIX}" for form in _METHODS), *_ATTACKS, *_REASONS, *_FILES, *_SETTINGS])
)
CELLS = ("", ".", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")  # how a missing value may be written


def worded(text: str, columns: Collection[str] = ()) -> str:
    """The text, if it is a column's name or worded by Shoal."""
    return text if text in columns or WORDS.fullmatch(text) else OTHER


def worded_parameters(value: Any, columns: Collection[str]) -> Any:
    """Parameters by known names: numbers and worded texts, for a column or for all; lists are of columns."""
    if isinstance(value, dict):
        known = {name: entry for name, entry in value.items() if name in NAMES or name in columns}
        return {name: worded_parameters(entry, columns) for name, entry in known.items()}
    if isinstance(value, list | tuple):
        return [name for name in dict.fromkeys(value) if name in columns] if all(map(_is_text, value)) else OTHER
    if isinstance(value, str):
        return worded(value, columns)
    return value if value is None or isinstance(value, bool | int | float) else OTHER


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def reported(summary: Summary, columns: Collection[str]) -> dict[str, Any]:
    """What the report needs beside promises, counts and the other statements; a text that is not ours is "other"."""
    figures = {name: value for name, value in asdict(summary.figures).items() if name not in ELSEWHERE}
    return {
        "attacked": summary.attacked,
        "distances": asdict(summary.distances),
        "figures": _worded_figures(figures, columns),
        "files": [[name, worded(meaning)] for name, meaning in summary.files],
    }


def _worded_figures(value: Any, columns: Collection[str], name: str = "") -> Any:
    """Figures with texts as they may be published: names of columns, labels of concepts, wordings."""
    if isinstance(value, dict):
        return {key: _worded_figures(entry, columns, key) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_worded_figures(entry, columns, name) for entry in value]
    if not isinstance(value, str):
        return value
    if name in ("label", "term", "median_in_words"):
        return value[:LONGEST_LABEL]
    return value if name == "missing" and value in CELLS else worded(value, columns)


def is_worded(report: Mapping[str, Any], columns: Collection[str]) -> bool:
    """Whether no text in what a report needs is free."""
    files = all(worded(text) == text for pair in report["files"] for text in pair)
    return files and _worded_figures(report["figures"], columns) == report["figures"]


def typed(kind: Any, value: Any, name: str = "") -> Any:
    """A value of JSON as the type says, dataclasses by their fields; ValueError if it is none."""
    origin = get_origin(kind)
    if origin is UnionType:
        options = get_args(kind)
        if value is None and NoneType in options:
            return None
        return typed(next(option for option in options if option is not NoneType), value, name)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        known = [field for field in fields(kind) if field.name not in ELSEWHERE]
        if type(value) is not dict or {field.name for field in known} != value.keys():
            raise ValueError(f"{name} must have the fields of {kind.__name__}")
        given = {field.name: typed(hints[field.name], value[field.name], field.name) for field in known}
        needed = [field.name for field in fields(kind) if field.name not in given and field.default is MISSING]
        return kind(**given, **dict.fromkeys(needed))
    if origin is tuple:
        inner = get_args(kind)
        if type(value) is not list or (inner[-1] is not ... and len(value) != len(inner)):
            raise ValueError(f"{name} must be a list")
        if inner[-1] is not ...:
            return tuple(typed(one, entry, name) for one, entry in zip(inner, value, strict=True))
        if inner[0] in (int, float) and len(value) > MOST_NUMBERS:
            raise ValueError(f"{name} must have at most {MOST_NUMBERS} numbers")
        return tuple(typed(inner[0], entry, name) for entry in value)
    if kind is float and type(value) in (int, float) and abs(value) < 1e300:
        return value
    if type(value) is not kind or (kind is int and abs(value) >= 2**53):
        raise ValueError(f"{name} must be {getattr(kind, '__name__', kind)}")
    return value


def summary_of(
    kind: str,
    promises: Mapping[str, Any],
    stated: Mapping[str, Any],
    group_sizes: tuple[tuple[int, int], ...],
    lengths: tuple[tuple[int, int], ...] = (),
) -> Summary:
    """The release in figures, as its report shows them; ValueError where a figure is of another type."""
    report, crowd = stated["report"], promises["anonymity"]
    return Summary(
        k=crowd["k"] or 1,
        method=stated["method"],
        promises_k=crowd["whole_rows"],
        rows=promises["rows"],
        smallest_group=crowd["smallest_group"],
        group_sizes=group_sizes,
        loss=_loss(stated),
        distances=typed(Distances, report["distances"], "distances"),
        withheld=tuple(Withheld(**reason) for reason in stated["withheld"]),
        diversity=tuple(Diversity(**column) for column in promises["diversity"]["columns"]),
        figures=_figures(kind, promises, stated, lengths),
        attacks=tuple(Rate(**attack) for attack in stated["attacks"]),
        attacked=typed(bool, report["attacked"], "attacked"),
        closeness=tuple(Closeness(**column) for column in stated["closeness"]),
        further=_further(promises),
        files=typed(tuple[tuple[str, str], ...], report["files"], "files"),
        promised=_promised(promises),
        crowds=tuple(Crowd(**group) for group in promises.get("crowds", ())),
    )


def _figures(kind: str, promises: Mapping[str, Any], stated: Mapping[str, Any], lengths: tuple[Any, ...]) -> Any:
    figures = typed(FIGURES[kind], stated["report"]["figures"], "figures")
    columns = promises["columns"]
    if kind == "documents":
        return replace(figures, form=promises["form"], loss_of_means=stated["loss_of_means"])
    if kind == "sketches":
        return replace(figures, form=promises["form"], lengths=lengths)
    return replace(
        figures,
        linked=stated["linked"],
        above_optimum=stated["above_optimum"],
        insensitive=tuple(column["name"] for column in columns if column["role"] == "insensitive"),
        gaps=tuple((column["name"], column["gaps"]) for column in columns if "gaps" in column),
    )


def _loss(stated: Mapping[str, Any]) -> StatedLoss | None:
    if (between := stated["loss_range"]) is not None:
        return StatedLoss(between["low"], between["high"], reason=between["reason"])
    share = stated["information_loss"]
    return None if share is None else StatedLoss(share, share, stated["sse"], stated["ssa"])


def _further(promises: Mapping[str, Any]) -> tuple[FurtherPromise, ...]:
    if "likeness" not in promises:
        return ()
    bound = promises["likeness"]["bound"]
    columns = tuple((column["column"], column["gain"]) for column in promises["likeness"]["columns"])
    return (FurtherPromise("likeness", bound, columns, likeness_in_words(bound)),)


def _promised(promises: Mapping[str, Any]) -> GroupPromises:
    """What was asked for, as far as a report shows it: that people are counted, not by which column."""
    asked, crowds = promises["diversity"], promises.get("crowds", ())
    return GroupPromises(
        l=asked["l"],
        diversity=asked.get("kind", DISTINCT),
        c=asked.get("c"),
        t=promises.get("closeness", {}).get("t"),
        beta=promises.get("likeness", {}).get("bound"),
        person="person" if any(group["people"] is not None for group in crowds) else None,
        k_column="k" if any(group["own_k"] is not None for group in crowds) else None,
    )


def sanitized_summary(promises: Mapping[str, Any], stated: Mapping[str, Any]) -> SanitizedSummary:
    """A release of sanitized documents in figures, as its report shows them."""
    masked = tuple(MaskedKind(kind, **counts) for kind, counts in stated["masked"].items())
    own = {name: stated[name] for name in ("hidden_share", "model", "policy", "threshold", "blocks", "kept")}
    own |= {name: stated[name] for name in ("reviewers", "unseen", "rejected", "withheld")}
    own |= {name: promises[name] for name in ("documents", "form", "style", "scope")}
    dial = typed(tuple[tuple[float, int], ...], stated["dial"], "dial")
    return SanitizedSummary(kinds=masked, decisions=promises["log"]["decisions"], dial=dial, **own)
