"""Accounts, their roles and their tokens. Only the hash of a token is stored."""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from shoal.errors import InputError
from shoal.index.server import tables
from shoal.index.server.problems import Problem

ROLES = ("reader", "user", "operator")  # each may do what those before it may
NAME = r"^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$"
NO_HASH = bytes(32)  # compared with the token of an unknown account, so that it takes as long


@dataclass(frozen=True)
class Account:
    """A user of the server, and the role that says what they may do."""

    id: str
    name: str
    role: str
    active: bool
    documents: int

    def may(self, role: str) -> bool:
        """Whether the account has this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)


def token_of(account: str, secret: bytes) -> str:
    """The token of an account."""
    return f"shoal_{account}_{secret.hex()}"


def make_account(connection: Connection, name: str, role: str, secret: bytes) -> Account:
    """Add an account, whose token holds this secret."""
    if not re.match(NAME, name):
        raise InputError(f"name={name[:40]!r} must be 1 to 64 letters, digits, spaces and . _ @ -")
    if role not in ROLES:
        raise InputError(f"role={role[:40]!r} is unknown; use one of {', '.join(ROLES)}")
    same = select(func.count()).select_from(tables.accounts).where(tables.accounts.c.name == name)
    if connection.execute(same.where(tables.accounts.c.active)).scalar_one():
        raise Problem(409, "there is an account of this name; choose another name, or revoke that account first")
    account = Account(secrets.token_hex(8), name, role, active=True, documents=0)
    token_hash = _hash(token_of(account.id, secret))
    connection.execute(insert(tables.accounts).values(**asdict(account), token_hash=token_hash))
    return account


def account_of(connection: Connection, token: str) -> Account | None:
    """The active account with this token. A wrong token takes as long as a right one, however close it is."""
    account_id = token.split("_")[1] if token.count("_") == 2 else ""
    row = connection.execute(select(tables.accounts).where(tables.accounts.c.id == account_id)).one_or_none()
    right = hmac.compare_digest(_hash(token), row.token_hash if row else NO_HASH)
    return _account(row) if row is not None and right and row.active else None


def all_accounts(connection: Connection) -> list[Account]:
    """All accounts, including revoked ones."""
    return [_account(row) for row in connection.execute(select(tables.accounts).order_by(tables.accounts.c.name))]


def revoke(connection: Connection, account: str) -> None:
    """Revoke an account: its token is refused from now on, and its documents stay."""
    active = update(tables.accounts).where(tables.accounts.c.id == account, tables.accounts.c.active)
    if not connection.execute(active.values(active=False)).rowcount:
        raise Problem(404, "there is no active account with this id; list the accounts")


def _account(row: Row[Any]) -> Account:
    return Account(row.id, row.name, row.role, row.active, row.documents)


def _hash(token: str) -> bytes:
    return sha256(token.encode()).digest()
