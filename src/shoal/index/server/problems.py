"""Answers to requests that cannot be carried out: a status, and one line with the value, the bound, the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from shoal.errors import InputError, ShoalError

DISK_FULL = "53100"  # of PostgreSQL
SIGNS_OF_DAMAGE = ("malformed", "not a database", "disk I/O error")  # of SQLite
UNAVAILABLE = "the database does not answer or is busy; nothing changed unless a repeated request says so; try again"
NOT_RUNNING = "the database does not answer or is busy; check that it runs, and try again"
DAMAGED = "the database is damaged, and trying again does not help; restore the last backup with: shoal restore"
FULL = "the disk of the database is full; nothing was changed; tell the operator, and try again later"


class Problem(ShoalError):
    """Why a request is refused, with its HTTP status."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def problem_of(error: Exception) -> Problem | None:
    """The answer to an error of the request or the database; None for a fault of this program."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, InputError):
        return Problem(422, str(error))
    if isinstance(error, DBAPIError) and disk_is_full(error):
        return Problem(507, FULL)
    if isinstance(error, DBAPIError) and any(sign in str(error.orig) for sign in SIGNS_OF_DAMAGE):
        return Problem(500, DAMAGED)
    if isinstance(error, SQLAlchemyError):
        return Problem(503, UNAVAILABLE)
    return None


@contextmanager
def database_errors_in_one_line() -> Iterator[None]:
    """For commands: within this block, errors of the database become one line."""
    try:
        yield
    except SQLAlchemyError as error:
        problem = problem_of(error)
        unavailable = problem is not None and problem.status == 503
        raise InputError(NOT_RUNNING if unavailable else str(problem)) from None


def disk_is_full(error: DBAPIError) -> bool:
    """Whether this is why the database could not write."""
    return getattr(error.orig, "sqlstate", None) == DISK_FULL or "disk is full" in str(error.orig)
