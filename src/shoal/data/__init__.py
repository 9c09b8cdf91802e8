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
]

if TYPE_CHECKING:
    from shoal.data.corpus import Corpus, Document, looks_like_documents
    from shoal.data.records import Skipped
    from shoal.data.roles import Role, Roles, resolve_roles
    from shoal.data.table import Table, read_table

# Loaded on first use: reading WordNet's files needs nothing that reads tables.
_HOME = {
    "Corpus": "corpus",
    "Document": "corpus",
    "looks_like_documents": "corpus",
    "Skipped": "records",
    "Role": "roles",
    "Roles": "roles",
    "resolve_roles": "roles",
    "Table": "table",
    "read_table": "table",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"shoal.data.{_HOME[name]}"), name)
    raise AttributeError(f"module 'shoal.data' has no attribute {name!r}")
