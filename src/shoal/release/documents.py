"""Documents to the draft of a release: vector space, groups, rows in canonical order."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.unmixing import taken_apart
from shoal.bundle.folders import MAPPING, write_csv, write_mapping
from shoal.bundle.formulas import formulas_in
from shoal.errors import InputError
from shoal.io import Corpus
from shoal.microaggregation.diversity import JOINED
from shoal.microaggregation.words.pooling import rank_of_pools
from shoal.protection.distances import NOT_TOLD
from shoal.protection.documents import Published, Way, form_of
from shoal.protection.groups import FEW, check_values, codes_of, diversities, sizes_of, stated_loss
from shoal.release.draft import Draft
from shoal.results.claims import Withheld
from shoal.results.rates import Rate
from shoal.results.summary import Summary, TermUse, WordsLeftOut
from shoal.vectors import VectorSpace

__all__ = [
    "Released",
    "described",
    "draft_documents",
    "too_few",
    "warn_of_copies",
    "warn_of_rare_terms",
    "words",
    "words_left_out",
]

NO_TERM = "no term left after the vector space's steps"
TERMS_SHOWN = 30
TERM_COLUMNS = ("terms", "counts", "weights")
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
    counts = way.rows(texts())
    source = _in_order_of_content(counts, labels)
    empty = np.flatnonzero(np.diff(counts.indptr) == 0)
    if len(source) < k:
        raise too_few(k, len(source), len(empty), len(corpus.skipped))
    counts = counts[source]
    released_labels = np.array(labels, dtype=object)[source]

    if l is not None:
        check_values(str(label), released_labels, l)
    groups = way.group(counts, k, released_labels, l)
    published = way.publish(counts, groups)
    rank = rank_of_pools(published.counts)
    order = np.lexsort((codes_of(released_labels), rank[groups]))
    groups, released_labels, source = groups[order], released_labels[order], source[order]
    counts = counts[order]

    confidential = {} if label is None else {label: released_labels}
    released = Released(groups, published, confidential)
    enough = len(groups) >= FEW
    reasons = Counter(skipped.reason for skipped in corpus.skipped)
    withheld = [Withheld(reason, count) for reason, count in sorted(reasons.items())]
    withheld += [Withheld(NO_TERM, len(empty))] if len(empty) else []
    sizes = np.bincount(rank[groups])  # groups with equal representatives are one to the reader
    summary = Summary(
        kind="documents",
        k=k,
        method=way.name,
        promises_k=True,
        form=form_of(space),
        rows=len(groups),
        smallest_group=int(sizes.min()),
        group_sizes=sizes_of(sizes),
        loss=stated_loss(way.loss(counts, groups, published), enough, digits=4),
        loss_of_means=round(way.loss_of_means(counts, groups).information_loss, 4) if enough else None,
        distances=way.distances(counts, groups, published) if enough else NOT_TOLD,
        withheld=tuple(withheld),
        diversity=diversities(rank[groups], confidential),
        l_promised=l,
        attacks=_attacked(published, counts, groups, space) if enough else (),
        terms=_most_used(released),
        vocabulary=len(released.terms),
        stemmed=space.stem,
        in_meaning=way.in_meaning,
        words_read=space.words_read_,
        words_left_out=words_left_out(space),
        files=(
            (
                "vectors.parquet",
                "one row per document: terms, how often the documents of its group have each of them, and weights"
                + (", its label" if label else ""),
            ),
            ("vectors.npz", "the same weights as a SciPy CSR matrix"),
            ("terms.txt", "the matrix's columns: one term per line"),
        ),
    )
    skipped = [(one.name, one.reason) for one in corpus.skipped] + [(ids[row], NO_TERM) for row in empty]
    return Draft(
        summary=summary,
        columns=described(tuple(confidential)),
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
        formulas=formulas_in(pa.table({name: pa.array(values, pa.string()) for name, values in confidential.items()})),
    )


def _attacked(published: Published, counts: sp.csr_matrix, groups: Ints, space: VectorSpace) -> tuple[Rate, ...]:
    progress.step("taking crowds apart", 0, 1)
    found = taken_apart(published.counts, published.terms, counts, space.terms_, groups, space.min_df)
    progress.step("taking crowds apart", 1, 1)
    warn_of_copies(found)
    return found


def warn_of_copies(attacks: tuple[Rate, ...]) -> None:
    """Documents that are copies of each other show in the row of their group, whatever is done."""
    if attacks[0].baseline > 0:
        warnings.warn(
            f"{attacks[0].baseline:.1%} of the documents can be read off the row of their group: they are copies, or "
            "nearly, of the others in it; remove duplicates and protect again",
            stacklevel=4,
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

    def __init__(self, groups: Ints, published: Published, confidential: dict[str, NDArray[Any]]) -> None:
        used = np.unique(published.counts.indices)  # a term that no document has any more is not released
        self.groups = groups
        self.counts = published.counts[:, used]
        self.weights = published.weights[:, used]
        self.terms = published.terms[used]
        self.confidential = confidential

    def write_parquet(self, path: Path) -> None:
        fields = [("terms", pa.list_(pa.string())), ("counts", pa.list_(pa.int64()))]
        fields += [("weights", pa.list_(pa.float64()))]
        schema = pa.schema(fields + [(name, pa.string()) for name in self.confidential])
        names = pa.array(self.terms.tolist(), pa.string())
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for start in range(0, len(self.groups), ROWS_AT_ONCE):
                part = slice(start, start + ROWS_AT_ONCE)
                counts, weights = (rows[self.groups[part]] for rows in (self.counts, self.weights))
                ends, terms = pa.array(counts.indptr, pa.int32()), names.take(pa.array(counts.indices))
                lists = terms, pa.array(counts.data), pa.array(weights.data)
                columns: list[Any] = [pa.ListArray.from_arrays(ends, values) for values in lists]
                columns += [pa.array(values[part].tolist(), pa.string()) for values in self.confidential.values()]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))

    def write_npz(self, path: Path) -> None:
        sp.save_npz(path, sp.csr_array(self.weights[self.groups]))

    def write_terms(self, path: Path) -> None:
        path.write_text("".join(f"{term}\n" for term in self.terms.tolist()), encoding="utf-8", newline="\n")


def described(labels: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Name, role and type of each released column."""
    types = ("list of text", "list of whole numbers", "list of numbers")
    columns = [{"name": name, "role": "quasi", "type": type} for name, type in zip(TERM_COLUMNS, types, strict=True)]
    return (*columns, *({"name": name, "role": "confidential", "type": "text"} for name in labels))


def _in_order_of_content(X: sp.csr_matrix, labels: list[str]) -> Ints:
    """Rows that have terms, by what they hold: the order of the input then has no bearing on the result."""

    def content(row: int) -> tuple[bytes, bytes, str]:
        part = slice(X.indptr[row], X.indptr[row + 1])
        return X.indices[part].tobytes(), X.data[part].tobytes(), labels[row]

    return np.array(sorted(np.flatnonzero(np.diff(X.indptr)).tolist(), key=content), dtype=np.int64)


def _most_used(released: Released) -> tuple[TermUse, ...]:
    sizes = np.bincount(released.groups, minlength=released.counts.shape[0])
    documents = (released.counts != 0).T @ sizes
    weight = released.weights.T @ sizes
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
