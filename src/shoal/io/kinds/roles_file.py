"""A roles file written from an inspection, for a person to edit: the proposal, and beside each column why."""

from __future__ import annotations

import json
import os
from pathlib import Path

from shoal.errors import InputError
from shoal.io.files import shown
from shoal.io.kinds.inspection import ColumnInspection, Inspection
from shoal.io.kinds.vocabulary import Kind
from shoal.io.table import Role

__all__ = ["roles_toml", "write_roles"]

_HEADING = """\
# Which column plays which part: a proposal to check and correct. Only you know what others know.
#   quasi         others may know it of a person: protected
#   confidential  what nobody should learn: released as it is, and watched
#   insensitive   released as it is
#   identifier    points at a person: dropped
"""
_KINDS_HEADING = f"""
# What the values are; correct it where it is wrong: {", ".join(kind.value for kind in Kind)}
[kinds]
"""
_ORDERS_HEADING = """
# Ordered labels, from the lowest to the highest
[order]
"""


def roles_toml(inspection: Inspection) -> str:
    """The roles file as text."""
    if inspection.kind != "table":
        raise InputError(f"this is a collection of {inspection.kind}, whose columns have no roles; leave out the file")
    text = _HEADING
    for role in Role:
        columns = [column for column in inspection.columns if column.role is role]
        lines = "".join(f"    {_name(column)},  # {_why(column)}\n" for column in columns)
        text += f"\n{role.value} = [\n{lines}]\n" if columns else f"\n{role.value} = []\n"
    text += _KINDS_HEADING
    text += "".join(f"{_name(column)} = {json.dumps(column.kind.value)}\n" for column in inspection.columns)
    ordered = [column for column in inspection.columns if column.order]
    if ordered:
        text += _ORDERS_HEADING
        for column in ordered:
            text += f"{_name(column)} = {json.dumps(list(column.order), ensure_ascii=False)}\n"
    return text


def write_roles(inspection: Inspection, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write the roles file; an existing one is replaced only if that is said."""
    text = roles_toml(inspection)
    try:
        with Path(path).open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{shown(path)} exists already; give another name or --force") from None
    except OSError as problem:
        raise InputError(f"{shown(path)} cannot be written: {problem.strerror}; give another name") from None


def _name(column: ColumnInspection) -> str:
    """A quoted TOML key or string: what JSON writes is both."""
    return json.dumps(column.name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _why(column: ColumnInspection) -> str:
    return f"{column.kind.in_words}; {column.reason}"
