"""What a certificate promises and states, as plain data: made of a summary, and the summary made of it again.

The report of a release is a function of this and of the counted rows, so that whoever has them can make it again. No
text in it is free: what Shoal has no wording for is published as "other".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from shoal.language import ENGLISH
from shoal.request.options import DISTINCT, GroupPromises
from shoal.results.attacks import Rate
from shoal.results.claims import Closeness, Crowd, Diversity, Withheld
from shoal.results.sanitizing import MaskedKind, PeopleFound, SanitizedSummary
from shoal.results.summary import (
    IN_WORDS,
    Distances,
    DocumentFigures,
    SketchFigures,
    StatedLoss,
    Summary,
    TableFigures,
    WeightFigures,
)

OTHER = "other"
LONGEST_LABEL = 100  # characters of a concept's name
# Names of parameters: of the vector space, the method and the sketch, and what is stated of columns.
NAMES = frozenset((
    "drop_stop_words", "form", "items", "language", "max_terms", "min_df", "min_letters", "p", "stem",
    "terms_per_document", "vector_space", "weighting", "wordnet",
    "attribute_groups", "blocks", "components", "correlated", "delta", "generalised_to", "k", "mapping", "masking",
    "max_components", "method", "microaggregation", "ontology", "random_state", "refine", "roles", "sketch",
    "time_budget", "weights",
    "after", "calibrated", "categories", "coarsen", "column", "constant", "dates", "diversity", "kept",
    "largest_adjustment", "medians_of", "missing", "recoded", "rounded_to", "sampling_weights", "seal", "step",
    "total_change", "treated", "whole_numbers",
))  # fmt: skip
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
    "(in some column )?one record or person makes up more than a third of what varies, and such figures would tell it",
    "(in some column )?compared with those of the release before, such figures would tell who left",
    "(in some column )?no group shows a value",
    "the originals are encrypted, and nobody has all of them|in no group yet|a quasi-identifier is missing",
    "more records than k (people|households) have",
    "fewer than k records have these values of the kept columns",
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
_UNITS = "(year|month|day|minute|second|step)s"
_STEPS = "stop words|not in WordNet|too (short|rare)|everywhere|beyond (the|a document's) heaviest terms"
_SETTINGS = (
    rf"((top|bottom|round|prefix|level) {_NUMBER} ?)+|(icd10|nace|isco) [a-z]+|[<\d.,+ -]{{1,100}}",  # recodings
    "mdav|sa-mdav|ranking|z-scores|principal-component|rank-swap|noise|correlated-noise|tf|tf-idf|halves|given|keep|generalise|blank|average",
    "WordNet|Hierarchy|Roles|most frequent|median|stored|month|year|decade|withhold|impute|group|refuse",
    "(dan|engl|finn|ir|pol|span|swed|turk)ish|german|french|italian|portuguese|dutch|norwegian|russian|hungarian|romanian",
    "arabic|basque|catalan|greek|hindi|indonesian|lithuanian|nepali|tamil|armenian|serbian|yiddish|the owner's own",
    r"(%[YymbdHMSfz]|[-/. ,:TZ]| de ){1,20}|string|int64|double|document|basket",
    _UNITS,
    _STEPS,
    r"[0-9a-f]{64}|[a-z]{2}_core_(web|news)_(sm|md|lg|trf) \d+(\.\d+){1,3}|none|own|health|legal|personal|press|court",
)
_SUFFIX = "((, refined)?(, sketched)?(, after an earlier release)?)"
TRANSLATED = (OTHER, *_METHODS, _SUFFIX, *_ATTACKS, *_REASONS, *_FILES[:-1], _UNITS, _STEPS)  # as pages show them
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


def worded_figures(value: Any, columns: Collection[str], name: str = "") -> Any:
    """Figures with texts as they may be published: names of columns, labels of concepts, wordings."""
    if isinstance(value, dict):
        return {key: worded_figures(entry, columns, key) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [worded_figures(entry, columns, name) for entry in value]
    if not isinstance(value, str):
        return value
    if name in ("label", "term", "median_in_words"):
        return value[:LONGEST_LABEL]
    return value if name == "missing" and value in CELLS else worded(value, columns)


def is_worded(report: Mapping[str, Any], columns: Collection[str]) -> bool:
    """Whether no text in what a report needs is free."""
    files = all(worded(text) == text for pair in report["files"] for text in pair)
    return files and worded_figures(report["figures"], columns) == report["figures"]


MOST_NUMBERS = 101  # of a list of numbers: the edges of bins
FIGURES: dict[str, Any] = {"documents": DocumentFigures, "sketches": SketchFigures, "table": TableFigures}
# Stated elsewhere than in the report.
ELSEWHERE = {"form", "lengths", "loss_of_means", "linked", "above_optimum", "insensitive", "gaps", "weights", "recoded"}


def promises_of(
    summary: Summary,
    columns: Sequence[dict[str, str]],
    shared_columns: Sequence[Sequence[str]],
    copy: dict[str, Any] | None,
) -> dict[str, Any]:
    """What the release promises; promises that were not asked for are absent."""
    figures, asked = summary.figures, summary.promised
    promises: dict[str, Any] = {
        "rows": summary.rows,
        "columns": list(columns),
        "anonymity": {
            "k": summary.k if summary.k > 1 else None,  # null: no crowd is promised
            "whole_rows": summary.promises_k,
            "shared_columns": [list(part) for part in shared_columns],
            "smallest_group": summary.smallest_group,
        },
        "form": getattr(figures, "form", None),
        "diversity": {
            "l": asked.l,
            "columns": [
                {name: value for name, value in asdict(column).items() if value is not None}
                for column in summary.diversity
            ],
        },
    }
    if copy is not None:
        promises["copy"] = copy
    if isinstance(figures, SketchFigures):
        promises["lengths"] = {"shortest": figures.lengths[0][0], "longest": figures.lengths[-1][0]}
    if asked.diversity != DISTINCT:
        promises["diversity"] |= {"kind": asked.diversity} | ({} if asked.c is None else {"c": asked.c})
    if asked.t is not None:
        promises["closeness"] = {"t": asked.t, "columns": [asdict(column) for column in summary.closeness]}
    if asked.beta is not None:
        gains = [{"column": column, "gain": gain} for column, gain in summary.likeness]
        promises["likeness"] = {"bound": asked.beta, "columns": gains}
    if summary.visible:
        promises["visible"] = [dict(zip(("column", "value", "rows"), one, strict=True)) for one in summary.visible]
    if asked.unit is not None or asked.k_column is not None:
        promises["crowds"] = [asdict(crowd) for crowd in summary.crowds]
    if asked.household is not None:
        promises["unit"] = "household"  # which crowds are counted in; else people
    return promises


def stated_of(summary: Summary, columns: Collection[str], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What only the owner can know: figures, and how the release was made, in words of Shoal's own."""
    figures, loss = summary.figures, summary.loss
    shown = {name: value for name, value in asdict(figures).items() if name not in ELSEWHERE}
    # The loss as measured, or the tenths between which one lies that may not be published so; null: there is none.
    lost: dict[str, Any] = dict.fromkeys(("sse", "ssa", "information_loss", "loss_range"))
    if loss is not None and loss.reason is None:
        lost |= {"sse": loss.sse, "ssa": loss.ssa, "information_loss": round(loss.low, 6)}
    elif loss is not None:
        between = {"low": loss.low, "high": loss.high, "reason": worded(str(loss.reason))}
        lost |= {"sse": loss.sse, "ssa": loss.ssa, "loss_range": between}
    return {
        "method": worded(summary.method),
        "parameters": worded_parameters(_plain(parameters), columns),
        "report": _plain(
            {
                "attacked": summary.attacked,
                "distances": asdict(summary.distances),
                "figures": worded_figures(shown, columns),
                "files": [[name, worded(meaning)] for name, meaning in summary.files],
            }
            | stated_language(summary.language)
        ),
        **lost,
        "loss_of_means": getattr(figures, "loss_of_means", None),
        "above_optimum": getattr(figures, "above_optimum", None),
        "linked": getattr(figures, "linked", None),
        "attacks": [
            {"about": worded(attack.about), "n": attack.n}
            | {name: round(getattr(attack, name), 4) for name in ("rate", "low", "high", "baseline")}
            for attack in summary.attacks
        ],
        "withheld": [{"reason": worded(reason.reason), "count": reason.count} for reason in summary.withheld],
    }


def stated_language(language: str) -> dict[str, str]:
    """As a certificate states it: nothing is English."""
    return {} if language == ENGLISH else {"language": language}


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: NumPy's numbers as numbers, sequences as lists, an object by its kind alone."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, str | int | float) else type(value).__name__


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
    between, share, loss = stated["loss_range"], stated["information_loss"], None
    if between is not None:
        loss = StatedLoss(between["low"], between["high"], reason=between["reason"])
    elif share is not None:
        loss = StatedLoss(share, share, stated["sse"], stated["ssa"])
    return Summary(
        k=crowd["k"] or 1,
        method=stated["method"],
        promises_k=crowd["whole_rows"],
        rows=promises["rows"],
        smallest_group=crowd["smallest_group"],
        group_sizes=group_sizes,
        loss=loss,
        distances=typed(Distances, report["distances"], "distances"),
        withheld=tuple(Withheld(**reason) for reason in stated["withheld"]),
        diversity=tuple(Diversity(**column) for column in promises["diversity"]["columns"]),
        figures=_figures(kind, promises, stated, lengths),
        attacks=tuple(Rate(**attack) for attack in stated["attacks"]),
        attacked=typed(bool, report["attacked"], "attacked"),
        closeness=tuple(Closeness(**column) for column in promises.get("closeness", {}).get("columns", ())),
        likeness=tuple((one["column"], one["gain"]) for one in promises.get("likeness", {}).get("columns", ())),
        files=typed(tuple[tuple[str, str], ...], report["files"], "files"),
        promised=_promised(promises),
        visible=tuple((one["column"], one["value"], one["rows"]) for one in promises.get("visible", ())),
        crowds=tuple(Crowd(**group) for group in promises.get("crowds", ())),
        language=report.get("language", ENGLISH),
    )


def _figures(kind: str, promises: Mapping[str, Any], stated: Mapping[str, Any], lengths: tuple[Any, ...]) -> Any:
    figures = typed(FIGURES[kind], stated["report"]["figures"], "figures")
    columns, weights = promises["columns"], stated["parameters"].get("sampling_weights")
    if kind == "documents":
        return replace(figures, form=promises["form"], loss_of_means=stated["loss_of_means"])
    if kind == "sketches":
        return replace(figures, form=promises["form"], lengths=lengths)
    recoded = stated["parameters"].get("recoded", {})
    if type(recoded) is not dict:
        raise ValueError("recoded must name columns and rules")
    return replace(
        figures,
        linked=stated["linked"],
        above_optimum=stated["above_optimum"],
        insensitive=tuple(column["name"] for column in columns if column["role"] == "insensitive"),
        recoded=typed(tuple[tuple[str, str], ...], list(map(list, recoded.items())), "recoded"),
        gaps=tuple((column["name"], column["gaps"]) for column in columns if "gaps" in column),
        weights=None if weights is None else typed(WeightFigures, weights, "sampling_weights"),
    )


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
        household=promises.get("unit"),
        pseudonym=any(column["role"] == "unit" for column in promises["columns"]),
        k_column="k" if any(group["own_k"] is not None for group in crowds) else None,
    )


def sanitized_summary(promises: Mapping[str, Any], stated: Mapping[str, Any]) -> SanitizedSummary:
    """A release of sanitized documents in figures, as its report shows them."""
    masked = tuple(MaskedKind(kind, **counts) for kind, counts in stated["masked"].items())
    own = {name: stated[name] for name in ("hidden_share", "model", "policy", "threshold", "blocks", "kept")}
    own |= {name: stated[name] for name in ("reviewers", "unseen", "rejected", "withheld")}
    own |= {name: promises[name] for name in ("documents", "form", "style", "scope")}
    dial = typed(tuple[tuple[float, int], ...], stated["dial"], "dial")
    own |= {"language": stated.get("language", ENGLISH)}
    found = PeopleFound(**stated["reidentification"]) if "reidentification" in stated else None
    return SanitizedSummary(
        kinds=masked, decisions=promises["log"]["decisions"], dial=dial, reidentification=found, **own
    )
