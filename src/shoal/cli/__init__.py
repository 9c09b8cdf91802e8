"""The command line: one file a command. Each translates options, calls one function, and prints what came back."""

from shoal.cli.app import app, main
from shoal.cli.assess import assess
from shoal.cli.columns import inspect, map_values
from shoal.cli.demo import demo
from shoal.cli.explore import explore
from shoal.cli.protect import protect
from shoal.cli.sanitizer import redact, review, sanitize, train_sanitizer, unmask
from shoal.cli.service import backup, index_app, restore, serve, token_app
from shoal.cli.sketch import sketch
from shoal.cli.trust import sign, verify
from shoal.cli.workbench import workbench

__all__ = [
    "app",
    "assess",
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
