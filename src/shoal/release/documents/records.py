"""Documents read and counted, the space fitted to them, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal import progress
from shoal.data.columns import tie_keys
from shoal.data.corpus import Corpus
from shoal.data.inputs import DocumentSource
from shoal.data.records import Skipped
from shoal.data.sources import local_copy
from shoal.errors import InputError
from shoal.methods.blocks.executors import memory_of
from shoal.methods.pools import unit_rows, with_length
from shoal.promises.people import MORE_RECORDS, rows_to_keep
from shoal.promises.values import person_numbers
from shoal.release.documents.rows import DocumentRows, Ints
from shoal.release.folders import Content, csv_text
from shoal.request.options import GroupPromises
from shoal.results.claims import NOTHING_MORE, Withheld
from shoal.results.summary import WordsLeftOut
from shoal.terms.counting import Counted, Tally
from shoal.terms.vector_space import RARE, VectorSpace

NO_TERM = "no term left after the vector space's steps"


@dataclass(frozen=True)
class CountedDocuments:
    """The documents of one file, counted."""

    counted: Counted
    names: NDArray[Any]
    labels: NDArray[Any]
    skipped: tuple[Skipped, ...]
    person: Ints | None = None  # whose each document is

    def take(self, documents: Ints) -> CountedDocuments:
        """Some of the documents, in that order."""
        person = None if self.person is None else self.person[documents]
        texts = self.names[documents], self.labels[documents]
        return CountedDocuments(self.counted.take(documents), *texts, self.skipped, person)

    def __sizeof__(self) -> int:
        counted = self.counted
        return memory_of(self.names, self.labels, counted.row_end, counted.numbers, counted.counts)


@dataclass(frozen=True)
class FittedCorpus:
    """What is known of all documents, once they are read: the space fitted to them, and what was left out."""

    n_rows: int  # documents that have terms
    space: VectorSpace
    left_out: list[tuple[str, str]]  # name and reason
    source: DocumentSource

    @property
    def record(self) -> str:
        """What one of them is called."""
        return "basket" if self.space.items else "document"

    def check_enough(self, k: int) -> None:
        """Refuse fewer than k documents."""
        if self.n_rows >= k:
            return
        empty = sum(reason == NO_TERM for _, reason in self.left_out)
        unreadable = len(self.left_out) - empty
        if self.space.items:
            raise InputError(
                f"k={k} needs at least {k} baskets with items, got {self.n_rows} ({empty} without an item after "
                f"min_df, {unreadable} unreadable); lower k or min_df, or add baskets"
            )
        raise InputError(
            f"k={k} needs at least {k} documents with terms, got {self.n_rows} ({empty} without a term after stop "
            f"words, WordNet and min_df, {unreadable} unreadable); lower k or min_df, add documents, or see whether "
            "the language is right"
        )

    def withheld(self) -> tuple[Withheld, ...]:
        """How many documents were left out for each reason."""
        counts = Counter(reason for _, reason in self.left_out)
        reasons = sorted(counts, key=lambda reason: (reason == NO_TERM, reason))
        return tuple(Withheld(reason, counts[reason]) for reason in reasons)

    def words_left_out(self) -> tuple[WordsLeftOut, ...]:
        """How much each step left out."""
        steps = sorted(self.space.words_left_out_.items())
        return tuple(WordsLeftOut(step, len(words), sum(words.values())) for step, words in steps)

    def private_files(self) -> dict[str, Content]:
        """Every document and every word that was left out, and why."""
        steps = sorted(self.space.words_left_out_.items())
        words = [(step, word, seen) for step, words in steps for word, seen in sorted(words.items())]
        return {
            "withheld.csv": csv_text(("document", "reason"), self.left_out),
            "words_left_out.csv": csv_text(("step", "word", "occurrences"), words),
        }


def read_documents(
    source: DocumentSource,
    space: VectorSpace,
    known: Callable[[Tally], Tally] = lambda tally: tally,
    k: int = 1,
    promises: GroupPromises = NOTHING_MORE,
) -> tuple[FittedCorpus, DocumentRows]:
    """The documents of a source in one piece, and a space fitted to them; `known` are the terms that it may have.

    Of authors, at least k have as many documents as each of them; see `rows_to_keep`.
    """
    space = clone(space)
    counted, withheld = count_documents(source.parts[0], source.columns, space), []
    while True:
        tally = known(counted.counted.tally)
        space.settle([tally if counted.person is None else _used_by_enough(counted, tally, space.min_df)])
        rows, without_terms, light_terms = fitted_rows(counted, space)
        if rows.person is None:
            break
        kept = rows_to_keep(rows.person, k, None, promises, [rows.labels] if source.label else [])
        if kept.all():
            break
        # Terms are counted again without them, for a term must have enough authors in what is released.
        more = set(rows.names[~kept].tolist())
        withheld += [
            Skipped(str(name), MORE_RECORDS.format("people")) for name in counted.names.tolist() if name in more
        ]
        counted = counted.take(np.flatnonzero([name not in more for name in counted.names.tolist()]))
    return fitted_corpus(source, space, (*counted.skipped, *withheld), without_terms, light_terms), rows


def count_documents(part: str | Corpus, columns: Mapping[str, str | None], space: VectorSpace) -> CountedDocuments:
    """Read a file and count its terms; documents of one of several files are named after it as well."""
    if isinstance(part, Corpus):
        return _counted(part, "", space)
    with local_copy(part) as path:
        return _counted(Corpus(path, **columns), f"{Path(part).name}:", space)


def _counted(corpus: Corpus, prefix: str, space: VectorSpace) -> CountedDocuments:
    if corpus.of_items != space.items:
        here, others = ("baskets", "texts") if corpus.of_items else ("texts", "baskets")
        raise InputError(f"{corpus.name} has {here}, and the first part {others}; give parts of one kind")
    names: list[str] = []
    labels: list[str] = []
    people: list[str | None] = []

    def contents() -> Iterator[Any]:
        for document in corpus if prefix else progress.track("reading", corpus):
            names.append(f"{prefix}{document.id}")
            labels.append(document.label or "")
            people.append(document.person)
            yield document.content

    counted = space.count(contents())
    texts = np.array(names, dtype=object), np.array(labels, dtype=object)
    person = None if not people or people[0] is None else person_numbers(np.array(people, dtype=object))
    return CountedDocuments(counted, *texts, corpus.skipped, person)


def _used_by_enough(counted: CountedDocuments, tally: Tally, min_df: int) -> Tally:
    """The tally without terms that fewer people use than documents must have them."""
    assert counted.person is not None
    document = np.repeat(np.arange(len(counted.person)), np.diff(counted.counted.row_end, prepend=0))
    pairs = np.unique(np.column_stack([counted.counted.numbers, counted.person[document]]), axis=0)
    users = np.bincount(pairs[:, 0], minlength=len(counted.counted.terms))
    return tally.without({counted.counted.terms[term] for term in np.flatnonzero(users < min_df)}, RARE)


def fitted_rows(counted: CountedDocuments, space: VectorSpace) -> tuple[DocumentRows, list[str], Counter[str]]:
    """The documents that have terms; the names of the others; occurrences of terms too light in their document.

    They are in the order of their terms, so that neither labels nor the order of the input have a bearing. Each has its
    length, from which its counts are known again.
    """
    counts, light_terms = space.count_rows(counted.counted), space.light_terms(counted.counted)
    empty = np.diff(counts.indptr) == 0
    order = _order_of_terms(counts, counted.names)
    X, lengths = unit_rows(counts[order], space.idf_)
    person = None if counted.person is None else counted.person[order]
    rows = DocumentRows(with_length(X, lengths), lengths, counted.labels[order], counted.names[order], person)
    return rows, [str(name) for name in counted.names[empty]], light_terms


def _order_of_terms(counts: sp.csr_matrix, names: NDArray[Any]) -> NDArray[np.int64]:
    ties = document_ties(counts, names)

    def content(row: int) -> tuple[bytes, bytes, int]:
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        return counts.indices[part].tobytes(), counts.data[part].tobytes(), ties[row]

    return np.array(sorted(np.flatnonzero(np.diff(counts.indptr)).tolist(), key=content), dtype=np.int64)


def document_ties(counts: sp.csr_matrix, names: NDArray[Any]) -> NDArray[np.uint64]:
    """Keys that order documents with equal terms."""
    return tie_keys(names.tolist(), counts.indptr.tobytes(), counts.indices.tobytes(), counts.data.tobytes())


def fitted_corpus(
    source: DocumentSource,
    space: VectorSpace,
    skipped: tuple[Skipped, ...],
    without_terms: list[str],
    light_terms: Counter[str],
) -> FittedCorpus:
    """What is known of all documents, from those that could not be read, those without terms, and light terms."""
    if light_terms:
        space.leave_out_light(light_terms)
    left_out = [(unread.name, unread.reason) for unread in skipped] + [(name, NO_TERM) for name in without_terms]
    return FittedCorpus(space.n_documents_ - len(without_terms), space, left_out, source)
