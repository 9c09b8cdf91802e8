"""Records and ciphertexts in bulk: what a client fetches to search at home, and to read without showing what."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Path, Query, Response
from pydantic import ValidationError
from sqlalchemy import Row

from shoal.index import Placement
from shoal.index.server import documents, records
from shoal.index.server.problems import Problem
from shoal.index.server.routes.dependencies import (
    AS_ARROW,
    BINARY,
    CIPHERTEXT,
    DocumentId,
    Reader,
    Responses,
    User,
    arrow,
    check_type,
    checked_document,
    placed,
)
from shoal.index.server.schemas import BatchPlaced, BatchSent, DocumentSent
from shoal.index.server.store import Answer, WriteTransaction

RECORDS = APIRouter(tags=["records"])
MOST_GROUPS = 200
MOST_BITS = 40
LONGEST_LINE = 1 << 18  # bytes of JSON before the documents of a batch
ID_BITS = 128
NAMES = rf"^[0-9a-f]{{32}}(,[0-9a-f]{{32}}){{0,{MOST_GROUPS - 1}}}$"
AS_OCTETS: Responses = {200: {"description": "A line of JSON, then ciphertexts.", "content": {CIPHERTEXT: BINARY}}}
IN_OCTETS = {"requestBody": {"required": True, "content": {CIPHERTEXT: BINARY}}}


@RECORDS.get("/v1/records", response_class=Response, responses=AS_ARROW, operation_id="list_records")
def changed(
    caller: Reader,
    after: Annotated[int, Query(ge=0, le=2**62, description="The last number that the caller has.")] = 0,
    mine: Annotated[bool, Query(description="Only of the caller's documents.")] = False,
) -> Response:
    """The next records that changed: `number`, `document`, `status`, `mine`, `content`; `gone` has no content."""
    rows = records.changed_records(caller.store, caller.account.id, after, mine)
    return arrow(_table(rows, caller.account.id))


@RECORDS.get("/v1/groups/records", response_class=Response, responses=AS_ARROW, operation_id="read_group_records")
def of_groups(
    caller: Reader, representatives: Annotated[str, Query(pattern=NAMES, description="Names, by commas.")]
) -> Response:
    """The records of all documents of visible groups, with the `representative` of each. Groups that are gone lack."""
    with caller.store.read() as read:
        group_of = {document: name for name in representatives.split(",") for document in read.index.documents_of(name)}
    row_of = {row.document: row for row in records.records_of(caller.store, group_of)}
    contents = [row_of[id].content if id in row_of else None for id in group_of]
    table = {"document": list(group_of), "representative": list(group_of.values())}
    return arrow(pa.table(table | {"content": pa.array(contents, pa.binary())}))


@RECORDS.get("/v1/buckets/{bits}/{number}", response_class=Response, responses=AS_OCTETS, operation_id="read_bucket")
def bucket(
    caller: Reader,
    bits: Annotated[int, Path(ge=0, le=MOST_BITS, description="Leading bits that the ids share.")],
    number: Annotated[int, Path(ge=0, lt=2**MOST_BITS, description="These bits, as a number.")],
    after: Annotated[str, Query(pattern=r"^([0-9a-f]{32})?$", description="The last id of the page before.")] = "",
) -> Response:
    """Ciphertexts of all documents with these leading bits: a line of JSON with ids and lengths, then each of them.

    Ids are random, so are buckets. A page without documents is the last.
    """
    if number >> bits:
        raise Problem(422, f"{number} has more than {bits} bits; give the first {bits} bits of an id")
    width = ID_BITS - bits
    first, last = number << width, ((number + 1) << width) - 1
    rows = records.bucket(caller.store, caller.account.id, f"{first:032x}", f"{last:032x}", after)
    line = json.dumps({"documents": [{"id": row.id, "bytes": len(row.content)} for row in rows]}).encode()
    return Response(b"".join((line, b"\n", *(row.content for row in rows))), media_type=CIPHERTEXT)


@RECORDS.post("/v1/documents/{document}/record", status_code=204, openapi_extra=IN_OCTETS, operation_id="put_record")
def replace(caller: User, document: DocumentId) -> Response:
    """Store the sealed record of a document of one's own, instead of any earlier one."""
    check_type(caller, CIPHERTEXT)
    content = caller.request.state.body
    if not content:
        raise Problem(422, "the record is empty; send it sealed")

    def operation(write: WriteTransaction) -> Answer:
        documents.replace_record(write, document, content, caller.limits)
        return Answer(204, {})

    return caller.write(operation)


@RECORDS.post(
    "/v1/batches", status_code=201, response_model=BatchPlaced, openapi_extra=IN_OCTETS, operation_id="put_batch"
)
def put_batch(caller: User) -> Response:
    """Store many documents at once: a line of JSON with their lengths, then each one's ciphertext and record.

    All are stored, or none. A document whose representative is retired is stored in no group.
    """
    check_type(caller, CIPHERTEXT)
    sent, contents = _parsed(caller.request.state.body)
    for content, _ in contents:
        checked_document(caller, content)

    def operation(write: WriteTransaction) -> Answer:
        ids = documents.store_documents(write, contents, caller.limits)
        placements = [_placement(write, id, one.representative) for id, one in zip(ids, sent, strict=True)]
        return Answer(201, {"documents": [placed(*pair) for pair in zip(ids, placements, strict=True)]})

    return caller.write(operation)


def _parsed(body: bytes) -> tuple[list[DocumentSent], list[tuple[bytes, bytes | None]]]:
    end_of_line = body.find(b"\n", 0, LONGEST_LINE)
    line, rest = body[: max(end_of_line, 0)], memoryview(body)[end_of_line + 1 :]
    try:
        sent = BatchSent.model_validate_json(line).documents
    except ValidationError as error:
        raise Problem(422, f"the first line of the batch is not valid: {error.errors()[0]['msg']}") from None
    if sum(one.bytes + one.record for one in sent) != len(rest):
        raise Problem(422, "the lengths in the first line do not add up to what follows; send the batch again")
    contents: list[tuple[bytes, bytes | None]] = []
    start = 0
    for one in sent:
        middle, end = start + one.bytes, start + one.bytes + one.record
        contents.append((bytes(rest[start:middle]), bytes(rest[middle:end]) or None))
        start = end
    return sent, contents


def _placement(write: WriteTransaction, document: str, representative: str | None) -> Placement:
    if representative is None or representative not in write.replica.number_of:
        return Placement(None)
    return documents.place_in_group(write, document, representative)


def _table(rows: Sequence[Row[Any]], account: str) -> pa.Table:
    statuses = [row.status if row.content is not None else "gone" for row in rows]
    return pa.table(
        {
            "number": pa.array([row.number for row in rows], pa.int64()),
            "document": pa.array([row.document for row in rows], pa.string()),
            "status": pa.array(statuses, pa.string()),
            "mine": pa.array([row.owner == account for row in rows], pa.bool_()),
            "content": pa.array([row.content for row in rows], pa.binary()),
        }
    )
