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
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.methods.sketches import Sketches
from shoal.verification.certificate import CERTIFICATE, LARGEST
from shoal.verification.documents import LARGEST_TERMS
from shoal.verification.parquet import parquet_file
from shoal.verification.release_files import Refused, ReleaseFolder
from shoal.verification.sanitized_files import document_name, read_text
from shoal.verification.tables import read_released_table
from shoal.verification.verify import opened_release, verify


@dataclass(frozen=True)
class Release:
    """What was released: a table, and for documents also their vectors, or their sketches."""

    certificate: dict[str, Any]
    table: pa.Table  # documents: terms, counts, weights, label; sketches: sketch, label; sanitized: document, text
    vectors: sp.csr_array | None = None  # documents: the weights, one row per document
    counts: sp.csr_array | None = None  # documents: how often the documents of its group have each term, together
    terms: NDArray[np.str_] | None = None  # documents: the names of their columns
    sketches: Sketches | None = None  # sketches: one per record, in the order of the table


def load(folder: str | os.PathLike[str], check: bool = True) -> Release:
    """Load a release. It is verified before it is read: what is given back is what was counted.

    Without `check`, nothing is counted: for a release of your own that you have just made.

    >>> from shoal import load
    >>> release = load("release")  # doctest: +SKIP
    >>> release.vectors.shape  # doctest: +SKIP
    (360, 812)
    """
    release = opened_release(folder)
    if check and not (checked := verify(release, with_pages=False)):
        claim = checked.broken[0]
        raise InputError(
            f"{str(folder)!r} does not hold its promises ({claim.promise}: {claim.detail}); try: shoal verify"
        )
    try:
        return read_release(release)
    except (OSError, ValueError, KeyError, pa.ArrowException, Refused) as problem:
        reason = getattr(problem, "strerror", None) or type(problem).__name__
        raise InputError(f"{str(folder)!r} is not a release that can be read ({reason}); try: shoal verify") from None


def read_release(release: ReleaseFolder) -> Release:
    """The content of a release, unchecked."""
    certificate = json.loads(release.read(CERTIFICATE, LARGEST))
    if certificate["kind"] == "table":
        return Release(certificate, read_released_table(release, certificate["promises"]["columns"]))
    if certificate["kind"] == "sanitized":
        return Release(certificate, _texts(release))
    if certificate["kind"] == "sketches":
        table = _rows(release, "sketches", "sketches.parquet")
        return Release(certificate, table, sketches=_sketches(table))
    listed = release.read("terms.txt", LARGEST_TERMS).decode("utf-8")
    terms = np.array(listed.split("\n")[:-1], dtype=np.str_)
    table = _rows(release, "documents", "vectors.parquet")
    return Release(certificate, table, _matrix(table, "weights", terms), _matrix(table, "counts", terms), terms)


def kind_of_release(folder: str | os.PathLike[str]) -> str | None:
    """ "documents", "sanitized", "sketches" or "table", by the certificate; None where none can be read."""
    try:
        kind = json.loads((Path(folder) / "certificate.json").read_bytes())["kind"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(kind)


def _texts(release: ReleaseFolder) -> pa.Table:
    """Sanitized texts by the names of their documents."""
    documents = [file for file in release.names if (document_name(file) or ("", ""))[1] == "txt"]
    documents.sort(key=lambda file: (len(file), file))
    names = [file.removeprefix("documents/").removesuffix(".txt") for file in documents]
    texts = [read_text(release, file) for file in documents]
    return pa.table({"document": names, "text": pa.array(texts, pa.large_string())})


def _rows(release: ReleaseFolder, kind: str, whole: str) -> pa.Table:
    """All rows, of one file or of all parts."""
    files = release.parts(kind) or [whole]
    return pa.concat_tables(parquet_file(release, file).read() for file in files)


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
