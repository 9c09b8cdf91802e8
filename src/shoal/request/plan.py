"""A plan: a request as a TOML file that people read, edit and keep.

The option table says what a plan may hold: an option stands in the section of its part of the request, or in a column's
own table below [columns]. Paths are relative to the plan's folder. A plan has no secret in it.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.request.option import Option
from shoal.request.options import Reading
from shoal.request.request import OPTIONS, TABLE_OF, Request, checked_value, parsed_options
from shoal.request.values import Column, Columns, File, Files, Pairs, short

SOURCE, COLUMNS = "source", "columns"
SECTIONS = {  # in the order in which people decide
    "promise": "what is promised of every group",
    "method": "how groups are made, and what stands for them",
    "documents": "how texts become vectors of words",
    "release": "where the release goes",
}
MARKS = (SOURCE, COLUMNS, "promise")  # a TOML file with one of these is a plan
DESCRIBING = ("kinds", "order")  # what a column holds, whatever its role
PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")
ROLES = {known.about.role: known for known in OPTIONS.values() if known.about.role}
OF_COLUMNS = {known.about.column: known for known in OPTIONS.values() if known.about.column}
ROLE = "role"
PROPOSAL = """\
# What is released, and how: a proposal to check and correct. Only you know what others know. The roles of columns:
#   protect       others may know it of a person
#   confidential  nobody should learn it: released as it is, and watched
#   keep          released as it is
#   drop          left out
#   weight        sampling weight: each group shows the mean of its weights
#   household     numbers households (person: people): whole ones are grouped; not released
"""


def request_of(source: Any, options: Mapping[str, Any]) -> Request:
    """The request of a source with these options; of a plan, the request in it, over which the options win."""
    return read_plan(source, options) if _is_plan(source) else Request.of(source, options)


def planned(source: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The source of a plan, and the options of whoever judges it, with the plan's columns where these say nothing."""
    given = {name: value for name, value in options.items() if value is not None}
    if not _is_plan(source):
        return source, given
    plan = read_plan(source)
    columns = ["text_column", "id_column"] if "text_column" in plan.given else ["person", "household", "weight"]
    columns += [] if "roles" in given else ["quasi", "confidential"]
    known = {*TABLE_OF[Reading], *columns} & {*options}
    return plan.source, {name: value for name, value in plan.given.items() if name in known} | given


def _is_plan(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(".toml")


def request_of_texts(command: str, source: Any, plan: Any, texts: Mapping[str, Any]) -> Request:
    """What a command line asks for, by its options and by a plan."""
    options = parsed_options(command, texts)
    try:
        source = None if source is None else File().parse(source)
    except ValueError as problem:
        raise InputError(f"INPUT {short(str(source))!r} {problem}") from None
    if plan is not None:
        return read_plan(plan, options, source)
    if source is None:
        raise InputError("Missing argument 'INPUT'; give a file, or a plan with {option}", "plan")
    if options.get("method") == "delta-sketch" and "k" in options:
        raise InputError("{option} is not for delta-sketch, which has no crowd; leave it out", "k")
    return request_of(source, options)


def read_plan(path: str | os.PathLike[str], over: Mapping[str, Any] | None = None, source: Any = None) -> Request:
    """The request in a plan; options and a source that are given beside it win."""
    where = f"plan {short(Path(path).name)}"
    content = _read(path, where)
    if not set(MARKS) & content.keys():
        raise InputError(f"{where} has none of [source], [columns] and [promise]; let shoal inspect propose one")
    _check_keys(content, (SOURCE, COLUMNS, *SECTIONS), where, "section")
    for section, table in content.items():
        if not isinstance(table, dict):
            raise InputError(f"{where}: {section} must be a section; write [{section}], and a line for each key")
    folder = Path(path).parent
    options: dict[str, Any] = {}
    for section in (SOURCE, *SECTIONS):
        table, known = dict(content.get(section, {})), _options_of(section)
        file = table.pop("file", None) if section == SOURCE else None
        source = _source(file, folder, where) if file is not None and source is None else source
        _check_keys(table, (*known, *(["file"] if section == SOURCE else [])), f"{where}, [{section}]", "key")
        for key, value in table.items():
            options[known[key].name] = _value(known[key], value, folder, f"{where}, [{section}]: {key}")
    _add_columns(options, content.get(COLUMNS, {}), folder, where)
    if source is None:
        raise InputError(f'{where} names no file; write file = "people.csv" below [source]')
    merged = _won_by(over or {}, options)
    if merged.get("method") == "delta-sketch" and merged.get("k") is not None:
        raise InputError("{option} is not for delta-sketch, which has no crowd; leave it out", "k")
    return Request.of(source, merged)


def write_plan(
    request: Request, path: str | os.PathLike[str], notes: Mapping[str, str] | None = None, force: bool = False
) -> None:
    """Write a request as a plan; `notes` are comments on columns, by name."""
    text = plan_text(request, Path(path).parent, notes or {})
    try:
        with Path(path).open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{short(path)} exists already; give another name, or {{option}}", "force") from None
    except OSError as problem:
        raise InputError(f"{short(path)} cannot be written: {problem.strerror}; give another name") from None


def plan_text(request: Request, folder: Path, notes: Mapping[str, str]) -> str:
    """The plan as text, as it stands in `folder`."""
    given = {"out": request.publication.out, **request.given}
    if request.method.method != "delta-sketch":  # which has no crowd
        given["k"] = request.k
    in_memory = not isinstance(request.source, str | os.PathLike)
    file = "INPUT" if in_memory else _relative(request.source, folder, "the address")
    lines = [PROPOSAL] if notes else []
    lines += [f"[{SOURCE}]", f"file = {_toml(file)}"]
    lines += _lines(SOURCE, given, folder)
    lines += _column_lines(given, folder, notes)
    for section, about in SECTIONS.items():
        of_section = _lines(section, given, folder)
        lines += ["", f"[{section}]  # {about}", *of_section] if of_section else []
    return "\n".join(lines) + "\n"


def _read(path: str | os.PathLike[str], where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as problem:
        raise InputError(f"{where} cannot be read: {problem.strerror}; give the name of a plan") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        reason = "not UTF-8" if isinstance(problem, UnicodeDecodeError) else str(problem)
        raise InputError(f"{where} is not TOML ({reason}); correct that line") from None


def _options_of(section: str) -> dict[str, Option]:
    """The options of a section, by key."""
    return {known.key: known for known in OPTIONS.values() if known.section == section}


def _check_keys(given: Iterable[str], known: Iterable[str], where: str, what: str) -> None:
    names = list(known)
    for key in given:
        if key not in names:
            close = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
            meant = f"did you mean {close[0]}?" if close else f"use one of {', '.join(names)}"
            raise InputError(f"{where}: there is no {what} {short(key)}; {meant}")


def _value(known: Option, value: Any, folder: Path, where: str) -> Any:
    """A value of a plan, checked, and with its path from here."""
    about = known.about.value
    if isinstance(about, Files) and isinstance(value, list):
        return [_value(known, file, folder, where) for file in value]
    if isinstance(about, File | Files):
        if not isinstance(value, str):
            raise InputError(f"{where} must be a path, between quotes")
        value = value if _is_word(value) else _absolute(value, folder)
    try:
        return about.check(value)
    except ValueError as problem:
        raise InputError(f"{where} = {short(value)} {problem}") from None


def _source(file: Any, folder: Path, where: str) -> Any:
    if not isinstance(file, str) or not file.strip():
        raise InputError(f"{where}, [source]: file must be the name of a file, between quotes")
    if PASSWORD.search(file):
        raise InputError(f"{where} has a password in it; leave it out, the database's driver reads PGPASSWORD")
    return _absolute(file, folder)


def _is_word(value: Any) -> bool:
    """Whether this stands for a thing that is no file."""
    return isinstance(value, str) and value.lower() in Files.WORDS


def _absolute(name: str, folder: Path) -> str:
    """A path of a plan as seen from here; an address is itself."""
    return name if "://" in name else str(folder / os.path.expanduser(name))


def _relative(value: Any, folder: Path, what: str) -> str:
    """A path as seen from the plan."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{what} is an object, which no plan can hold; give its name or its file")
    name = os.fspath(value)
    if PASSWORD.search(name):
        raise InputError(f"{what} has a password in it, which no plan holds; leave it out")
    if "://" in name or os.path.isabs(name):
        return name
    return os.path.relpath(name, folder)


def _add_columns(options: dict[str, Any], columns: Mapping[str, Any], folder: Path, where: str) -> None:
    """What the columns' own tables say, as options."""
    protected = [name for name, table in columns.items() if isinstance(table, dict) and "protect" in _roles(table)]
    for name, table in columns.items():
        at = f"{where}, column {short(name)}"
        if not isinstance(table, dict):
            raise InputError(f'{at} must have a table; write {{ role = "protect" }}')
        _check_keys(table, (ROLE, *OF_COLUMNS), at, "key")
        for role in _roles(table):
            _add_role(options, role, name, at)
        for key, value in table.items():
            known = OF_COLUMNS.get(key)
            if known is not None and not (known.name in DESCRIBING and protected and name not in protected):
                _add_to_column(options, known, name, value, folder, f"{at}: {key}")


def _roles(table: Mapping[str, Any]) -> list[Any]:
    """The roles of a column: usually one."""
    roles = table.get(ROLE, [])
    return roles if isinstance(roles, list) else [roles]


def _add_role(options: dict[str, Any], role: Any, column: str, where: str) -> None:
    if not isinstance(role, str) or role not in ROLES:
        close = difflib.get_close_matches(str(role), ROLES, n=1)
        meant = f"did you mean {close[0]}?" if close else f"use one of {', '.join(ROLES)}"
        raise InputError(f"{where}: there is no role {short(role)}; {meant}")
    known = ROLES[role]
    if isinstance(known.about.value, Columns):
        options[known.name] = (*options.get(known.name, ()), column)
    elif known.name in options:
        raise InputError(f"{where}: column {short(options[known.name])} is the {role} already; choose one")
    else:
        options[known.name] = column


def _add_to_column(options: dict[str, Any], known: Option, column: str, value: Any, folder: Path, where: str) -> None:
    """An option of one column: {"birth": "year"}, or its name in a list of columns."""
    about = known.about.value
    if isinstance(about, Columns):
        if value not in (True, False):
            raise InputError(f"{where} must be true or false")
        options[known.name] = (*options.get(known.name, ()), *([column] if value else ()))
        return
    if isinstance(about, Pairs):
        try:
            value = about.of.check(value)
        except ValueError as problem:
            raise InputError(f"{where} = {short(value)} {problem}") from None
    elif isinstance(about, Files):
        value = _value(known, value, folder, where)
    else:  # ordered labels
        value = tuple(value) if isinstance(value, list) else value
    if isinstance(options.get(known.name, {}), str):
        raise InputError(f"{where}: a file for all columns is given, too; give one or the other")
    options[known.name] = {**options.get(known.name, {}), column: value}


def _won_by(over: Mapping[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options of a plan, and those that win over them: columns one by one, and a column has one role."""
    lists = [known.name for known in ROLES.values() if isinstance(known.about.value, Columns)]
    named = {column for name in lists for column in checked_value(name, over.get(name) or ())}
    if over.get("roles") is not None:
        options = {name: value for name, value in options.items() if name not in lists}
    for name in lists:
        if name in options:
            left = tuple(column for column in options[name] if column not in named)
            options[name] = left or None
    merged = dict(options)
    for name, value in over.items():
        both = isinstance(value, Mapping) and isinstance(options.get(name), Mapping)
        if value is not None:
            merged[name] = {**options[name], **value} if both else value
    return merged


def _lines(section: str, given: Mapping[str, Any], folder: Path) -> list[str]:
    """The keys of a section."""
    lines = []
    for key, known in _options_of(section).items():
        value = given.get(known.name)
        if value is None or (isinstance(value, Mapping) and known.about.column):
            continue
        if isinstance(known.about.value, File | Files):
            files = [one if _is_word(one) else _relative(one, folder, key) for one in _each(value)]
            value = files if isinstance(value, list) else files[0]
        lines.append(f"{key} = {_toml(value, key)}")
    return lines


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _column_lines(given: Mapping[str, Any], folder: Path, notes: Mapping[str, str]) -> list[str]:
    """A line per column, with its role first."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in notes}
    for role, known in ROLES.items():
        value = given.get(known.name)
        for column in (value,) if isinstance(known.about.value, Column) and value else value or ():
            before = tables.setdefault(column, {}).get(ROLE)
            tables[column][ROLE] = role if before is None else [before, role]
    for key, known in OF_COLUMNS.items():
        value = given.get(known.name)
        if isinstance(value, Mapping):
            for column, one in value.items():
                file = isinstance(known.about.value, Files) and not _is_word(one)
                tables.setdefault(column, {})[key] = _relative(one, folder, key) if file else one
        elif isinstance(known.about.value, Columns):
            for column in value or ():
                tables.setdefault(column, {})[key] = True
    if given.get("roles") is not None:
        raise InputError("a plan has the roles of columns in it; give them as lists, not as {option}", "roles")
    lines = []
    for column, table in tables.items():
        note = f"  # {' '.join(notes[column].split())}" if column in notes else ""
        pairs = ", ".join(f"{key} = {_toml(value, key)}" for key, value in table.items())
        lines.append(f"{_key(column)} = {{ {pairs} }}{note}")
    return ["", f"[{COLUMNS}]", *lines] if lines else []


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Any, what: str = "") -> str:
    """A value as TOML has it: JSON's texts, but for the one character that TOML wants escaped and JSON does not."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(one, what) for one in value)}]"
    if not isinstance(value, str | bool | int | float):
        raise InputError(f"{what} is an object, which no plan can hold; give its name")
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
