"""Delta-anonymous sketches: every attribute of a record can be reconstructed only with a variance of at least delta.

Also at collection time: records come in as lines of JSON, and a sketch goes out for each.

Source: Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches" (2007).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from shoal.data.baskets import basket_counts
from shoal.errors import InputError
from shoal.kernels.sketching.sketches import lengths_by_variance
from shoal.methods.sketches.key import SketchKey, key_of
from shoal.methods.sketches.sketches import (
    Floats,
    Ints,
    NamedRows,
    Sketches,
    SketchesRows,
    check_components,
    named_rows,
    sketch_rows,
)
from shoal.terms.vector_space import VectorSpace

AT_ONCE = 1 << 16  # bytes read at a time: memory stays the same however many records come
LONGEST = 1 << 24  # bytes of one record


class DeltaSketch(SketchesRows):
    """Sketch each record on its own, with the most components that keep every attribute's variance at delta.

    A record whose variance is below delta with one component is withheld. **No crowd is promised**: whoever has the
    key, or knows enough of the records, recovers short records whatever delta says.

    Parameters
    ----------
    delta : float, above 0
        Least variance of the estimate of any attribute, in the square of the unit of the records' numbers.
    max_components : int
        Most components of a sketch.
    terms : sequence of str
        Names of the columns of a matrix; they are hashed with the key, so sketches of matrices with other columns go
        together. Default: the names of a dataframe's columns, or the columns' numbers.
    key : SketchKey
        None: a new secret key, kept as `key_`. Sketches can be compared only if they have the same key.
    random_state : int
        Without a key: make it from this number, for experiments. Such a key can be guessed, and a warning says so.

    Attributes
    ----------
    key_ : SketchKey
    sketches_ : Sketches of the rows it was fitted to.

    Examples
    --------
    >>> from shoal.methods.sketches import DeltaSketch
    >>> baskets = [["bread", "milk", "tea"], ["milk", "tea", "sugar", "rice"], ["salt"]]
    >>> DeltaSketch(delta=0.5).fit_transform(baskets).lengths.tolist()
    [4, 6, 0]
    """

    def __init__(
        self,
        delta: float = 0.5,
        *,
        max_components: int = 1024,
        terms: Sequence[str] | None = None,
        key: SketchKey | None = None,
        random_state: int | None = None,
    ) -> None:
        self.delta = delta
        self.max_components = max_components
        self.terms = terms
        self.key = key
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> DeltaSketch:
        """Draw a key unless one was given, and sketch the rows."""
        self.check()
        self.key_ = key_of(self.key, self.random_state)
        self.sketches_ = self._sketch(named_rows(self, X, self.terms))
        return self

    def transform(self, X: Any) -> Sketches:
        """Sketch rows, new or old, with the same key."""
        check_is_fitted(self, "key_")
        return self._sketch(named_rows(self, X, self.terms, reset=False))

    def one(self, record: Mapping[str, float] | Iterable[str]) -> Floats | None:
        """The sketch of a single record, as at collection time; None: it is withheld."""
        if not hasattr(self, "key_"):
            self.fit([])
        given = record if isinstance(record, Mapping | str | bytes) else list(record)
        sketch: Floats = self._sketch(named_rows(self, [given], None))[0]
        return sketch if len(sketch) else None

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        delta = self.delta
        if not isinstance(delta, Real) or isinstance(delta, bool) or not 0 < float(delta) < np.inf:
            raise InputError(f"delta={delta!r} must be a number above 0")
        check_components("max_components", self.max_components)

    def components_of(self, X: sp.csr_matrix) -> Ints:
        """How many components the sketch of each row may have; 0: it is withheld."""
        return lengths_by_variance(X.indptr, X.data, float(self.delta), int(self.max_components))

    def _sketch(self, rows: NamedRows) -> Sketches:
        return sketch_rows(rows.X, rows.terms, self.key_, self.components_of(rows.X))


def batches_of_lines(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Whole lines as soon as they are there, so that a record need not wait for the next."""
    read = getattr(stream, "read1", stream.read)
    held = b""
    while chunk := read(AT_ONCE):
        *lines, held = (held + chunk).split(b"\n")
        if len(held) > LONGEST:
            raise InputError(f"a line of more than {LONGEST:,} bytes is not a record; write one record per line")
        if lines:
            yield lines
    if held:
        yield [held]


def sketch_lines(
    batches: Iterable[list[bytes]], model: DeltaSketch, space: VectorSpace
) -> Iterator[list[list[float] | None]]:
    """The sketches of each batch; None for a record that is withheld. Empty lines are passed over.

    A line is a JSON list of items, an object of items and counts, a text, or an object that has one of these as
    "items" or "text". Words of texts become terms by the steps of the space.
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
        yield [row.tolist() if len(row) else None for row in (sketches[row] for row in range(len(records)))]
        if wrong is not None:  # the records before it are sketched
            raise wrong


def _record(line: bytes, where: str) -> dict[str, float] | str:
    """The counts of a basket, or a text."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{where} is not JSON; write a list of items, or an object of items and counts") from None
    if isinstance(record, dict):
        given = (record.get(name) for name in ("items", "text"))
        record = next((inner for inner in given if isinstance(inner, list | dict | str)), record)
    if not isinstance(record, list | dict | str):
        raise InputError(f"{where} is neither items nor a text; write a list, an object or a string")
    return record if isinstance(record, str) else basket_counts(record, where)


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
