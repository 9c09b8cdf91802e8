"""Whole people as units: crowds of people with equally many records, and the rows that a crowd shares.

A person with several records is in as many published rows. Whoever knows them all looks each row up and intersects the
people behind it. So people are grouped, not records, and the records of a crowd are put into slots: everybody in the
crowd has one record in each slot, and each slot is published as one row. All people of a crowd then carry the same
published rows, each as often, and so they do for an attacker who can tell which records belong together: by a
confidential value that is constant within people, say, which is as good as a number for each person.

That needs people with equally many records. Where fewer than k have as many, some of their records are withheld.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from shoal.methods.blocks.grouping import Plan, group_rows
from shoal.methods.mdav import numbered_by_first_row
from shoal.terms.vector_space import at_unit_length

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDS = 5  # of matching records to slots; more change next to nothing
MOST_COMPARED = 8  # records of a person that are compared one by one with another person's

# Points are the records' coordinates, (records, coordinates): a dense array, or CSR for documents.


def equal_numbers(records: Ints, least: Ints) -> Ints:
    """How many records of each person to keep, so that at least as many people as each asks for keep as many.

    From the top: people with a number of records that too few have go down to the next number. Too few with the lowest
    number are joined by people with more, taken evenly from the order in which people are given.
    """
    kept = np.array(records)
    too_few = np.zeros(len(records), dtype=bool)
    for number in np.unique(records)[::-1].tolist():
        too_few |= records == number
        kept[too_few] = number
        if too_few.sum() >= least[too_few].max():
            too_few[:] = False
    lowest = kept == kept.min()
    while not lowest.all() and lowest.sum() < least[lowest].max():
        missing = int(least[lowest].max() - lowest.sum())
        above = np.flatnonzero(kept == kept[~lowest].min())
        if len(above) - missing >= least[above].max():
            above = above[np.linspace(0, len(above) - 1, missing).astype(np.int64)]
        kept[above] = kept.min()
        lowest[above] = True
    return kept


def crowds_of_people(points: Any, person: Ints, plan: Plan) -> Ints:
    """The crowd of each record: that of its person, with at least k people who have as many records, and like ones."""
    people, person_of_row, records = np.unique(person, return_inverse=True, return_counts=True)
    position = _along_widest_axis(points)
    crowd_of_person = np.empty(len(people), dtype=np.int64)
    n_crowds = 0
    for number in np.unique(records).tolist():
        as_many = records == number
        rows = np.flatnonzero(as_many[person_of_row])
        compared = _in_order(points[rows], person_of_row[rows], position[rows], min(number, MOST_COMPARED))
        crowds = group_rows(compared, replace(plan, most=max(plan.most, 3 * plan.k)))
        crowd_of_person[as_many] = crowds + n_crowds
        n_crowds += int(crowds.max()) + 1
    return numbered_by_first_row(crowd_of_person[person_of_row])


def slots_in_crowds(points: Any, person: Ints, crowd_of_row: Ints) -> Ints:
    """The slot of each record; everybody in a crowd has as many records, and one in each slot."""
    slot_of_row = np.zeros(len(person), dtype=np.int64)
    order = np.lexsort((_along_widest_axis(points), person, crowd_of_row))
    for rows in np.split(order, np.cumsum(np.bincount(crowd_of_row))[:-1]):
        n_slots = len(rows) // len(np.unique(person[rows]))
        if n_slots > 1:
            slot_of_row[rows] = _slots_of_crowd(points[rows], n_slots)
    return slot_of_row


def _along_widest_axis(points: Any) -> Floats:
    """Where each record lies along the direction in which all of them differ most, so that people's can be ordered."""
    mean = np.asarray(points.mean(axis=0)).ravel()
    axis, along = np.ones(len(mean)), np.zeros(points.shape[0])
    for _ in range(20):  # the power method: a rough direction will do
        along = np.asarray(points @ axis).ravel() - mean @ axis
        axis = np.asarray(points.T @ along).ravel() - mean * along.sum()
        length = np.linalg.norm(axis)
        if length == 0.0:
            break
        axis /= length
    return along


def _in_order(points: Any, person: Ints, position: Floats, n_parts: int) -> Any:
    """A row per person: the means of so many parts of their records, which are in the order of their position."""
    person_of_row = np.unique(person, return_inverse=True)[1]
    records = np.bincount(person_of_row)
    order = np.lexsort((position, person_of_row))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(records) - records, records)
    part = person_of_row[order] * n_parts + rank * n_parts // records[person_of_row[order]]
    mean = sp.csr_matrix((1.0 / np.bincount(part)[part], (part, order)), shape=(len(records) * n_parts, len(order)))
    if sp.issparse(points):
        return at_unit_length(sp.csr_matrix((mean @ points).reshape(len(records), -1)))
    return (mean @ points).reshape(len(records), -1)


def _slots_of_crowd(points: Any, n_slots: int) -> Ints:
    """The slot of each record of a crowd: those of the first person, in the order to begin with, then of the next."""
    products = np.asarray((points @ points.T).todense() if sp.issparse(points) else points @ points.T)
    squares = np.diag(products)
    slot = np.arange(len(squares)) % n_slots
    for _ in range(ROUNDS):
        means = (slot[:, None] == np.arange(n_slots)) * (n_slots / len(slot))
        to_means = products @ means
        distances = squares[:, None] - 2.0 * to_means + np.einsum("rs,rs->s", means, to_means)
        of_people = distances.reshape(-1, n_slots, n_slots)
        matched = np.concatenate([linear_sum_assignment(of_person)[1] for of_person in of_people])
        if np.array_equal(matched, slot):
            break
        slot = matched
    return slot
