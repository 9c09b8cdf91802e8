"""Where the rows of a release are: in one file, or in parts that together are the rows. Knows no method."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["FOLDER_OF_PARTS", "is_part", "part_name", "parts_of"]

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
