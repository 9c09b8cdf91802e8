"""The command line: one file per command. Each translates options, calls one function, and prints what came back."""

from shoal.cli.app import app, main
from shoal.cli.assess import assess
from shoal.cli.audit import audit
from shoal.cli.board import board
from shoal.cli.count import count
from shoal.cli.demo import demo
from shoal.cli.explore import explore
from shoal.cli.index import index_app
from shoal.cli.inspect import inspect
from shoal.cli.map import map_values
from shoal.cli.protect import protect
from shoal.cli.sanitizer import redact, review, sanitize, train_sanitizer, unmask
from shoal.cli.server import backup, restore, serve, token_app
from shoal.cli.sign import sign
from shoal.cli.sketch import sketch
from shoal.cli.verify import verify
from shoal.cli.workbench import workbench

__all__ = [
    "app",
    "assess",
    "audit",
    "board",
    "count",
    "demo",
    "explore",
    "index_app",
    "inspect",
    "main",
    "map_values",
    "protect",
    "sanitize",
    "review",
    "redact",
    "unmask",
    "train_sanitizer",
    "backup",
    "restore",
    "serve",
    "sign",
    "sketch",
    "token_app",
    "verify",
    "workbench",
]
