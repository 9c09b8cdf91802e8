"""What comes in: documents (folders of texts, JSONL, CSV, Parquet), baskets, tables with a role for every column.
Everything here reads and checks; whatever cannot be used is named in an InputError, never silently lost.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "Corpus",
    "Document",
    "Skipped",
    "looks_like_documents",
    "Role",
    "Roles",
    "Table",
    "read_table",
    "resolve_roles",
    "quasi_matrix",
    "check_complete",
]

if TYPE_CHECKING:
    from shoal.io.corpus import Corpus, Document, looks_like_documents
    from shoal.io.record_files import Skipped
    from shoal.io.table import Role, Roles, Table, check_complete, quasi_matrix, read_table, resolve_roles

# Loaded on first use: who reads WordNet's files need not load what reads tables.
_HOME = {
    "Corpus": "corpus",
    "Document": "corpus",
    "looks_like_documents": "corpus",
    "Skipped": "record_files",
} | dict.fromkeys(("Role", "Roles", "Table", "check_complete", "quasi_matrix", "read_table", "resolve_roles"), "table")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"shoal.io.{_HOME[name]}"), name)
    raise AttributeError(f"module 'shoal.io' has no attribute {name!r}")
