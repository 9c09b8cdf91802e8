"""Labels of rows, as they are read: each different text once, and its number for every row. Knows no method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.verification.forms.refused import Refused

__all__ = ["checked_labels", "rank_of_row", "room_of_labels"]


def checked_labels(table: pa.Table, names: Sequence[str], file: str) -> list[pa.DictionaryArray]:
    """The columns of these names; no label is missing."""
    labels = [table[name].combine_chunks() for name in names]
    if any(label.null_count or label.dictionary.null_count for label in labels):
        raise Refused("schema", "a label is missing where a release has an empty text", file)
    return labels


def rank_of_row(label: pa.DictionaryArray) -> list[int]:
    """Each row's place among the labels in their order."""
    rank = np.empty(len(label.dictionary), dtype=np.int64)
    rank[pc.sort_indices(label.dictionary).to_numpy()] = np.arange(len(rank))
    return list(rank[label.indices.to_numpy()].tolist())


def room_of_labels(labels: Sequence[pa.DictionaryArray]) -> int:
    """Bytes that the texts of all rows take."""

    def room(label: pa.DictionaryArray) -> int:
        lengths = pc.binary_length(label.dictionary).to_numpy(zero_copy_only=False)
        return int(lengths[label.indices.to_numpy()].sum())

    return sum(map(room, labels))
