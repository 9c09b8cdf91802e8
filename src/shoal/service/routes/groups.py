"""Groups: which can be seen and how large they are, and new ones of documents that were stored."""

from __future__ import annotations

import pyarrow as pa
from fastapi import APIRouter, Request, Response

from shoal.service import documents
from shoal.service.problems import Problem
from shoal.service.routes.asking import (
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
from shoal.service.routes.representatives import ARROW, AS_ARROW, arrow
from shoal.service.schemas import GroupsMade, GroupsWanted
from shoal.service.storage.idempotency import Answer
from shoal.service.storage.store import Writing

__all__ = ["router"]

router = APIRouter(tags=["groups"])
OPERATIONS = ("read_representative", "list_members")
MADE = leading_to(201, "They are made.", "groups/0/representative", "name", *OPERATIONS)


@router.get("/v1/groups", response_class=Response, responses=AS_ARROW | problems())
def groups(request: Request, account: Reader) -> Response:
    """The groups that can be seen at one version (header `Shoal-Version`): `number` and `size`, at least k."""
    with store_of(request).read() as reading:
        numbers, sizes = reading.replica.groups()
    table = pa.table({"number": numbers, "size": sizes})
    return Response(arrow(table), media_type=ARROW, headers={"Shoal-Version": str(reading.state.version)})


@router.post("/v1/groups", status_code=201, response_model=GroupsMade, responses=MADE | problems(409, 507))
def make(request: Request, account: User, wanted: GroupsWanted, key: IdempotencyKey = None) -> Response:
    """Make groups of the caller's stored documents, k or more each. The server sees the sum of their counts alone."""
    members = [group.documents for group in wanted.groups]
    if not account.may(limits_of(request).groups_by):
        raise Problem(
            403, f"your role is {account.role}; on this server an operator makes groups: join one that is there"
        )

    def operation(writing: Writing) -> Answer:
        pools = documents.counts_of(writing.index, [group.pool for group in wanted.groups], limits_of(request))
        placed = documents.group(writing, members, pools)
        return Answer(201, {"groups": [{"representative": placement.representative} for placement in placed]})

    return answered(store_of(request).write(account, repeatable(request, account, key), operation))
