"""Linking, the slow way: each original compared with every masked record, one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

RELATIVE, ABSOLUTE = 1e-9, 1e-18  # distances that differ by less are equal


def chances(records: Any, family: Any, parameters: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """The chance that each record is found by a family's distance: 0, or 1 over those as near as its own."""
    found = []
    for row in range(len(records)) if rows is None else rows.tolist():
        to_all = family.features(records.differences(np.array([row])))[0] @ parameters
        slack = RELATIVE * (np.abs(to_all) + abs(to_all[row])) + ABSOLUTE
        nearer = np.any(to_all < to_all[row] - slack)
        found.append(0.0 if nearer else 1.0 / np.sum(to_all <= to_all[row] + slack))
    return np.array(found)


def nearest(records: Any, distance: Any, row: int, count: int) -> np.ndarray:
    """Distances to the nearest masked records that differ from the row's own, rising."""
    to_all = distance(records.differences(np.array([row])))[0]
    rivals = records.crowds.of_record != records.crowds.of_record[row]
    return np.sort(to_all[rivals])[:count]
