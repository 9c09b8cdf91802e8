"""Commands of the server: shoal serve, its accounts (shoal token), and its backups (shoal backup, shoal restore)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.terminal import examples, say, shown_progress, write
from shoal.errors import MissingExtra

if TYPE_CHECKING:
    from shoal.index.server.database import Database

DAY = 86_400
ROLES = ("reader", "user", "operator")

token_app = typer.Typer(
    name="token",
    help="Make, list, renew and revoke accounts on a server's database.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(token_app)

Address = Annotated[
    str,
    typer.Option(
        "--database",
        envvar="SHOAL_DATABASE",
        help="SQLite file, or postgresql://user@host/name.",
        metavar="<file or address>",
    ),
]
Days = Annotated[
    float | None, typer.Option(help="Days until the token expires.  [default: never]", **options.above_zero())
]


@app.command(
    epilog=examples(
        "shoal backup -o monday.shoal", "shoal backup --database postgresql://shoal@db/shoal -o monday.shoal"
    )
)
def backup(
    out: Annotated[Path, typer.Option("-o", "--out", help="File to write.", **options.path())],
    database: Address = "shoal.db",
    force: Force = False,
) -> None:
    """Write a server's database as it is at one moment to one file, while the server runs.

    The file holds ciphertexts and hashes of tokens, and is readable by its owner alone.
    """
    with _opened(database) as server_database, shown_progress():
        from shoal.index.server.backup import back_up

        documents = back_up(server_database, out, force)
    write(f"backup       {out}")
    say(f"{documents:,} documents")


@app.command(
    epilog=examples("shoal restore monday.shoal", "shoal restore monday.shoal --database postgresql://shoal@db/shoal")
)
def restore(
    source: Annotated[Path, typer.Argument(help="A backup.", **options.path("BACKUP"))],
    database: Address = "shoal.db",
) -> None:
    """Fill an empty database from a backup, all of it or nothing. A backup of SQLite fits PostgreSQL, and vice versa.

    Clients notice that the index was restored and fetch its representatives again.
    """
    with _opened(database, create=True) as server_database, shown_progress():
        from shoal.index.server.backup import restore_from

        documents = restore_from(server_database, source)
    say(f"{documents:,} documents")


@app.command(
    epilog=examples(
        "shoal token make admin --role operator",
        "shoal serve",
        "shoal serve --database postgresql://shoal@db/shoal --host 0.0.0.0 --behind-proxy --metrics 127.0.0.1:9750",
    )
)
def serve(
    database: Address = "shoal.db",
    host: Annotated[str, typer.Option(help="Address to listen on.", metavar="<address>")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any.", **options.whole(0))] = 8750,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", help="Certificate chain, PEM.", **options.path())
    ] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its key, PEM.", **options.path())] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy in front of the server speaks TLS.")
    ] = False,
    max_document: Annotated[int, typer.Option(help="Largest document in bytes.", **options.whole(1))] = 16 << 20,
    max_documents: Annotated[
        int, typer.Option(help="Largest number of documents per account.", **options.whole(1))
    ] = 1_000_000,
    max_bytes: Annotated[int, typer.Option(help="Largest number of bytes per account.", **options.whole(1))] = 100
    << 30,
    rate: Annotated[float, typer.Option(help="Requests per second per account.", **options.above_zero())] = 200.0,
    metrics: Annotated[
        str | None, typer.Option(help="Address of /metrics for Prometheus.  [default: none]", metavar="<host:port>")
    ] = None,
) -> None:
    """Serve a dynamic index: encrypted documents in a vector space in which each hides in a crowd of at least k.

    By default the server listens on this machine only. It logs a JSON line per request to stderr; no line holds a
    token, a vector, a query or the id of a document. Make the first account with `shoal token make`.
    """
    with _service_extra():
        from shoal.index.server import serving
        from shoal.index.server.accounts import all_accounts
        from shoal.index.server.gate import Limits
        from shoal.index.server.store import Store

    binding = serving.Binding(host, port, tls_cert, tls_key, behind_proxy, metrics)
    binding.check()
    limits = Limits(
        document_bytes=max_document,
        documents=max_documents,
        account_bytes=max_bytes,
        rate=rate,
        behind_proxy=behind_proxy,
    )
    with _opened(database, create=True) as server_database:
        with server_database.reading() as connection:
            accounts = all_accounts(connection)
        if not any(account.active for account in accounts):
            say("there is no account yet; make one with: shoal token make NAME --role operator")
        if warning := server_database.lacks_connections():
            say(f"warning: {warning}")
        serving.serve(Store(server_database), binding, limits, say)


@token_app.command(epilog=examples("shoal token make admin --role operator", "shoal token make archive"))
def make(
    name: Annotated[str, typer.Argument(help="Name of the account.", metavar="NAME")],
    role: Annotated[
        str,
        typer.Option(
            help="reader: get and search; user: put and delete too; operator: all.",
            **options.one_of(*ROLES),
        ),
    ] = "user",
    days: Days = None,
    database: Address = "shoal.db",
) -> None:
    """Make an account and print its token. It is not shown again: only its hash is stored."""
    with _opened(database, create=True) as server_database:
        from shoal.index.server.accounts import make_account

        with server_database.writing() as connection:
            account, token = make_account(connection, name, role, _in_days(days))
    write(token)
    say(f"account {account.id}, role {role}; keep the token, it is not shown again")


@token_app.command(
    epilog=examples("shoal token renew 0f1e2d3c4b5a6978 --days 365", "shoal token renew 0f1e2d3c4b5a6978 --new")
)
def renew(
    account: Annotated[str, typer.Argument(help="Id of the account.", metavar="ACCOUNT")],
    days: Days = None,
    new: Annotated[
        bool, typer.Option("--new", help="Print a new token; the earlier one is refused from now on.")
    ] = False,
    database: Address = "shoal.db",
) -> None:
    """Let a token expire later, earlier or never, or replace it."""
    with _opened(database) as server_database:
        from shoal.index.server import accounts

        with server_database.writing() as connection:
            token = accounts.renew(connection, account, _in_days(days), new=new)
    if new:
        write(token)
    say(f"expires in {days:g} days" if days else "never expires")


@token_app.command("list", epilog=examples("shoal token list"))
def list_accounts(database: Address = "shoal.db", as_json: AsJson = False) -> None:
    """List accounts, without their tokens."""
    with _opened(database) as server_database:
        from shoal.index.server.accounts import all_accounts

        with server_database.reading() as connection:
            accounts = all_accounts(connection)
    if as_json:
        write(json.dumps([asdict(account) for account in accounts], indent=2))
        return
    for account in accounts:
        state = "" if account.active else "  revoked"
        if account.active and account.expires is not None:
            verb = "expires" if account.expires > time.time() else "expired"
            state = f"  {verb} {datetime.fromtimestamp(account.expires, UTC):%Y-%m-%d %H:%M}"
        stored = f"{account.documents:>9,} documents  {account.bytes / 1e6:>9,.1f} MB"
        write(f"{account.id}  {account.role:<8}  {stored}  {account.name}{state}")


@token_app.command(epilog=examples("shoal token revoke 0f1e2d3c4b5a6978"))
def revoke(
    account: Annotated[str, typer.Argument(help="Id of the account.", metavar="ACCOUNT")],
    database: Address = "shoal.db",
) -> None:
    """Revoke an account: its token is refused from now on, and its documents stay."""
    with _opened(database) as server_database:
        from shoal.index.server import accounts

        with server_database.writing() as connection:
            accounts.revoke(connection, account)
    say("revoked")


@token_app.command(epilog=examples("shoal token transfer 0f1e2d3c4b5a6978 9c8d7e6f5a4b3c2d"))
def transfer(
    account: Annotated[str, typer.Argument(help="Id of a revoked account.", metavar="ACCOUNT")],
    to: Annotated[str, typer.Argument(help="Id of the account that gets its documents.", metavar="TO")],
    database: Address = "shoal.db",
) -> None:
    """Give the documents of a revoked account to another one, which can then delete them.

    Who can read them stays as it is: only the holders of the keys they were encrypted for.
    """
    count = _of_revoked(database, "transferred", account, to)
    say(f"{count:,} documents transferred")


@token_app.command(epilog=examples("shoal token erase 0f1e2d3c4b5a6978"))
def erase(
    account: Annotated[str, typer.Argument(help="Id of a revoked account.", metavar="ACCOUNT")],
    database: Address = "shoal.db",
) -> None:
    """Delete all documents of a revoked account, for ever. A line in the log says so."""
    count = _of_revoked(database, "erased", account)
    say(f"{count:,} documents erased")


def _of_revoked(address: str, what: str, account: str, to: str = "") -> int:
    """Transfer or erase the documents of a revoked account; running servers notice."""
    with _opened(address) as server_database:
        from shoal.index.server import documents
        from shoal.index.server.accounts import SERVER
        from shoal.index.server.monitoring import LOGGER, log_as_json
        from shoal.index.server.store import Answer, Store, WriteTransaction

        def operation(write: WriteTransaction) -> Answer:
            if not to:
                return {"documents": documents.erase_documents(write, account)}
            return {"documents": documents.transfer_documents(write, account, to), "to": to}

        done = Store(server_database).write(SERVER, None, operation)
        log_as_json()
        LOGGER.info("", extra={"fields": {"message": f"documents {what}", "account": account} | done})
        return int(done["documents"])


def _in_days(days: float | None) -> float | None:
    return None if days is None else time.time() + days * DAY


@contextmanager
def _service_extra() -> Iterator[None]:
    """Within this block, a missing library becomes one line that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("shoal"):
            raise
        raise MissingExtra("service", "the server of an index") from None


@contextmanager
def _opened(address: str, *, create: bool = False) -> Iterator[Database]:
    """A database with the tables of this version, which are created only on request. Its errors become one line."""
    with _service_extra():
        from shoal.index.server.database import Database
        from shoal.index.server.problems import database_errors_in_one_line
    with database_errors_in_one_line(), closing(Database(address, must_exist=not create)) as database:
        if create:
            database.create_tables()
        else:
            database.check_version()
        yield database
