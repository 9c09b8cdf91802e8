"""The command line: one file per command. Each translates options, calls one function, and prints what came back."""

from shoal.cli import (  # noqa: F401 - each registers its commands
    assess,
    audit,
    board,
    count,
    demo,
    explore,
    index,
    inspect,
    map,
    protect,
    sanitizer,
    server,
    sign,
    sketch,
    verify,
    workbench,
)
from shoal.cli.app import app, main

__all__ = ["app", "main"]
