"""Sealed records of documents. Documents from before have none until their owner puts them again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the table, and the counter that numbers its rows."""
    op.create_table(
        "records",
        sa.Column("document", sa.Text(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger(), nullable=False, unique=True),
        sa.Column("content", sa.LargeBinary()),
    )
    op.add_column("state", sa.Column("recorded", sa.BigInteger(), nullable=False, server_default="0"))
