"""Which texts of a certificate are Shoal's own wordings. No text in it is free: any other is published as "other"."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from shoal.results.summary import IN_WORDS

OTHER = "other"
LONGEST_LABEL = 100  # characters of a concept's name
# Names of parameters: of the vector space, the method and the sketch, and what is stated of columns.
NAMES = frozenset(
    [
        "after",
        "attribute_groups",
        "blocks",
        "calibrated",
        "categories",
        "coarsen",
        "column",
        "components",
        "constant",
        "correlated",
        "dates",
        "delta",
        "diversity",
        "drop_stop_words",
        "form",
        "generalised_to",
        "items",
        "k",
        "kept",
        "treated",
        "language",
        "largest_adjustment",
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
        "sampling_weights",
        "seal",
        "sketch",
        "stem",
        "step",
        "terms_per_document",
        "time_budget",
        "total_change",
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
    "(in some column )?one record or person makes up more than a third of what varies, and such figures would tell it",
    "(in some column )?compared with those of the release before, such figures would tell who left",
    "(in some column )?no group shows a value",
    "the originals are encrypted, and nobody has all of them|in no group yet|a quasi-identifier is missing",
    "more records than k people have",
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
    rf"((top|bottom|round|prefix|level) {_NUMBER} ?)+|(icd10|nace|isco) [a-z]+|[<\d.,+ -]{{1,100}}",  # recodings
    "mdav|sa-mdav|ranking|z-scores|principal-component|rank-swap|noise|correlated-noise|tf|tf-idf|halves|given|keep|generalise|blank|average",
    "WordNet|Hierarchy|Roles|most frequent|median|stored|month|year|decade|withhold|impute|group|refuse",
    "(dan|engl|finn|ir|pol|span|swed|turk)ish|german|french|italian|portuguese|dutch|norwegian|russian|hungarian|romanian",
    "arabic|basque|catalan|greek|hindi|indonesian|lithuanian|nepali|tamil|armenian|serbian|yiddish|the owner's own",
    r"(%[YymbdHMSfz]|[-/. ,:TZ]| de ){1,20}|(year|month|day|minute|second|step)s|string|int64|double|document|basket",
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
