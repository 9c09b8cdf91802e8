"""The index itself: create it, look at its figures, fetch its vocabulary."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from sqlalchemy import insert, select, update

from shoal.errors import InputError
from shoal.service.problems import Problem
from shoal.service.routes.asking import (
    IdempotencyKey,
    Operator,
    Reader,
    answered,
    leading_to,
    problems,
    repeatable,
    store_of,
)
from shoal.service.schemas import IndexShown, IndexWanted, Vocabulary
from shoal.service.storage import tables
from shoal.service.storage.idempotency import Answer
from shoal.service.storage.store import Writing

__all__ = ["FOREVER", "router"]

router = APIRouter(tags=["index"])
SHOWN = leading_to(200, "The figures.", "vocabulary", "digest", "read_vocabulary")
FOREVER = "public, max-age=31536000, immutable"


@router.post("/v1/index", status_code=201, response_model=IndexShown, responses=problems(409, 507))
def create(request: Request, account: Operator, wanted: IndexWanted, key: IdempotencyKey = None) -> Response:
    """Create the index of this database. Its vocabulary never changes."""
    terms, weights = wanted.vocabulary.terms, wanted.vocabulary.weights
    if len(terms) != len(weights):
        raise InputError(f"there are {len(terms)} terms and {len(weights)} weights; give a weight per term")
    if len(set(terms)) < len(terms):
        raise InputError("a term is given twice; give each once")
    content = json.dumps(wanted.vocabulary.model_dump()).encode()
    name = sha256(content).hexdigest()

    def operation(writing: Writing) -> Answer:
        if writing.state.k is not None:
            raise Problem(409, "there is an index already; a database holds one")
        made = {"index_id": secrets.token_hex(16), "k": wanted.k, "embargo": wanted.embargo, "trust": wanted.trust}
        writing.connection.execute(insert(tables.vocabulary).values(hash=name, content=content))
        writing.connection.execute(update(tables.state).values(**made, vocabulary=name))
        now = writing.connection.execute(select(tables.state)).one()
        return Answer(201, _figures(now, account, [], 0))

    return answered(store_of(request).write(account, repeatable(request, account, key), operation))


@router.get("/v1/index", responses=SHOWN | problems())
def show(request: Request, account: Reader) -> IndexShown:
    """The index in figures."""
    with store_of(request).read() as reading:
        sizes, waiting = reading.replica.groups()[1], len(reading.index.waiting)
    return IndexShown.model_validate(_figures(reading.state, account, sizes.tolist(), waiting))


@router.get(
    "/v1/vocabulary/{digest}",
    operation_id="read_vocabulary",
    response_model=Vocabulary,
    responses=problems(),
)
def vocabulary(request: Request, account: Reader, digest: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]) -> Response:
    """The vocabulary with this SHA-256 of its content. It can be kept for ever."""
    table = tables.vocabulary
    with store_of(request).database.reading() as connection:
        content = connection.execute(select(table.c.content).where(table.c.hash == digest)).scalar_one_or_none()
    if content is None:
        raise Problem(404, "there is no such vocabulary; GET /v1/index names the one in use")
    return Response(content, media_type="application/json", headers={"Cache-Control": FOREVER, "ETag": f'"{digest}"'})


def _figures(state: Any, account: Any, sizes: list[int], waiting: int) -> dict[str, Any]:
    return {
        "id": state.index_id,
        "k": state.k,
        "embargo": state.embargo,
        "trust": state.trust,
        "version": state.version,
        "vocabulary": state.vocabulary,
        "representatives": state.published,
        "groups": len(sizes),
        "visible": sum(sizes),
        "waiting": waiting,
        "mine": {"account": account.id, "role": account.role, "documents": account.documents},
    }
