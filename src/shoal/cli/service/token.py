"""shoal token: accounts and their tokens, made on the server's own database."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, app
from shoal.cli.service.database import Address, opened
from shoal.cli.terminal import examples, say, write

__all__ = ["token_app"]

ROLES = ("reader", "user", "operator")
PURPOSE = "accounts of a server"

token_app = typer.Typer(
    name="token",
    help="Make, list and revoke accounts on a server's database.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(token_app)


@token_app.command(epilog=examples("shoal token make admin --role operator", "shoal token make archive"))
def make(
    name: Annotated[str, typer.Argument(help="Of the account.", metavar="NAME")],
    role: Annotated[
        str,
        typer.Option(
            help="reader: get and search; user: put and delete too; operator: all.",
            **options.one_of(*ROLES),
        ),
    ] = "user",
    database: Address = "shoal.db",
) -> None:
    """Make an account and print its token: this once, since only its hash is kept."""
    import secrets

    with opened(database, PURPOSE, make=True) as there:
        from shoal.service.accounts import make_account, token_of

        secret = secrets.token_bytes(32)
        with there.writing() as connection:
            account = make_account(connection, name, role, secret)
    write(token_of(account.id, secret))
    say(f"account {account.id}, role {role}; keep the token, it is not shown again")


@token_app.command("list", epilog=examples("shoal token list"))
def list_accounts(database: Address = "shoal.db", as_json: AsJson = False) -> None:
    """List accounts, without their tokens."""
    with opened(database, PURPOSE) as there:
        from dataclasses import asdict

        from shoal.service.accounts import all_accounts

        with there.reading() as connection:
            accounts = all_accounts(connection)
    if as_json:
        write(json.dumps([asdict(account) for account in accounts], indent=2))
        return
    for account in accounts:
        ended = "" if account.active else "  revoked"
        write(f"{account.id}  {account.role:<8}  {account.documents:>9,} documents  {account.name}{ended}")


@token_app.command(epilog=examples("shoal token revoke 0f1e2d3c4b5a6978"))
def revoke(
    account: Annotated[str, typer.Argument(help="Id of the account.", metavar="ACCOUNT")],
    database: Address = "shoal.db",
) -> None:
    """Revoke an account: its token is refused from now on, and its documents stay."""
    with opened(database, PURPOSE) as there:
        from shoal.service import accounts

        with there.writing() as connection:
            accounts.revoke(connection, account)
    say("revoked")
