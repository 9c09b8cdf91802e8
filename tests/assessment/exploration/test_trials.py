"""Trials: named for people and for the shell, kept as JSON, and judged by what they release."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from shoal.assessment.exploration.tables import open_explored
from shoal.request.request import Request
from shoal.results.exploration import Trial

TRIAL = Trial("mdav", k=3, coarsen=(("pay", 20), ("the age=", 9)))


def test_a_trial_says_what_it_coarsens_to_people_and_to_the_shell():
    assert TRIAL.name == "mdav, k=3, pay coarsened to 20, the age= coarsened to 9"
    assert TRIAL.options == "--method mdav -k 3 --coarsen pay=20 --coarsen 'the age==9'"
    assert Trial("mdav", k=3).options == "--method mdav -k 3"


def test_a_trial_read_from_json_is_the_same_trial():
    read = Trial(**json.loads(json.dumps(asdict(TRIAL))))
    assert read == TRIAL
    assert hash(read) == hash(TRIAL)


def test_a_trial_names_treatments_and_recodings():
    trial = Trial("by column", k=5, treat=(("sex", "keep"), ("age", "generalise")), recode=(("zip", "prefix 2"),))
    assert trial.name == "by column, k=5, generalise age, keep sex, zip by prefix 2"
    assert trial.options == "-k 5 --treat sex=keep,age=generalise --recode 'zip=prefix 2'"


def test_a_trial_is_judged_by_what_is_coarsened():
    random = np.random.default_rng(3)
    quasi = pa.table({"age": random.normal(50.0, 9.0, 60), "pay": random.lognormal(8.0, 1.0, 60)})
    explored = open_explored(Request.of(quasi, {"refine": False}))
    plain = explored.try_out(Trial("mdav", k=3))
    made = explored.try_out(Trial("mdav", k=3, coarsen=(("pay", 20), ("age", 20))))
    assert plain is not None and made is not None
    assert made.loss > plain.loss
    assert made.risk < plain.risk
    assert made.smallest_group >= plain.smallest_group >= 3
