"""Records: what a document's readers search by, sealed by its owner, and numbered so that clients fetch changes alone.

A record gets a new number when it is stored, when its document becomes visible or moves, and when it is deleted: then
only the id is left, for clients that still have it. All in the writer's transaction, so numbers appear in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, bindparam, func, insert, or_, select, update

from shoal.index.server.tables import blobs, documents, records, state

if TYPE_CHECKING:
    from shoal.index.server.store import Store

MOST = 16_384  # records of a page
PAGE_BYTES = 8 << 20
ASKED_AT_ONCE = 500  # ids in a query
COLUMNS = (records.c.document, records.c.number, records.c.content, documents.c.owner, documents.c.status)
RECORDS: Any = select(*COLUMNS).select_from(records.outerjoin(documents, documents.c.id == records.c.document))
WHICH: Any = bindparam("which")


def add_records(connection: Connection, content_of: dict[str, bytes]) -> None:
    """Store the records of new documents."""
    numbers = _next_numbers(connection, len(content_of))
    rows = [
        {"document": document, "number": number, "content": content}
        for number, (document, content) in zip(numbers, content_of.items(), strict=True)
    ]
    if rows:
        connection.execute(insert(records), rows)


def put_record(connection: Connection, document: str, content: bytes) -> int:
    """Store the record of a document that has none, or another one; returns the length of that one."""
    length = select(func.length(records.c.content)).where(records.c.document == document)
    known = connection.execute(length).one_or_none()
    if known is None:
        add_records(connection, {document: content})
        return 0
    connection.execute(update(records).where(records.c.document == document).values(content=content))
    renumber(connection, [document])
    return int(known[0])


def renumber(connection: Connection, changed: Sequence[str]) -> None:
    """Have clients fetch the records of these documents again."""
    rows = [
        {"which": document, "number": number}
        for document, number in zip(changed, _next_numbers(connection, len(changed)), strict=True)
    ]
    if rows:
        connection.execute(update(records).where(records.c.document == WHICH).values(number=bindparam("number")), rows)


def erase_records(connection: Connection, gone: Sequence[str]) -> None:
    """Delete the records of deleted documents; their ids stay, for clients that have them."""
    rows = [{"which": document} for document in gone]
    connection.execute(update(records).where(records.c.document == WHICH).values(content=None), rows)
    renumber(connection, gone)


def changed_records(store: Store, account: str, after: int, mine: bool) -> list[Row[Any]]:
    """A page of the records after a number that an account may see: its own, and those of visible documents."""
    with store.read() as read:
        # The last group, while it is below k, is hidden; its records get new numbers once it is visible again.
        visible = documents.c.status == ("nothing" if read.index.hidden else "placed")
    mine_alone = documents.c.owner == account
    seen = mine_alone if mine else or_(mine_alone, visible, records.c.content.is_(None))
    page = RECORDS.where(records.c.number > after, seen).order_by(records.c.number).limit(MOST)
    with store.database.reading() as connection:
        return list(_up_to(PAGE_BYTES, connection.execute(page.execution_options(yield_per=500))))


def records_of(store: Store, members: Iterable[str]) -> list[Row[Any]]:
    """The records of documents, those without one left out."""
    ids = list(members)
    with store.database.reading() as connection:
        return [
            row
            for start in range(0, len(ids), ASKED_AT_ONCE)
            for row in connection.execute(RECORDS.where(records.c.document.in_(ids[start : start + ASKED_AT_ONCE])))
        ]


def bucket(store: Store, account: str, first: str, last: str, after: str) -> list[Row[Any]]:
    """A page of the ciphertexts whose ids lie between two, of those that an account may see."""
    with store.read() as read:
        visible = documents.c.status == ("nothing" if read.index.hidden else "placed")
    within = select(documents.c.id, blobs.c.content).join(blobs, blobs.c.document == documents.c.id)
    within = within.where(documents.c.id.between(first, last), documents.c.id > after)
    page = within.where(or_(documents.c.owner == account, visible)).order_by(documents.c.id).limit(MOST)
    with store.database.reading() as connection:
        return list(_up_to(PAGE_BYTES, connection.execute(page.execution_options(yield_per=8))))


def _up_to(size: int, rows: Iterable[Row[Any]]) -> Iterator[Row[Any]]:
    """Rows until their contents have so many bytes; at least one."""
    for row in rows:
        yield row
        size -= len(row.content or b"")
        if size <= 0:
            return


def _next_numbers(connection: Connection, count: int) -> range:
    if not count:
        return range(0)
    last = connection.execute(update(state).values(recorded=state.c.recorded + count).returning(state.c.recorded))
    end: int = last.scalar_one() + 1
    return range(end - count, end)
