"""Single documents: listed, read, placed in groups and deleted."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response
from sqlalchemy.exc import DBAPIError

from shoal.index.server import documents
from shoal.index.server.problems import disk_is_full
from shoal.index.server.routes.dependencies import (
    BINARY,
    CIPHERTEXT,
    DocumentId,
    Reader,
    Responses,
    User,
    as_json,
    body_of,
    placed,
)
from shoal.index.server.schemas import DocumentList, Joining, Placed
from shoal.index.server.store import Answer, WriteTransaction

DOCUMENTS = APIRouter(tags=["documents"])
AS_CIPHERTEXT: Responses = {200: {"description": "The ciphertext.", "content": {CIPHERTEXT: BINARY}}}


@DOCUMENTS.get("/v1/documents", operation_id="list_documents")
def mine(
    caller: Reader,
    mine: Annotated[Literal["true"], Query(description="Only the caller's can be listed.")] = "true",
    after: Annotated[str, Query(pattern=r"^([0-9a-f]{32})?$", description="The last id of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> DocumentList:
    """The caller's documents, by id."""
    with caller.store.database.reading() as connection:
        rows = documents.list_owned(connection, caller.account.id, after, limit)
    shown = [{"id": row.id, "status": row.status, "bytes": row.bytes} for row in rows]
    return DocumentList.model_validate({"documents": shown, "after": rows[-1].id if len(rows) == limit else None})


@DOCUMENTS.get(
    "/v1/documents/{document}", response_class=Response, responses=AS_CIPHERTEXT, operation_id="read_document"
)
def read(caller: Reader, document: DocumentId) -> Response:
    """The ciphertext: always of one's own documents, of others' once they are in a visible group."""
    return Response(documents.read_document(caller.store, caller.account.id, document), media_type=CIPHERTEXT)


@DOCUMENTS.post(
    "/v1/documents/{document}/group", response_model=Placed, openapi_extra=as_json(Joining), operation_id="join_group"
)
def join(caller: User, document: DocumentId, wanted: Annotated[Joining, Depends(body_of(Joining))]) -> Response:
    """Place a stored document of the caller in a group."""

    def operation(write: WriteTransaction) -> Answer:
        return Answer(200, placed(document, documents.join_group(write, document, wanted.representative)))

    return caller.write(operation)


@DOCUMENTS.delete("/v1/documents/{document}", status_code=204, operation_id="delete_document")
def remove(caller: User, document: DocumentId) -> Response:
    """Delete a document of one's own. If fewer than k are left in its group, they join the nearest group."""

    def operation(write: WriteTransaction) -> Answer:
        documents.delete_document(write, document)
        return Answer(204, {})

    try:
        return caller.write(operation)
    except DBAPIError as error:  # on a full disk deletions get the room that is kept for them
        if not (disk_is_full(error) and caller.store.database.use_reserve()):
            raise
    return caller.write(operation)
