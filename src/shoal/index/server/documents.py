"""Documents and their records: stored, placed in groups, read and deleted. Each function is one step of a request.

A record is what a document's readers search by, sealed by its owner. It gets a new number when it is stored, when its
document becomes visible or moves, and when it is deleted: then only the id is left, for clients that still have it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from shoal.errors import InputError
from shoal.index.server.database import rows_where_in
from shoal.index.server.gate import Limits
from shoal.index.server.groups import (
    NO_INDEX,
    count_joined,
    count_left,
    join,
    next_numbers,
    numbers_of,
    renumber,
    seen_by,
)
from shoal.index.server.problems import Problem
from shoal.index.server.store import Answer, WriteTransaction
from shoal.index.server.tables import accounts, blobs, documents, records

NOT_FOUND = "there is no such document, or you may not see it"
RETIRED = "this representative is retired; fetch the groups again and choose another"
ERASED_AT_ONCE = 500
MOST = 16_384  # records of a page
PAGE_BYTES = 8 << 20
Content = tuple[bytes | memoryview, bytes | memoryview]  # of a document: ciphertext and record
COLUMNS = (records.c.document, records.c.number, records.c.content, documents.c.owner, documents.c.representative)
RECORDS: Any = select(*COLUMNS).select_from(records.outerjoin(documents, documents.c.id == records.c.document))


def store_documents(
    write: WriteTransaction, contents: Sequence[Content], groups: Sequence[str | None], limits: Limits
) -> list[Answer]:
    """Store ciphertexts with their records, each in a group if it is in use; returns their ids and groups."""
    if write.state.k is None:
        raise Problem(404, NO_INDEX)
    sizes = [len(content) + len(record) for content, record in contents]
    # Counted under the lock: concurrent requests must not all see the same number.
    stored, size = _count(write.connection, write.account.id, len(contents), sum(sizes))
    if stored > limits.documents:
        raise Problem(403, f"{limits.documents} documents per account are the most allowed; delete some first")
    if size > limits.account_bytes:
        raise Problem(403, f"{limits.account_bytes} bytes per account are the most allowed; delete documents first")
    ids = [secrets.token_hex(16) for _ in contents]
    number_of = numbers_of(write.connection, {name for name in groups if name is not None})
    numbers = [number_of.get(name or "") for name in groups]
    owned = [{"id": id, "owner": write.account.id, "bytes": length} for id, length in zip(ids, sizes, strict=True)]
    rows = [row | {"representative": number} for row, number in zip(owned, numbers, strict=True)]
    write.connection.execute(insert(documents), rows)
    both = list(zip(ids, contents, next_numbers(write.connection, len(ids)), strict=True))
    write.connection.execute(insert(blobs), [{"document": id, "content": content} for id, (content, _), _ in both])
    numbered = [{"document": id, "content": record, "number": number} for id, (_, record), number in both]
    write.connection.execute(insert(records), numbered)
    if number_of:
        count_joined(write, (number for number in numbers if number is not None))
    joined = [name if name in number_of else None for name in groups]
    return [{"id": id, "representative": name} for id, name in zip(ids, joined, strict=True)]


def join_group(write: WriteTransaction, document: str, representative: str) -> None:
    """Place a stored document in the group that its owner chose."""
    check_stored(write, [document])
    number_of = numbers_of(write.connection, [representative])
    if not number_of:
        raise Problem(409, RETIRED)
    join(write, {document: number_of[representative]})


def check_stored(write: WriteTransaction, ids: Sequence[str]) -> None:
    """Refuse documents that are not the caller's, or are in a group already."""
    if len(set(ids)) < len(ids):
        raise InputError("a document is named twice; name each once")
    rows = list(rows_where_in(write.connection, select(documents), documents.c.id, ids))
    if len(rows) < len(ids) or any(row.owner != write.account.id for row in rows):
        raise Problem(404, "a document does not exist, or is not yours; name documents that you stored")
    if any(row.representative is not None for row in rows):
        raise Problem(409, "a document is in a group already; name documents in no group")


def delete_document(write: WriteTransaction, document: str) -> None:
    """Delete a document of the caller. Others' invisible documents are refused as if they did not exist."""
    seen = select(documents.c.owner).where(documents.c.id == document, seen_by(write.connection, write.account.id))
    owner = write.connection.execute(seen).scalar_one_or_none()
    if owner is None:
        raise Problem(404, NOT_FOUND)
    if owner != write.account.id:
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
    _count(write.connection, account, -len(ids), -size)
    _count(write.connection, to, len(ids), size)
    return len(ids)


def read_document(connection: Connection, account: str, document: str) -> bytes:
    """A ciphertext: always for its owner, for others once it is visible."""
    wanted = select(blobs.c.content).join(documents, blobs.c.document == documents.c.id)
    seen = wanted.where(documents.c.id == document, seen_by(connection, account))
    content = connection.execute(seen).scalar_one_or_none()
    if content is None:
        raise Problem(404, NOT_FOUND)
    return bytes(content)


def changed_records(connection: Connection, account: str, after: int, mine: bool) -> list[Row[Any]]:
    """A page of the records after a number that an account may see: its own, and those of visible documents."""
    seen = or_(seen_by(connection, account), records.c.content.is_(None))
    wanted = documents.c.owner == account if mine else seen
    page = RECORDS.where(records.c.number > after, wanted).order_by(records.c.number).limit(MOST)
    return list(_up_to(PAGE_BYTES, connection.execute(page.execution_options(yield_per=500))))


def bucket(connection: Connection, account: str, first: str, last: str, after: str) -> list[Row[Any]]:
    """A page of the ciphertexts whose ids lie between two, of those that an account may see."""
    within = select(documents.c.id, blobs.c.content).join(blobs, blobs.c.document == documents.c.id)
    within = within.where(documents.c.id.between(first, last), documents.c.id > after)
    page = within.where(seen_by(connection, account)).order_by(documents.c.id).limit(MOST)
    return list(_up_to(PAGE_BYTES, connection.execute(page.execution_options(yield_per=8))))


def _up_to(size: int, rows: Iterable[Row[Any]]) -> Iterator[Row[Any]]:
    """Rows until their contents have so many bytes; at least one."""
    for row in rows:
        yield row
        size -= len(row.content or b"")
        if size <= 0:
            return


def _erase(write: WriteTransaction, owner: str, ids: Sequence[str]) -> None:
    """Delete documents of an owner. Their ids stay in the records, so that clients forget them too."""
    connection = write.connection
    gone = delete(documents).where(documents.c.id.in_(ids)).returning(documents.c.bytes, documents.c.representative)
    rows = connection.execute(gone).all()
    connection.execute(delete(blobs).where(blobs.c.document.in_(ids)))
    connection.execute(update(records).where(records.c.document.in_(ids)).values(content=None))
    renumber(connection, ids)
    _count(connection, owner, -len(ids), -sum(row.bytes for row in rows))
    count_left(write, (row.representative for row in rows if row.representative is not None))


def _documents_of_revoked(connection: Connection, account: str) -> list[str]:
    active = connection.execute(select(accounts.c.active).where(accounts.c.id == account)).scalar_one_or_none()
    if active is None:
        raise Problem(404, f"there is no account {account[:40]!r}; list the accounts")
    if active:
        raise Problem(409, "the account is in use, and its documents are its user's; revoke it first")
    return list(connection.execute(select(documents.c.id).where(documents.c.owner == account)).scalars())


def _count(connection: Connection, account: str, count: int, size: int) -> tuple[int, int]:
    """Count documents and bytes that an account stored, or lost; returns how many it has now."""
    counted = update(accounts).where(accounts.c.id == account)
    more = counted.values(documents=accounts.c.documents + count, bytes=accounts.c.bytes + size)
    row = connection.execute(more.returning(accounts.c.documents, accounts.c.bytes)).one()
    return row.documents, row.bytes
