"""load: a release as data to work with."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.release.count_rows import read_released_table

__all__ = ["Release", "load"]


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
            return Release(certificate, read_released_table(release, certificate["promises"]["columns"])[1])
        terms = np.array((release / "terms.txt").read_text(encoding="utf-8").split("\n")[:-1], dtype=np.str_)
        vectors = sp.csr_array(sp.load_npz(release / "vectors.npz"))
        return Release(certificate, pq.read_table(release / "vectors.parquet"), vectors, terms)
    except (OSError, ValueError, KeyError, pa.ArrowException) as problem:
        reason = getattr(problem, "strerror", None) or type(problem).__name__
        raise InputError(f"{str(folder)!r} is not a release that can be read ({reason}); try: shoal verify") from None
