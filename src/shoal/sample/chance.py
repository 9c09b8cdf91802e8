"""Draws that give the same result on every version of Python."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_CHOICE = re.compile(r"\[([^\[\]]*)\]")  # the innermost [this|that]


class Chance:
    """A source of draws made from `random()` alone, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        return self._random() < probability

    def below(self, bound: int) -> int:
        """A whole number from 0 up to and without `bound`."""
        return int(self._random() * bound)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], second: float) -> list[T]:
        """One of the options, and with probability `second` another one after it, in the order they are listed."""
        first = self.below(len(options))
        chosen = {first}
        if len(options) > 1 and self.happens(second):
            chosen.add((first + 1 + self.below(len(options) - 1)) % len(options))
        return [options[position] for position in sorted(chosen)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def normal(self, mean: float, deviation: float) -> float:
        """About normal: the sum of twelve uniforms."""
        # Logarithms and cosines differ between machines, and sum() between versions of Python; fsum() is exact.
        return mean + deviation * (math.fsum(self._random() for _ in range(12)) - 6)

    def within(self, mean: float, deviation: float, low: float, high: float) -> int:
        """A whole number, about normal, drawn again until it is within bounds."""
        while not low <= (value := round(self.normal(mean, deviation))) <= high:
            pass
        return value

    def wording(self, phrase: str) -> str:
        """The phrase with every `[this|that]` settled, from the inside out."""
        while choice := _CHOICE.search(phrase):
            phrase = phrase[: choice.start()] + self.pick(choice[1].split("|")) + phrase[choice.end() :]
        return phrase
