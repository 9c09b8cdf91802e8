"""Documents to the draft of a release, in one piece or in parts: only counts, samples and figures come together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.assessment.unmixing import over_parts
from shoal.microaggregation.blocks.executors import Schedule
from shoal.protection.distances import NOT_PUBLISHED
from shoal.protection.documents import DocumentProtection, form_of
from shoal.protection.groups import FEW, stated_loss
from shoal.release.cluster import write_parts
from shoal.release.documents import part as part_steps
from shoal.release.documents.collection import (
    ReadDocuments,
    left_out_files,
    loss_of_parts,
    pool_documents,
    warn_of_copies,
    withheld,
    words_left_out,
)
from shoal.release.documents.files import TERM_COLUMNS, described, write_terms
from shoal.release.draft import Draft
from shoal.release.part_facts import crowd_figures, diversity_parameters
from shoal.release.sources import DocumentSource
from shoal.results.promised import GroupPromises
from shoal.results.summary import DocumentFigures, Summary, TermUse

__all__ = ["WHOLE", "draft_documents", "files_of_release", "most_used"]

TERMS_SHOWN = 30
WHOLE = "vectors.parquet"


def draft_documents(
    source: DocumentSource,
    k: int,
    protection: DocumentProtection,
    promises: GroupPromises,
    attack: bool,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> Draft:
    """Protect the documents and write the rows into the folders (private, release); the draft has the rest."""
    pooled = pool_documents(source, k, protection, promises, attack, schedule)
    read, protection, collected = pooled.read, pooled.protection, pooled.collected
    facts = _written(pooled.parts, protection, collected, source, folders, schedule)
    attacks = over_parts([fact.attacks for fact in facts]) if collected.tried else ()
    warn_of_copies(attacks)
    enough, confidential = read.n_rows >= FEW, source.confidential
    summary = Summary(
        k=k,
        method=protection.name,
        promises_k=True,
        rows=read.n_rows,
        **crowd_figures([fact.groups for fact in facts], confidential, promises),
        loss=stated_loss(loss_of_parts([fact.loss for fact in facts], read.n_rows), enough, digits=4),
        distances=_distances(facts, protection, read.n_rows) if enough else NOT_PUBLISHED,
        withheld=withheld(read.left_out),
        promised=promises,
        attacks=attacks,
        attacked=attack,
        figures=_figures(facts, protection, read, collected.vocabulary.names),
        files=files_of_release(source.whole, source.label),
    )
    return Draft(
        summary=summary,
        columns=described(confidential),
        shared_columns=(tuple(TERM_COLUMNS),),
        parameters=protection.parameters() | diversity_parameters(promises),
        files={"terms.txt": lambda path: write_terms(path, collected.vocabulary.names)},
        private_files=left_out_files(read),
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


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
        stemmed=read.space.stem and not read.space.items,
        in_meaning=protection.in_meaning,
        words_read=read.space.words_read_,
        words_left_out=words_left_out(read.space),
        record="basket" if read.space.items else "document",
    )


def _share_of_means(facts: Sequence[part_steps.DocumentFacts], n_rows: int) -> float:
    return round(loss_of_parts([fact.loss_of_means for fact in facts], n_rows).information_loss, 4)


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
