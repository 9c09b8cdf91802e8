"""What is answered when a request cannot be done: a status, and one line with the value, the bound, the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from shoal.errors import InputError, ShoalError

__all__ = ["Problem", "problem_of", "problems_in_one_line"]

DISK_FULL = "53100"  # of PostgreSQL
AWAY = "the database does not answer or is busy; nothing was changed unless a repeated request says so; try again"
NOT_RUNNING = "the database does not answer or is busy; see that it runs, and try again"
FULL = "the disk of the database is full; nothing was changed; tell the operator, and try again later"


class Problem(ShoalError):
    """A request that is refused, with its HTTP status."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def problem_of(error: Exception) -> Problem | None:
    """What to answer to an error that is nobody's fault here; None for a fault of ours."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, InputError):
        return Problem(422, str(error))
    if isinstance(error, DBAPIError) and _disk_is_full(error):
        return Problem(507, FULL)
    if isinstance(error, SQLAlchemyError):
        return Problem(503, AWAY)
    return None


@contextmanager
def problems_in_one_line() -> Iterator[None]:
    """For commands: what goes wrong with the database within this block is said in one line."""
    try:
        yield
    except SQLAlchemyError as error:
        problem = problem_of(error)
        away = problem is not None and problem.status == 503
        raise InputError(NOT_RUNNING if away else str(problem)) from None


def _disk_is_full(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) == DISK_FULL or "disk is full" in str(error.orig)
