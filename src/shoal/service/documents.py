"""Documents: kept, placed into groups, read and deleted. Each function is one step of a write or a read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sqlalchemy import Column, Connection, Row, delete, insert, select, update

from shoal.errors import InputError
from shoal.index import DynamicIndex, Placement
from shoal.service.limits import Limits
from shoal.service.problems import Problem
from shoal.service.storage.store import Store, Writing
from shoal.service.storage.tables import accounts, blobs, documents, waiting

__all__ = [
    "admit_overdue",
    "counts_of",
    "group",
    "join",
    "keep",
    "owned",
    "place",
    "place_nearest",
    "readable",
    "remove",
]

NOT_THERE = "there is no such document, or it is not for you to see"
RETIRED = "this representative is retired; fetch the groups again and choose another"
ADMITTED_AT_ONCE = 100


def keep(writing: Writing, ciphertext: bytes, limits: Limits) -> str:
    """Store a ciphertext, in no group yet, and return its new id."""
    # Counted under the lock: requests that came in together must not all see the same number.
    count = select(accounts.c.documents).where(accounts.c.id == writing.account.id)
    if writing.connection.execute(count).scalar_one() >= limits.documents:
        raise Problem(403, f"your account has {limits.documents} documents, the most allowed; delete some first")
    document = secrets.token_hex(16)
    row = {"id": document, "owner": writing.account.id, "status": "stored", "bytes": len(ciphertext)}
    writing.connection.execute(insert(documents), row)
    writing.connection.execute(insert(blobs), {"document": document, "content": ciphertext})
    _count(writing, writing.account.id, 1)
    return document


def place(writing: Writing, document: str, representative: str) -> Placement:
    """Into the group that its owner chose."""
    try:
        return writing.index.insert_into(document, representative)
    except InputError:
        raise Problem(409, RETIRED) from None


def place_nearest(writing: Writing, document: str, counts: sp.csr_matrix) -> Placement:
    """Into the nearest group, or it waits if the server may hold it back."""
    if not writing.state.trust and not writing.replica.number_of:
        raise Problem(409, "there is no group yet; store k documents and make a group of them with POST /v1/groups")
    return writing.index.insert(document, counts, writing.account.id)


def join(writing: Writing, document: str, representative: str) -> Placement:
    """A stored document of the caller joins a group."""
    _stored(writing, [document])
    return place(writing, document, representative)


def group(writing: Writing, members: Sequence[Sequence[str]], pools: sp.csr_matrix) -> list[Placement]:
    """Stored documents of the caller become groups of their own."""
    _stored(writing, [document for documents in members for document in documents])
    return writing.index.insert_groups(members, pools)


def remove(writing: Writing, document: str) -> None:
    """Delete a document of the caller. Another's is only refused; whether it is there is said of what can be seen."""
    index = writing.replica.index
    row = writing.connection.execute(select(documents).where(documents.c.id == document)).one_or_none()
    if row is None or (row.owner != writing.account.id and (index is None or index.group_of(document) is None)):
        raise Problem(404, NOT_THERE)
    if row.owner != writing.account.id:
        raise Problem(403, "this document is not yours; only its owner can delete it")
    for table, column in ((documents, documents.c.id), (blobs, blobs.c.document), (waiting, waiting.c.document)):
        writing.connection.execute(delete(table).where(column == document))
    _count(writing, row.owner, -1)
    if index is not None and document in index:
        index.delete(document)


def readable(store: Store, account: str, document: str, *columns: Column[Any]) -> Row[Any]:
    """Columns of a document and its ciphertext: for its owner always, for others once it can be seen."""
    wanted = select(documents.c.owner, *columns).join(blobs, blobs.c.document == documents.c.id)
    with store.database.reading() as connection:
        row = connection.execute(wanted.where(documents.c.id == document)).one_or_none()
    if row is None:
        raise Problem(404, NOT_THERE)
    if row.owner != account:
        with store.read() as reading:
            if reading.index.group_of(document) is None:
                raise Problem(404, NOT_THERE)
    return row


def owned(connection: Connection, account: str, after: str, limit: int) -> list[Row[Any]]:
    """Documents of an account by id, from one id on."""
    mine = select(documents).where(documents.c.owner == account, documents.c.id > after)
    return list(connection.execute(mine.order_by(documents.c.id).limit(limit)))


def admit_overdue(writing: Writing, waiting_since: float) -> int:
    """Documents that have waited since before this moment join the nearest group."""
    overdue = select(waiting.c.document).where(waiting.c.since < waiting_since).order_by(waiting.c.since)
    late = writing.connection.execute(overdue.limit(ADMITTED_AT_ONCE)).scalars().all()
    if not writing.replica.number_of:
        return 0
    for document in late:
        writing.index.admit(document)
    return len(late)


def counts_of(index: DynamicIndex, rows: Sequence[Mapping[str, int]], limits: Limits) -> sp.csr_matrix:
    """Counts by the numbers of terms, as rows."""
    most = max(map(len, rows))
    if most > limits.terms:
        raise InputError(f"{most} terms are more than {limits.terms}; leave out the least important")
    terms = [np.sort(np.array(list(row), dtype=np.int64)) for row in rows]
    if any(numbers[-1] >= index.n_terms for numbers in terms):
        raise InputError(f"a term's number is beyond {index.n_terms - 1}, the last; fetch the vocabulary again")
    counts = [row[str(number)] for row, numbers in zip(rows, terms, strict=True) for number in numbers.tolist()]
    ends = np.cumsum([0, *map(len, terms)])
    data = np.array(counts, dtype=np.int64)
    return sp.csr_matrix((data, np.concatenate(terms), ends), shape=(len(rows), index.n_terms))


def _stored(writing: Writing, wanted: Sequence[str]) -> None:
    """Are all of these the caller's, and in no group?"""
    if len(set(wanted)) < len(wanted):
        raise InputError("a document is named twice; name each once")
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        rows = writing.connection.execute(select(documents).where(documents.c.id.in_(part))).all()
        if len(rows) < len(part) or any(row.owner != writing.account.id for row in rows):
            raise Problem(404, "a document is not there, or is not yours; name documents that you stored")
        if any(row.status != "stored" for row in rows):
            raise Problem(
                409, "a document is in a group already, or waits for one; name documents that are stored only"
            )


def _count(writing: Writing, account: str, more: int) -> None:
    counted = update(accounts).where(accounts.c.id == account)
    writing.connection.execute(counted.values(documents=accounts.c.documents + more))
