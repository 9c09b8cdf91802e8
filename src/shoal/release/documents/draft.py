"""Documents to the draft of a release, in one piece or in parts: only counts, samples and figures come together."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shoal import progress
from shoal.assessment.unmixing import GROUPS_TRIED, over_parts
from shoal.bundle.folders import write_csv
from shoal.errors import InputError
from shoal.microaggregation.blocks.executors import Schedule
from shoal.protection.distances import NOT_PUBLISHED
from shoal.protection.documents import DocumentProtection, form_of
from shoal.protection.documents.pools import Vocabulary, with_space
from shoal.protection.groups import FEW, stated_loss
from shoal.release.cluster import diverse_parts, write_parts
from shoal.release.documents import part as part_steps
from shoal.release.documents.files import TERM_COLUMNS, described, write_terms
from shoal.release.draft import Draft
from shoal.release.part_facts import crowd_figures, diversity_parameters
from shoal.release.sources import DocumentSource
from shoal.results.claims import Withheld
from shoal.results.loss import Loss
from shoal.results.rates import Rate
from shoal.results.summary import DocumentFigures, Summary, TermUse, WordsLeftOut
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Tally

__all__ = ["WHOLE", "draft_documents", "files_of_release", "most_used"]

NO_TERM = "no term left after the vector space's steps"
NOTHING = 1e-6  # a distance that comes of rounded weights
TERMS_SHOWN = 30
WHOLE = "vectors.parquet"


@dataclass(frozen=True)
class ReadDocuments:
    """The documents that have terms, read and counted; and those that do not come into the release."""

    rows: list[Any]  # futures of blocks
    n_rows: int
    space: VectorSpace  # fitted to all of them
    left_out: list[tuple[str, str]]  # name and reason


def draft_documents(
    source: DocumentSource,
    k: int,
    protection: DocumentProtection,
    l: int | None,
    attack: bool,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> Draft:
    """Protect the documents and write the rows into the folders (private, release); the draft has the rest."""
    _warn_of_rare_terms(protection.space, k)
    read = _read(source, protection, schedule)
    _check_enough(read, k)
    protection = with_space(protection, read.space)
    blocks = _grouped(read, protection, source, l, schedule)
    parts, collected = _arranged(blocks, protection, read.n_rows, attack, schedule)
    facts = _written(parts, protection, collected, source, folders, schedule)
    attacks = over_parts([fact.attacks for fact in facts]) if collected.tried else ()
    _warn_of_copies(attacks)
    enough, confidential = read.n_rows >= FEW, _confidential(source)
    summary = Summary(
        k=k,
        method=protection.name,
        promises_k=True,
        rows=read.n_rows,
        **crowd_figures([fact.groups for fact in facts], confidential),
        loss=stated_loss(_loss([fact.loss for fact in facts], read.n_rows), enough, digits=4),
        distances=_distances(facts, protection, read.n_rows) if enough else NOT_PUBLISHED,
        withheld=_withheld(read.left_out),
        l_promised=l,
        attacks=attacks,
        attacked=attack,
        figures=_figures(facts, protection, read, collected.vocabulary.names),
        files=files_of_release(source.whole, source.label),
    )
    return Draft(
        summary=summary,
        columns=described(confidential),
        shared_columns=(tuple(TERM_COLUMNS),),
        parameters=protection.parameters() | diversity_parameters(l),
        files={"terms.txt": lambda path: write_terms(path, collected.vocabulary.names)},
        private_files={
            "withheld.csv": write_csv(("document", "reason"), read.left_out),
            "words_left_out.csv": write_csv(("step", "word", "occurrences"), _words(read.space)),
        },
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


def _read(source: DocumentSource, protection: DocumentProtection, schedule: Schedule) -> ReadDocuments:
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
        raise InputError(
            f"k={k} needs at least {k} documents with terms, got {read.n_rows} ({empty} without a term after stop "
            f"words, WordNet and min_df, {unreadable} unreadable); lower k or min_df, add documents, or see whether "
            "the language is right"
        )


def _grouped(
    read: ReadDocuments, protection: DocumentProtection, source: DocumentSource, l: int | None, schedule: Schedule
) -> list[Any]:
    """Blocks of documents in groups (futures), diverse if that is asked for."""
    submit, rows = schedule.submit, read.rows
    blocks = (
        [submit(protection.group, rows[0])] if source.whole else protection.group_parts(rows, read.n_rows, schedule)
    )
    if l is None:
        return blocks
    carried = {str(source.label): "label"}
    return diverse_parts(blocks, carried, l, lambda block: submit(protection.diverse, block, l), schedule)


def _written(
    parts: list[Any],
    protection: DocumentProtection,
    collected: part_steps.Collected,
    source: DocumentSource,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> list[part_steps.DocumentFacts]:
    """What the owner must know of each part, once its rows are in the folders."""

    def write(number: int, target: str, mapping: str) -> Any:
        return schedule.submit(
            part_steps.write_part, parts[number], protection, collected, source.label, target, mapping
        )

    facts = write_parts("documents", write, len(parts), WHOLE if source.whole else None, folders, schedule)
    if source.whole:
        part_steps.write_matrix(parts[0], collected, str(folders[1] / "vectors.npz"))
    return facts


def _confidential(source: DocumentSource) -> tuple[str, ...]:
    return () if source.label is None else (source.label,)


def _figures(
    facts: Sequence[part_steps.DocumentFacts], protection: DocumentProtection, read: ReadDocuments, names: NDArray[Any]
) -> DocumentFigures:
    weight = np.sum([fact.weight for fact in facts], axis=0)
    documents = np.sum([fact.documents for fact in facts], axis=0)
    return DocumentFigures(
        form=form_of(read.space),
        loss_of_means=_share_of_means(facts, read.n_rows) if read.n_rows >= FEW else None,
        terms=most_used(weight, documents, names),
        vocabulary=len(names),
        stemmed=read.space.stem,
        in_meaning=protection.in_meaning,
        words_read=read.space.words_read_,
        words_left_out=_words_left_out(read.space),
    )


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


def _warn_of_copies(attacks: tuple[Rate, ...]) -> None:
    """Documents that are copies of each other show in the row of their group, whatever is done."""
    if attacks and attacks[0].baseline > 0:
        warnings.warn(
            f"{attacks[0].baseline:.1%} of the documents can be read off the row of their group: they are copies, or "
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


def _withheld(left_out: Sequence[tuple[str, str]]) -> tuple[Withheld, ...]:
    counts = Counter(reason for _, reason in left_out)
    return tuple(Withheld(reason, counts[reason]) for reason in sorted(counts, key=lambda one: (one == NO_TERM, one)))


def _loss(parts: Sequence[Loss], n_rows: int) -> Loss:
    """Of all parts; what rounded weights alone cost is nothing."""
    sse, ssa = sum(loss.sse for loss in parts), sum(loss.ssa for loss in parts)
    nothing = n_rows * NOTHING
    return Loss(sse=sse if sse > nothing else 0.0, ssa=ssa if ssa > nothing else 0.0)


def _share_of_means(facts: Sequence[part_steps.DocumentFacts], n_rows: int) -> float:
    return round(_loss([fact.loss_of_means for fact in facts], n_rows).information_loss, 4)


def _distances(facts: Sequence[part_steps.DocumentFacts], protection: DocumentProtection, n_rows: int) -> Any:
    """Of the documents with the smallest keys of all parts."""
    keys = np.concatenate([fact.sample[0] for fact in facts])
    most = np.sort(keys)[: protection.most_shown][-1]
    samples = [protection.first(fact.sample[1], int(np.sum(fact.sample[0] <= most))) for fact in facts]
    return protection.distances(samples, n_rows)


def most_used(weight: NDArray[Any], documents: NDArray[Any], names: NDArray[Any]) -> tuple[TermUse, ...]:
    """The terms with the most weight over all released documents; `documents` is how many have each."""
    heaviest = np.lexsort((names, -weight))[:TERMS_SHOWN]
    return tuple(
        TermUse(str(names[term]), int(documents[term]), round(float(weight[term] / documents[term]), 6))
        for term in heaviest
    )


def files_of_release(whole: bool, label: str | None) -> tuple[tuple[str, str], ...]:
    """The files of a release, in one piece or in parts, and what they are, for the reader."""
    rows = "one row per document: terms, how often the documents of its group have each of them, and weights"
    rows += ", its label" if label else ""
    if whole:
        matrix = ("vectors.npz", "the same weights as a SciPy CSR matrix")
        return ((WHOLE, rows), matrix, ("terms.txt", "the matrix's columns: one term per line"))
    return (("vectors", f"folder of parts, {rows}"), ("terms.txt", "every term of the release, one per line"))


def _words_left_out(space: VectorSpace) -> tuple[WordsLeftOut, ...]:
    """How much each step left out."""
    return tuple(
        WordsLeftOut(step, len(words), sum(words.values())) for step, words in sorted(space.words_left_out_.items())
    )


def _words(space: VectorSpace) -> list[tuple[str, str, int]]:
    """Every word that was left out: for the private side."""
    return [
        (step, word, seen)
        for step, words in sorted(space.words_left_out_.items())
        for word, seen in sorted(words.items())
    ]
