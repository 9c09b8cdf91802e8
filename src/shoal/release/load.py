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
from shoal.release.count_rows import read_released_table
from shoal.release.released_parts import parts_of

__all__ = ["Release", "kind_of_release", "load"]


@dataclass(frozen=True)
class Release:
    """What was released: a table, and for documents also their vectors."""

    certificate: dict[str, Any]
    table: pa.Table  # documents: terms, weights, label; tables: the released columns
    vectors: sp.csr_array | None = None  # documents: one row a document
    terms: NDArray[np.str_] | None = None  # documents: one name a column of `vectors`


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
        terms = np.array((release / "terms.txt").read_text(encoding="utf-8").split("\n")[:-1], dtype=np.str_)
        parts = parts_of(release, "documents")
        if parts:
            table = pa.concat_tables(pq.ParquetFile(release / part).read() for part in parts)
            return Release(certificate, table, _matrix(table, terms), terms)
        vectors = sp.csr_array(sp.load_npz(release / "vectors.npz"))
        return Release(certificate, pq.read_table(release / "vectors.parquet"), vectors, terms)
    except (OSError, ValueError, KeyError, pa.ArrowException) as problem:
        reason = getattr(problem, "strerror", None) or type(problem).__name__
        raise InputError(f"{str(folder)!r} is not a release that can be read ({reason}); try: shoal verify") from None


def kind_of_release(folder: str | os.PathLike[str]) -> str | None:
    """ "documents" or "table", by the certificate; None where there is none that can be read."""
    try:
        kind = json.loads((Path(folder) / "certificate.json").read_bytes())["kind"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(kind)


def _matrix(table: pa.Table, terms: NDArray[np.str_]) -> sp.csr_array:
    """The rows of a release in parts, put together."""
    lengths = pc.list_value_length(table["terms"]).to_numpy()
    columns = pc.index_in(pc.list_flatten(table["terms"]), value_set=pa.array(terms.tolist())).to_numpy()
    weights = pc.list_flatten(table["weights"]).to_numpy()
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return sp.csr_array((weights, columns, ends), shape=(len(lengths), len(terms)))
