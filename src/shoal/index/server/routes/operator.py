"""For operators: accounts, and whether the server is alive, ready and well."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import select

from shoal.index.server import tables
from shoal.index.server.accounts import all_accounts, make_account, revoke, token_of
from shoal.index.server.problems import Problem
from shoal.index.server.routes.dependencies import Operator, Reader, as_json, body_of, leading_to, problems, require
from shoal.index.server.schemas import AccountList, AccountMade, AccountWanted
from shoal.index.server.store import Answer, Store, WriteTransaction

ACCOUNTS, HEALTH = APIRouter(tags=["accounts"]), APIRouter(tags=["health"])
MADE = leading_to(201, "The account and its token.", "id", "number", "revoke_account")
ALIVE = {"status": "ok"}
AS_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@ACCOUNTS.get("/v1/accounts", responses=problems())
def show(caller: Reader) -> AccountList:
    """All accounts, without their tokens."""
    require(caller, "operator")
    with caller.store.database.reading() as connection:
        return AccountList.model_validate({"accounts": [asdict(account) for account in all_accounts(connection)]})


@ACCOUNTS.post(
    "/v1/accounts",
    status_code=201,
    response_model=AccountMade,
    responses=MADE | problems(409, 507),
    openapi_extra=as_json(AccountWanted),
)
def make(caller: Operator, wanted: Annotated[AccountWanted, Depends(body_of(AccountWanted))]) -> Response:
    """Make an account. Its token is in this answer alone; the server keeps a hash of it."""
    # With a key the token is derived from it, so that a repeated request gets the same token and none is stored.
    named = f"{caller.account.id} {caller.key}"
    secret = caller.store.key.secret_of(named) if caller.key is not None else secrets.token_bytes(32)

    def operation(write: WriteTransaction) -> Answer:
        return Answer(201, asdict(make_account(write.connection, wanted.name, wanted.role, secret)))

    answer = caller.answer(operation)
    return JSONResponse(answer.body | {"token": token_of(answer.body["id"], secret)}, answer.status)


@ACCOUNTS.delete("/v1/accounts/{number}", status_code=204, responses=problems(409, 507), operation_id="revoke_account")
def end(
    caller: Operator, number: Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="Id of an account.")]
) -> Response:
    """Revoke an account: its token is refused from now on, and its documents stay."""
    if number == caller.account.id:
        raise Problem(409, "this is your own account; another operator can revoke it")

    def operation(write: WriteTransaction) -> Answer:
        revoke(write.connection, number)
        return Answer(204, {})

    return caller.write(operation)


@HEALTH.get("/health/live", responses=problems())
async def live() -> dict[str, str]:
    """The process answers."""
    return ALIVE


@HEALTH.get("/health/ready", responses=problems())
def ready(request: Request) -> dict[str, str]:
    """The database answers, its disk has room, and the index, if there is one, is in memory."""
    store: Store = request.app.state.store
    with store.database.reading() as connection:
        created = connection.execute(select(tables.state.c.k)).scalar_one() is not None
    if created and store.loaded_version < 0:
        raise Problem(503, "the index is being loaded; try again in a few seconds")
    if not store.database.has_room():
        raise Problem(503, "the disk of the database is nearly full; make room on it")
    return ALIVE


@HEALTH.get("/metrics", response_class=Response, responses=AS_TEXT | problems())
def metrics(request: Request) -> Response:
    """For Prometheus; of this process alone."""
    try:
        with request.app.state.store.read() as read:
            request.app.state.metrics.measure(read)
    except Problem:  # no index yet
        pass
    return Response(request.app.state.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")
