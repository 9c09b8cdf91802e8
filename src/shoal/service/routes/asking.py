"""What routes ask of a request: who sends it, may they, and was it sent before."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request, Response, Security
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer

from shoal.service.accounts import Account
from shoal.service.limits import Limits
from shoal.service.problems import Problem
from shoal.service.schemas import ProblemShown
from shoal.service.storage.idempotency import Answer, Repeatable
from shoal.service.storage.store import Store

__all__ = [
    "HEX",
    "DocumentId",
    "IdempotencyKey",
    "Name",
    "Operator",
    "Reader",
    "User",
    "answered",
    "leading_to",
    "limits_of",
    "problems",
    "repeatable",
    "store_of",
]

MEANING = {
    400: "The request could not be read.",
    401: "No valid token.",
    403: "Not allowed for this account.",
    404: "Not there.",
    408: "The body came in too slowly.",
    409: "Not possible in the present state.",
    413: "Too large.",
    415: "Wrong content type.",
    422: "Not valid.",
    429: "Too many requests.",
    503: "The database does not answer.",
    507: "The disk is full.",
}
ALWAYS = (400, 401, 403, 404, 408, 413, 422, 429, 503)

bearer = HTTPBearer(auto_error=False, description="A token: shoal_…", bearerFormat="shoal_…")


Responses = dict[int | str, dict[str, Any]]


def problems(*more: int) -> Responses:
    """The answers to a request that cannot be done, for OpenAPI."""
    statuses = sorted({*ALWAYS, *more})
    return {status: {"model": ProblemShown, "description": MEANING[status]} for status in statuses}


def leading_to(
    status: int, meaning: str, field: str, parameter: str, *operations: str
) -> dict[int | str, dict[str, Any]]:
    """An answer with a field that other operations take as their parameter, for OpenAPI."""
    link = {parameter: f"$response.body#/{field}"}
    links = {operation: {"operationId": operation, "parameters": link} for operation in operations}
    return {status: {"description": meaning, "links": links}}


def _at_least(role: str) -> Callable[..., Account]:
    def caller(request: Request, _: Annotated[Any, Security(bearer)]) -> Account:
        account: Account = request.state.account
        if not account.may(role):
            raise Problem(403, f"your role is {account.role}; this needs {role}: ask an operator")
        return account

    return caller


Reader = Annotated[Account, Depends(_at_least("reader"))]
User = Annotated[Account, Depends(_at_least("user"))]
Operator = Annotated[Account, Depends(_at_least("operator"))]

HEX = r"^[0-9a-f]{32}$"
DocumentId = Annotated[str, Path(pattern=HEX, description="Id of a document.")]
Name = Annotated[str, Path(pattern=HEX, description="Name of a representative.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{1,200}$",
        description="A random value: the same request with the same key is done once.",
    ),
]


def store_of(request: Request) -> Store:
    """The store of the application."""
    store: Store = request.app.state.store
    return store


def limits_of(request: Request) -> Limits:
    """What the operator allows."""
    limits: Limits = request.app.state.limits
    return limits


def repeatable(request: Request, account: Account, key: str | None) -> Repeatable | None:
    """The request as one that may come again, if it has a key."""
    if key is None:
        return None
    digest = sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode())
    digest.update(request.state.body)
    return Repeatable(account.id, key, digest.digest())


def answered(answer: Answer) -> Response:
    """What a write answered."""
    if answer.status == 204:
        return Response(status_code=204)
    return JSONResponse(answer.body, answer.status)
