"""Is the server alive, is it ready, and how is it doing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import select

from shoal.service.problems import Problem
from shoal.service.routes.asking import problems, store_of
from shoal.service.storage import tables

__all__ = ["router"]

router = APIRouter(tags=["health"])
ALIVE = {"status": "ok"}
AS_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/health/live", responses=problems())
async def live() -> dict[str, str]:
    """The process answers."""
    return ALIVE


@router.get("/health/ready", responses=problems())
def ready(request: Request) -> dict[str, str]:
    """The database answers, and the index, if there is one, is in memory."""
    store = store_of(request)
    with store.database.reading() as connection:
        created = connection.execute(select(tables.state.c.k)).scalar_one() is not None
    if created and store.loaded < 0:
        raise Problem(503, "the index is being loaded; try again in a few seconds")
    return ALIVE


@router.get("/metrics", response_class=Response, responses=AS_TEXT | problems())
def metrics(request: Request) -> Response:
    """For Prometheus; counted in this process."""
    measured = request.app.state.metrics
    try:
        with store_of(request).read() as reading:
            measured.measure(reading)
    except Problem:  # no index yet
        pass
    return Response(measured.page(), media_type="text/plain; version=0.0.4; charset=utf-8")
