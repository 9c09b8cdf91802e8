"""Accounts, their roles, and the tokens they prove themselves with. Of a token only its hash is kept."""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from shoal.errors import InputError
from shoal.service.problems import Problem
from shoal.service.storage import tables

__all__ = ["NAME", "ROLES", "Account", "account_of", "all_accounts", "make_account", "revoke", "token_of"]

ROLES = ("reader", "user", "operator")  # each may do what those before it may
NAME = r"^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$"
NOBODY = bytes(32)  # what the token of no account is compared with, so that it takes as long


@dataclass(frozen=True)
class Account:
    """Somebody who may do something."""

    id: str
    name: str
    role: str
    active: bool
    documents: int

    def may(self, role: str) -> bool:
        """Is this role or more allowed?"""
        return ROLES.index(self.role) >= ROLES.index(role)


def token_of(account: str, secret: bytes) -> str:
    """What an account proves itself with."""
    return f"shoal_{account}_{secret.hex()}"


def make_account(connection: Connection, name: str, role: str, secret: bytes) -> Account:
    """A new account, whose token holds this secret."""
    if not re.match(NAME, name):
        raise InputError(f"name={name[:40]!r} must be 1 to 64 letters, digits, spaces and . _ @ -")
    if role not in ROLES:
        raise InputError(f"role={role[:40]!r} is not known; use one of {', '.join(ROLES)}")
    same = select(func.count()).select_from(tables.accounts).where(tables.accounts.c.name == name)
    if connection.execute(same.where(tables.accounts.c.active)).scalar_one():
        raise Problem(409, "there is an account of this name; choose another name, or revoke that account first")
    account = Account(secrets.token_hex(8), name, role, active=True, documents=0)
    token_hash = _hash(token_of(account.id, secret))
    connection.execute(insert(tables.accounts).values(**asdict(account), token_hash=token_hash))
    return account


def account_of(connection: Connection, token: str) -> Account | None:
    """The active account with this token. A wrong one takes as long as a right one, however much of it is right."""
    number = token.split("_")[1] if token.count("_") == 2 else ""
    row = connection.execute(select(tables.accounts).where(tables.accounts.c.id == number)).one_or_none()
    right = hmac.compare_digest(_hash(token), row.token_hash if row else NOBODY)
    return _account(row) if row is not None and right and row.active else None


def all_accounts(connection: Connection) -> list[Account]:
    """Those that were revoked too."""
    return [_account(row) for row in connection.execute(select(tables.accounts).order_by(tables.accounts.c.name))]


def revoke(connection: Connection, account: str) -> None:
    """End an account: its token is refused from now on, its documents stay."""
    ended = update(tables.accounts).where(tables.accounts.c.id == account, tables.accounts.c.active)
    if not connection.execute(ended.values(active=False)).rowcount:
        raise Problem(404, "there is no active account with this id; list the accounts")


def _account(row: Row[Any]) -> Account:
    return Account(row.id, row.name, row.role, row.active, row.documents)


def _hash(token: str) -> bytes:
    return sha256(token.encode()).digest()
