"""Documents before and after: a release against its originals, or two matrices made by anyone."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.originals import named_texts
from shoal.assessment.unmixing import taken_apart
from shoal.bundle.folders import CERTIFICATE
from shoal.bundle.load import Release, kind_of_release, load
from shoal.bundle.private_mapping import private_folder, read_mapping, rows_of_parts
from shoal.errors import InputError
from shoal.io.files import counted, shown
from shoal.results.assessment import SpaceAssessment
from shoal.results.rates import Rate
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
    return place.suffix == ".npz" or kind_of_release(place) == "documents"


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
        before, after, labels, attacks = _from_release(original, protected, release, mapping, columns)
        how = "by the private mapping"
    else:
        before, after, labels, attacks = _matrix(original, "original"), _matrix(protected, "protected"), None, ()
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
    alike = Counter(_content(after, row) for row in range(after.shape[0])).values()
    progress.step("assessing", 2, 2)
    return SpaceAssessment(after.shape[0], how, min(alike), sum(count == 1 for count in alike), utility, attacks)


def _from_release(
    original: Any,
    protected: Any,
    release: Release,
    mapping: str | os.PathLike[str] | None,
    columns: Mapping[str, str | None],
) -> tuple[sp.csr_matrix, sp.csr_matrix, list[Any] | None, tuple[Rate, ...]]:
    """The originals as vectors, made as the certificate says, in the order and with the columns of the release.

    And how many of them are recovered from the release.
    """
    assert release.vectors is not None
    assert release.terms is not None
    sizes = rows_of_parts(Path(protected), "documents")
    found = read_mapping(private_folder(protected, mapping), sizes or [release.vectors.shape[0]])
    space = VectorSpace(**release.certificate["stated"]["parameters"]["vector_space"])
    names: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # what is remarkable in the texts was said when they were protected
        counted_texts = space.count(named_texts(original, dict(columns), names, found.in_parts))
        X = space.fit_counted(counted_texts)
    place = {name: row for row, name in enumerate(names)}
    ids = found.names.to_pylist()
    unknown = sum(name not in place for name in ids)
    if unknown:
        raise InputError(
            f"{counted(unknown, 'document')} of the release not among the originals; give the collection that was "
            "protected, and its --id-column"
        )
    in_order = [place[name] for name in ids]
    rows = X[in_order]
    attacks = _attacked(release, space, space.count_rows(counted_texts)[in_order])
    terms = {term: column for column, term in enumerate(space.get_feature_names_out())}
    # Concepts that no original has come after the originals' terms.
    for term in release.terms.tolist():
        terms.setdefault(term, len(terms))
    released = release.vectors.tocoo()
    of_column = np.array([terms[term] for term in release.terms.tolist()], dtype=np.int64)
    shape = (len(ids), len(terms))
    after = sp.csr_matrix((released.data, (released.coords[0], of_column[released.coords[1]])), shape=shape)
    before = sp.csr_matrix(rows)
    before.resize(shape)
    watched = [one["name"] for one in release.certificate["promises"]["columns"] if one["role"] == "confidential"]
    labels = release.table[watched[0]].to_pylist() if watched else None
    several = labels is not None and len({label for label in labels if label is not None}) > 1 and None not in labels
    return before, after, labels if several else None, attacks


def _attacked(release: Release, space: VectorSpace, counts: sp.csr_matrix) -> tuple[Rate, ...]:
    """The crowds taken apart: by their counts, or in releases of an older form by their weights."""
    rows = sp.csr_matrix(release.vectors if release.counts is None else release.counts)
    content = [_content(rows, row) for row in range(rows.shape[0])]
    _, first, groups = np.unique(content, return_index=True, return_inverse=True)
    return taken_apart(
        rows[first],
        np.asarray(release.terms),
        counts,
        space.terms_,
        groups,
        space.min_df,
        pooled=release.counts is not None,
        n_documents=space.n_documents_,
    )


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
    content = X.indices[part][order].astype(np.int32).tobytes() + X.data[part][order].tobytes()
    return hashlib.blake2b(content, digest_size=16).digest()
