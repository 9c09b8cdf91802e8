"""What is to be explored, opened: a table of numbers, of labels or of both, or a collection of documents."""

from __future__ import annotations

from typing import Any

from shoal.errors import InputError
from shoal.exploration.documents import open_documents
from shoal.exploration.running import Explored
from shoal.exploration.tables import open_table
from shoal.exploration.trials import TrialSetup
from shoal.io import Roles
from shoal.io.kinds.choices import ColumnChoices
from shoal.release.sources import DocumentSource, open_source

__all__ = ["open_explored"]


def open_explored(
    source: Any,
    roles: Roles | None,
    setup: TrialSetup,
    columns: dict[str, str | None],
    asked: ColumnChoices,
    missing: str = "refuse",
) -> Explored:
    """Tell documents from tables as `protect` does; `columns` are those of documents, `asked` speaks of tables."""
    text, identity, label = (columns[name] for name in ("text_column", "id_column", "label_column"))
    opened = open_source(source, roles=roles, text_column=text, id_column=identity, label_column=label)
    if isinstance(opened, DocumentSource):
        if asked != ColumnChoices():
            raise InputError("kinds of columns are for tables, and these are documents; leave them out")
        if missing != "refuse":
            raise InputError("missing is for tables, and these are documents; leave it out")
        return open_documents(opened, setup)
    for name, column in columns.items():
        if column is not None:
            raise InputError(f"{name} is for documents, and this is a table; remove it, or remove the roles")
    return open_table(source, roles, setup, asked, missing)
