"""shoal serve: the server of a dynamic index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import app
from shoal.cli.service.database import Address, KeyFile, opened, with_extra
from shoal.cli.terminal import examples, say

__all__ = ["serve"]

DAY = 86_400


@app.command(
    epilog=examples(
        "shoal token make admin --role operator",
        "shoal serve",
        "shoal serve --database postgresql://shoal@db/shoal --key-file /etc/shoal/key --host 0.0.0.0 --behind-proxy",
    )
)
def serve(
    database: Address = "shoal.db",
    key_file: KeyFile = None,
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
    max_documents: Annotated[int, typer.Option(help="Most documents of an account.", **options.whole(1))] = 1_000_000,
    rate: Annotated[float, typer.Option(help="Requests per second and account.", **options.above_zero())] = 200.0,
    groups_by: Annotated[
        str,
        typer.Option(help="Least role that may make groups of its documents.", **options.one_of("user", "operator")),
    ] = "user",
    longest_wait: Annotated[
        float,
        typer.Option(help="Days that a document is held back at most.", **options.above_zero()),
    ] = 7.0,
) -> None:
    """Serve a dynamic index: encrypted documents in a vector space in which each hides in a crowd of at least k.

    The server listens on this machine alone unless told otherwise. It logs a JSON line per request to stderr; no line
    holds a token, a vector, a query or the id of a document. Make the first account with `shoal token make`.
    """
    with with_extra("serving an index"):
        from shoal.service import serving
        from shoal.service.accounts import all_accounts
        from shoal.service.limits import Limits

    binding = serving.Binding(host, port, tls_cert, tls_key, behind_proxy)
    binding.check()
    limits = Limits(
        document_bytes=max_document,
        documents=max_documents,
        rate=rate,
        groups_by=groups_by,
        longest_wait=longest_wait * DAY,
    )
    with opened(database, "serving an index", make=True) as there:
        store = serving.open_store(there, key_file)
        with there.reading() as connection:
            accounts = all_accounts(connection)

        def announce(line: str) -> None:
            say(line)
            if not any(account.active for account in accounts):
                say("there is no account yet; make one with: shoal token make NAME --role operator")

        serving.serve(store, binding, limits, announce)
