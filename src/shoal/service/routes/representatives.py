"""Representatives: what is published of groups. They never change, so every cache may keep them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Path, Query, Request, Response
from sqlalchemy import Row, select

from shoal.service.problems import Problem
from shoal.service.routes.asking import HEX, Name, Reader, problems, store_of
from shoal.service.routes.index import FOREVER
from shoal.service.schemas import Documents, RepresentativeShown
from shoal.service.storage import tables

__all__ = ["ARROW", "arrow", "router"]

router = APIRouter(tags=["representatives"])
PAGE = 5_000
ARROW = "application/vnd.apache.arrow.stream"
AS_ARROW: dict[int | str, dict[str, Any]] = {
    200: {"description": "An Arrow IPC stream.", "content": {ARROW: {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get("/v1/representatives/pages/{page}", response_class=Response, responses=AS_ARROW | problems(409))
def page(
    request: Request,
    account: Reader,
    page: Annotated[int, Path(ge=0, le=10**9)],
    index: Annotated[str | None, Query(pattern=HEX, description="Id of the index the client means.")] = None,
) -> Response:
    """Up to 5,000 representatives by number: `number`, `name`, `terms`, `counts`. A full page never changes."""
    table, first = tables.representatives, page * PAGE
    with store_of(request).database.reading() as connection:
        now = connection.execute(select(tables.state)).one()
        some = select(table).where(table.c.number >= first, table.c.number < first + PAGE).order_by(table.c.number)
        rows = connection.execute(some).all()
    if index is not None and index != now.index_id:
        raise Problem(409, "the index has another id now; fetch GET /v1/index again and forget what is kept")
    if not rows and page:
        raise Problem(404, f"there are {now.published} representatives on pages of {PAGE}; ask for an earlier page")
    kept = {"Cache-Control": FOREVER} if len(rows) == PAGE else {}
    return Response(arrow(_table(rows)), media_type=ARROW, headers=kept)


@router.get("/v1/representatives/{name}", responses=problems(), operation_id="read_representative")
def representative(request: Request, response: Response, account: Reader, name: Name) -> RepresentativeShown:
    """One representative."""
    table = tables.representatives
    with store_of(request).database.reading() as connection:
        row = connection.execute(select(table).where(table.c.name == name).limit(1)).one_or_none()
    if row is None:
        raise Problem(404, "there is no such representative; fetch the pages again")
    response.headers["Cache-Control"] = FOREVER
    terms, counts = np.frombuffer(row.terms, "<i4").tolist(), np.frombuffer(row.counts, "<i8").tolist()
    return RepresentativeShown(name=name, terms=dict(zip(map(str, terms), counts, strict=True)))


@router.get("/v1/representatives/{name}/documents", responses=problems(), operation_id="list_members")
def members(request: Request, account: Reader, name: Name) -> Documents:
    """The documents of a group that can be seen."""
    with store_of(request).read() as reading:
        documents = reading.index.documents_of(name)
    if not documents:
        raise Problem(404, "this group cannot be seen; fetch the groups again")
    return Documents(documents=documents)


def arrow(table: pa.Table) -> bytes:
    """As an IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table(rows: Sequence[Row[Any]]) -> pa.Table:
    return pa.table(
        {
            "number": pa.array([row.number for row in rows], pa.int64()),
            "name": pa.array([row.name for row in rows], pa.string()),
            "terms": _lists([row.terms for row in rows], np.dtype("<i4"), pa.int32()),
            "counts": _lists([row.counts for row in rows], np.dtype("<i8"), pa.int64()),
        }
    )


def _lists(contents: list[bytes], kind: np.dtype[Any], arrow_type: pa.DataType) -> pa.ListArray:
    ends = list(accumulate((len(content) // kind.itemsize for content in contents), initial=0))
    values = pa.array(np.frombuffer(b"".join(contents), kind), arrow_type)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)
