"""The files of a release: which of them hold its rows, and the refusal of one that is not as a release has it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from shoal.results.claims import Claim


class Refused(Exception):
    """A promise that does not hold, found where reading on would make no sense or do harm."""

    def __init__(self, promise: str, detail: str, file: str) -> None:
        super().__init__(detail)
        self.claim = Claim(promise, False, detail, file)


FOLDER_OF_PARTS = {"documents": "vectors", "sketches": "sketches", "table": "table"}


def part_name(kind: str, number: int) -> str:
    """The file of a part, in the release."""
    return f"{FOLDER_OF_PARTS[kind]}/part-{number:05}.parquet"


def is_part(kind: str, name: str) -> bool:
    """Whether a file of this name is a part of the rows."""
    return kind in FOLDER_OF_PARTS and bool(re.fullmatch(FOLDER_OF_PARTS[kind] + r"/part-[0-9]{5,}\.parquet", name))


def parts_of(release: Path, kind: str) -> list[str]:
    """The parts in their order; none when the rows are in one file."""
    folder = release / FOLDER_OF_PARTS[kind]
    if not folder.is_dir():
        return []
    numbers = range(len(os.listdir(folder)))
    return [part_name(kind, number) for number in numbers]
