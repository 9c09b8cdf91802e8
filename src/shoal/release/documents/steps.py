"""Documents or baskets in one piece, protected step by step: read, group, join, represent, publish, attack, write."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.attacks.unmixing.attack import Published, Unmixing
from shoal.attacks.unmixing.columns import split_by_columns, table_columns
from shoal.attacks.unmixing.scoring import score
from shoal.data.files import counted as number_of
from shoal.data.files import kind_of
from shoal.data.inputs import DocumentSource
from shoal.data.kinds.giveaways import author_like, warn_of_owners
from shoal.methods.people import crowds_of_people
from shoal.methods.pools import members_with, pooled_weights
from shoal.promises.joining import JOINED, GroupDistances, join_until
from shoal.promises.people import joined_crowds
from shoal.promises.values import check_totals, crowd_figures, facts_of, totals_of, value_requirements
from shoal.release.documents.methods import DocumentMethod, with_space
from shoal.release.documents.records import FittedCorpus, read_documents
from shoal.release.documents.rows import (
    CorpusTotals,
    DocumentFacts,
    DocumentRows,
    Ints,
    Pools,
    ReleasedDocuments,
    Vocabulary,
)
from shoal.release.documents.sketches import CrowdSketches
from shoal.release.documents.vectors import Vectors
from shoal.release.figures import FEW, NOT_PUBLISHED, spread_out, stated_loss
from shoal.release.folders import MAPPING, replacing
from shoal.release.writing import Draft, formulas_in, write_mapping_part
from shoal.request.options import GroupPromises
from shoal.results.attacks import Rate
from shoal.results.claims import NOTHING_MORE
from shoal.results.summary import Distances
from shoal.terms.vector_space import VectorSpace

GROUPS_TRIED = 100  # drawn at random, to be taken apart
FEWEST_COLUMNS = 2  # of a table
NOTHING = 1e-6  # a distance that comes of rounded weights


@dataclass(frozen=True)
class DocumentRecords:
    """The documents that have terms, in the order of their content, and the method with the space fitted to them."""

    corpus: FittedCorpus
    method: DocumentMethod
    rows: DocumentRows


@dataclass(frozen=True)
class DocumentPublication:
    """The documents as they will be released, and what may be said of them."""

    pooled: ReleasedDocuments  # in the order of their pools
    documents: ReleasedDocuments  # in that of what is released of these
    weights: sp.csr_matrix  # (groups, vocabulary)
    totals: CorpusTotals
    facts: DocumentFacts
    distances: Distances


@dataclass(frozen=True)
class DocumentSteps:
    """The seven steps for documents in one piece, by words or by meaning, released as vectors or as sketches."""

    method: DocumentMethod
    promises: GroupPromises = NOTHING_MORE
    attacked: bool = True
    form: Vectors | CrowdSketches = field(default_factory=Vectors)

    def read(self, source: DocumentSource) -> DocumentRecords:
        """The documents that have terms, as rows of a space fitted to them."""
        warn_of_rare_terms(self.method)
        corpus, rows = read_documents(source, self.method.space, self.method.known, self.method.k, self.promises)
        corpus.check_enough(self.method.k)
        if rows.person is None and source.path is not None and source.path.is_file():
            used = [source.columns[name] for name in ("text_column", "id_column", "label_column")]
            warn_of_owners(author_like(source.path, kind_of(source.path), used))
        return DocumentRecords(corpus, with_space(self.method, corpus.space), rows)

    def group(self, records: DocumentRecords) -> Ints:
        """The group of each document: at least k of them. Of people: the crowd, of at least k of them."""
        rows = records.rows
        if rows.person is not None:
            return crowds_of_people(rows.X, rows.person, records.method.block_plan(len(np.unique(rows.person))))
        return records.method.group(rows)

    def join(self, groups: Ints, records: DocumentRecords) -> Ints:
        """Groups joined until each has what is promised of labels."""
        rows, label = records.rows, records.corpus.source.label
        if not self.promises.asked:
            return groups
        labels, named = ([], ()) if label is None else ([rows.labels], (label,))
        check_totals(totals_of(len(rows), labels, rows.person), named, self.method.k, self.promises)
        if rows.person is None:
            return join_groups(records.method, rows, groups, self.promises)

        def distances_of(chosen: Ints, group_of_row: Ints) -> GroupDistances:
            return records.method.group_distances(rows.take(chosen), group_of_row)

        crowds = joined_crowds(groups, rows.person, rows.X, self.promises, labels, distances_of)
        warn_of_majority(rows.counts(records.method.space.idf_), crowds.group_of_row)
        return crowds.group_of_row

    def represent(self, groups: Ints, records: DocumentRecords) -> Pools:
        """What stands for each group: how often its documents together have each term."""
        return records.method.pool(records.rows, groups)

    def publish(self, masked: Pools, groups: Ints, records: DocumentRecords) -> DocumentPublication:
        """The documents as they will be released, and their figures."""
        method, n_rows = records.method, len(records.rows)
        pooled, totals = self.pooled(masked, groups, records)
        weights = pooled_weights(pooled.pools, totals.frequency, totals.n_rows)
        documents = self.form.arranged(pooled, weights, totals.vocabulary)
        facts = facts_of_documents(documents, weights, totals, method)
        compare, distances = self.form.compared_by(method), NOT_PUBLISHED
        if n_rows >= FEW:
            shown = documents.order[spread_out(n_rows, compare.most_shown)]
            distances = compare.distances([compare.sample(documents, shown, weights, totals.vocabulary)], n_rows)
        return DocumentPublication(pooled, documents, weights, totals, facts, distances)

    def pooled(self, pools: Pools, groups: Ints, records: DocumentRecords) -> tuple[ReleasedDocuments, CorpusTotals]:
        """The documents in the order of their pools, and what is known of all of them."""
        rows, method = records.rows, records.method
        vocabulary, centre = Vocabulary.of(method.names(pools.terms)), method.common_centre([method.centre(rows)])
        documents = ReleasedDocuments.of(rows, groups, pools, vocabulary)
        frequency = None
        if method.space.weighting == "tf-idf":
            frequency = members_with(documents.pools, np.bincount(groups).astype(np.int64))
        return documents, CorpusTotals(len(rows), vocabulary, frequency, centre, records.corpus.source.label)

    def attack(self, publication: DocumentPublication, records: DocumentRecords) -> tuple[Rate, ...]:
        """How many documents can be recovered from the pools; those of sketches by an attacker who broke the key."""
        if not self.attacked or len(records.rows) < FEW:
            return ()
        pooled = publication.pooled
        rates = recovered(pooled, records.method.space, publication.totals.vocabulary, GROUPS_TRIED)
        if is_table(pooled.pools[pooled.distinct_groups()], pooled.rank[pooled.groups]):
            warn_of_table(rates, records.corpus.record)
        else:
            warn_of_copies(rates, records.corpus.record)
        return rates

    def write(
        self,
        publication: DocumentPublication,
        findings: tuple[Rate, ...],
        records: DocumentRecords,
        folders: tuple[Path, Path],
    ) -> Draft:
        """Write the rows into the folders (private, release); the draft has the rest."""
        private, release = folders
        documents, weights, totals = publication.documents, publication.weights, publication.totals
        targets = str(release / self.form.whole), str(private / MAPPING)
        write_documents(documents, weights, totals, self.form, *targets)
        matrix = weights, documents.groups[documents.order]
        figures = publication.facts, publication.distances, findings
        return self.draft(records.corpus, records.method, totals, *figures, matrix)

    def draft(
        self,
        corpus: FittedCorpus,
        method: DocumentMethod,
        totals: CorpusTotals,
        facts: DocumentFacts,
        distances: Distances,
        attacks: tuple[Rate, ...],
        matrix: tuple[sp.csr_matrix, Ints] | None = None,
    ) -> Draft:
        """What the files beside the rows hold; `matrix` has the weights of groups and the group of each row."""
        n_rows = corpus.n_rows
        nothing = n_rows * NOTHING
        facts = replace(facts, loss=facts.loss.above(nothing), loss_of_means=facts.loss_of_means.above(nothing))
        stated = {
            "k": method.k,
            "promises_k": True,
            "rows": n_rows,
            **crowd_figures(facts.groups, self.promises),
            "loss": stated_loss(facts.loss, n_rows >= FEW, digits=4),
            "distances": distances,
            "withheld": corpus.withheld(),
            "promised": self.promises,
            "attacks": attacks,
            "attacked": self.attacked,
        }
        draft = self.form.draft(corpus, method, totals.vocabulary.names, facts, stated, matrix)
        joined = {"diversity": JOINED} if self.promises.asked else {}
        return replace(draft, parameters=draft.parameters | joined, measured_loss=facts.loss.information_loss)


def join_groups(
    method: DocumentMethod,
    rows: DocumentRows,
    groups: Ints,
    promises: GroupPromises,
    overall: Sequence[Mapping[str, int]] | None = None,
) -> Ints:
    """Groups joined until each has what is promised of labels; `overall` counts those of all documents, None: these."""
    distances = method.group_distances(rows, groups)
    return join_until(groups, value_requirements(promises, [rows.labels], overall), distances)


def facts_of_documents(
    documents: ReleasedDocuments, weights: sp.csr_matrix, totals: CorpusTotals, method: DocumentMethod
) -> DocumentFacts:
    """What is known of documents whose groups are published as `weights`."""
    rank, distinct = documents.rank[documents.groups], documents.distinct_groups()
    sizes, confidential = np.bincount(rank), documents.confidential(totals.label)
    person = None if documents.rows.person is None else documents.rows.person[documents.order]
    return DocumentFacts(
        groups=facts_of(rank[documents.order], confidential, person),
        loss=method.loss(documents, weights, totals),
        loss_of_means=method.loss_of_means(documents, totals),
        weight=weights[distinct].T @ sizes,
        documents=(documents.pools[distinct] != 0).T @ sizes,
        formulas=formulas_in(pa.table({name: pa.array(values, pa.string()) for name, values in confidential.items()})),
    )


def recovered(documents: ReleasedDocuments, space: VectorSpace, vocabulary: Vocabulary, tried: int) -> tuple[Rate, ...]:
    """How many documents are recovered from the pools of so many groups: exactly, and nearly."""
    pools, groups = documents.pools[documents.distinct_groups()], documents.rank[documents.groups]
    counts = documents.rows.counts(space.idf_)
    return taken_apart(pools, vocabulary.names, counts, space.terms_, groups, space.min_df, tried=tried)


def write_documents(
    documents: ReleasedDocuments,
    weights: sp.csr_matrix,
    totals: CorpusTotals,
    form: Vectors | CrowdSketches,
    target: str,
    mapping: str,
) -> None:
    """Write the rows, and privately which document became which of them."""
    with replacing(target) as path:
        form.write(documents, weights, totals, path)
    order = documents.order
    write_mapping_part(documents.rows.names[order], documents.rank[documents.groups[order]], mapping)


def warn_of_rare_terms(method: DocumentMethod) -> None:
    """A term that fewer than k documents have points at them, even inside a group."""
    k, min_df = method.k, method.space.min_df
    if min_df < k:
        warnings.warn(
            f"min_df={min_df} is below k={k}: a term that fewer than {k} documents have points at them; leave min_df "
            f"out or make it {k}",
            stacklevel=4,
        )


def warn_of_majority(counts: sp.csr_matrix, group_of_row: Ints) -> None:
    """Tell the owner of pools that are mostly one author's, who has one document in each."""
    words = np.asarray(counts.sum(axis=1)).ravel()
    most = np.zeros(int(group_of_row.max()) + 1)
    np.maximum.at(most, group_of_row, words)
    mostly = int(np.sum(2 * most > np.bincount(group_of_row, words)))
    if mostly:
        warnings.warn(
            f"in {number_of(mostly, 'group')} one author has more than half of the words, so that most of what it "
            "shows is theirs; shorten the longest documents, or leave them out",
            stacklevel=4,
        )


def warn_of_table(attacks: tuple[Rate, ...], record: str) -> None:
    """Items that are the values of columns add up to the size of every group, which ties their split."""
    warnings.warn(
        f"this is a table: every {record} has exactly one item of each of several columns, which shows in the groups, "
        f"and {attacks[0].rate:.1%} of the {record}s can be told from them; protect it as a table, a column for each",
        stacklevel=4,
    )


def warn_of_copies(attacks: tuple[Rate, ...], record: str) -> None:
    """Documents that have little but what others of their group have show in its row, whatever is done."""
    if attacks and attacks[0].baseline > 0:
        warnings.warn(
            f"{attacks[0].baseline:.1%} of the {record}s can be read off the row of their group: its most frequent "
            "terms are all that they have; remove duplicates, or raise k, and protect again",
            stacklevel=4,
        )


def taken_apart(
    rows: sp.csr_matrix,
    row_terms: NDArray[Any],
    counts: sp.csr_matrix,
    terms: NDArray[Any],
    groups: Ints,
    min_df: int,
    *,
    n_documents: int | None = None,
    tried: int = GROUPS_TRIED,
) -> tuple[Rate, ...]:
    """How many documents are recovered exactly, and nearly, from what is published of their groups.

    `rows` (groups, row_terms) are pooled counts; `counts` (documents, terms) the truth. A word that became part of a
    concept is in `terms` only, and an attacker cannot name it.
    """
    both = np.union1d(row_terms, terms)
    sizes = np.bincount(groups, minlength=rows.shape[0]).astype(np.int64)
    n_rows = len(groups) if n_documents is None else n_documents
    published = Published(_in_columns(rows, row_terms, both), sizes, n_rows, min_df)
    members, guesses = _in_columns(counts, terms, both), Unmixing(groups=tried).run(published)
    found = score(guesses, published, members, groups)
    columns = table_columns(published.rows, sizes)
    if len(columns) >= FEWEST_COLUMNS:
        by_columns = score(split_by_columns(published, columns, guesses.tried), published, members, groups)
        found = max(found, by_columns, key=lambda result: result.exact.rate)
    return found.exact, found.nearly


def is_table(pools: sp.csr_matrix, groups: Ints) -> bool:
    """Whether the records of pooled groups are rows of a table: each has one item of every column."""
    return len(table_columns(pools, np.bincount(groups, minlength=pools.shape[0]))) >= FEWEST_COLUMNS


def _in_columns(rows: sp.csr_matrix, terms: NDArray[Any], all_terms: NDArray[Any]) -> sp.csr_matrix:
    """The same rows with a column for each of more terms."""
    columns = np.searchsorted(all_terms, terms).astype(np.int32)[rows.indices]
    shape = (rows.shape[0], len(all_terms))
    return sp.csr_matrix((rows.data, columns, rows.indptr), shape=shape)
