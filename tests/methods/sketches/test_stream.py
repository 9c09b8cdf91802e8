"""Sketches at collection time: line by line, the same as all at once."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from shoal.methods.sketches import DeltaSketch, SketchKey
from shoal.methods.sketches.delta import batches_of_lines
from tests.cli.run import Ran, run

KEY = SketchKey(bytes(range(32)))


def shoal_sketch(folder: Path, lines: bytes, *more: str) -> Ran:
    return run(folder, "sketch", "--key", "key", *more, stdin=lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    KEY.write(tmp_path / "key")
    return tmp_path


def test_lists_counts_and_texts_get_the_sketches_of_their_terms(folder: Path) -> None:
    lines = b'["milk", "tea", 7]\n{"milk": 2, "tea": 1}\n\n{"id": 4, "items": ["milk"]}\n"Herons eat fish, fish!"\n'
    ran = shoal_sketch(folder, lines, "--delta", "0.25")
    assert ran.code == 0, ran.err
    model = DeltaSketch(0.25, max_components=64, key=KEY)
    records = [["milk", "tea", "7"], {"milk": 2, "tea": 1}, ["milk"], {"heron": 1, "eat": 1, "fish": 2}]
    found = [json.loads(line) for line in ran.out.splitlines()]
    for record, row in zip(records, found, strict=True):
        expected = model.one(record)
        assert row is None if expected is None else np.array_equal(row, expected)
    assert ran.err == "shoal: 3 sketched, 1 withheld\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"not json", "line 2 is not JSON"),
        (b"7", "line 2 is neither items nor a text"),
        (b'[["a"]]', "line 2: an item is neither text nor a whole number"),
        (b'{"a": -1}', "line 2: a count is not a number from 0"),
        (b'["a\\u0007"]', "line 2: an item has control characters"),
    ],
)
def test_a_bad_line_is_named_and_nothing_of_it_is_quoted(folder: Path, line: bytes, says: str) -> None:
    ran = shoal_sketch(folder, b'["milk", "tea"]\n' + line + b"\n")
    assert ran.code == 2
    assert len(ran.out.splitlines()) == 1  # what came before it is not lost
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_missing_key_is_not_made_without_a_word(tmp_path: Path) -> None:
    ran = shoal_sketch(tmp_path, b"")
    assert ran.code == 2
    assert "--new-key" in ran.err
    assert not (tmp_path / "key").exists()
    assert shoal_sketch(tmp_path, b'["a", "b"]\n', "--new-key").code == 0
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    again = shoal_sketch(tmp_path, b'["a", "b"]\n', "--new-key")
    assert again.code == 2
    assert "exists" in again.err


def test_lines_are_whole_however_they_arrive() -> None:
    class Dripping(io.RawIOBase):
        def __init__(self) -> None:
            self.left = [b"on", b"e\ntw", b"o\n", b"three"]

        def read1(self, size: int) -> bytes:
            return self.left.pop(0) if self.left else b""

    assert list(batches_of_lines(Dripping())) == [[b"one"], [b"two"], [b"three"]]
