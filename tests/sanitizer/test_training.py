"""Weights learned from documents in which it is marked what must be masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.sanitizer.entities.judging import Weights
from shoal.sanitizer.entities.linking import Draft
from shoal.sanitizer.training import Example, LabelledText, examples_of, fit_weights, train


def test_an_entity_must_be_masked_if_half_of_its_words_are() -> None:
    text = "Ann Poe of Oslo met Ian Roe."
    drafts = [Draft("PERSON", "person", "Ann Poe", [(0, 7)]), Draft("LOC", "gpe", "Oslo", [(11, 15)])]
    labels = [example.must_be_masked for example in examples_of(LabelledText(text, [(0, 3)]), drafts)]
    assert labels == [True, False]


def test_training_learns_what_was_marked_and_its_file_reads_back(tmp_path: Path) -> None:
    names = ("Ian Roe", "Ann Poe", "Karl Weber", "Eva Holm", "Otto Lang", "Ida Krog")
    documents = []
    for name in names:
        text = f"Mr {name} came on 3 May 1999. Mr {name} left."
        places = [(start, start + len(name) + 3) for start in (0, text.rindex("Mr"))]
        documents.append(LabelledText(text, places))
    path = tmp_path / "weights.toml"
    weights = train(documents, path)
    assert Weights.read(path) == weights
    assert weights.of_feature["PERSON"] > 0 > weights.of_feature["DATE"]


def test_labels_of_one_sort_only_are_refused() -> None:
    with pytest.raises(InputError, match="need not"):
        fit_weights([Example({"PERSON": 1.0}, True)])
