"""What routes need of a request: who sends it, whether they may, and whether it was sent before."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, TypeVar

import pyarrow as pa
from fastapi import Depends, Header, Path, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ValidationError
from sqlalchemy import Connection

from shoal.index.server.accounts import Account
from shoal.index.server.gate import Limits
from shoal.index.server.problems import Problem
from shoal.index.server.schemas import HEX, ProblemShown
from shoal.index.server.store import Answer, IdempotentRequest, Store, WriteTransaction

MEANING = {
    400: "The request could not be read.",
    401: "No valid token.",
    403: "Not allowed for this account.",
    404: "Not found.",
    408: "The body came in too slowly.",
    409: "Not possible in the present state.",
    413: "Too large.",
    415: "Wrong content type.",
    422: "Not valid.",
    429: "Too many requests.",
    503: "The database does not answer.",
    507: "The disk is full.",
}
Responses = dict[int | str, dict[str, Any]]
# The answers to a request that cannot be carried out, for OpenAPI.
PROBLEMS: Responses = {status: {"model": ProblemShown, "description": meaning} for status, meaning in MEANING.items()}
M = TypeVar("M", bound=BaseModel)
CIPHERTEXT, JSON = "application/octet-stream", "application/json"
ARROW = "application/vnd.apache.arrow.stream"
BINARY = {"schema": {"type": "string", "format": "binary"}}
AS_ARROW: Responses = {200: {"description": "An Arrow IPC stream.", "content": {ARROW: BINARY}}}
SCHEMAS = "#/components/schemas/"

bearer = HTTPBearer(auto_error=False, description="A token: shoal_…", bearerFormat="shoal_…")


@dataclass(frozen=True)
class Caller:
    """An account that sends a request, and what it may use to answer it."""

    request: Request
    account: Account
    key: str | None = None  # of idempotency

    @property
    def store(self) -> Store:
        store: Store = self.request.app.state.store
        return store

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one moment."""
        return self.store.database.reading()

    @property
    def limits(self) -> Limits:
        limits: Limits = self.request.app.state.limits
        return limits

    def write(self, operation: Callable[[WriteTransaction], Answer], status: int = 200) -> Response:
        """Carry out an operation, once per idempotency key, and send its answer."""
        request = None
        if self.key is not None:
            digest = sha256(f"{self.request.method} {self.request.url.path}?{self.request.url.query}\n".encode())
            digest.update(self.request.state.body)
            request = IdempotentRequest(self.account.id, self.key, digest.digest())
        answer = self.store.write(self.account, request, operation)
        return JSONResponse(answer, status) if status != 204 else Response(status_code=204)


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{1,200}$",
        description="A random value: the same request with the same key is carried out once.",
    ),
]


def _reader(request: Request, _: Annotated[Any, Security(bearer)]) -> Caller:
    return Caller(request, request.state.account)


def _writer(role: str) -> Callable[..., Caller]:
    def writer(request: Request, _: Annotated[Any, Security(bearer)], key: IdempotencyKey = None) -> Caller:
        account: Account = request.state.account
        if not account.may(role):
            raise Problem(403, f"your role is {account.role}; this needs {role}: ask an operator")
        return Caller(request, account, key)

    return writer


Reader = Annotated[Caller, Depends(_reader)]  # the lowest role
User = Annotated[Caller, Depends(_writer("user"))]
Operator = Annotated[Caller, Depends(_writer("operator"))]
DocumentId = Annotated[str, Path(pattern=HEX, description="Id of a document.")]


def body_of(model: type[M]) -> Callable[[Request], M]:
    """A dependency: the body as this model. It is parsed in a thread, since a large one takes its time."""

    def parsed(request: Request) -> M:
        try:
            return model.model_validate_json(request.state.body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            raise RequestValidationError([{**first, "loc": ("body", *first["loc"])}]) from None

    return parsed


def as_json(model: type[BaseModel]) -> dict[str, Any]:
    """The body of a route, for OpenAPI; the application describes the model."""
    content = {JSON: {"schema": {"$ref": f"{SCHEMAS}{model.__name__}"}}}
    return {"requestBody": {"required": True, "content": content}}


def arrow(table: pa.Table, headers: dict[str, str] | None = None) -> Response:
    """A table as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return Response(bytes(sink.getvalue()), media_type=ARROW, headers=headers)
