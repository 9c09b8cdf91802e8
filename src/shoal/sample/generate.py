"""The sample as values and as files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from shoal.sample.cases import Subject, cases
from shoal.sample.chance import Chance
from shoal.sample.compose import letter_text
from shoal.sample.phrases import people

__all__ = ["Letter", "Sample", "letters", "subjects", "write_sample"]

# The letters have draws of their own, so that a new clause leaves the table as it was.
LETTERS_APART = 1_000_003


@dataclass(frozen=True)
class Letter:
    """A letter. Its subject is the row of the same position in `subjects`."""

    id: str
    text: str
    speciality: str


@dataclass(frozen=True)
class Sample:
    """Where the files of a sample are."""

    letters: Path  # JSON lines: id, text, speciality
    subjects: Path  # CSV: the columns of Subject, one row per letter
    towns: Path  # CSV: a hierarchy, child and parent
    occupations: Path  # CSV: a mapping of occupations to concepts of WordNet


def letters(random_state: int = 0) -> list[Letter]:
    """The letters of the sample, no two alike.

    >>> len(letters())
    360
    """
    chance = Chance(random_state + LETTERS_APART)
    return [
        Letter(id=f"letter-{number:03d}", text=letter_text(chance, case), speciality=case.speciality.name)
        for number, case in enumerate(cases(random_state), start=1)
    ]


def subjects(random_state: int = 0) -> list[Subject]:
    """The people the letters are about, in the order of the letters."""
    return [case.subject for case in cases(random_state)]


def write_sample(folder: str | Path, random_state: int = 0) -> Sample:
    """Write the four files into a folder, which is made if need be."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = ("letters.jsonl", "subjects.csv", "towns.csv", "occupations.csv")
    sample = Sample(*(folder / name for name in names))
    # Newlines are fixed, so that the files are the same on every system.
    with sample.letters.open("w", encoding="utf-8", newline="\n") as lines:
        for letter in letters(random_state):
            lines.write(json.dumps(asdict(letter), ensure_ascii=False) + "\n")
    rows: list[tuple[object, ...]] = [astuple(subject) for subject in subjects(random_state)]
    _write_csv(sample.subjects, tuple(field.name for field in fields(Subject)), rows)
    levels = people().districts, people().counties, {"the region": tuple(people().counties)}
    places = [(part, whole) for level in levels for whole, parts in level.items() for part in parts]
    _write_csv(sample.towns, ("child", "parent"), places)
    meanings = [("occupation", value, concept) for value, concept in people().meanings.items()]
    _write_csv(sample.occupations, ("column", "value", "concept"), meanings)
    return sample


def _write_csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
