"""Documents to the draft of a release: vector space, groups, rows in canonical order."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
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
from shoal.microaggregation.diversity import JOINED
from shoal.release.bundle import MAPPING, write_csv, write_mapping
from shoal.release.distances import NOT_TOLD
from shoal.release.document_methods import Way
from shoal.release.draft import Draft
from shoal.release.groups import FEW, check_values, codes_of, diversities, sizes_of, stated_loss
from shoal.release.summary import Summary, TermUse, WordsLeftOut
from shoal.results import Withheld
from shoal.vectors import VectorSpace

__all__ = [
    "Released",
    "draft_documents",
    "rank_of_groups",
    "too_few",
    "warn_of_rare_terms",
    "words",
    "words_left_out",
]

NO_TERM = "no term left after the vector space's steps"
TERMS_SHOWN = 30
TERM_COLUMNS = ("terms", "weights")
ROWS_AT_ONCE = 20_000  # rows written to Parquet at a time, so that memory stays bounded

Ints = NDArray[np.int64]


def draft_documents(corpus: Corpus, k: int, way: Way, l: int | None, label: str | None) -> Draft:
    """Vectorise the corpus, group its documents, and put the result in the order of its content."""
    ids: list[str] = []
    labels: list[str] = []

    def texts() -> Iterator[str]:
        for document in progress.track("reading", corpus):
            ids.append(document.id)
            labels.append(document.label or "")
            yield document.text

    space = way.space
    warn_of_rare_terms(space, k)
    X = way.rows(texts())
    source = _in_order_of_content(X, labels)
    empty = np.flatnonzero(np.diff(X.indptr) == 0)
    if len(source) < k:
        raise too_few(k, len(source), len(empty), len(corpus.skipped))
    X = X[source]
    released_labels = np.array(labels, dtype=object)[source]

    if l is not None:
        check_values(str(label), released_labels, l)
    groups = way.group(X, k, released_labels, l)
    representatives, terms = way.representatives(X, groups)
    rank = rank_of_groups(representatives)
    order = np.lexsort((codes_of(released_labels), rank[groups]))
    groups, released_labels, source = groups[order], released_labels[order], source[order]
    X = X[order]

    confidential = {} if label is None else {label: released_labels}
    released = Released(groups, representatives, terms, confidential)
    reasons = Counter(skipped.reason for skipped in corpus.skipped)
    withheld = [Withheld(reason, count) for reason, count in sorted(reasons.items())]
    withheld += [Withheld(NO_TERM, len(empty))] if len(empty) else []
    sizes = np.bincount(rank[groups])  # groups with equal representatives are one to the reader
    summary = Summary(
        kind="documents",
        k=k,
        method=way.name,
        promises_k=True,
        rows=len(groups),
        smallest_group=int(sizes.min()),
        group_sizes=sizes_of(sizes),
        loss=stated_loss(way.loss(X, groups, representatives), len(groups) >= FEW),
        distances=way.distances(X, groups, representatives) if len(groups) >= FEW else NOT_TOLD,
        withheld=tuple(withheld),
        diversity=diversities(rank[groups], confidential),
        l_promised=l,
        terms=_most_used(released),
        vocabulary=len(np.unique(representatives.indices)),
        stemmed=space.stem,
        in_meaning=way.in_meaning,
        words_read=space.words_read_,
        words_left_out=words_left_out(space),
        files=(
            ("vectors.parquet", "one row a document: its terms and their weights" + (", its label" if label else "")),
            ("vectors.npz", "the same weights as a SciPy CSR matrix"),
            ("terms.txt", "the matrix's columns: one term a line"),
        ),
    )
    columns = [{"name": "terms", "role": "quasi", "type": "list of text"}]
    columns += [{"name": "weights", "role": "quasi", "type": "list of numbers"}]
    columns += [{"name": name, "role": "confidential", "type": "text"} for name in confidential]
    skipped = [(one.name, one.reason) for one in corpus.skipped] + [(ids[row], NO_TERM) for row in empty]
    return Draft(
        summary=summary,
        columns=tuple(columns),
        shared_columns=(TERM_COLUMNS,),
        parameters=way.parameters() | ({} if l is None else {"diversity": JOINED}),
        files={
            "vectors.parquet": released.write_parquet,
            "vectors.npz": released.write_npz,
            "terms.txt": released.write_terms,
        },
        private_files={
            MAPPING: write_mapping([ids[row] for row in source], rank[groups]),
            "withheld.csv": write_csv(("document", "reason"), skipped),
            "words_left_out.csv": write_csv(("step", "word", "occurrences"), words(space)),
        },
    )


def too_few(k: int, left: int, empty: int, skipped: int) -> InputError:
    """What to say when fewer than k documents have a term."""
    unusable = f"{empty} without a term after stop words, WordNet and min_df, {skipped} unreadable"
    remedy = "lower k or min_df, add documents, or see whether the language is right"
    return InputError(f"k={k} needs at least {k} documents with terms, got {left} ({unusable}); {remedy}")


def warn_of_rare_terms(space: VectorSpace, k: int) -> None:
    """A term that fewer than k documents have points at them, even inside a group."""
    if space.min_df < k:
        warnings.warn(
            f"min_df={space.min_df} is below k={k}: a term that fewer than {k} documents have points at them; "
            f"leave min_df out or make it {k}",
            stacklevel=4,
        )


class Released:
    """The rows that go out, one a document, as the files want them."""

    def __init__(
        self, groups: Ints, representatives: sp.csr_matrix, terms: NDArray[Any], confidential: dict[str, NDArray[Any]]
    ) -> None:
        used = np.unique(representatives.indices)  # a term without weight anywhere is not released
        self.groups = groups
        self.representatives = representatives[:, used]
        self.terms = terms[used]
        self.confidential = confidential

    def write_parquet(self, path: Path) -> None:
        fields = [("terms", pa.list_(pa.string())), ("weights", pa.list_(pa.float64()))]
        schema = pa.schema(fields + [(name, pa.string()) for name in self.confidential])
        names = pa.array(self.terms.tolist(), pa.string())
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for start in range(0, len(self.groups), ROWS_AT_ONCE):
                part = slice(start, start + ROWS_AT_ONCE)
                rows = self.representatives[self.groups[part]]
                ends, terms = pa.array(rows.indptr, pa.int32()), names.take(pa.array(rows.indices))
                columns = [pa.ListArray.from_arrays(ends, terms), pa.ListArray.from_arrays(ends, pa.array(rows.data))]
                columns += [pa.array(values[part].tolist(), pa.string()) for values in self.confidential.values()]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))

    def write_npz(self, path: Path) -> None:
        sp.save_npz(path, sp.csr_array(self.representatives[self.groups]))

    def write_terms(self, path: Path) -> None:
        path.write_text("".join(f"{term}\n" for term in self.terms.tolist()), encoding="utf-8", newline="\n")


def _in_order_of_content(X: sp.csr_matrix, labels: list[str]) -> Ints:
    """Rows that have terms, by what they hold: the order of the input then has no bearing on the result."""

    def content(row: int) -> tuple[bytes, bytes, str]:
        part = slice(X.indptr[row], X.indptr[row + 1])
        return X.indices[part].tobytes(), X.data[part].tobytes(), labels[row]

    return np.array(sorted(np.flatnonzero(np.diff(X.indptr)).tolist(), key=content), dtype=np.int64)


def rank_of_groups(representatives: sp.csr_matrix) -> Ints:
    """The place of each group when they are sorted by terms, then weights; equal representatives share a place."""
    # Big-endian bytes of what is not negative sort as the numbers do, and take a tenth of the memory of lists.
    terms, weights = representatives.indices.astype(">i4"), representatives.data.astype(">f8")
    ends = pairwise(representatives.indptr.tolist())
    content = [(terms[start:end].tobytes(), weights[start:end].tobytes()) for start, end in ends]
    place = {row: number for number, row in enumerate(sorted(set(content)))}
    return np.array([place[row] for row in content], dtype=np.int64)


def _most_used(released: Released) -> tuple[TermUse, ...]:
    sizes = np.bincount(released.groups, minlength=released.representatives.shape[0])
    documents = (released.representatives != 0).T @ sizes
    weight = released.representatives.T @ sizes
    heaviest = np.lexsort((released.terms, -weight))[:TERMS_SHOWN]
    return tuple(
        TermUse(str(released.terms[term]), int(documents[term]), round(float(weight[term] / documents[term]), 6))
        for term in heaviest
    )


def words_left_out(space: VectorSpace) -> tuple[WordsLeftOut, ...]:
    """How much each step left out."""
    return tuple(
        WordsLeftOut(step, len(words), sum(words.values())) for step, words in sorted(space.words_left_out_.items())
    )


def words(space: VectorSpace) -> list[tuple[str, str, int]]:
    """Every word that was left out: for the private side."""
    return [
        (step, word, seen)
        for step, words in sorted(space.words_left_out_.items())
        for word, seen in sorted(words.items())
    ]
