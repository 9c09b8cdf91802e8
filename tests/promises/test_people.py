"""People as units: what everybody has exactly once."""

from __future__ import annotations

import numpy as np

from shoal.promises.people import had_once


def test_a_value_that_everybody_has_once_is_found_and_others_are_not() -> None:
    person = np.array([7, 7, 7, 8, 8, 9])
    relation = np.array(["child", "head", "child", "head", "spouse", "head"], dtype=object)
    sex = np.array(["f", "m", "f", "m", "f", "f"], dtype=object)  # each of the three has one f but for 7, who has two
    assert had_once([relation, sex], person).tolist() == [[False], [True], [False], [True], [False], [True]]
    assert had_once([relation], np.arange(6)).shape == (6, 0)  # nobody has several rows
