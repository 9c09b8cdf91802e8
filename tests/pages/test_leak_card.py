"""The leak card's sentences."""

from __future__ import annotations

from html import unescape

import numpy as np

from shoal.attacks.learned.leakage import Leakage
from shoal.pages.leak_card import leaks_html
from shoal.results.attacks import LeakCard


def test_the_attacker_who_learned_is_they_throughout() -> None:
    random = np.random.default_rng(0)
    before = random.normal(size=(20, 2))
    leak = Leakage(repeats=1).run(before, before + 0.3 * random.normal(size=before.shape))
    text = unescape(leaks_html(LeakCard(leak, ()), 20))
    assert "they learned from 10 links and were tried on records whose links they did not know" in text
    assert "learned from 10 links, tried on others" in text
