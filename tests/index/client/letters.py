"""Texts of three subjects, and what tests ask of a server behind a client's back."""

from __future__ import annotations

from shoal.data.corpus import Corpus

BIRDS = ["heron", "egret", "marsh", "reed", "nest", "feather", "wing", "beak"]
ENGINES = ["engine", "piston", "valve", "gasket", "crank", "cylinder", "fuel", "spark"]
BREAD = ["bread", "flour", "yeast", "oven", "crust", "dough", "butter", "salt"]
STARS = ["telescope", "comet", "orbit", "planet", "galaxy", "eclipse", "moon", "lens"]


def texts(words: list[str], count: int, first: int = 0) -> list[str]:
    """Each has five of the words that follow each other, the first of them twice."""
    starts = range(first, first + count)
    return [" ".join([words[start % 8], *(words[(start + step) % 8] for step in range(5))]) for start in starts]


def corpus(**by_prefix: list[str]) -> Corpus:
    """Documents named by a prefix and a number."""
    named = [(f"{prefix}-{number}", text) for prefix, some in by_prefix.items() for number, text in enumerate(some)]
    return Corpus.from_texts([text for _, text in named], ids=[name for name, _ in named])
