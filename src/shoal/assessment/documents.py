"""Protected documents judged against their originals: a release, or two matrices made by anyone."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.assessment.originals import named_contents, vectors_in_order
from shoal.data.corpus import Corpus
from shoal.data.files import shown
from shoal.data.inputs import DocumentSource
from shoal.errors import InputError
from shoal.methods.pools import pooled_weights
from shoal.methods.semantic import SemanticMicroaggregation
from shoal.release.documents.methods import method_of
from shoal.release.documents.steps import NOTHING, DocumentSteps, is_table, taken_apart
from shoal.release.folders import CERTIFICATE
from shoal.release.load import Release, kind_of_release, load
from shoal.release.private_mapping import PrivateMapping, private_folder, read_mapping, rows_of_parts
from shoal.request.judging_options import AssessOptions
from shoal.results.assessment import SpaceAssessment
from shoal.results.attacks import Rate
from shoal.results.utility import Loss
from shoal.terms.hierarchy import ontologies_of
from shoal.terms.vector_space import VectorSpace
from shoal.utility.spaces import distinct_rows
from shoal.utility.vector_space import space_utility

FEWEST = 10  # rows from which one can see whether they belong together


@dataclass(frozen=True)
class AlignedDocuments:
    """Row i of `after` is what became of row i of `before`; the columns are the same terms."""

    before: sp.csr_matrix
    after: sp.csr_matrix
    how: str  # in words: how the rows were put side by side
    labels: list[Any] | None = None  # a confidential column, complete and of several values
    release: Release | None = None
    space: VectorSpace | None = None  # of a release: how its originals became vectors
    counts: sp.csr_matrix | None = None  # of a release: the terms of its originals, counted
    loss: Loss | None = None  # of a release by meaning: by the distances of meanings, not of columns


def is_space(protected: Any) -> bool:
    """Whether this is a release of documents, a sparse matrix or a file of one; else it is a table."""
    if sp.issparse(protected):
        return True
    if not isinstance(protected, str | os.PathLike):
        return False
    path = Path(protected)
    return path.suffix == ".npz" or kind_of_release(path) == "documents"


def assess_documents(
    original: Any, protected: Any, options: AssessOptions, columns: dict[str, str | None]
) -> SpaceAssessment:
    """Put the documents side by side, then measure and attack."""
    if isinstance(protected, str | os.PathLike) and (Path(protected) / CERTIFICATE).is_file():
        pair = _align_release(original, Path(protected), options, columns)
    else:
        pair = _align_matrices(original, protected)
    if not options.aligned:
        check_related(pair.before, pair.after)
    attacks = _attack(pair)
    utility = space_utility(pair.before, pair.after, pair.labels, options.random_state)
    if pair.loss is not None:
        utility = replace(utility, loss=pair.loss)
    alike = Counter(_content(pair.after, row) for row in range(pair.after.shape[0])).values()
    return SpaceAssessment(
        pair.after.shape[0], pair.how, min(alike), sum(count == 1 for count in alike), utility, attacks, _is_table(pair)
    )


def _align_matrices(original: Any, protected: Any) -> AlignedDocuments:
    before, after = _matrix(original, "original"), _matrix(protected, "protected")
    if before.shape != after.shape:
        raise InputError(
            f"the original matrix has {before.shape[0]} rows and {before.shape[1]} columns, the protected one "
            f"{after.shape[0]} and {after.shape[1]}; give matrices of the same documents and terms"
        )
    return AlignedDocuments(before, after, "by their place")


def _align_release(
    original: Any, folder: Path, options: AssessOptions, columns: dict[str, str | None]
) -> AlignedDocuments:
    """The originals as vectors, made as the certificate says, in the order and with the columns of the release."""
    release = load(folder)
    assert release.vectors is not None
    assert release.terms is not None
    sizes = rows_of_parts(folder, "documents")
    mapping = read_mapping(private_folder(folder, options.private), sizes or [release.vectors.shape[0]])
    space = stated_space(release, options.ontology)
    before, counts = vectors_in_order(original, columns, mapping, space)
    terms = {term: column for column, term in enumerate(space.get_feature_names_out())}
    # Concepts that no original has come after the originals' terms.
    for term in release.terms.tolist():
        terms.setdefault(term, len(terms))
    released = release.vectors.tocoo()
    of_column = np.array([terms[term] for term in release.terms.tolist()], dtype=np.int64)
    shape = (before.shape[0], len(terms))
    after = sp.csr_matrix((released.data, (released.coords[0], of_column[released.coords[1]])), shape=shape)
    before.resize(shape)
    loss = None
    if "ontology" in release.certificate["stated"]["parameters"].get("microaggregation", {}):
        loss = _loss_by_meaning(release, space, mapping, named_contents(original, columns, mapping.in_parts))
    return AlignedDocuments(before, after, "by the private mapping", _labels(release), release, space, counts, loss)


def _loss_by_meaning(
    release: Release, space: VectorSpace, mapping: PrivateMapping, originals: Iterable[tuple[str, Any]]
) -> Loss:
    """The loss as `protect` states it: the originals pooled again in the groups of the release."""
    released = distinct_rows(sp.csr_matrix(release.vectors)).of_row.tolist()
    group_of = dict(zip(mapping.names.to_pylist(), released, strict=True))
    names, texts = zip(*(one for one in originals if one[0] in group_of), strict=True)
    k = release.certificate["promises"]["anonymity"]["k"]
    steps = DocumentSteps(method_of(SemanticMicroaggregation(ontology=space.ontology), space, k))
    columns = dict.fromkeys(("text_column", "id_column", "label_column"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # remarks about the originals were made when they were protected
        records = steps.read(DocumentSource((Corpus.from_texts(texts, ids=names),), columns, True))
    groups = np.array([group_of[name] for name in records.rows.names.tolist()])
    documents, totals = steps.pooled(steps.represent(groups, records), groups, records)
    weights = pooled_weights(documents.pools, totals.frequency, totals.n_rows)
    return records.method.loss(documents, weights, totals).above(len(groups) * NOTHING)


def stated_space(release: Release, given: Any) -> VectorSpace:
    """How the certificate says that the originals became vectors, with the ontology where there was one."""
    parameters = release.certificate["stated"]["parameters"]
    ontology = {**parameters.get("microaggregation", {}), **parameters["vector_space"]}.get("ontology")
    if ontology not in (None, "WordNet") and given is None:
        raise InputError("the documents were protected with an ontology; give it as {option}", "ontology")
    means = {"ontology": ontologies_of("wordnet" if ontology == "WordNet" else given)} if ontology else {}
    return VectorSpace(**parameters["vector_space"] | means)


def _labels(release: Release) -> list[Any] | None:
    """The first confidential column, if every document has a value there and not all the same."""
    columns = release.certificate["promises"]["columns"]
    confidential = [column["name"] for column in columns if column["role"] == "confidential"]
    labels = release.table[confidential[0]].to_pylist() if confidential else [None]
    return labels if None not in labels and len(set(labels)) > 1 else None


def _attack(pair: AlignedDocuments) -> tuple[Rate, ...]:
    """The crowds of a release taken apart by their counts."""
    release, space = pair.release, pair.space
    if release is None or release.counts is None or space is None or pair.counts is None:
        return ()
    rows, groups = _rows_of_groups(release)
    return taken_apart(
        rows,
        np.asarray(release.terms),
        pair.counts,
        space.terms_,
        groups,
        space.min_df,
        n_documents=space.n_documents_,
    )


def _is_table(pair: AlignedDocuments) -> bool:
    return pair.release is not None and pair.release.counts is not None and is_table(*_rows_of_groups(pair.release))


def _rows_of_groups(release: Release) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """The counts of each group, and the group of each document."""
    rows = sp.csr_matrix(release.counts)
    content = [_content(rows, row) for row in range(rows.shape[0])]
    _, first, groups = np.unique(content, return_index=True, return_inverse=True)
    return rows[first], groups


def check_related(before: sp.csr_matrix, after: sp.csr_matrix) -> None:
    """Refuse rows that are no more alike than rows put side by side at random."""
    n_rows = before.shape[0]

    def alike(rows: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(before.multiply(after[rows]).sum(axis=1)).ravel()

    own, other = alike(np.arange(n_rows)), alike(np.random.default_rng(0).permutation(n_rows))
    error = float(np.std(own - other)) / np.sqrt(n_rows)
    if n_rows >= FEWEST and own.mean() - other.mean() <= 4 * error:
        raise InputError(
            "the rows are no more alike than rows drawn at random: they are in different orders, or nothing is left; "
            "give the right collection or private folder, or say {option} if all is right",
            "aligned",
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
