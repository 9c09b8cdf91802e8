"""Accounts, their roles and their tokens. Only the hash of a token is stored."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from shoal.errors import InputError
from shoal.index.server.problems import Problem
from shoal.index.server.tables import accounts

ROLES = ("reader", "user", "operator")  # each may do what those before it may
NAME = r"^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$"
NO_HASH = bytes(32)  # compared with the token of an unknown account, so that it takes as long
COLUMNS = [column for column in accounts.c if column is not accounts.c.token_hash]  # in the order of Account's fields


@dataclass(frozen=True)
class Account:
    """A user of the server, and the role that says what they may do."""

    id: str
    name: str
    role: str
    active: bool = True
    documents: int = 0
    bytes: int = 0
    expires: float | None = None  # seconds since 1970

    def may(self, role: str) -> bool:
        """Whether the account has this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)


SERVER = Account("server", "server", "operator")


def make_account(connection: Connection, name: str, role: str, expires: float | None = None) -> tuple[Account, str]:
    """Add an account; returns its token too, which is not stored."""
    if not re.match(NAME, name):
        raise InputError(f"name={name[:40]!r} must be 1 to 64 letters, digits, spaces and . _ @ -")
    if role not in ROLES:
        raise InputError(f"role={role[:40]!r} is unknown; use one of {', '.join(ROLES)}")
    same = select(func.count()).select_from(accounts).where(accounts.c.name == name, accounts.c.active)
    if connection.execute(same).scalar_one():
        raise Problem(409, "there is an account of this name; choose another name, or revoke that account first")
    account = Account(secrets.token_hex(8), name, role, expires=expires)
    token = _new_token(account.id)
    connection.execute(insert(accounts).values(**asdict(account), token_hash=_hash(token)))
    return account, token


def account_of(connection: Connection, token: str) -> Account | None:
    """The active account with this token. A wrong token takes as long as a right one, however close it is."""
    account_id = token.split("_")[1] if token.count("_") == 2 else ""
    row = connection.execute(select(accounts).where(accounts.c.id == account_id)).one_or_none()
    right = hmac.compare_digest(_hash(token), row.token_hash if row else NO_HASH)
    if row is None or not right or not row.active or (row.expires is not None and row.expires <= time.time()):
        return None
    return Account(*(getattr(row, column.name) for column in COLUMNS))


def all_accounts(connection: Connection) -> list[Account]:
    """All accounts, including revoked ones."""
    return [Account(*row) for row in connection.execute(select(*COLUMNS).order_by(accounts.c.name))]


def renew(connection: Connection, account: str, expires: float | None, *, new: bool = False) -> str:
    """Let the token of an account expire at another time, or never; a new one replaces it, and is returned."""
    token = _new_token(account) if new else ""
    _change(connection, account, expires=expires, **({"token_hash": _hash(token)} if new else {}))
    return token


def revoke(connection: Connection, account: str) -> None:
    """Revoke an account: its token is refused from now on, and its documents stay."""
    _change(connection, account, active=False)


def _change(connection: Connection, account: str, **values: Any) -> None:
    active = update(accounts).where(accounts.c.id == account, accounts.c.active)
    if not connection.execute(active.values(values)).rowcount:
        raise Problem(404, "there is no active account with this id; list the accounts")


def _new_token(account: str) -> str:
    return f"shoal_{account}_{secrets.token_hex(32)}"


def _hash(token: str) -> bytes:
    return sha256(token.encode()).digest()
