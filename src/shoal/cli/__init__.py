"""The command line: a file per command, or per two. Each translates, calls one function, prints what came back."""

from shoal.cli import (  # noqa: F401 - each registers its commands
    assess,
    audit,
    demo,
    explore,
    index,
    inspect,
    protect,
    sanitizer,
    server,
    sketch,
    verify,
    workbench,
)
from shoal.cli.app import app, main

__all__ = ["app", "main"]
