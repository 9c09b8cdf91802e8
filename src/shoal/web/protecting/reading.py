"""How a table is read where its file does not tell: the sheet of a spreadsheet, the dialect of a text file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data.files import kind_of
from shoal.data.sources import TableFile, format_of
from shoal.request.request import OPTIONS

if TYPE_CHECKING:
    from shoal.web.requests import Fields

Reading = Mapping[str, str]  # what was chosen, by the name of the option

RECOGNISED = {"": "recognised"}
# What the page offers: the values with their names.
READINGS = {
    "sheet": {},
    "delimiter": RECOGNISED | {"comma": "comma ,", "semicolon": "semicolon ;", "tab": "tab", "bar": "bar |"},
    "decimal": RECOGNISED | {"point": "point 1.5", "comma": "comma 1,5"},
    "encoding": RECOGNISED
    | {
        "utf-8": "UTF-8",
        "windows-1252": "Windows, Western Europe (1252)",
        "windows-1250": "Windows, Central Europe (1250)",
        "windows-1251": "Windows, Cyrillic (1251)",
        "windows-1253": "Windows, Greek (1253)",
        "windows-1254": "Windows, Turkish (1254)",
        "latin-1": "Latin-1 (ISO 8859-1)",
        "cp850": "DOS, Western Europe (850)",
        "mac-roman": "Mac, Western Europe",
        "utf-16": "UTF-16",
    },
}
_OF_TEXT, _OF_PACKAGES = ("delimiter", "decimal", "encoding"), ("encoding",)
_OF_FORMAT = {"csv": _OF_TEXT, "tsv": _OF_TEXT, "xlsx": ("sheet",)}
_OF_FORMAT |= dict.fromkeys(("sav", "dta", "sas7bdat", "xpt"), _OF_PACKAGES)


def readings_of(path: Path, sheets: Sequence[str]) -> dict[str, tuple[str, dict[str, str]]]:
    """What can be chosen for this file; nothing where there is no choice."""
    names = () if path.is_dir() else _OF_FORMAT.get(kind_of(path) or format_of(path) or "", ())
    found = {name: (OPTIONS[name].about.label, READINGS[name]) for name in names}
    if "sheet" in found:
        label, _ = found["sheet"]
        return {"sheet": (label, {sheet: sheet for sheet in sheets})} if len(sheets) > 1 else {}
    return found


def reading_from(fields: Fields) -> dict[str, str]:
    """What was chosen, in a form or an address."""
    given = {name: next(iter(fields.all(name)), "") for name in READINGS}  # a sheet's name may end with a space
    return {name: value for name, value in given.items() if value}


def opened(path: Path, reading: Reading) -> Path | TableFile:
    """The file, and how to read it if that was chosen."""
    given: dict[str, Any] = dict(reading)
    return TableFile(path, **given) if given else path


def opened_in_python(source: str, reading: Reading) -> str:
    """For Python."""
    named = "".join(f", {name}={value!r}" for name, value in reading.items())
    return f"TableFile({source!r}{named})" if reading else repr(source)
