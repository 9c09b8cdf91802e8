"""Sentences of the pages: what promises and choices mean, and what a command says, for people who use no shell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shoal.errors import InputError
from shoal.request.request import OPTIONS, spelled_option

# What each promise means to whoever receives a release.
PROMISES = {
    "certificate": "The list of promises is the one that was sealed.",
    "files": "Nothing was changed since the release was made.",
    "schema": "The columns are those that were promised.",
    "rows": "No record was added or taken away.",
    "k-anonymity": "By these columns, nobody can tell which of so many records is a person's.",
    "l-diversity": "Knowing a person's group does not reveal the confidential value.",
    "t-closeness": "A group's confidential values are much like everybody's.",
    "β-likeness": "No confidential value is much more frequent in a group than among everybody.",
    "people": "A crowd is counted in people, not in records.",
    "own k": "Each record has the crowd that it asked for.",
    "order": "The position of a record reveals nothing about it.",
    "no crowd": "This method hides no record in a crowd.",
    "signature": "The release comes from the owner of the key.",
    "masked strings": "Nothing that was masked is left in the release.",
    "pseudonyms": "Each name in the texts stands for one that was masked.",
    "least k": "The crowds are as large as you asked for.",
}

# A file of the private folder: where it lies there is of no interest.
_PRIVATE_PATH = re.compile(r"(?:/[^/;:]+)*/(?:uploads|jobs)/[0-9a-f]{16}/(?:work/)?")
_WORDING = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"give the private folder with --private", "choose its private part"),
        (r"give its private folder with --private", "choose its private part"),
        (r"say --aligned", "say that both are in the same order"),
        (r"pass --missing [\w, ]+", "choose under More what becomes of such rows"),
        (r"if they are codes, pass --categorical .*", "if they are codes, say so beside the column"),
        (r"or say --kind .*=number", "or say that its numbers are amounts"),
        (r"drop it \(--drop\)", "choose Drop for it"),
        (r"if it names the record, drop it: --drop .*", "if it names the record, choose Drop for it"),
        (r"for the median of each group give its order: --order .*", "numbers in that order would give the median"),
        (r"take all as plain categories \(--categorical [^)]*\), ", ""),
        (
            r"; if that is wrong, give --delimiter, --decimal or --encoding",
            "; if that is wrong, say so under How the file is read, or save it as CSV in UTF-8",
        ),
        (r"give another --encoding", "save it as UTF-8"),
        (r"name one with --sheet", "save the one you mean as a file of its own"),
        (r"say which: --delimiter", "save it with commas"),
        (r"say which sign is the decimal one: --decimal comma or --decimal point", "save it with decimal points"),
        (r"use --format text( or html)?", "choose text as the form of the release"),
        (r"give it in SHOAL_PASSPHRASE, or type it", "enter it"),
        (r"a quasi-identifier is missing", "a protected column has no value"),
        (
            r"to have them as they stand: --kind .*",
            "to have them as they stand, say under More about this column that they are codes",
        ),
        (r"write protect\b", "choose Protect"),
        (r"write drop\b", "choose Drop"),
        (r"write allow = true", "choose Keep and allow it under More about this column"),
        (r'write kind = "number"', "say under More about this column that they are amounts"),
        (r'write kind = "code"', "say so under More about this column"),
        (r'write role = "person"', "choose it as the column that says whose a record is"),
        (r'write role = "weight"', "choose it as the sampling weight"),
        (
            r"looks like codes for missing values: missing_codes = \[(.*)\]; if they are values, leave that out",
            r"read as missing: \1; if that is wrong, clear Missing codes under More about this column",
        ),
        (r" \(--[a-z-]+\)", ""),
        (r" (?:with|in) --[a-z-]+(?:(?:,| and) --[a-z-]+)*", ""),
    )
)
_OPTION = re.compile(r"--[a-z][a-z-]*")
_LABELS = {known.flag: f"“{known.about.label}”" for known in OPTIONS.values() if known.about.label}


def message_of(problem: Exception) -> str:
    """What a command would say of it, which `for_people` words for the pages."""
    if not isinstance(problem, InputError):
        return str(problem)
    return problem.spelled(lambda name, value: f"{spelled_option(name)} {value}".rstrip())


def for_people(text: str) -> str:
    """A message of a command in the words of the pages: options as their fields are called, files by their names.

    >>> for_people("/home/a/uploads/0123456789abcdef/people.csv has 2 sheets (a, b); name one with --sheet")
    'people.csv has 2 sheets (a, b); save the one you mean as a file of its own'
    >>> for_people("--l 2 needs groups")
    '“Different confidential values in each group, at least (l)” 2 needs groups'
    """
    text = _PRIVATE_PATH.sub("", text)
    for pattern, replacement in _WORDING:
        text = pattern.sub(replacement, text)
    return _OPTION.sub(lambda flag: _LABELS.get(flag.group(), flag.group()), text)


OF_CHOICES: Mapping[str, Mapping[str, str]] = {
    "missing": {
        "refuse": "stop and tell me",
        "withhold": "leave them out of the release",
        "group": "keep them: a gap is a value of its own",
        "impute": "keep them: fill gaps with the mean of the group",
    },
    "diversity": {
        "distinct": "different values",
        "entropy": "values as hard to guess as l equally frequent ones (entropy)",
        "recursive": "the most frequent less than c times those from the l-th on (recursive)",
    },
    "method": {
        "": "chosen by the data: means of numbers, common concepts of labels, words of a group",
        "ranking": "one column after the other: no crowd for whole records",
        "z-scores": "along the sum of all columns",
        "principal-component": "along the principal component",
        "rank-swap": "swap values of similar rank: no crowd is promised",
        "noise": "add noise: no crowd is promised",
        "correlated-noise": "add noise that keeps correlations: no crowd is promised",
        "semantic": "by meaning: words are generalised with WordNet",
        "crowd-sketch": "as sketches: words are hidden, similarities stay",
    },
    "kinds": {
        "": "as recognised",
        "number": "amounts, to be averaged",
        "whole": "whole amounts, to be averaged",
        "date": "dates",
        "label": "words",
        "code": "codes of categories",
        "ordered": "words in an order",
        "yes-no": "yes or no",
    },
    "categorical": {
        "": "not plain categories",
        "most frequent": "plain categories: the most frequent of a group is released",
        "set": "plain categories: the set of a group's values is released",
    },
    "person": {"": "every record is another person"},
    "k_column": {"": "the same k for all"},
    "id_column": {"": "none"},
    "label_column": {"": "none"},
    "treat": {
        "": "by the method: averaged, or the concept in common",
        "keep": "true in every row: groups never cross it",
        "generalise": "true but coarser: bands, sets or concepts in common",
        "blank": "left blank where the values of its group differ",
        "average": "averaged",
    },
}
# Titles of the folds, by the heading of the options in them.
FOLDS: Mapping[str, str] = {
    "Promises": "More promises",
    "Tables": "More about the table",
    "Method": "How groups are made",
    "Documents": "What is what",
    "Sketches": "Sketches",
    "Release": "Attack, and an earlier release",
}
