"""Documents in parts to the draft of a release: the steps of `release/documents` in each block, figures added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shoal import progress
from shoal.attacks.rates import rate_of
from shoal.data.inputs import DocumentSource
from shoal.methods.blocks.block import Block
from shoal.methods.blocks.executors import Schedule
from shoal.methods.blocks.grouping import divided_into_blocks, group_in_blocks
from shoal.methods.blocks.tree import sample_keys
from shoal.methods.pools import members_with, pooled_weights, without_visible_members
from shoal.promises.values import GroupTotals, totals_of
from shoal.release.cluster.parts import join_parts, write_parts
from shoal.release.documents import steps as one_piece
from shoal.release.documents.methods import DocumentMethod, with_space
from shoal.release.documents.records import FittedCorpus, count_documents, document_ties, fitted_corpus, fitted_rows
from shoal.release.documents.rows import (
    CorpusTotals,
    DocumentFacts,
    DocumentRows,
    ReleasedDocuments,
    Vocabulary,
)
from shoal.release.documents.sketches import CrowdSketches
from shoal.release.documents.steps import GROUPS_TRIED, DocumentSteps
from shoal.release.figures import FEW, NOT_PUBLISHED
from shoal.release.writing import Draft
from shoal.request.options import GroupPromises
from shoal.results.attacks import Rate
from shoal.terms.counting import Tally
from shoal.terms.vector_space import VectorSpace


def draft_documents_in_parts(
    steps: DocumentSteps, source: DocumentSource, folders: tuple[Path, Path], schedule: Schedule
) -> Draft:
    """Protect the documents and write the rows into the folders (private, release); the draft has the rest."""
    submit, form = schedule.submit, steps.form
    one_piece.warn_of_rare_terms(steps.method)
    corpus, parts = _read(source, steps.method, schedule)
    corpus.check_enough(steps.method.k)
    method = with_space(steps.method, _for_workers(corpus.space))
    blocks = _grouped(parts, corpus, method, steps.promises, schedule)
    documents, totals = _pooled(blocks, method, source.label, corpus.n_rows, schedule)
    attacks = _attacked(documents, method, totals, steps.attacked, schedule)
    one_piece.warn_of_copies(attacks, corpus.record)
    if isinstance(form, CrowdSketches):
        documents = [submit(_sketched, part, form, totals) for part in documents]
    first = schedule.gather([submit(form.first_row, part) for part in documents])
    documents = [documents[number] for number in sorted(range(len(documents)), key=first.__getitem__)]
    compare = form.compared_by(method)
    shown = _shown(documents, compare.most_shown, schedule)

    def write(number: int, target: str, mapping: str) -> Any:
        return submit(_written, documents[number], shown[number], method, form, totals, target, mapping)

    facts, samples = zip(*write_parts(form.kind, write, len(documents), folders, schedule), strict=True)
    distances = compare.distances(samples, corpus.n_rows) if corpus.n_rows >= FEW else NOT_PUBLISHED
    return steps.draft(corpus, method, totals, sum(facts[1:], start=facts[0]), distances, attacks)


def _for_workers(space: VectorSpace) -> VectorSpace:
    """The fitted space without the words that were left out."""
    fitted: VectorSpace = clone(space).use_terms(space.terms_, space.idf_)
    return fitted


def _read(source: DocumentSource, method: DocumentMethod, schedule: Schedule) -> tuple[FittedCorpus, list[Any]]:
    """The space fitted to all files, and the documents of each that have terms (futures of blocks)."""
    submit, gather, n_parts = schedule.submit, schedule.gather, len(source.parts)
    space = clone(method.space)
    progress.step("reading", 0, n_parts)
    counted = [submit(count_documents, part, source.columns, space) for part in source.parts]
    tallies, skipped = zip(
        *gather([submit(attrgetter("counted.tally", "skipped"), part) for part in counted]), strict=True
    )
    space.settle([method.known(Tally.merged(tallies))])
    progress.step("reading", n_parts, n_parts)
    rows = [submit(fitted_rows, part, _for_workers(space)) for part in counted]
    blocks = [submit(_block_of, part) for part in rows]
    empty, light = zip(*gather([submit(itemgetter(1, 2), part) for part in rows]), strict=True)
    names = [name for names in empty for name in names]
    return fitted_corpus(source, space, sum(skipped, ()), names, sum(light, Counter())), blocks


def _block_of(part: tuple[DocumentRows, Any, Any]) -> Block:
    rows = part[0]
    ties = document_ties(rows.X, rows.names)
    columns = {"label": rows.labels, "name": rows.names, "length": rows.lengths, "tie": ties}
    return Block(rows.X, columns, np.zeros(len(rows), dtype=np.int64))


def _rows_in(block: Block) -> DocumentRows:
    """The documents of a block, as methods take them."""
    columns = block.row_columns
    return DocumentRows(block.X, columns["length"], columns["label"], columns["name"])


def _grouped(
    parts: list[Any], corpus: FittedCorpus, method: DocumentMethod, promises: GroupPromises, schedule: Schedule
) -> list[Any]:
    """Blocks of like documents in groups (futures), joined until each has what is promised."""
    submit, plan = schedule.submit, method.block_plan(corpus.n_rows)
    cut = divided_into_blocks if method.in_meaning else group_in_blocks  # words are grouped by their rows alone
    blocks = [submit(_grouped_block, block, method) for block in cut(parts, corpus.n_rows, plan, schedule)]
    if not promises.asked:
        return blocks
    totals = schedule.gather([submit(_totals, block) for block in blocks])

    def join(block: Any, overall: list[Counter[str]]) -> Any:
        return submit(_joined_block, block, method, promises, overall)

    return join_parts(blocks, totals, (str(corpus.source.label),), method.k, promises, join, schedule)


def _grouped_block(block: Block, method: DocumentMethod) -> Block:
    rows = _rows_in(block)
    if method.in_meaning:
        return replace(block, groups=method.group(rows))
    return replace(block, groups=without_visible_members(rows.X, rows.lengths, block.groups, method.space.idf_))


def _totals(block: Block) -> GroupTotals:
    return totals_of(len(block.groups), [block.row_columns["label"]])


def _joined_block(
    block: Block, method: DocumentMethod, promises: GroupPromises, overall: Sequence[Mapping[str, int]]
) -> Block:
    return replace(block, groups=one_piece.join_groups(method, _rows_in(block), block.groups, promises, overall))


def _pooled(
    blocks: list[Any], method: DocumentMethod, label: str | None, n_rows: int, schedule: Schedule
) -> tuple[list[Any], CorpusTotals]:
    """The documents of each block in the order of their pools (futures), and what is known of all."""
    submit, gather = schedule.submit, schedule.gather
    parts = [(submit(_rows_in, block), submit(attrgetter("groups"), block)) for block in blocks]
    pools = [submit(method.pool, *part) for part in parts]
    terms = {term for terms in gather([submit(attrgetter("terms"), part) for part in pools]) for term in terms}
    vocabulary = Vocabulary.of(method.names(terms))
    centre = method.common_centre(gather([submit(method.centre, rows) for rows, _ in parts]))
    grouped = zip(parts, pools, strict=True)
    documents = [submit(ReleasedDocuments.of, *part, counts, vocabulary) for part, counts in grouped]
    frequency = None
    if method.space.weighting == "tf-idf":
        frequency = np.sum(gather([submit(_frequency, part) for part in documents]), axis=0)
    return documents, CorpusTotals(n_rows, vocabulary, frequency, centre, label)


def _frequency(documents: ReleasedDocuments) -> NDArray[np.int64]:
    return members_with(documents.pools, np.bincount(documents.groups).astype(np.int64))


def _attacked(
    documents: list[Any], method: DocumentMethod, totals: CorpusTotals, attacked: bool, schedule: Schedule
) -> tuple[Rate, ...]:
    """How many documents are recovered from some groups of each part; the rates of all parts as one."""
    if not attacked or totals.n_rows < FEW:
        return ()
    tried = -(-GROUPS_TRIED // len(documents))
    about = method.space, totals.vocabulary, tried
    rates_of_parts = schedule.gather([schedule.submit(one_piece.recovered, part, *about) for part in documents])
    attacks = []
    for rates in zip(*rates_of_parts, strict=True):
        chances = [rate.chances for rate in rates if rate.chances is not None]
        baseline = float(np.average([rate.baseline for rate in rates], weights=[rate.n for rate in rates]))
        attacks.append(rate_of(rates[0].about, np.concatenate(chances), baseline))
    return tuple(attacks)


def _sketched(documents: ReleasedDocuments, form: CrowdSketches, totals: CorpusTotals) -> ReleasedDocuments:
    return form.arranged(documents, pooled_weights(documents.pools, totals.frequency, totals.n_rows), totals.vocabulary)


def _shown(documents: list[Any], most: int, schedule: Schedule) -> list[int]:
    """How many documents of each part are among those with the smallest keys of all, whose distances are shown."""
    keys = schedule.gather([schedule.submit(_smallest_keys, part, most) for part in documents])
    largest = np.sort(np.concatenate(keys))[:most][-1]
    return [int(np.sum(part <= largest)) for part in keys]


def _smallest_keys(documents: ReleasedDocuments, most: int) -> NDArray[np.uint64]:
    return np.sort(sample_keys(documents.rows.vectors()))[:most]


def _written(
    documents: ReleasedDocuments,
    n_shown: int,
    method: DocumentMethod,
    form: Any,
    totals: CorpusTotals,
    target: str,
    mapping: str,
) -> tuple[DocumentFacts, Any]:
    """Write the rows, and report what is known of them, and some documents before and after."""
    weights = pooled_weights(documents.pools, totals.frequency, totals.n_rows)
    one_piece.write_documents(documents, weights, totals, form, target, mapping)
    chosen = np.argsort(sample_keys(documents.rows.vectors()), kind="stable")[:n_shown]
    sample = form.compared_by(method).sample(documents, chosen, weights, totals.vocabulary)
    return one_piece.facts_of_documents(documents, weights, totals, method), sample
