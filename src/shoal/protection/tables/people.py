"""Groups of people: each has rows of k different people, and a person's rows may be in several groups.

Rows are put into layers: the first row of everybody, the second of those who have one, and so on. Within a layer all
rows are of different people, so that groups of k rows are groups of k people. A layer much smaller than the first is
not grouped, for its few rows lie far from each other: they join the groups that are there, each the nearest.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.io.files import counted
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.refine.regions import numbered_by_first_row
from shoal.protection.tables.layout import PERSON, Layout, TableProtection

__all__ = ["grouped_by_person", "layer_of_row", "warn_of_majority"]

LARGE = 0.5  # of the first layer's rows: from there on a layer is grouped by itself

Ints = NDArray[np.int64]


def grouped_by_person(block: Block, layout: Layout, protection: TableProtection) -> tuple[Block, float]:
    """All rows in groups, and the least SSE possible if it is known; by people if the block says whose a row is."""
    layer = layer_of_row(block.carried[PERSON]) if PERSON in block.carried else np.zeros(1, dtype=np.int64)
    sizes = np.bincount(layer)
    if len(sizes) == 1 or not protection.k_anonymous:
        return protection.group(block, layout)
    groups = np.full(len(layer), -1, dtype=np.int64)
    for number in np.flatnonzero(sizes >= max(LARGE * sizes[0], protection.k)).tolist():
        rows = np.flatnonzero(layer == number)
        groups[rows] = protection.group(block.take(rows), layout)[0].groups + groups.max() + 1
    rest = np.flatnonzero(groups < 0)
    if len(rest):
        there = np.flatnonzero(groups >= 0)
        found = replace(block.take(there), groups=numbered_by_first_row(groups[there]))
        groups[there], groups[rest] = found.groups, protection.nearest(found, block.take(rest), layout)
    return replace(block, groups=numbered_by_first_row(groups)), 0.0


def warn_of_majority(block: Block) -> None:
    """Tell the owner of somebody who has most rows of a group: k people are in it, and yet a row is likely theirs."""
    if PERSON not in block.carried:
        return
    pairs, rows = np.unique(np.column_stack([block.groups, block.carried[PERSON]]), axis=0, return_counts=True)
    most = 2 * rows > np.bincount(block.groups)[pairs[:, 0]]
    if most.any():
        warnings.warn(
            f"in {counted(int(most.sum()), 'group')} one person has most of the rows, so that most of what it shows is "
            "theirs; keep fewer rows of people who have many, or make one of them",
            stacklevel=2,
        )


def layer_of_row(person: Ints) -> Ints:
    """How many rows of the same person come before each row."""
    order = np.argsort(person, kind="stable")
    first = np.concatenate(([True], person[order][1:] != person[order][:-1]))
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    layer = np.empty(len(order), dtype=np.int64)
    layer[order] = np.arange(len(order)) - start
    return layer
