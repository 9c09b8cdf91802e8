"""Migrations of the database, by alembic: one file each. They run when a server starts."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from shoal.errors import InputError


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the missing migrations up to one, in the connection's transaction."""
    scripts = _scripts()
    try:
        # As alembic's own command does, without its env.py: the connection is already open.
        with EnvironmentContext(Config(), scripts, fn=lambda now, _: scripts._upgrade_revs(revision, now)) as context:
            context.configure(connection=connection, transactional_ddl=False)
            context.run_migrations()
    except CommandError as problem:
        if "locate revision" not in str(problem):
            raise
        raise InputError("the database was made by a newer version of Shoal; install that version") from None


def is_current(connection: Connection) -> bool:
    """Whether the tables are those of this version of Shoal."""
    return MigrationContext.configure(connection).get_current_revision() == _scripts().get_current_head()


def _scripts() -> ScriptDirectory:
    folder = str(Path(__file__).parent)
    return ScriptDirectory(folder, version_locations=[folder])
