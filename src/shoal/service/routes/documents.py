"""Documents: ciphertexts that come, are read, and go."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response

from shoal.index import Placement
from shoal.service import documents
from shoal.service.problems import Problem
from shoal.service.routes.asking import (
    HEX,
    DocumentId,
    IdempotencyKey,
    Reader,
    User,
    answered,
    leading_to,
    limits_of,
    problems,
    repeatable,
    store_of,
)
from shoal.service.schemas import DocumentList, Joining, Placed, ThinDocument
from shoal.service.storage import tables
from shoal.service.storage.idempotency import Answer
from shoal.service.storage.store import Writing

__all__ = ["router"]

router = APIRouter(tags=["documents"])
CIPHERTEXT = "application/octet-stream"
BINARY = {"schema": {"type": "string", "format": "binary", "minLength": 1}}
BODY = {"requestBody": {"required": True, "content": {CIPHERTEXT: BINARY}}}
OPERATIONS = ("read_document", "look_at_document", "join_group", "delete_document")
LINKS = leading_to(201, "It is kept.", "id", "document", *OPERATIONS)
AS_CIPHERTEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The ciphertext.", "content": {CIPHERTEXT: BINARY}}
}


@router.post(
    "/v1/documents",
    status_code=201,
    response_model=Placed,
    responses=LINKS | problems(409, 415, 507),
    openapi_extra=BODY,
    operation_id="put_document",
)
def put(
    request: Request,
    account: User,
    representative: Annotated[str | None, Query(pattern=HEX, description="Of the group the client chose.")] = None,
    status: Annotated[Literal["stored"] | None, Query(description="Keep it, in no group yet.")] = None,
    key: IdempotencyKey = None,
) -> Response:
    """Keep a ciphertext: in the group that the client chose, or in none yet."""
    if representative is not None and status is not None:
        raise Problem(422, "give either representative=NAME or status=stored")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != CIPHERTEXT:
        raise Problem(415, f"the body is a ciphertext; send it as {CIPHERTEXT}")
    content = _checked(request, request.state.body)

    def operation(writing: Writing) -> Answer:
        document = documents.keep(writing, content, limits_of(request))
        if representative is None:
            return _placed(201, document, Placement(None))
        return _placed(201, document, documents.place(writing, document, representative))

    return answered(store_of(request).write(account, repeatable(request, account, key), operation))


@router.post(
    "/v1/documents/thin",
    status_code=201,
    response_model=Placed,
    responses=LINKS | problems(409, 507),
    operation_id="put_thin_document",
)
def put_thin(request: Request, account: User, wanted: ThinDocument, key: IdempotencyKey = None) -> Response:
    """Keep a ciphertext in the nearest group. **The server sees the vector**, until the group is known."""
    content = _checked(request, wanted.ciphertext)
    _seen(request, "vector")

    def operation(writing: Writing) -> Answer:
        counts = documents.counts_of(writing.index, [wanted.terms], limits_of(request))
        document = documents.keep(writing, content, limits_of(request))
        return _placed(201, document, documents.place_nearest(writing, document, counts))

    return answered(store_of(request).write(account, repeatable(request, account, key), operation))


@router.api_route("/v1/documents/thin", methods=["GET", "HEAD", "DELETE"], include_in_schema=False)
def no_document(account: Reader) -> None:
    """`thin` is not the id of a document."""
    raise HTTPException(405)


@router.get("/v1/documents", responses=problems(), operation_id="list_documents")
def mine(
    request: Request,
    account: Reader,
    mine: Annotated[Literal["true"], Query(description="Only the caller's can be listed.")] = "true",
    after: Annotated[str, Query(pattern=r"^([0-9a-f]{32})?$", description="The last id of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> DocumentList:
    """The caller's documents, by id."""
    with store_of(request).database.reading() as connection:
        rows = documents.owned(connection, account.id, after, limit)
    shown = [{"id": row.id, "status": row.status, "bytes": row.bytes} for row in rows]
    return DocumentList.model_validate({"documents": shown, "after": rows[-1].id if len(rows) == limit else None})


@router.get(
    "/v1/documents/{document}",
    response_class=Response,
    responses=AS_CIPHERTEXT | problems(),
    operation_id="read_document",
)
def read(request: Request, account: Reader, document: DocumentId) -> Response:
    """The ciphertext: one's own always, others' once they are in a group that can be seen."""
    row = documents.readable(store_of(request), account.id, document, tables.blobs.c.content)
    return Response(row.content, media_type=CIPHERTEXT)


@router.head("/v1/documents/{document}", response_class=Response, responses=problems(), operation_id="look_at_document")
def look(request: Request, account: Reader, document: DocumentId) -> Response:
    """Is it there, and how large is it?"""
    row = documents.readable(store_of(request), account.id, document, tables.documents.c.bytes)
    return Response(headers={"Content-Length": str(row.bytes)}, media_type=CIPHERTEXT)


@router.post(
    "/v1/documents/{document}/group",
    response_model=Placed,
    responses=problems(409, 507),
    operation_id="join_group",
)
def join(
    request: Request, account: User, document: DocumentId, wanted: Joining, key: IdempotencyKey = None
) -> Response:
    """A stored document of the caller joins a group."""

    def operation(writing: Writing) -> Answer:
        return _placed(200, document, documents.join(writing, document, wanted.representative))

    return answered(store_of(request).write(account, repeatable(request, account, key), operation))


@router.delete("/v1/documents/{document}", status_code=204, responses=problems(507), operation_id="delete_document")
def remove(request: Request, account: User, document: DocumentId, key: IdempotencyKey = None) -> Response:
    """Delete a document of one's own. A group that would be below k joins the nearest one."""

    def operation(writing: Writing) -> Answer:
        documents.remove(writing, document)
        return Answer(204, {})

    return answered(store_of(request).write(account, repeatable(request, account, key), operation))


def _placed(status: int, document: str, placement: Placement) -> Answer:
    where = {"representative": placement.representative, "waits": placement.waits}
    return Answer(status, {"id": document} | where)


def _checked(request: Request, content: bytes) -> bytes:
    limit = limits_of(request).document_bytes
    if not 0 < len(content) <= limit:
        status = 413 if content else 422
        raise Problem(status, f"a document of {len(content)} bytes is not kept; send 1 to {limit}")
    return content


def _seen(request: Request, what: str) -> None:
    """That a client showed something is logged; what it was is not."""
    request.state.log["seen"] = what
    request.app.state.metrics.vector_seen()
