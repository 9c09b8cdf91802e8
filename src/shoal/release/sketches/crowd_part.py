"""What is done to one part of a collection whose groups are released as sketches, wherever it is: sort and write."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.bundle.formulas import formulas_in
from shoal.microaggregation.words.pooling import pooled_weights, without_length
from shoal.protection.distances import SAMPLE
from shoal.protection.documents import DocumentProtection
from shoal.protection.groups import codes_of
from shoal.protection.sketches import DECIMALS
from shoal.release.documents.part import Arranged, Collected, shown
from shoal.release.part_facts import GroupFacts, facts_of, replacing, write_mapping_part
from shoal.release.sketches.files import write_sketches
from shoal.results.loss import Loss
from shoal.sketch import Sketches, SketchKey
from shoal.sketch.sketches import SketchedRows

__all__ = ["CrowdFacts", "CrowdPart", "first_row", "sketched", "write_part"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CrowdPart:
    """A block whose groups are sketched, and its documents in the order in which they will be released."""

    arranged: Arranged
    weights: sp.csr_matrix  # of the groups' pools
    different: SketchedRows  # the sketches, sorted
    place: Ints  # of each document's sketch among them
    order: Ints  # of the documents


@dataclass(frozen=True)
class CrowdFacts:
    """What the owner must know of a part that was written."""

    groups: GroupFacts
    loss: Loss
    keys: NDArray[np.uint64]  # of the documents whose distances are shown
    before: sp.csr_matrix
    after: Sketches
    formulas: Counter[str]


def sketched(part: Arranged, all_parts: Collected, key: SketchKey, components: int) -> CrowdPart:
    """The documents in the order of what will be released of them: sketches, then labels.

    What is sketched are the weights that a release of documents would publish: functions of the pools alone.
    """
    block = part.pooled.block
    weights = pooled_weights(part.pools, all_parts.frequency, all_parts.n_rows)
    lengths = np.full(weights.shape[0], components)
    rows = SketchedRows(weights, key.hashed(all_parts.vocabulary.names.tolist()), key, lengths, DECIMALS)
    different, place_of_group = rows.sorted()
    place = place_of_group[block.groups]
    return CrowdPart(part, weights, different, place, np.lexsort((codes_of(block.carried["label"]), place)))


def first_row(part: CrowdPart) -> tuple[Any, ...]:
    """What the first document will be released as."""
    return part.different.take(np.array([0]))[0].tolist(), part.arranged.pooled.block.carried["label"][part.order[0]]


def write_part(
    part: CrowdPart, protection: DocumentProtection, all_parts: Collected, label: str | None, target: str, mapping: str
) -> CrowdFacts:
    """Write the rows, and privately which document became which of them."""
    pooled, order, place = part.arranged.pooled, part.order, part.place
    block = pooled.block
    confidential = {} if label is None else {label: block.carried["label"][order]}
    longest = int(part.different.lengths.max())
    with replacing(target) as path:
        digests = write_sketches(path, part.different, place[order], longest, confidential)
    write_mapping_part(block.carried["name"][order], place[order], mapping)
    rows, keys = shown(order, block, SAMPLE, len(order) == all_parts.n_rows)
    return CrowdFacts(
        groups=facts_of(digests, place[order], confidential),
        loss=protection.losses(pooled, part.weights, all_parts.vocabulary, all_parts.centre)[0],
        keys=keys,
        before=without_length(block.X[rows]),
        after=part.different.take(place[rows]),
        formulas=formulas_in(pa.table({name: pa.array(values, pa.string()) for name, values in confidential.items()})),
    )
