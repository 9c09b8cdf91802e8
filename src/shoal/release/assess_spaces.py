"""Documents before and after: a release against its originals, or two matrices made by anyone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.errors import InputError
from shoal.io import Corpus
from shoal.io.files import counted, shown
from shoal.release.assessment import SpaceAssessment
from shoal.release.bundle import CERTIFICATE, MAPPING, MAPPING_FOLDER, private_beside
from shoal.release.load import Release, load
from shoal.utility.vector_space import space_utility
from shoal.vectors import VectorSpace

__all__ = ["assess_spaces", "is_space"]

FEWEST = 10  # rows that can be told to belong together


def is_space(protected: Any) -> bool:
    """Whether this is a release of documents, a sparse matrix or a file of one; else it is a table."""
    if sp.issparse(protected):
        return True
    if not isinstance(protected, str | os.PathLike):
        return False
    place = Path(protected)
    return place.suffix == ".npz" or ((place / CERTIFICATE).is_file() and load(place).vectors is not None)


def assess_spaces(
    original: Any,
    protected: Any,
    mapping: str | os.PathLike[str] | None,
    columns: Mapping[str, str | None],
    random_state: int,
    aligned: bool = False,
) -> SpaceAssessment:
    """The figures of a pair of vector spaces."""
    progress.step("assessing", 0, 2)
    if isinstance(protected, str | os.PathLike) and (Path(protected) / CERTIFICATE).is_file():
        release = load(protected)
        before, after, labels = _from_release(original, protected, release, mapping, columns)
        how = "by the private mapping"
    else:
        before, after, labels = _matrix(original, "original"), _matrix(protected, "protected"), None
        how = "by their place"
        if before.shape != after.shape:
            raise InputError(
                f"the original matrix has {before.shape[0]} rows and {before.shape[1]} columns, the protected one "
                f"{after.shape[0]} and {after.shape[1]}; give matrices of the same documents and terms"
            )
    if not aligned:
        _check_related(before, after)
    progress.step("assessing", 1, 2)
    utility = space_utility(before, after, labels, random_state)
    alike = np.unique([_content(after, row) for row in range(after.shape[0])], return_counts=True)[1]
    progress.step("assessing", 2, 2)
    return SpaceAssessment(after.shape[0], how, int(alike.min()), int(np.sum(alike == 1)), utility)


def _from_release(
    original: Any,
    protected: Any,
    release: Release,
    mapping: str | os.PathLike[str] | None,
    columns: Mapping[str, str | None],
) -> tuple[sp.csr_matrix, sp.csr_matrix, list[Any] | None]:
    """The originals as vectors, made as the certificate says, in the order and with the columns of the release."""
    assert release.vectors is not None
    assert release.terms is not None
    folder = Path(mapping) if mapping is not None else private_beside(Path(protected))
    if (folder / MAPPING_FOLDER).is_dir():
        raise InputError(f"{shown(protected)} is a release in parts, which cannot be assessed yet; protect one file")
    ids = _released_ids(folder / MAPPING if folder.is_dir() else folder, release.vectors.shape[0])
    corpus = original if isinstance(original, Corpus) else Corpus(original, **columns)
    documents = list(corpus)
    place = {document.id: row for row, document in enumerate(documents)}
    unknown = sum(name not in place for name in ids)
    if unknown:
        raise InputError(
            f"{counted(unknown, 'document')} of the release not among the originals; give the collection that was "
            "protected, and its --id-column"
        )
    space = VectorSpace(**release.certificate["stated"]["parameters"]["vector_space"])
    X = space.fit_transform([document.text for document in documents])
    rows = X[[place[name] for name in ids]]
    terms = {term: column for column, term in enumerate(space.get_feature_names_out())}
    # Concepts that no original has come after the originals' terms.
    for term in release.terms.tolist():
        terms.setdefault(term, len(terms))
    found = release.vectors.tocoo()
    of_column = np.array([terms[term] for term in release.terms.tolist()], dtype=np.int64)
    shape = (len(ids), len(terms))
    after = sp.csr_matrix((found.data, (found.coords[0], of_column[found.coords[1]])), shape=shape)
    before = sp.csr_matrix(rows)
    before.resize(shape)
    watched = [one["name"] for one in release.certificate["promises"]["columns"] if one["role"] == "confidential"]
    labels = release.table[watched[0]].to_pylist() if watched else None
    several = labels is not None and len({label for label in labels if label is not None}) > 1 and None not in labels
    return before, after, labels if several else None


def _check_related(before: sp.csr_matrix, after: sp.csr_matrix) -> None:
    """Refuse rows that are no more alike than rows put side by side at random."""
    n_rows = before.shape[0]

    def alike(rows: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(before.multiply(after[rows]).sum(axis=1)).ravel()

    own, other = alike(np.arange(n_rows)), alike(np.random.default_rng(0).permutation(n_rows))
    error = float(np.std(own - other)) / np.sqrt(n_rows)
    if n_rows >= FEWEST and own.mean() - other.mean() <= 4 * error:
        raise InputError(
            "the rows are no more alike than rows drawn at random: they are in different orders, or nothing is left; "
            "give the right collection or private folder, or say --aligned if all is right"
        )


def _released_ids(place: Path, n_released: int) -> list[str]:
    try:
        found = pq.read_table(place, columns=["id", "released_row"]).sort_by("released_row")
    except (pa.ArrowException, OSError, KeyError):
        raise InputError(
            f"{shown(place)} is not the mapping of a release; give its private folder with --mapping"
        ) from None
    if found.num_rows != n_released:
        raise InputError(
            f"{shown(place)} maps {found.num_rows} rows, the release has {n_released}; give its own mapping"
        )
    ids: list[str] = found["id"].to_pylist()
    return ids


def _matrix(source: Any, called: str) -> sp.csr_matrix:
    if isinstance(source, str | os.PathLike):
        try:
            source = sp.load_npz(source)
        except (OSError, ValueError, KeyError):
            raise InputError(
                f"the {called}, {shown(source)}, is not a sparse matrix of SciPy (.npz); give one"
            ) from None
    if not sp.issparse(source):
        raise InputError(f"the {called} is a {type(source).__name__}, not a sparse matrix; give two of one kind")
    return sp.csr_matrix(source)


def _content(X: sp.csr_matrix, row: int) -> bytes:
    part = slice(X.indptr[row], X.indptr[row + 1])
    order: NDArray[Any] = np.argsort(X.indices[part], kind="stable")
    return bytes(X.indices[part][order].astype(np.int32).tobytes() + X.data[part][order].tobytes())
