"""One file of a table, read to be protected: roles checked, columns recoded, and the kind of each quasi-identifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.files import counted, shown, unknown_column
from shoal.data.kinds.number_forms import NumberForm
from shoal.data.kinds.outlines import ColumnOutline, OntologyColumns, agreed_columns, outline_column
from shoal.data.recoding import LevelUp, recoded
from shoal.data.roles import ColumnChoices, Roles, resolve_roles
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.request.options import BLANK, KEEP
from shoal.results.summary import ColumnDictionary, Dialect


@dataclass(frozen=True)
class ReadingPlan:
    """How the files of a table are read: what was said about columns, and which are taken as they stand."""

    roles: Roles | None
    choices: ColumnChoices
    explained: OntologyColumns
    levels: Mapping[str, LevelUp]  # how the hierarchies of columns go up
    ids: tuple[str, ...] = ()  # columns that name people or records

    @property
    def verbatim(self) -> tuple[str, ...]:
        """Columns that are released unchanged, explained by an ontology, or ids."""
        beside = () if self.roles is None else (*self.roles.confidential, *self.roles.insensitive)
        unchanged = (name for name in beside if name not in self.choices.recode)
        return (*unchanged, *self.ids, *self.explained.named, *self.choices.as_text)


@dataclass(frozen=True)
class LoadedPart:
    """One file as it was read."""

    table: Table
    roles: Roles
    part: str = ""  # its name; "" for a table in one piece
    rows: NDArray[np.int64] | None = None  # of the file, from 0, where some were left out
    records: NDArray[Any] | None = None  # the id of each row's record, where a column has it


@dataclass(frozen=True)
class PartSchema:
    """The columns of a file."""

    roles: Roles
    columns: tuple[str, ...]  # of the file
    outlines: Mapping[str, ColumnOutline]  # of quasi-identifiers, and of confidential dates that become periods
    format: str
    dictionary: Mapping[str, ColumnDictionary] = field(default_factory=dict)
    dialect: Dialect | None = None


@dataclass(frozen=True)
class AgreedColumns:
    """What the quasi-identifiers are in all files."""

    parts: Sequence[PartSchema]
    kept: tuple[str, ...]  # true in every row
    masked: tuple[str, ...]  # all others
    forms: Mapping[str, NumberForm]  # of those that are taken for numbers
    categories: Sequence[str]  # plain ones
    periods: Mapping[str, NumberForm]  # of dates that are kept, blanked or confidential, as periods


def loaded_part(content: Table, plan: ReadingPlan, part: str = "") -> LoadedPart:
    """A file that was read, its columns recoded."""
    roles = resolve_roles(content, plan.roles)
    plan.choices.check(content.data.column_names, roles)
    if plan.choices.recode:
        content = recoded(content, plan.choices.recode, plan.levels)
    return LoadedPart(content, roles, part)


def with_record_ids(loaded: LoadedPart, id_column: str) -> LoadedPart:
    """The table with the id of each record; the column is not released."""
    data, roles = loaded.table.data, loaded.roles
    if id_column not in data.column_names:
        raise unknown_column(id_column, data.column_names, "the table")
    if id_column in (*roles.quasi, *roles.confidential, *roles.insensitive, *roles.weight):
        raise InputError(
            f"the id column {shown(id_column)} would be released; name a column without a role, or drop it"
        )
    texts = pc.cast(data[id_column], pa.large_string())
    missing = texts.null_count + int(pc.sum(pc.equal(texts, "")).as_py() or 0)
    twice = len(texts) - len(pc.unique(texts))
    if missing or twice:
        what = f"{counted(missing, 'row')} without an id" if missing else f"{counted(twice, 'id')} more than once"
        raise InputError(f"column {shown(id_column)}: {what}; give a column that names each record once")
    return replace(loaded, records=np.array(texts.to_pylist(), dtype=object))


def schema_of(loaded: LoadedPart, plan: ReadingPlan) -> PartSchema:
    """The columns of a file, and of which kind its quasi-identifiers are."""
    table, data = loaded.table, loaded.table.data
    dated = (name for name in loaded.roles.confidential if plan.choices.period_of(name))
    names = (*loaded.roles.quasi, *dated)
    outlines = {name: outline_column(name, data[name], plan.choices, plan.explained) for name in names}
    return PartSchema(loaded.roles, tuple(data.column_names), outlines, table.format, table.dictionary, table.dialect)


def agreed_parts(parts: Sequence[PartSchema], choices: ColumnChoices) -> AgreedColumns:
    """What the columns of all files are, together."""
    roles, of_parts = parts[0].roles, [part.outlines for part in parts]
    quasi = roles.quasi
    kept = tuple(name for name in quasi if choices.treat.get(name) == KEEP)
    masked = tuple(name for name in quasi if name not in kept)
    forms, categories = agreed_columns(masked, of_parts, choices)
    shown_true = [name for name in quasi if choices.treat.get(name) in (KEEP, BLANK)]
    dated = [name for name in (*shown_true, *roles.confidential) if choices.period_of(name)]
    return AgreedColumns(parts, kept, masked, forms, categories, agreed_columns(dated, of_parts, choices)[0])
