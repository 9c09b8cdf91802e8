"""Slow twins: the cost of groups for common values, the k-member rule, crowds of records with blanks, and recodings."""

from __future__ import annotations

import itertools
import math


def chain(parent, node):
    """A node and all above it."""
    found = [node]
    while parent[node] not in (-1, node):
        node = parent[node]
        found.append(node)
    return found


def lowest_common(parent, nodes):
    """The lowest node that is on the way up of all."""
    ways = [chain(parent, node) for node in nodes]
    return next((node for node in ways[0] if all(node in way for way in ways)), None)


def loss_of_column(cells, whole, size=None, tree=None):
    """What a cell of a group with these cells loses; None is a missing cell, `whole` the range of numbers."""
    if len(set(cells)) == 1:
        return 0.0
    if None in cells:
        return 1.0
    if tree is not None:
        parent, leaves = tree
        roots = [node for node, above in enumerate(parent) if above in (-1, node)]
        common = lowest_common(parent, sorted(set(cells)))
        return 1.0 if common is None else leaves[common] / sum(leaves[root] for root in roots)
    if size is not None:
        return min(1.0, len(set(cells)) / size)
    return min(1.0, (max(cells) - min(cells)) / whole) if whole > 0 else 0.0


def cost(rows, columns):
    """Size times the sum over the columns of importance times loss; `columns` are dicts with whole, size, tree."""
    return len(rows) * sum(
        column["importance"] * loss_of_column(cells, column.get("whole"), column.get("size"), column.get("tree"))
        for cells, column in zip(zip(*rows, strict=True), columns, strict=True)
    )


def k_member(rows, columns, k):
    """Groups by the rule: farthest from the seed before, then always the record that widens least; and the rest."""

    def width(chosen):
        return round(cost([rows[number] for number in chosen], columns) / len(chosen), 9)

    left = list(range(len(rows)))
    seed = max(left, key=lambda number: (width([left[0], number]), -number))
    groups = []
    while len(left) >= k:
        group = [seed]
        farthest = None
        for _ in range(k):
            left.remove(group[-1])
            if farthest is None and left:
                farthest = max(left, key=lambda number: (width([seed, number]), -number))
            if len(group) < k:
                group.append(min(left, key=lambda number: (width([*group, number]), number)))
        groups.append(sorted(group))
        seed = farthest if farthest in left else (left[0] if left else None)
    return groups, left


def crowd(rows, row, any_value):
    """Records that a record may be; None is a blank."""
    if not any_value:
        return sum(other == rows[row] for other in rows)
    return sum(
        all(one == two or None in (one, two) for one, two in zip(other, rows[row], strict=True)) for other in rows
    )


def best_node(columns, k, share):
    """The least mean loss of all nodes that withhold at most a share; `columns`: per column and level codes, losses."""
    n = len(columns[0][0][0])
    best = math.inf
    for node in itertools.product(*(range(len(column)) for column in columns)):
        keys = [tuple(column[level][0][row] for column, level in zip(columns, node, strict=True)) for row in range(n)]
        kept = [keys.count(key) >= k for key in keys]
        if n - sum(kept) > share * n + 1e-9:
            continue
        lost = sum(
            sum(column[level][1][column[level][0][row]] for column, level in zip(columns, node, strict=True))
            if kept[row]
            else len(columns)
            for row in range(n)
        )
        best = min(best, lost / (n * len(columns)))
    return best
