"""The decision what identifies: a small logistic model in a file people can read."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.sanitizer.entities.judging import TextContext, Weights, features, shipped_weights
from shoal.sanitizer.entities.linking import Draft


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


def test_the_order_of_features_makes_no_difference() -> None:
    weights = Weights(
        0.0, {"a": 0.1, "b": 0.2, "c": -0.3}
    )  # 0.1 + 0.2 - 0.3 is not 0 in this order, -0.3 + 0.2 + 0.1 is
    orders = [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")]
    assert len({weights.probability(dict.fromkeys(order, 1.0)) for order in orders}) == 1


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
