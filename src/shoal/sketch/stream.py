"""Sketches at collection time: records come in as lines of JSON, and a sketch goes out for each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from shoal.errors import InputError
from shoal.io.baskets import basket_counts
from shoal.sketch.delta import DeltaSketch
from shoal.vectors import VectorSpace

__all__ = ["batches_of_lines", "sketch_lines"]

AT_ONCE = 1 << 16  # bytes read at a time: memory stays the same however many records come
LONGEST = 1 << 24  # bytes of one record


def batches_of_lines(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Whole lines as soon as they are there, so that a record need not wait for the next."""
    read = getattr(stream, "read1", stream.read)
    held = b""
    while chunk := read(AT_ONCE):
        *lines, held = (held + chunk).split(b"\n")
        if len(held) > LONGEST:
            raise InputError(f"a line of more than {LONGEST:,} bytes is no record; write one record per line")
        if lines:
            yield lines
    if held:
        yield [held]


def sketch_lines(
    batches: Iterable[list[bytes]], model: DeltaSketch, space: VectorSpace
) -> Iterator[list[list[float] | None]]:
    """The sketches of each batch; None for a record that is withheld. Empty lines are passed over.

    A line is a JSON list of items, an object of items and counts, a text, or an object that has one of these as
    "items" or "text". Words of texts become terms as the space says.
    """
    read = 0
    for lines in batches:
        records: list[Any] = []
        wrong: InputError | None = None
        for number, line in enumerate(lines, start=read + 1):
            try:
                records += [_record(line, f"line {number}")] if line.strip() else []
            except InputError as problem:
                wrong = problem
                break
        read += len(lines)
        counts = iter(_terms([record for record in records if isinstance(record, str)], space))
        sketches = model.transform([next(counts) if isinstance(record, str) else record for record in records])
        yield [row.tolist() if len(row) else None for row in (sketches[place] for place in range(len(records)))]
        if wrong is not None:  # the records before it are sketched
            raise wrong


def _record(line: bytes, place: str) -> dict[str, float] | str:
    """The counts of a basket, or a text."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{place} is not JSON; write a list of items, or an object of items and counts") from None
    if isinstance(record, dict):
        given = (record.get(name) for name in ("items", "text"))
        record = next((inner for inner in given if isinstance(inner, list | dict | str)), record)
    if not isinstance(record, list | dict | str):
        raise InputError(f"{place} is neither items nor a text; write a list, an object or a string")
    return record if isinstance(record, str) else basket_counts(record, place)


def _terms(texts: list[str], space: VectorSpace) -> Iterator[dict[str, float]]:
    """How often each text has each of its terms."""
    if not texts:
        return
    counted = space.count(texts)
    start = 0
    for end in counted.row_end.tolist():
        row: Counter[str] = Counter()
        for number, count in zip(counted.numbers[start:end], counted.counts[start:end], strict=True):
            row[counted.terms[number]] += int(count)
        yield dict(row)
        start = end
