"""The index and what it publishes: figures, vocabulary, representatives and groups.

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
from fastapi import APIRouter, Depends, Path, Query, Response
from sqlalchemy import insert, select, update

from shoal.errors import InputError
from shoal.index.server import documents, tables
from shoal.index.server.problems import Problem
from shoal.index.server.routes.dependencies import (
    AS_ARROW,
    HEX,
    Caller,
    GroupMaker,
    Operator,
    Reader,
    Responses,
    arrow,
    as_json,
    body_of,
)
from shoal.index.server.schemas import (
    GroupsMade,
    GroupsWanted,
    IndexShown,
    IndexWanted,
    Vocabulary,
)
from shoal.index.server.store import Answer, WriteTransaction

INDEX = APIRouter(tags=["index"])
LINK = {"operationId": "read_vocabulary", "parameters": {"digest": "$response.body#/vocabulary"}}
SHOWN: Responses = {200: {"description": "The figures.", "links": {"vocabulary": LINK}}}
FOREVER = "public, max-age=31536000, immutable"
PAGE = 5_000


@INDEX.post("/v1/index", status_code=201, response_model=IndexShown, openapi_extra=as_json(IndexWanted))
def create(caller: Operator, wanted: Annotated[IndexWanted, Depends(body_of(IndexWanted))]) -> Response:
    """Create the index of this database. Its vocabulary never changes."""
    terms, weights = wanted.vocabulary.terms, wanted.vocabulary.weights
    if len(terms) != len(weights):
        raise InputError(f"there are {len(terms)} terms and {len(weights)} weights; give a weight per term")
    if len(set(terms)) < len(terms):
        raise InputError("a term is given twice; give each once")
    content = json.dumps(wanted.vocabulary.model_dump()).encode()
    digest = sha256(content).hexdigest()

    def operation(write: WriteTransaction) -> Answer:
        if write.state.k is not None:
            raise Problem(409, "there is an index already; a database holds one")
        values = {"index_id": secrets.token_hex(16), "k": wanted.k, "embargo": wanted.embargo}
        write.connection.execute(insert(tables.vocabulary).values(hash=digest, content=content))
        write.connection.execute(update(tables.state).values(**values, vocabulary=digest))
        state = write.connection.execute(select(tables.state)).one()
        return Answer(201, _figures(state, caller, []))

    return caller.write(operation)


@INDEX.get("/v1/index", responses=SHOWN)
def show(caller: Reader) -> IndexShown:
    """The index in figures."""
    with caller.store.read() as read:
        sizes = read.replica.groups()[1].tolist()
    return IndexShown.model_validate(_figures(read.state, caller, sizes))


@INDEX.get("/v1/vocabulary/{digest}", operation_id="read_vocabulary", response_model=Vocabulary)
def vocabulary(caller: Reader, digest: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]) -> Response:
    """The vocabulary with this SHA-256 of its content. It may be kept for ever."""
    table = tables.vocabulary
    with caller.store.database.reading() as connection:
        content = connection.execute(select(table.c.content).where(table.c.hash == digest)).scalar_one_or_none()
    if content is None:
        raise Problem(404, "there is no such vocabulary; GET /v1/index names the one in use")
    return Response(content, media_type="application/json", headers={"Cache-Control": FOREVER, "ETag": f'"{digest}"'})


@INDEX.get("/v1/representatives/pages/{page}", response_class=Response, responses=AS_ARROW)
def page(
    caller: Reader,
    page: Annotated[int, Path(ge=0, le=10**9)],
    index: Annotated[str | None, Query(pattern=HEX, description="Id of the index the client means.")] = None,
) -> Response:
    """Up to 5,000 representatives by number: `number`, `name`, `terms`, `counts`. A full page never changes."""
    table, first = tables.representatives, page * PAGE
    with caller.store.database.reading() as connection:
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


@INDEX.get("/v1/groups", response_class=Response, responses=AS_ARROW)
def groups(caller: Reader) -> Response:
    """The visible groups at one version (header `Shoal-Version`): `number` and `size`, at least k."""
    with caller.store.read() as read:
        numbers, sizes = read.replica.groups()
    return arrow(pa.table({"number": numbers, "size": sizes}), {"Shoal-Version": str(read.state.version)})


@INDEX.post("/v1/groups", status_code=201, response_model=GroupsMade, openapi_extra=as_json(GroupsWanted))
def make(caller: GroupMaker, wanted: Annotated[GroupsWanted, Depends(body_of(GroupsWanted))]) -> Response:
    """Make groups of the caller's stored documents, k or more each. The server sees the sum of their counts alone."""
    ids = [group.documents for group in wanted.groups]

    def operation(write: WriteTransaction) -> Answer:
        pools = documents.count_matrix(write.index, [group.pool for group in wanted.groups])
        placements = documents.make_groups(write, ids, pools)
        return Answer(201, {"groups": [{"representative": placement.representative} for placement in placements]})

    return caller.write(operation)


def _figures(state: Any, caller: Caller, sizes: list[int]) -> dict[str, Any]:
    return {
        "id": state.index_id,
        "k": state.k,
        "embargo": state.embargo,
        "version": state.version,
        "vocabulary": state.vocabulary,
        "representatives": state.published,
        "groups": len(sizes),
        "visible": sum(sizes),
        "mine": {
            "account": caller.account.id,
            "role": caller.account.role,
            "documents": caller.account.documents,
            "may_group": caller.account.may(caller.limits.groups_by),
        },
    }


def _lists(contents: Sequence[bytes], dtype: np.dtype[Any], arrow_type: pa.DataType) -> pa.ListArray:
    ends = list(accumulate((len(content) // dtype.itemsize for content in contents), initial=0))
    values = pa.array(np.frombuffer(b"".join(contents), dtype), arrow_type)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)
