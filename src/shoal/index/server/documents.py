"""Documents and their records: stored, placed in groups, read and deleted. Each function is one step of a request.

A record is what a document's readers search by, sealed by its owner. It gets a new number when it is stored, when its
document becomes visible or moves, and when it is deleted: then only the id is left, for clients that still have it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, or_, select, update

from shoal.errors import InputError
from shoal.index import DynamicIndex
from shoal.index.server.gate import Limits
from shoal.index.server.problems import Problem
from shoal.index.server.replica import execute_for_each, next_numbers, renumber, rows_where_in
from shoal.index.server.store import Store, WriteTransaction
from shoal.index.server.tables import accounts, blobs, documents, records

NOT_FOUND = "there is no such document, or you may not see it"
RETIRED = "this representative is retired; fetch the groups again and choose another"
ERASED_AT_ONCE = 500
MOST = 16_384  # records of a page
PAGE_BYTES = 8 << 20
COLUMNS = (records.c.document, records.c.number, records.c.content, documents.c.owner, documents.c.status)
RECORDS: Any = select(*COLUMNS).select_from(records.outerjoin(documents, documents.c.id == records.c.document))


def store_documents(
    write: WriteTransaction, contents: Sequence[tuple[bytes, bytes | None]], limits: Limits
) -> list[str]:
    """Store ciphertexts with their records, in no group yet; returns their new ids."""
    sizes = [len(content) + len(record or b"") for content, record in contents]
    _check_quota(write, len(contents), sum(sizes), limits)
    ids = [secrets.token_hex(16) for _ in contents]
    owned = {"owner": write.account.id, "status": "stored"}
    rows = [owned | {"id": id, "bytes": size} for id, size in zip(ids, sizes, strict=True)]
    write.connection.execute(insert(documents), rows)
    stored = list(zip(ids, contents, strict=True))
    write.connection.execute(insert(blobs), [{"document": id, "content": content} for id, (content, _) in stored])
    recorded = [{"document": id, "content": record} for id, (_, record) in stored if record is not None]
    numbers = next_numbers(write.connection, len(recorded))
    numbered = [row | {"number": number} for row, number in zip(recorded, numbers, strict=True)]
    execute_for_each(write.connection, insert(records), numbered)
    write.stored.update(ids)
    _add_to_account(write.connection, write.account.id, len(ids), sum(sizes))
    return ids


def place_in_group(write: WriteTransaction, document: str, representative: str) -> str:
    """Place a document in the group that its owner chose; returns its representative."""
    try:
        write.replica.index.insert_into(document, representative)
    except InputError:
        raise Problem(409, RETIRED) from None
    return representative


def check_stored(write: WriteTransaction, ids: Sequence[str]) -> None:
    """Refuse documents that are not the caller's, or are in a group already."""
    if len(set(ids)) < len(ids):
        raise InputError("a document is named twice; name each once")
    rows = list(rows_where_in(write.connection, select(documents), documents.c.id, ids))
    if len(rows) < len(ids) or any(row.owner != write.account.id for row in rows):
        raise Problem(404, "a document does not exist, or is not yours; name documents that you stored")
    if any(row.status != "stored" for row in rows):
        raise Problem(409, "a document is in a group already; name documents in no group")


def delete_document(write: WriteTransaction, document: str) -> None:
    """Delete a document of the caller. Others' invisible documents are refused as if they did not exist."""
    owner = write.connection.execute(select(documents.c.owner).where(documents.c.id == document)).scalar_one_or_none()
    mine = owner == write.account.id
    if owner is None or not (mine or (document in write.replica and write.replica.index.group_of(document))):
        raise Problem(404, NOT_FOUND)
    if not mine:
        raise Problem(403, "this document is not yours; only its owner can delete it")
    _erase(write, owner, [document])


def erase_documents(write: WriteTransaction, account: str) -> int:
    """Delete all documents of a revoked account; returns how many."""
    ids = _documents_of_revoked(write.connection, account)
    for start in range(0, len(ids), ERASED_AT_ONCE):
        _erase(write, account, ids[start : start + ERASED_AT_ONCE])
    return len(ids)


def transfer_documents(write: WriteTransaction, account: str, to: str) -> int:
    """Give all documents of a revoked account to an active one; returns how many."""
    ids = _documents_of_revoked(write.connection, account)
    active = select(accounts.c.id).where(accounts.c.id == to, accounts.c.active)
    if write.connection.execute(active).one_or_none() is None:
        raise Problem(404, f"there is no active account {to[:40]!r} to give them to; list the accounts")
    write.connection.execute(update(documents).where(documents.c.owner == account).values(owner=to))
    renumber(write.connection, ids)
    size = write.connection.execute(select(accounts.c.bytes).where(accounts.c.id == account)).scalar_one()
    _add_to_account(write.connection, account, -len(ids), -size)
    _add_to_account(write.connection, to, len(ids), size)
    return len(ids)


def read_document(store: Store, account: str, document: str) -> bytes:
    """A ciphertext: always for its owner, for others once it is visible."""
    wanted = select(documents.c.owner, blobs.c.content).join(blobs, blobs.c.document == documents.c.id)
    with store.database.reading() as connection:
        row = connection.execute(wanted.where(documents.c.id == document)).one_or_none()
    if row is None:
        raise Problem(404, NOT_FOUND)
    if row.owner != account:
        with store.read() as replica:
            if replica.index.group_of(document) is None:
                raise Problem(404, NOT_FOUND)
    return bytes(row.content)


def list_owned(connection: Connection, account: str, after: str, limit: int) -> list[Row[Any]]:
    """The documents of an account by id, after one id."""
    mine = select(documents).where(documents.c.owner == account, documents.c.id > after)
    return list(connection.execute(mine.order_by(documents.c.id).limit(limit)))


def changed_records(store: Store, account: str, after: int, mine: bool) -> list[Row[Any]]:
    """A page of the records after a number that an account may see: its own, and those of visible documents."""
    seen = documents.c.owner == account if mine else or_(_seen_by(store, account), records.c.content.is_(None))
    page = RECORDS.where(records.c.number > after, seen).order_by(records.c.number).limit(MOST)
    with store.database.reading() as connection:
        return list(_up_to(PAGE_BYTES, connection.execute(page.execution_options(yield_per=500))))


def records_of(store: Store, ids: Iterable[str]) -> list[Row[Any]]:
    """The records of documents, those without one left out."""
    with store.database.reading() as connection:
        return list(rows_where_in(connection, RECORDS, records.c.document, ids))


def bucket(store: Store, account: str, first: str, last: str, after: str) -> list[Row[Any]]:
    """A page of the ciphertexts whose ids lie between two, of those that an account may see."""
    within = select(documents.c.id, blobs.c.content).join(blobs, blobs.c.document == documents.c.id)
    within = within.where(documents.c.id.between(first, last), documents.c.id > after)
    page = within.where(_seen_by(store, account)).order_by(documents.c.id).limit(MOST)
    with store.database.reading() as connection:
        return list(_up_to(PAGE_BYTES, connection.execute(page.execution_options(yield_per=8))))


def count_matrix(index: DynamicIndex, rows: Sequence[Mapping[str, int]]) -> sp.csr_matrix:
    """Counts by the numbers of terms, as the rows of a matrix."""
    terms = [np.sort(np.array(list(row), dtype=np.int64)) for row in rows]
    if any(numbers[-1] >= index.n_terms for numbers in terms):
        raise InputError(f"a term's number is beyond {index.n_terms - 1}, the last; fetch the vocabulary again")
    counts = [row[str(number)] for row, numbers in zip(rows, terms, strict=True) for number in numbers.tolist()]
    ends = np.cumsum([0, *map(len, terms)])
    data = np.array(counts, dtype=np.int64)
    return sp.csr_matrix((data, np.concatenate(terms), ends), shape=(len(rows), index.n_terms))


def _seen_by(store: Store, account: str) -> ColumnElement[bool]:
    """The documents that an account may see: its own, and visible ones."""
    with store.read() as replica:
        # The last group, while it is below k, is hidden; its records get new numbers once it is visible again.
        visible = documents.c.status == ("nothing" if replica.index.hidden else "placed")
    return or_(documents.c.owner == account, visible)


def _up_to(size: int, rows: Iterable[Row[Any]]) -> Iterator[Row[Any]]:
    """Rows until their contents have so many bytes; at least one."""
    for row in rows:
        yield row
        size -= len(row.content or b"")
        if size <= 0:
            return


def _erase(write: WriteTransaction, owner: str, ids: Sequence[str]) -> None:
    """Delete documents of an owner. Their ids stay in the records, so that clients forget them too."""
    total = select(func.sum(documents.c.bytes)).where(documents.c.id.in_(ids))
    size = int(write.connection.execute(total).scalar_one())
    for table, column in ((documents, documents.c.id), (blobs, blobs.c.document)):
        write.connection.execute(delete(table).where(column.in_(ids)))
    write.connection.execute(update(records).where(records.c.document.in_(ids)).values(content=None))
    renumber(write.connection, ids)
    _add_to_account(write.connection, owner, -len(ids), -size)
    for document in ids:
        if document in write.replica:
            write.replica.index.delete(document)


def _documents_of_revoked(connection: Connection, account: str) -> list[str]:
    active = connection.execute(select(accounts.c.active).where(accounts.c.id == account)).scalar_one_or_none()
    if active is None:
        raise Problem(404, f"there is no account {account[:40]!r}; list the accounts")
    if active:
        raise Problem(409, "the account is in use, and its documents are its user's; revoke it first")
    return list(connection.execute(select(documents.c.id).where(documents.c.owner == account)).scalars())


def _check_quota(write: WriteTransaction, more: int, more_bytes: int, limits: Limits) -> None:
    """Counted under the lock: concurrent requests must not all see the same number."""
    stored = select(accounts.c.documents, accounts.c.bytes).where(accounts.c.id == write.account.id)
    count, size = write.connection.execute(stored).one()
    if count + more > limits.documents:
        raise Problem(403, f"{limits.documents} documents per account are the most allowed; delete some first")
    if size + more_bytes > limits.account_bytes:
        raise Problem(403, f"{limits.account_bytes} bytes per account are the most allowed; delete documents first")


def _add_to_account(connection: Connection, account: str, count: int, size: int) -> None:
    """Count what an account stored, or lost."""
    counted = update(accounts).where(accounts.c.id == account)
    connection.execute(counted.values(documents=accounts.c.documents + count, bytes=accounts.c.bytes + size))
