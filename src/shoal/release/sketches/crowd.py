"""Documents to a release of crowd sketches: grouped and pooled as ever, and what is written of a pool is its sketch."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.assessment.unmixing import over_parts
from shoal.microaggregation.blocks.executors import Schedule, give_back_room
from shoal.protection.distances import NOT_PUBLISHED, SAMPLE, estimated_distances
from shoal.protection.documents import DocumentProtection
from shoal.protection.groups import FEW, stated_loss
from shoal.protection.sketches import CROWD
from shoal.release.cluster import write_parts
from shoal.release.documents.collection import (
    PooledDocuments,
    left_out_files,
    loss_of_parts,
    pool_documents,
    warn_of_copies,
    withheld,
    words_left_out,
)
from shoal.release.documents.part import attacked
from shoal.release.draft import Draft
from shoal.release.part_facts import crowd_figures, diversity_parameters
from shoal.release.sketches import crowd_part
from shoal.release.sketches.files import SKETCH, WHOLE, described, files_of
from shoal.release.sources import DocumentSource
from shoal.results.promised import GroupPromises
from shoal.results.rates import Rate
from shoal.results.summary import Distances, SketchFigures, Summary
from shoal.sketch import CrowdSketch, Sketches, SketchKey
from shoal.sketch.key import key_of

__all__ = ["draft_crowd_sketches"]


def draft_crowd_sketches(
    source: DocumentSource,
    k: int,
    method: CrowdSketch,
    protection: DocumentProtection,
    promises: GroupPromises,
    attack: bool,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> Draft:
    """Write the sketches into the folders (private, release); the draft has the rest."""
    key = key_of(method.key, method.random_state)
    pooled = pool_documents(source, k, protection, promises, attack, schedule)
    read, protection = pooled.read, pooled.protection
    _warn_of_many_components(method.components, len(pooled.collected.vocabulary.names))
    attacks = _attacked(pooled, schedule)
    warn_of_copies(attacks, "basket" if source.of_items else "document")
    give_back_room()
    facts = _written(pooled, key, method.components, source, folders, schedule)
    enough, confidential = read.n_rows >= FEW, source.confidential
    figures = SketchFigures(
        form=CROWD,
        lengths=((method.components, read.n_rows),),
        words_read=read.space.words_read_,
        words_left_out=words_left_out(read.space),
        record="basket" if source.of_items else "document",
    )
    summary = Summary(
        k=k,
        method=f"{protection.name}, sketched",
        promises_k=True,
        rows=read.n_rows,
        **crowd_figures([fact.groups for fact in facts], confidential, promises),
        loss=stated_loss(loss_of_parts([fact.loss for fact in facts], read.n_rows), enough, digits=4),
        distances=_distances(facts, read.n_rows) if enough else NOT_PUBLISHED,
        withheld=withheld(read.left_out),
        promised=promises,
        attacks=attacks,
        attacked=attack,
        figures=figures,
        files=files_of(figures.record, source.label, source.whole),
    )
    return Draft(
        summary=summary,
        columns=described(confidential),
        shared_columns=((SKETCH,),),
        parameters=_parameters(protection, method) | diversity_parameters(promises),
        files={},
        private_files={"sketch.key": key.write, **left_out_files(read)},
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


def _attacked(pooled: PooledDocuments, schedule: Schedule) -> tuple[Rate, ...]:
    """What whoever broke the key could do to the pools. Before they are sketched, for both take much room."""
    if not pooled.collected.tried:
        return ()
    space, collected = pooled.protection.space, pooled.collected
    found = [schedule.submit(attacked, part, space, collected) for part in pooled.parts]
    return over_parts(schedule.gather(found))


def _written(
    pooled: PooledDocuments,
    key: SketchKey,
    components: int,
    source: DocumentSource,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> list[crowd_part.CrowdFacts]:
    """What the owner must know of each part, once its sketches are in the folders."""
    submit, collected = schedule.submit, pooled.collected
    parts = [submit(crowd_part.sketched, part, collected, key, components) for part in pooled.parts]
    first = schedule.gather([submit(crowd_part.first_row, part) for part in parts])
    parts = [parts[number] for number in sorted(range(len(parts)), key=first.__getitem__)]

    def write(number: int, target: str, mapping: str) -> Any:
        return submit(crowd_part.write_part, parts[number], pooled.protection, collected, source.label, target, mapping)

    return write_parts("sketches", write, len(parts), WHOLE if source.whole else None, folders, schedule)


def _distances(facts: Sequence[crowd_part.CrowdFacts], n_rows: int) -> Distances:
    """Of the documents with the smallest keys of all parts."""
    most = np.sort(np.concatenate([fact.keys for fact in facts]))[:SAMPLE][-1]
    chosen = [np.flatnonzero(fact.keys <= most) for fact in facts]
    before = sp.vstack([fact.before[rows] for fact, rows in zip(facts, chosen, strict=True)], format="csr")
    after = Sketches.joined([fact.after[rows] for fact, rows in zip(facts, chosen, strict=True)])
    return estimated_distances(sp.csr_matrix(before), after, n_rows)


def _warn_of_many_components(components: int, n_terms: int) -> None:
    """Sketches have the rank of what was sketched; far beyond it, signs can be solved for without the key."""
    if components > n_terms:
        warnings.warn(
            f"components={components} for {n_terms} terms: the sketches show how many terms there are, and with many "
            f"more components the sums of groups can be solved for without the key; use at most {n_terms}",
            stacklevel=4,
        )


def _parameters(protection: DocumentProtection, method: CrowdSketch) -> dict[str, Any]:
    """Without the seed of the search: whoever gave one may have made the key of it."""
    found = protection.parameters()
    found["microaggregation"].pop("random_state", None)
    return found | {"sketch": {"components": method.components}}
