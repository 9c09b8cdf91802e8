"""Documents read, grouped and pooled, in one piece or in parts: the same for every form in which they are released."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.base import clone

from shoal import progress
from shoal.assessment.unmixing import GROUPS_TRIED
from shoal.bundle.folders import Writer, write_csv
from shoal.errors import InputError
from shoal.microaggregation.blocks.executors import Schedule, give_back_room
from shoal.protection.documents import DocumentProtection
from shoal.protection.documents.pools import ReadsDocuments, Vocabulary, with_space
from shoal.protection.groups import FEW
from shoal.release.cluster import diverse_parts
from shoal.release.documents import part as part_steps
from shoal.release.sources import DocumentSource
from shoal.results.claims import Withheld
from shoal.results.loss import Loss
from shoal.results.promised import GroupPromises
from shoal.results.rates import Rate
from shoal.results.summary import WordsLeftOut
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Tally

__all__ = [
    "NO_TERM",
    "PooledDocuments",
    "ReadDocuments",
    "left_out_files",
    "loss_of_parts",
    "pool_documents",
    "read_documents",
    "warn_of_copies",
    "withheld",
    "words_left_out",
]

NO_TERM = "no term left after the vector space's steps"
NOTHING = 1e-6  # a distance that comes of rounded weights


@dataclass(frozen=True)
class ReadDocuments:
    """The documents that have terms, read and counted; and those that do not come into the release."""

    rows: list[Any]  # futures of blocks
    n_rows: int
    space: VectorSpace  # fitted to all of them
    left_out: list[tuple[str, str]]  # name and reason


@dataclass(frozen=True)
class PooledDocuments:
    """The documents in groups, and the pools of these."""

    read: ReadDocuments
    protection: DocumentProtection  # with a fitted space
    parts: list[Any]  # futures of what is to be released, in the order of the pools
    collected: part_steps.Collected


def pool_documents(
    source: DocumentSource,
    k: int,
    protection: DocumentProtection,
    promises: GroupPromises,
    attack: bool,
    schedule: Schedule,
) -> PooledDocuments:
    """Read the documents, group them, and pool the counts of each group."""
    _warn_of_rare_terms(protection.space, k)
    read = read_documents(source, protection, schedule)
    _check_enough(read, k)
    protection = with_space(protection, read.space)
    give_back_room()
    blocks = _grouped(read, k, protection, source, promises, schedule)
    give_back_room()
    return PooledDocuments(read, protection, *_arranged(blocks, protection, read.n_rows, attack, schedule))


def read_documents(source: DocumentSource, protection: ReadsDocuments, schedule: Schedule) -> ReadDocuments:
    """The documents of all parts, and the space that is fitted to them."""
    submit, gather, n_parts = schedule.submit, schedule.gather, len(source.parts)
    space = clone(protection.space)
    if not source.whole:
        progress.step("reading", 0, n_parts)
    parts = [submit(part_steps.read_part, part, source.columns, space) for part in source.parts]
    readings = gather([submit(part_steps.reading_of, part) for part in parts])
    space.settle([protection.known(Tally.merged(tally for tally, _ in readings))])
    if not source.whole:
        progress.step("reading", n_parts, n_parts)
    fitted = with_space(protection, space).space
    rows = [submit(part_steps.rows_of, part, fitted) for part in parts]
    light = gather([submit(part_steps.without_terms, part, fitted) for part in parts])
    space.leave_out_light(sum((occurrences for _, occurrences in light), Counter()))
    left_out = [(one.name, one.reason) for _, skipped in readings for one in skipped]
    without_terms = [(name, NO_TERM) for names, _ in light for name in names]
    return ReadDocuments(rows, space.n_documents_ - len(without_terms), space, left_out + without_terms)


def _check_enough(read: ReadDocuments, k: int) -> None:
    if read.n_rows < k:
        empty = sum(reason == NO_TERM for _, reason in read.left_out)
        unreadable = len(read.left_out) - empty
        if read.space.items:
            raise InputError(
                f"k={k} needs at least {k} baskets with items, got {read.n_rows} ({empty} without an item after "
                f"min_df, {unreadable} unreadable); lower k or min_df, or add baskets"
            )
        raise InputError(
            f"k={k} needs at least {k} documents with terms, got {read.n_rows} ({empty} without a term after stop "
            f"words, WordNet and min_df, {unreadable} unreadable); lower k or min_df, add documents, or see whether "
            "the language is right"
        )


def _grouped(
    read: ReadDocuments,
    k: int,
    protection: DocumentProtection,
    source: DocumentSource,
    promises: GroupPromises,
    schedule: Schedule,
) -> list[Any]:
    """Blocks of documents in groups (futures), diverse if that is asked for."""
    submit, rows = schedule.submit, read.rows
    blocks = (
        [submit(protection.group, rows[0])] if source.whole else protection.group_parts(rows, read.n_rows, schedule)
    )
    if not promises:
        return blocks
    carried = {str(source.label): "label"}
    merge = partial(submit, protection.diverse)
    return diverse_parts(blocks, carried, k, promises, lambda block, all: merge(block, promises, all), schedule)


def _arranged(
    blocks: list[Any], protection: DocumentProtection, n_rows: int, attack: bool, schedule: Schedule
) -> tuple[list[Any], part_steps.Collected]:
    """The parts to write, in their order (futures), and what writing them needs to know of all."""
    submit, gather = schedule.submit, schedule.gather
    pooled = [submit(protection.pooled, block) for block in blocks]
    terms = {term for terms in gather([submit(attrgetter("terms"), block) for block in pooled]) for term in terms}
    vocabulary = Vocabulary.of(protection.names(terms))
    centre = protection.common_centre(gather([submit(protection.centre, block) for block in pooled]))
    parts = [submit(part_steps.arranged, block, vocabulary) for block in pooled]
    first = gather([submit(part_steps.first_row, part) for part in parts])
    parts = [parts[number] for number in sorted(range(len(parts)), key=first.__getitem__)]
    frequency = None
    if protection.space.weighting == "tf-idf":
        frequency = np.sum(gather([submit(part_steps.frequency_in, part) for part in parts]), axis=0)
    tried = -(-GROUPS_TRIED // len(parts)) if attack and n_rows >= FEW else 0
    return parts, part_steps.Collected(vocabulary, frequency, centre, n_rows, tried)


def warn_of_copies(attacks: tuple[Rate, ...], noun: str = "document") -> None:
    """Documents that are copies of each other show in the row of their group, whatever is done."""
    if attacks and attacks[0].baseline > 0:
        warnings.warn(
            f"{attacks[0].baseline:.1%} of the {noun}s can be read off the row of their group: they are copies, or "
            "nearly, of the others in it; remove duplicates and protect again",
            stacklevel=4,
        )


def _warn_of_rare_terms(space: VectorSpace, k: int) -> None:
    """A term that fewer than k documents have points at them, even inside a group."""
    if space.min_df < k:
        warnings.warn(
            f"min_df={space.min_df} is below k={k}: a term that fewer than {k} documents have points at them; "
            f"leave min_df out or make it {k}",
            stacklevel=4,
        )


def withheld(left_out: Sequence[tuple[str, str]]) -> tuple[Withheld, ...]:
    counts = Counter(reason for _, reason in left_out)
    return tuple(Withheld(reason, counts[reason]) for reason in sorted(counts, key=lambda one: (one == NO_TERM, one)))


def loss_of_parts(parts: Sequence[Loss], n_rows: int) -> Loss:
    """Of all parts; what rounded weights alone cost is nothing."""
    sse, ssa = sum(loss.sse for loss in parts), sum(loss.ssa for loss in parts)
    nothing = n_rows * NOTHING
    return Loss(sse=sse if sse > nothing else 0.0, ssa=ssa if ssa > nothing else 0.0)


def words_left_out(space: VectorSpace) -> tuple[WordsLeftOut, ...]:
    """How much each step left out."""
    return tuple(
        WordsLeftOut(step, len(words), sum(words.values())) for step, words in sorted(space.words_left_out_.items())
    )


def left_out_files(read: ReadDocuments) -> dict[str, Writer]:
    """Privately: every document and every word that was left out, and why."""
    words = [
        (step, word, seen)
        for step, words in sorted(read.space.words_left_out_.items())
        for word, seen in sorted(words.items())
    ]
    return {
        "withheld.csv": write_csv(("document", "reason"), read.left_out),
        "words_left_out.csv": write_csv(("step", "word", "occurrences"), words),
    }
