"""The decision what identifies: a small logistic model in a file people can read."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.results.sanitizing import DialPoint, Entity, Mention
from shoal.sanitizer.entities.linking import Draft
from shoal.sanitizer.identifying.dial import dial_curve
from shoal.sanitizer.identifying.features import TextContext, features
from shoal.sanitizer.identifying.training import Example, LabelledText, examples_of, fit_weights, train
from shoal.sanitizer.identifying.weights import Weights, shipped_weights


def test_the_probability_is_logistic_in_the_weighted_features() -> None:
    weights = Weights(-1.0, {"PERSON": 2.0, "PERSON: mentions": 0.5})
    assert weights.probability({"PERSON": 1.0, "PERSON: mentions": 2.0, "unheard of": 9.0}) == pytest.approx(
        1 / (1 + math.exp(-2.0))
    )


def test_features_tell_name_and_neighbours() -> None:
    text = "The applicant was born in Bartın. He was represented by Ms B. Baysal."
    place = Draft("LOC", "gpe", "Bartın", [(26, 32)])
    values = features(TextContext(text), place)
    assert {"LOC", "LOC gpe", "LOC: after 'born'", "LOC: right after 'in'", "LOC: has an unusual word"} <= set(values)


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


def test_a_broken_file_of_weights_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("bias = ")
    with pytest.raises(InputError, match=r"mine\.toml"):
        Weights.read(path)


def test_what_identifies_by_itself_does_whatever_the_training_documents_had() -> None:
    weights = shipped_weights()
    for kind, form in (
        ("EMAIL", "email"),
        ("PHONE", "phone"),
        ("ACCOUNT", "iban"),
        ("ID", "ssn"),
        ("ADDRESS", "address"),
    ):
        assert weights.probability({kind: 1.0, f"{kind} {form}": 1.0}) > 0.8


def test_the_curve_counts_characters_and_expectations() -> None:
    sure = Entity("PERSON", (Mention(0, 10), Mention(20, 30)), "Ian Roe", "direct", 0.9)
    unsure = Entity("ORG", (Mention(40, 50),), "Court", "quasi", 0.3)
    low, high = dial_curve([[sure], [unsure]], characters=100, thresholds=[0.2, 0.5])
    assert low == DialPoint(0.2, 0.3, pytest.approx(1.0), pytest.approx(0.6))
    assert high == DialPoint(0.5, 0.2, pytest.approx(0.75), pytest.approx(0.9))
