"""Migrations of the database, by alembic. They run when a server starts."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from shoal.errors import InputError

__all__ = ["is_current", "upgrade"]


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run what is missing up to a revision, in the connection's transaction."""
    script = ScriptDirectory(Path(__file__).parent)
    try:
        # What alembic's own command does, without its env.py: there is no database but the one at hand.
        with EnvironmentContext(Config(), script, fn=lambda now, _: script._upgrade_revs(revision, now)) as environment:
            environment.configure(connection=connection, transactional_ddl=False)
            environment.run_migrations()
    except CommandError as problem:
        if "locate revision" not in str(problem):
            raise
        raise InputError("the database was made by a newer version of Shoal; install that version") from None


def is_current(connection: Connection) -> bool:
    """Are the tables those of this version of Shoal?"""
    head = ScriptDirectory(Path(__file__).parent).get_current_head()
    return MigrationContext.configure(connection).get_current_revision() == head
