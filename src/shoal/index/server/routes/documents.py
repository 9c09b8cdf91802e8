"""Documents: ciphertexts that are stored, read and deleted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Response
from sqlalchemy.exc import DBAPIError

from shoal.index import Placement
from shoal.index.server import documents, tables
from shoal.index.server.problems import Problem, disk_is_full
from shoal.index.server.routes.dependencies import (
    BINARY,
    CIPHERTEXT,
    HEX,
    DocumentId,
    Reader,
    User,
    as_json,
    body_of,
    check_type,
    checked_document,
    leading_to,
    placed,
    problems,
)
from shoal.index.server.schemas import DocumentList, Joining, Placed, ThinDocument
from shoal.index.server.store import Answer, WriteTransaction

DOCUMENTS = APIRouter(tags=["documents"])
BODY = {"requestBody": {"required": True, "content": {CIPHERTEXT: BINARY}}}
OPERATIONS = ("read_document", "look_at_document", "join_group", "delete_document")
LINKS = leading_to(201, "The document is stored.", "id", "document", *OPERATIONS)
AS_CIPHERTEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The ciphertext.", "content": {CIPHERTEXT: BINARY}}
}


@DOCUMENTS.post(
    "/v1/documents",
    status_code=201,
    response_model=Placed,
    responses=LINKS | problems(409, 415, 507),
    openapi_extra=BODY,
    operation_id="put_document",
)
def put(
    caller: User,
    representative: Annotated[str | None, Query(pattern=HEX, description="Of the group the client chose.")] = None,
    status: Annotated[Literal["stored"] | None, Query(description="Store it, in no group yet.")] = None,
) -> Response:
    """Store a ciphertext: in the group that the client chose, or in none yet."""
    if representative is not None and status is not None:
        raise Problem(422, "give either representative=NAME or status=stored")
    check_type(caller, CIPHERTEXT)
    content = checked_document(caller, caller.request.state.body)

    def operation(write: WriteTransaction) -> Answer:
        (document,) = documents.store_documents(write, [(content, None)], caller.limits)
        if representative is None:
            return Answer(201, placed(document, Placement(None)))
        return Answer(201, placed(document, documents.place_in_group(write, document, representative)))

    return caller.write(operation)


@DOCUMENTS.post(
    "/v1/documents/thin",
    status_code=201,
    response_model=Placed,
    responses=LINKS | problems(409, 507),
    openapi_extra=as_json(ThinDocument),
    operation_id="put_thin_document",
)
def put_thin(caller: User, wanted: Annotated[ThinDocument, Depends(body_of(ThinDocument))]) -> Response:
    """Store a ciphertext in the nearest group. **The server sees the vector**, until the group is known."""
    content = checked_document(caller, wanted.ciphertext)
    caller.shows("vector")

    def operation(write: WriteTransaction) -> Answer:
        counts = documents.count_matrix(write.index, [wanted.terms])
        (document,) = documents.store_documents(write, [(content, wanted.record)], caller.limits)
        return Answer(201, placed(document, documents.place_nearest(write, document, counts)))

    return caller.write(operation)


@DOCUMENTS.api_route("/v1/documents/thin", methods=["GET", "HEAD", "DELETE"], include_in_schema=False)
def no_document(caller: Reader) -> None:
    """`thin` is not the id of a document."""
    raise HTTPException(405)


@DOCUMENTS.get("/v1/documents", responses=problems(), operation_id="list_documents")
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
    "/v1/documents/{document}",
    response_class=Response,
    responses=AS_CIPHERTEXT | problems(),
    operation_id="read_document",
)
def read(caller: Reader, document: DocumentId) -> Response:
    """The ciphertext: always of one's own documents, of others' once they are in a visible group."""
    content = documents.read_document(caller.store, caller.account.id, document, tables.blobs.c.content)
    return Response(content, media_type=CIPHERTEXT)


@DOCUMENTS.head(
    "/v1/documents/{document}", response_class=Response, responses=problems(), operation_id="look_at_document"
)
def look(caller: Reader, document: DocumentId) -> Response:
    """Whether a document exists, and how large it is."""
    size = documents.read_document(caller.store, caller.account.id, document, tables.documents.c.bytes)
    return Response(headers={"Content-Length": str(size)}, media_type=CIPHERTEXT)


@DOCUMENTS.post(
    "/v1/documents/{document}/group",
    response_model=Placed,
    responses=problems(409, 507),
    openapi_extra=as_json(Joining),
    operation_id="join_group",
)
def join(caller: User, document: DocumentId, wanted: Annotated[Joining, Depends(body_of(Joining))]) -> Response:
    """Place a stored document of the caller in a group."""

    def operation(write: WriteTransaction) -> Answer:
        return Answer(200, placed(document, documents.join_group(write, document, wanted.representative)))

    return caller.write(operation)


@DOCUMENTS.delete("/v1/documents/{document}", status_code=204, responses=problems(507), operation_id="delete_document")
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
