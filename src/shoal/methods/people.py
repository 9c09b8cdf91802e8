"""Whole people as units: crowds of people, and within a crowd the rows that its people share.

A person with several records is in as many published rows. Whoever knows them all looks each row up and intersects the
people behind it. So people are grouped, not records, and the records of a crowd are put into slots: everybody in the
crowd has a record in the first slot, those with two records one in the second as well, and so on, as long as at least k
people have one. Each slot is published as one row. A person of r records then carries the rows of the first r slots,
and so do all people of the crowd with as many records or more: at least k.

Records beyond the last slot take the nearest slot of their crowd. They have no part in what is published of it, so that
nobody's records outweigh those of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.preprocessing import normalize

from shoal.methods.blocks.grouping import Plan, group_rows
from shoal.methods.mdav import numbered_by_first_row

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDS = 5  # of matching records to slots; more change next to nothing
PEOPLE_PER_CLASS = 4  # times k: people with like numbers of records that are grouped by themselves
MOST_COMPARED = 8  # records of a person that are compared one by one with another person's

# Points are the records' coordinates, (records, coordinates): a dense array, or CSR for documents.


@dataclass(frozen=True)
class Slots:
    """The slot of each record within its crowd, and whether it has a part in what is published of the slot."""

    slot_of_row: Ints
    counts: Mask


def crowds_of_people(points: Any, person: Ints, plan: Plan) -> Ints:
    """The crowd of each record: that of its person, with at least k people who have records like theirs."""
    people, person_of_row, records = np.unique(person, return_inverse=True, return_counts=True)
    position = _along_widest_axis(points)
    class_of_person = classes_by_records(records, plan.k)
    crowd_of_person = np.empty(len(people), dtype=np.int64)
    n_crowds = 0
    for number in range(int(class_of_person.max()) + 1):
        in_class = class_of_person == number
        rows = np.flatnonzero(in_class[person_of_row])
        n_compared = min(int(records[in_class].min()), MOST_COMPARED)
        compared = _in_order(points[rows], person_of_row[rows], position[rows], n_compared)
        crowds = group_rows(compared, replace(plan, most=max(plan.most, 3 * plan.k)))
        crowd_of_person[in_class] = crowds + n_crowds
        n_crowds += int(crowds.max()) + 1
    return numbered_by_first_row(crowd_of_person[person_of_row])


def classes_by_records(records_of_person: Ints, k: int) -> Ints:
    """A class for each person: people with like numbers of records, enough of them to be grouped by themselves."""
    numbers, people = np.unique(records_of_person, return_counts=True)
    class_of_number = np.zeros(len(numbers), dtype=np.int64)
    so_far = 0
    for index in range(1, len(numbers)):
        so_far += int(people[index - 1])
        starts = min(so_far, int(people[index:].sum())) >= PEOPLE_PER_CLASS * k
        class_of_number[index] = class_of_number[index - 1] + starts
        so_far = 0 if starts else so_far
    return class_of_number[np.searchsorted(numbers, records_of_person)]


def slots_in_crowds(points: Any, person: Ints, crowd_of_row: Ints, k: int | Ints) -> Slots:
    """The slots of the records of each crowd; at least k people (of all crowds, or of each) have a record in a slot."""
    slots = Slots(np.zeros(len(person), dtype=np.int64), np.ones(len(person), dtype=bool))
    order = np.lexsort((_along_widest_axis(points), person, crowd_of_row))
    sizes = np.bincount(crowd_of_row)
    for rows, least in zip(np.split(order, np.cumsum(sizes)[:-1]), np.broadcast_to(k, len(sizes)), strict=True):
        _, first = np.unique(person[rows], return_index=True)
        if len(first) < len(rows):
            records_of_person = np.split(np.arange(len(rows)), first[1:])
            slots.slot_of_row[rows], slots.counts[rows] = _slots_of_crowd(points[rows], records_of_person, least)
    return slots


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
        return normalize(sp.csr_matrix((mean @ points).reshape(len(records), -1)))
    return (mean @ points).reshape(len(records), -1)


def _slots_of_crowd(points: Any, records_of_person: list[Ints], k: int) -> tuple[Ints, Mask]:
    """The slot of each record of a crowd, whose people's records are given in the order to begin with."""
    n_slots = np.sort([len(records) for records in records_of_person])[-k]
    products = np.asarray((points @ points.T).todense() if sp.issparse(points) else points @ points.T)
    squares = np.diag(products)
    slot = np.full(len(squares), -1, dtype=np.int64)
    for records in records_of_person:
        chosen = records[np.linspace(0, len(records) - 1, min(len(records), n_slots)).astype(np.int64)]
        slot[chosen] = np.arange(len(chosen))
    for _ in range(ROUNDS):
        members = (slot[:, None] == np.arange(n_slots)).astype(np.float64)
        means = members / members.sum(axis=0)
        to_means = products @ means
        distances = squares[:, None] - 2.0 * to_means + np.einsum("rs,rs->s", means, to_means)
        matched = np.full(len(slot), -1, dtype=np.int64)
        for records in records_of_person:
            taken, slots = linear_sum_assignment(distances[records, : len(records)])
            matched[records[taken]] = slots
        if np.array_equal(matched, slot):
            break
        slot = matched
    return np.where(slot >= 0, slot, np.argmin(distances, axis=1)), slot >= 0
