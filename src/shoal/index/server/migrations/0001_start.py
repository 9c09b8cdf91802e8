"""The first tables, and the row that writers lock."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT, BYTES, BIG = sa.Text(), sa.LargeBinary(), sa.BigInteger()


def upgrade() -> None:
    """From an empty database."""
    state = op.create_table(
        "state",
        sa.Column("id", sa.Integer(), primary_key=True),
        _column("version", BIG),
        sa.Column("index_id", TEXT),
        sa.Column("k", sa.Integer()),
        sa.Column("embargo", sa.Double()),
        sa.Column("trust", sa.Boolean()),
        sa.Column("vocabulary", TEXT),
        _column("published", BIG),
    )
    op.bulk_insert(state, [{"id": 1, "version": 0, "published": 0}])
    op.create_table("vocabulary", _key("hash", TEXT), _column("content", BYTES))
    op.create_table(
        "accounts",
        _key("id", TEXT),
        *(_column("name", TEXT), _column("role", TEXT), _column("token_hash", BYTES)),
        *(_column("active", sa.Boolean()), _column("documents", BIG)),
    )
    op.create_table(
        "representatives",
        _key("number", BIG),
        *(_column("name", TEXT), _column("terms", BYTES), _column("counts", BYTES), _column("retired", sa.Boolean())),
    )
    op.create_index("ix_representatives_name", "representatives", ["name"])
    op.create_table(
        "documents",
        _key("id", TEXT),
        *(_column("owner", TEXT), _column("status", TEXT)),
        *(sa.Column("representative", BIG), sa.Column("place", sa.Double()), _column("bytes", BIG)),
    )
    op.create_index("documents_of_owner", "documents", ["owner", "id"])
    op.create_table("blobs", _key("document", TEXT), _column("content", BYTES))
    op.create_table("waiting", _key("document", TEXT), _column("sealed", BYTES), _column("since", sa.Double()))
    op.create_table(
        "requests",
        *(_key("account", TEXT), _key("key", BYTES)),
        *(_column("digest", BYTES), _column("status", sa.Integer()), _column("body", TEXT)),
    )
    op.create_table("changes", _key("version", BIG), _column("touched", TEXT))


def _key(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def _column(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)
