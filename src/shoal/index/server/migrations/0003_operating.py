"""Tokens that expire, quotas in bytes, answers that are forgotten; the server holds back no vectors any more.

Documents that it held back are in no group now. If there are any, the index gets a new id, so that their owners'
clients look again, and place them with the next put.
"""

from __future__ import annotations

import secrets
import time

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

BIG = sa.BigInteger()


def upgrade() -> None:
    """Drop the waiting vectors, and add the columns with what can be known of the past."""
    run = op.get_bind().execute
    if run(sa.text("UPDATE documents SET status = 'stored' WHERE status = 'waiting'")).rowcount:
        run(sa.text("UPDATE state SET index_id = :id").bindparams(id=secrets.token_hex(16)))
    op.drop_table("waiting")
    op.drop_column("state", "trust")
    op.add_column("accounts", sa.Column("bytes", BIG, nullable=False, server_default="0"))
    op.add_column("accounts", sa.Column("expires", sa.Double()))
    op.add_column("requests", sa.Column("at", sa.Double(), nullable=False, server_default=str(time.time())))
    of_record = "SELECT coalesce(length(content), 0) FROM records WHERE document = documents.id"
    run(sa.text(f"UPDATE documents SET bytes = bytes + coalesce(({of_record}), 0)"))
    total = "SELECT sum(bytes) FROM documents WHERE owner = accounts.id"
    run(sa.text(f"UPDATE accounts SET bytes = coalesce(({total}), 0)"))
