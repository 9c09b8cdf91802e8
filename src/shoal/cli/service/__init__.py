"""Commands of the service: the server, its accounts and its backups; and those of its users."""

from __future__ import annotations

from shoal.cli.service.backup import backup, restore
from shoal.cli.service.index import index_app
from shoal.cli.service.serve import serve
from shoal.cli.service.token import token_app

__all__ = ["backup", "index_app", "restore", "serve", "token_app"]
