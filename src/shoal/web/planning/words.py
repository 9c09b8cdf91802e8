"""Words for what can be chosen, where the name of a choice does not say enough."""

from __future__ import annotations

from collections.abc import Mapping

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
