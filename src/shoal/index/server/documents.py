"""Documents: stored, placed in groups, read and deleted. Each function is one step of a write or a read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from shoal.errors import InputError
from shoal.index import DynamicIndex, Placement
from shoal.index.server.gate import Limits
from shoal.index.server.problems import Problem
from shoal.index.server.records import add_records, erase_records, put_record, renumber
from shoal.index.server.store import Store, WriteTransaction
from shoal.index.server.tables import accounts, blobs, documents

NOT_FOUND = "there is no such document, or you may not see it"
RETIRED = "this representative is retired; fetch the groups again and choose another"
ASKED_AT_ONCE = 500  # ids in a query


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
    stored = zip(ids, contents, strict=True)
    write.connection.execute(insert(blobs), [{"document": id, "content": content} for id, (content, _) in stored])
    record_of = {id: record for id, (_, record) in zip(ids, contents, strict=True) if record is not None}
    add_records(write.connection, record_of)
    write.stored.update(ids)
    _add_to_account(write.connection, write.account.id, len(ids), sum(sizes))
    return ids


def replace_record(write: WriteTransaction, document: str, content: bytes, limits: Limits) -> None:
    """Store the record of a document of the caller, instead of any earlier one."""
    owned = select(documents.c.id).where(documents.c.id == document, documents.c.owner == write.account.id)
    if write.connection.execute(owned).one_or_none() is None:
        raise Problem(404, "there is no such document of yours; name one that you stored")
    more = len(content) - put_record(write.connection, document, content)
    _check_quota(write, 0, more, limits)
    of_document = update(documents).where(documents.c.id == document)
    write.connection.execute(of_document.values(bytes=documents.c.bytes + more))
    _add_to_account(write.connection, write.account.id, 0, more)


def place_in_group(write: WriteTransaction, document: str, representative: str) -> Placement:
    """Place a document in the group that its owner chose."""
    try:
        return write.index.insert_into(document, representative)
    except InputError:
        raise Problem(409, RETIRED) from None


def join_group(write: WriteTransaction, document: str, representative: str) -> Placement:
    """Place a stored document of the caller in a group."""
    _check_stored(write, [document])
    return place_in_group(write, document, representative)


def make_groups(write: WriteTransaction, members: Sequence[Sequence[str]], pools: sp.csr_matrix) -> list[Placement]:
    """Make groups of stored documents of the caller."""
    _check_stored(write, [document for documents in members for document in documents])
    return write.index.insert_groups(members, pools)


def delete_document(write: WriteTransaction, document: str) -> None:
    """Delete a document of the caller. Others' invisible documents are refused as if they did not exist."""
    index = write.replica.index
    row = write.connection.execute(select(documents).where(documents.c.id == document)).one_or_none()
    if row is None or (row.owner != write.account.id and (index is None or index.group_of(document) is None)):
        raise Problem(404, NOT_FOUND)
    if row.owner != write.account.id:
        raise Problem(403, "this document is not yours; only its owner can delete it")
    _erase(write, row.owner, [document])


def erase_documents(write: WriteTransaction, account: str) -> int:
    """Delete all documents of a revoked account; returns how many."""
    _check_revoked(write.connection, account)
    ids = list(write.connection.execute(select(documents.c.id).where(documents.c.owner == account)).scalars())
    for start in range(0, len(ids), ASKED_AT_ONCE):
        _erase(write, account, ids[start : start + ASKED_AT_ONCE])
    return len(ids)


def transfer_documents(write: WriteTransaction, account: str, to: str) -> int:
    """Give all documents of a revoked account to an active one; returns how many."""
    _check_revoked(write.connection, account)
    active = select(accounts.c.id).where(accounts.c.id == to, accounts.c.active)
    if write.connection.execute(active).one_or_none() is None:
        raise Problem(404, f"there is no active account {to[:40]!r} to give them to; list the accounts")
    ids = list(write.connection.execute(select(documents.c.id).where(documents.c.owner == account)).scalars())
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
        with store.read() as read:
            if read.index.group_of(document) is None:
                raise Problem(404, NOT_FOUND)
    return bytes(row.content)


def list_owned(connection: Connection, account: str, after: str, limit: int) -> list[Row[Any]]:
    """The documents of an account by id, after one id."""
    mine = select(documents).where(documents.c.owner == account, documents.c.id > after)
    return list(connection.execute(mine.order_by(documents.c.id).limit(limit)))


def count_matrix(index: DynamicIndex, rows: Sequence[Mapping[str, int]]) -> sp.csr_matrix:
    """Counts by the numbers of terms, as the rows of a matrix."""
    terms = [np.sort(np.array(list(row), dtype=np.int64)) for row in rows]
    if any(numbers[-1] >= index.n_terms for numbers in terms):
        raise InputError(f"a term's number is beyond {index.n_terms - 1}, the last; fetch the vocabulary again")
    counts = [row[str(number)] for row, numbers in zip(rows, terms, strict=True) for number in numbers.tolist()]
    ends = np.cumsum([0, *map(len, terms)])
    data = np.array(counts, dtype=np.int64)
    return sp.csr_matrix((data, np.concatenate(terms), ends), shape=(len(rows), index.n_terms))


def _check_stored(write: WriteTransaction, ids: Sequence[str]) -> None:
    """Refuse documents that are not the caller's, or are in a group already."""
    if len(set(ids)) < len(ids):
        raise InputError("a document is named twice; name each once")
    for start in range(0, len(ids), ASKED_AT_ONCE):
        part = ids[start : start + ASKED_AT_ONCE]
        rows = write.connection.execute(select(documents).where(documents.c.id.in_(part))).all()
        if len(rows) < len(part) or any(row.owner != write.account.id for row in rows):
            raise Problem(404, "a document does not exist, or is not yours; name documents that you stored")
        if any(row.status != "stored" for row in rows):
            raise Problem(409, "a document is in a group already; name documents in no group")


def _erase(write: WriteTransaction, owner: str, ids: Sequence[str]) -> None:
    """Delete documents of an owner. Their ids stay in the records, so that clients forget them too."""
    total = select(func.sum(documents.c.bytes)).where(documents.c.id.in_(ids))
    size = int(write.connection.execute(total).scalar_one())
    for table, column in ((documents, documents.c.id), (blobs, blobs.c.document)):
        write.connection.execute(delete(table).where(column.in_(ids)))
    erase_records(write.connection, ids)
    _add_to_account(write.connection, owner, -len(ids), -size)
    index = write.replica.index
    for document in ids:
        if index is not None and document in index:
            index.delete(document)


def _check_revoked(connection: Connection, account: str) -> None:
    active = connection.execute(select(accounts.c.active).where(accounts.c.id == account)).scalar_one_or_none()
    if active is None:
        raise Problem(404, f"there is no account {account[:40]!r}; list the accounts")
    if active:
        raise Problem(409, "the account is in use, and its documents are its user's; revoke it first")


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
