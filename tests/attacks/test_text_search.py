"""Attackers with public text: each finds the person of a text by what it reads, and by nothing that is hidden."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attacks.text_search import ATTACKERS, HIDDEN, text_attacker
from shoal.errors import InputError

PUBLIC = (
    "The botanist studied ferns in the mountains and wrote about mosses and lichens for years",
    "The goalkeeper played for the national team and saved many penalties in the final match",
    "The composer finished three operas and a symphony before the orchestra went on tour abroad",
    "The engineer built bridges over rivers, dams and long tunnels under a busy harbour",
    "The novelist won prizes with poems about winter, exile and letters from an island",
)


@pytest.mark.parametrize("name", ATTACKERS)
def test_each_attacker_finds_whom_a_text_is_about(name: str) -> None:
    texts = [
        "She studied ferns in the valley",
        "He saved many penalties in the final match",
        "Two operas and a symphony",
    ]
    attacker = text_attacker(name, PUBLIC)
    assert (attacker.chances(texts, np.array([0, 1, 2])) == 1).all()
    assert (attacker.chances(texts, np.array([1, 2, 0])) == 0).all()


@pytest.mark.parametrize("name", ATTACKERS)
def test_a_text_that_shows_nothing_of_a_person_does_not_give_them_away(name: str) -> None:
    assert text_attacker(name, PUBLIC).chances([HIDDEN], np.array([0])).tolist() == [0]


def test_whom_nothing_distinguishes_is_found_by_chance() -> None:
    public = ["ferns and mosses", "ferns and mosses", "penalties in the final"]
    assert text_attacker("words", public).chances(["ferns"], np.array([0])).tolist() == [0.5]


def test_a_pair_does_not_go_over_what_is_hidden() -> None:
    attacker = text_attacker("pairs", PUBLIC)
    assert attacker.scores(["many penalties"])[0, 1] > 0
    assert not attacker.scores([f"many{HIDDEN}penalties"]).any()


def test_a_background_of_one_person_is_refused() -> None:
    with pytest.raises(InputError, match="hides nobody"):
        text_attacker("words", PUBLIC[:1])
