"""load: a release as data to work with."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.methods.sketches import Sketches
from shoal.verification.release_files import parts_of
from shoal.verification.tables import read_released_table


@dataclass(frozen=True)
class Release:
    """What was released: a table, and for documents also their vectors, or their sketches."""

    certificate: dict[str, Any]
    table: pa.Table  # documents: terms, counts, weights, label; sketches: sketch, label; sanitized: document, text
    vectors: sp.csr_array | None = None  # documents: the weights, one row per document
    counts: sp.csr_array | None = None  # documents: how often the documents of its group have each term, together
    terms: NDArray[np.str_] | None = None  # documents: the names of their columns
    sketches: Sketches | None = None  # sketches: one per record, in the order of the table


def load(folder: str | os.PathLike[str]) -> Release:
    """Load a release. It is not verified on the way: call `verify(folder)` for that.

    >>> from shoal import load
    >>> release = load("release")  # doctest: +SKIP
    >>> release.vectors.shape  # doctest: +SKIP
    (360, 812)
    """
    release = Path(folder)
    try:
        certificate = json.loads((release / "certificate.json").read_bytes())
        if certificate["kind"] == "table":
            return Release(certificate, read_released_table(release, certificate["promises"]["columns"]))
        if certificate["kind"] == "sanitized":
            return Release(certificate, _texts(release))
        if certificate["kind"] == "sketches":
            table = _rows(release, "sketches", "sketches.parquet")
            return Release(certificate, table, sketches=_sketches(table))
        terms = np.array((release / "terms.txt").read_text(encoding="utf-8").split("\n")[:-1], dtype=np.str_)
        table = _rows(release, "documents", "vectors.parquet")
        # Releases of before the certificate's second version have no counts.
        counts = _matrix(table, "counts", terms) if "counts" in table.column_names[1:2] else None
        return Release(certificate, table, _matrix(table, "weights", terms), counts, terms)
    except (OSError, ValueError, KeyError, pa.ArrowException) as problem:
        reason = getattr(problem, "strerror", None) or type(problem).__name__
        raise InputError(f"{str(folder)!r} is not a release that can be read ({reason}); try: shoal verify") from None


def kind_of_release(folder: str | os.PathLike[str]) -> str | None:
    """ "documents", "sanitized", "sketches" or "table", by the certificate; None where none can be read."""
    try:
        kind = json.loads((Path(folder) / "certificate.json").read_bytes())["kind"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(kind)


def _texts(release: Path) -> pa.Table:
    """Sanitized texts by the names of their documents."""
    files = sorted((release / "documents").glob("*.txt"), key=lambda file: (len(file.name), file.name))
    texts = [file.read_bytes().decode("utf-8") for file in files]
    return pa.table({"document": [file.stem for file in files], "text": pa.array(texts, pa.large_string())})


def _rows(release: Path, kind: str, whole: str) -> pa.Table:
    """All rows, of one file or of all parts."""
    files = parts_of(release, kind) or [whole]
    return pa.concat_tables(pq.ParquetFile(release / file).read() for file in files)


def _sketches(table: pa.Table) -> Sketches:
    lengths = pc.list_value_length(table["sketch"]).to_numpy()
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Sketches(pc.list_flatten(table["sketch"]).to_numpy(), offsets)


def _matrix(table: pa.Table, values: str, terms: NDArray[np.str_]) -> sp.csr_array:
    """A column of lists as a matrix, one column per term."""
    lengths = pc.list_value_length(table["terms"]).to_numpy()
    columns = pc.index_in(pc.list_flatten(table["terms"]), value_set=pa.array(terms.tolist())).to_numpy()
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return sp.csr_array((pc.list_flatten(table[values]).to_numpy(), columns, ends), shape=(len(lengths), len(terms)))
