"""What comes in: documents (a folder of texts, JSONL, CSV, Parquet) and tables with a role for every column.
Everything here reads and checks; whatever cannot be used is named in an InputError, never silently lost.
"""

from shoal.io.corpus import Corpus, Document, looks_like_documents
from shoal.io.records import Skipped
from shoal.io.table import Role, Roles, Table, check_complete, quasi_matrix, read_table, resolve_roles

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
