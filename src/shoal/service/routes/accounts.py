"""Accounts, for operators."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import JSONResponse

from shoal.service.accounts import all_accounts, make_account, revoke, token_of
from shoal.service.problems import Problem
from shoal.service.routes.asking import IdempotencyKey, Operator, answered, leading_to, problems, repeatable, store_of
from shoal.service.schemas import AccountList, AccountMade, AccountWanted
from shoal.service.storage.idempotency import Answer
from shoal.service.storage.store import Writing

__all__ = ["router"]

router = APIRouter(tags=["accounts"])
MADE = leading_to(201, "It is made.", "id", "number", "revoke_account")
AccountId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="Id of an account.")]


@router.get("/v1/accounts", responses=problems())
def show(request: Request, account: Operator) -> AccountList:
    """All accounts, without their tokens."""
    with store_of(request).database.reading() as connection:
        return AccountList.model_validate({"accounts": [asdict(each) for each in all_accounts(connection)]})


@router.post("/v1/accounts", status_code=201, response_model=AccountMade, responses=MADE | problems(409, 507))
def make(request: Request, account: Operator, wanted: AccountWanted, key: IdempotencyKey = None) -> Response:
    """Make an account. Its token is in this answer alone; the server keeps a hash of it."""
    store = store_of(request)
    # With a key the token is derived from it, so that the same request gives the same answer and nothing is kept.
    secret = store.key.secret_of(f"{account.id} {key}") if key is not None else secrets.token_bytes(32)

    def operation(writing: Writing) -> Answer:
        return Answer(201, asdict(make_account(writing.connection, wanted.name, wanted.role, secret)))

    answer = store.write(account, repeatable(request, account, key), operation)
    return JSONResponse(answer.body | {"token": token_of(answer.body["id"], secret)}, answer.status)


@router.delete("/v1/accounts/{number}", status_code=204, responses=problems(409, 507), operation_id="revoke_account")
def end(request: Request, account: Operator, number: AccountId, key: IdempotencyKey = None) -> Response:
    """Revoke an account: its token is refused from now on, and its documents stay."""
    if number == account.id:
        raise Problem(409, "this is your own account; another operator can revoke it")

    def operation(writing: Writing) -> Answer:
        revoke(writing.connection, number)
        return Answer(204, {})

    return answered(store_of(request).write(account, repeatable(request, account, key), operation))
