"""The routes: health, the index and what it publishes, single documents, and records and ciphertexts in bulk.

Vocabularies and representatives never change, so every cache may keep them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import ValidationError
from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from shoal.errors import InputError
from shoal.index.server import callers, documents, schemas, tables
from shoal.index.server.callers import AS_ARROW, BINARY, CIPHERTEXT, Caller, DocumentId, Reader, User, arrow, as_json
from shoal.index.server.groups import make_groups, state_of, visible
from shoal.index.server.problems import Problem, disk_is_full
from shoal.index.server.schemas import GroupsWanted, IndexShown, IndexWanted, Joining
from shoal.index.server.store import Answer, Store, WriteTransaction

ROUTES = APIRouter()
ALIVE = {"status": "ok"}
VOCABULARY_LINK = {"operationId": "read_vocabulary", "parameters": {"digest": "$response.body#/vocabulary"}}
SHOWN: callers.Responses = {200: {"description": "The figures.", "links": {"vocabulary": VOCABULARY_LINK}}}
AS_CIPHERTEXT: callers.Responses = {200: {"description": "The ciphertext.", "content": {CIPHERTEXT: BINARY}}}
IN_LINE = "A line of JSON, then ciphertexts."
AS_LINE: callers.Responses = {200: {"description": IN_LINE, "content": {CIPHERTEXT: BINARY}}}
BATCH = {"requestBody": {"required": True, "content": {CIPHERTEXT: BINARY}}}
FOREVER = "public, max-age=31536000, immutable"
PAGE = 5_000  # representatives
MOST_BITS = 40
ID_BITS = 128
LONGEST_LINE = 1 << 18  # bytes of JSON before the documents of a batch
AfterId = Annotated[str, Query(pattern=r"^([0-9a-f]{32})?$", description="The last id of the page before.")]


@ROUTES.get("/health/live", tags=["health"])
async def live() -> dict[str, str]:
    """The process answers."""
    return ALIVE


@ROUTES.get("/health/ready", tags=["health"])
def ready(request: Request) -> dict[str, str]:
    """The database answers, and its disk has room."""
    store: Store = request.app.state.store
    with store.database.reading() as connection:
        connection.execute(select(tables.state.c.k)).one()
    if not store.database.has_room():
        raise Problem(503, "the disk of the database is nearly full; make room on it")
    return ALIVE


@ROUTES.post(
    "/v1/index", tags=["index"], status_code=201, response_model=IndexShown, openapi_extra=as_json(IndexWanted)
)
def create(caller: callers.Operator, wanted: Annotated[IndexWanted, Depends(callers.body_of(IndexWanted))]) -> Response:
    """Create the index of this database. Its vocabulary never changes."""
    terms, weights = wanted.vocabulary.terms, wanted.vocabulary.weights
    if len(terms) != len(weights):
        raise InputError(f"there are {len(terms)} terms and {len(weights)} weights; give a weight per term")
    if len(set(terms)) < len(terms):
        raise InputError("a term is given twice; give each once")
    content = wanted.vocabulary.model_dump_json().encode()
    digest = sha256(content).hexdigest()

    def operation(write: WriteTransaction) -> Answer:
        if write.state.k is not None:
            raise Problem(409, "there is an index already; a database holds one")
        values = {"index_id": secrets.token_hex(16), "k": wanted.k, "embargo": wanted.embargo}
        write.connection.execute(insert(tables.vocabulary).values(hash=digest, content=content))
        write.connection.execute(update(tables.state).values(**values, vocabulary=digest))
        return _figures(write.connection, caller)

    return caller.write(operation, 201)


@ROUTES.get("/v1/index", tags=["index"], responses=SHOWN)
def show(caller: Reader) -> IndexShown:
    """The index in figures."""
    with caller.reading() as connection:
        return IndexShown.model_validate(_figures(connection, caller))


@ROUTES.get(
    "/v1/vocabulary/{digest}", tags=["index"], operation_id="read_vocabulary", response_model=schemas.Vocabulary
)
def vocabulary(caller: Reader, digest: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]) -> Response:
    """The vocabulary with this SHA-256 of its content. It may be kept for ever."""
    table = tables.vocabulary
    with caller.reading() as connection:
        content = connection.execute(select(table.c.content).where(table.c.hash == digest)).scalar_one_or_none()
    if content is None:
        raise Problem(404, "there is no such vocabulary; GET /v1/index names the one in use")
    return Response(content, media_type="application/json", headers={"Cache-Control": FOREVER, "ETag": f'"{digest}"'})


@ROUTES.get("/v1/representatives/pages/{page}", tags=["index"], response_class=Response, responses=AS_ARROW)
def page(
    caller: Reader,
    page: Annotated[int, Path(ge=0, le=10**9)],
    index: Annotated[str | None, Query(pattern=schemas.HEX, description="Id of the index the client means.")] = None,
) -> Response:
    """Up to 5,000 representatives by number: `number`, `name`, `terms`, `counts`. A full page never changes."""
    table, first = tables.representatives, page * PAGE
    with caller.reading() as connection:
        state = connection.execute(select(tables.state)).one()
        on_page = select(table).where(table.c.number >= first, table.c.number < first + PAGE).order_by(table.c.number)
        rows = connection.execute(on_page).all()
    if index is not None and index != state.index_id:
        raise Problem(409, "the index has another id now; fetch GET /v1/index again and drop the copy of the old one")
    if not rows and page:
        raise Problem(404, f"there are {state.published} representatives on pages of {PAGE}; ask for an earlier page")
    table_of_page = pa.table(
        {
            "number": pa.array([row.number for row in rows], pa.int64()),
            "name": pa.array([row.name for row in rows], pa.string()),
            "terms": _lists([row.terms for row in rows], np.dtype("<i4"), pa.int32()),
            "counts": _lists([row.counts for row in rows], np.dtype("<i8"), pa.int64()),
        }
    )
    return arrow(table_of_page, {"Cache-Control": FOREVER} if len(rows) == PAGE else {})


@ROUTES.get("/v1/groups", tags=["index"], response_class=Response, responses=AS_ARROW)
def groups(caller: Reader) -> Response:
    """The visible groups: `number` and `size`, at least k."""
    shown = tables.representatives.c
    with caller.reading() as connection:
        rows = connection.execute(
            select(shown.number, shown.size).where(visible(connection)).order_by(shown.number)
        ).all()
    columns = zip(*rows, strict=True) if rows else ((), ())
    return arrow(pa.table([pa.array(column, pa.int64()) for column in columns], ["number", "size"]))


@ROUTES.post(
    "/v1/groups",
    tags=["index"],
    status_code=201,
    response_model=schemas.GroupsMade,
    openapi_extra=as_json(GroupsWanted),
)
def make(caller: callers.Operator, wanted: Annotated[GroupsWanted, Depends(callers.body_of(GroupsWanted))]) -> Response:
    """Make groups of the caller's stored documents, k or more each, by the sum of their counts.

    Nobody can check a sum, so only operators make groups.
    """
    ids = [group.documents for group in wanted.groups]

    def operation(write: WriteTransaction) -> Answer:
        documents.check_stored(write, [document for group in ids for document in group])
        names = make_groups(write, ids, [group.pool for group in wanted.groups])
        return {"groups": [{"representative": name} for name in names]}

    return caller.write(operation, 201)


@ROUTES.get(
    "/v1/documents/{document}",
    tags=["documents"],
    response_class=Response,
    responses=AS_CIPHERTEXT,
    operation_id="read_document",
)
def read(caller: Reader, document: DocumentId) -> Response:
    """The ciphertext: always of one's own documents, of others' once they are in a visible group."""
    with caller.reading() as connection:
        content = documents.read_document(connection, caller.account.id, document)
    return Response(content, media_type=CIPHERTEXT)


@ROUTES.post(
    "/v1/documents/{document}/group",
    tags=["documents"],
    response_model=schemas.Placed,
    openapi_extra=as_json(Joining),
    operation_id="join_group",
)
def join(caller: User, document: DocumentId, wanted: Annotated[Joining, Depends(callers.body_of(Joining))]) -> Response:
    """Place a stored document of the caller in a group."""

    def operation(write: WriteTransaction) -> Answer:
        documents.join_group(write, document, wanted.representative)
        return {"id": document, "representative": wanted.representative}

    return caller.write(operation)


@ROUTES.delete("/v1/documents/{document}", tags=["documents"], status_code=204, operation_id="delete_document")
def remove(caller: User, document: DocumentId) -> Response:
    """Delete a document of one's own. If fewer than k are left in its group, they join the nearest group."""

    def operation(write: WriteTransaction) -> Answer:
        documents.delete_document(write, document)
        return {}

    try:
        return caller.write(operation, 204)
    except DBAPIError as error:  # on a full disk deletions get the room that is kept for them
        if not (disk_is_full(error) and caller.store.database.use_reserve()):
            raise
    return caller.write(operation, 204)


@ROUTES.get("/v1/records", tags=["records"], response_class=Response, responses=AS_ARROW, operation_id="list_records")
def changed(
    caller: Reader,
    after: Annotated[int, Query(ge=0, le=2**62, description="The last number that the caller has.")] = 0,
    mine: Annotated[bool, Query(description="Only of the caller's documents.")] = False,
) -> Response:
    """The next records that changed: `number`, `document`, `status`, `mine`, `content`; `gone` has no content."""
    account = caller.account.id
    with caller.reading() as connection:
        rows = documents.changed_records(connection, account, after, mine)
    statuses = [_status(row) if row.content is not None else "gone" for row in rows]
    return arrow(
        pa.table(
            {
                "number": pa.array([row.number for row in rows], pa.int64()),
                "document": pa.array([row.document for row in rows], pa.string()),
                "status": pa.array(statuses, pa.string()),
                "mine": pa.array([row.owner == account for row in rows], pa.bool_()),
                "content": pa.array([row.content for row in rows], pa.binary()),
            }
        )
    )


@ROUTES.get(
    "/v1/buckets/{bits}/{number}",
    tags=["records"],
    response_class=Response,
    responses=AS_LINE,
    operation_id="read_bucket",
)
def bucket(
    caller: Reader,
    bits: Annotated[int, Path(ge=0, le=MOST_BITS, description="Leading bits that the ids share.")],
    number: Annotated[int, Path(ge=0, lt=2**MOST_BITS, description="These bits, as a number.")],
    after: AfterId = "",
) -> Response:
    """Ciphertexts of all documents with these leading bits: a line of JSON with ids and lengths, then each of them.

    Ids are random, so are buckets. A page without documents is the last.
    """
    if number >> bits:
        raise Problem(422, f"{number} has more than {bits} bits; give the first {bits} bits of an id")
    width = ID_BITS - bits
    first, last = number << width, ((number + 1) << width) - 1
    with caller.reading() as connection:
        rows = documents.bucket(connection, caller.account.id, f"{first:032x}", f"{last:032x}", after)
    line = json.dumps({"documents": [{"id": row.id, "bytes": len(row.content)} for row in rows]}).encode()
    return Response(b"".join((line, b"\n", *(row.content for row in rows))), media_type=CIPHERTEXT)


@ROUTES.post(
    "/v1/batches",
    tags=["records"],
    status_code=201,
    response_model=schemas.BatchPlaced,
    openapi_extra=BATCH,
    operation_id="put_batch",
)
def put_batch(caller: User) -> Response:
    """Store many documents at once: a line of JSON with their lengths, then each one's ciphertext and record.

    All are stored, or none. A document whose representative is retired is stored in no group.
    """
    if caller.request.headers.get("content-type", "").partition(";")[0].strip().lower() != CIPHERTEXT:
        raise Problem(415, f"the body is not {CIPHERTEXT}; send it as that")
    sent, contents = _parsed(caller.request.state.body, caller.limits.document_bytes)

    def operation(write: WriteTransaction) -> Answer:
        groups = [document.representative for document in sent]
        return {"documents": documents.store_documents(write, contents, groups, caller.limits)}

    return caller.write(operation, 201)


def _parsed(body: bytearray, largest: int) -> tuple[list[schemas.DocumentSent], list[documents.Content]]:
    """The documents of a batch: ciphertext and record of each."""
    end_of_line = body.find(b"\n", 0, LONGEST_LINE)
    line, rest = body[: max(end_of_line, 0)], memoryview(body)[end_of_line + 1 :]
    try:
        sent = schemas.BatchSent.model_validate_json(line).documents
    except ValidationError as error:
        raise Problem(422, f"the first line of the batch is not valid: {error.errors()[0]['msg']}") from None
    if sum(document.bytes + document.record for document in sent) != len(rest):
        raise Problem(422, "the lengths in the first line do not add up to what follows; send the batch again")
    contents: list[documents.Content] = []
    start = 0
    for document in sent:
        if document.bytes > largest:
            raise Problem(413, f"a document of {document.bytes} bytes cannot be stored; send 1 to {largest}")
        middle, end = start + document.bytes, start + document.bytes + document.record
        contents.append((rest[start:middle], rest[middle:end]))
        start = end
    return sent, contents


def _status(row: Any) -> str:
    return "stored" if row.representative is None else "placed"


def _figures(connection: Connection, caller: Caller) -> Answer:
    account, state, size = caller.account, state_of(connection), tables.representatives.c.size
    count = select(func.count(), func.coalesce(func.sum(size), 0)).where(visible(connection))
    groups, shown = connection.execute(count).one()
    return {
        "id": state.index_id,
        "k": state.k,
        "embargo": state.embargo,
        "version": state.recorded,
        "vocabulary": state.vocabulary,
        "representatives": state.published,
        "groups": groups,
        "visible": int(shown),
        "mine": {"account": account.id, "role": account.role, "documents": account.documents},
    }


def _lists(contents: Sequence[bytes], dtype: np.dtype[Any], arrow_type: pa.DataType) -> pa.ListArray:
    ends = list(accumulate((len(content) // dtype.itemsize for content in contents), initial=0))
    values = pa.array(np.frombuffer(b"".join(contents), dtype), arrow_type)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)
