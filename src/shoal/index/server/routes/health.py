"""Whether the server is alive and ready."""

from __future__ import annotations

from fastapi import APIRouter, Request
from sqlalchemy import select

from shoal.index.server import tables
from shoal.index.server.problems import Problem
from shoal.index.server.store import Store

HEALTH = APIRouter(tags=["health"])
ALIVE = {"status": "ok"}


@HEALTH.get("/health/live")
async def live() -> dict[str, str]:
    """The process answers."""
    return ALIVE


@HEALTH.get("/health/ready")
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
