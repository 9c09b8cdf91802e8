"""The values that options take: parsed from text, checked, and written as text again.

Every `check` returns the value as the library uses it, or raises a ValueError that says what it must be.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

LARGEST = 1e9
# A name whose bytes are no UTF-8 has surrogates in it; Arrow opens no such file.
NO_NAME = re.compile("[\0\ud800-\udfff]")


def short(given: object) -> str:
    """As much of it as an error quotes."""
    text = str(given)
    return text if len(text) <= 40 else text[:40] + "…"


@dataclass(frozen=True, kw_only=True)
class Value:
    """Any text, or any object that a program hands over."""

    metavar: str = "<text>"
    repeated: bool = False  # on a command line, once per entry

    def parse(self, text: str) -> Any:
        """The value that a text stands for."""
        return self.check(text)

    def parse_all(self, texts: Sequence[str]) -> Any:
        """The value that the texts of a command line stand for together."""
        if len(texts) > 1:
            raise ValueError("is given twice; give it once")
        return self.parse(texts[0])

    def check(self, value: Any) -> Any:
        """The value in its usual form."""
        return value

    def write(self, value: Any) -> list[str]:
        """The texts that stand for the value, one unless the option is repeated."""
        return [f"{value:g}" if isinstance(value, float) else str(value)]


@dataclass(frozen=True)
class Text(Value):
    """A word or a sentence."""

    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be text")
        return value


@dataclass(frozen=True)
class Texts(Value):
    """Several texts, repeated."""

    _: KW_ONLY
    repeated: bool = True

    def parse_all(self, texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(texts)

    def check(self, value: Any) -> tuple[str, ...]:
        texts = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (None,)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("must be a list of texts")
        return texts

    def write(self, value: Iterable[str]) -> list[str]:
        return list(value)


@dataclass(frozen=True)
class Switch(Value):
    """On or off."""

    def check(self, value: Any) -> bool:
        if value not in (True, False):
            raise ValueError("must be True or False")
        return bool(value)


@dataclass(frozen=True)
class Whole(Value):
    """A whole number of at least so much."""

    least: int = 1
    _: KW_ONLY
    metavar: str = "<number>"

    def parse(self, text: str) -> int:
        try:
            return self.check(int(text))
        except ValueError:  # no number, or more digits than Python reads
            raise ValueError(self._bound) from None

    def check(self, value: Any) -> int:
        whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())  # 5 in R is 5.0
        if not whole or isinstance(value, bool) or value < self.least:
            raise ValueError(self._bound)
        return int(value)

    @property
    def _bound(self) -> str:
        return f"must be a whole number of at least {self.least}"


@dataclass(frozen=True)
class Number(Value):
    """A number above a bound; `bound` says it where that is not all."""

    above: float = 0.0
    most: float = LARGEST
    unit: str = "number"
    bound: str = ""
    _: KW_ONLY
    metavar: str = "<number>"

    def parse(self, text: str) -> float:
        try:
            number = int(text) if text.strip().lstrip("+-").isdigit() else float(text)
        except ValueError:
            raise ValueError(self._bound) from None
        return self.check(number)

    def check(self, value: Any) -> float:
        if not isinstance(value, Real) or isinstance(value, bool) or not self.above < float(value) <= self.most:
            raise ValueError(self._bound)
        return int(value) if isinstance(value, Integral) else float(value)

    @property
    def _bound(self) -> str:
        if self.bound:
            return self.bound
        most = f" and at most {self.most:g}" if self.most < LARGEST else ""
        return f"must be a {self.unit} above {self.above:g}{most}"


@dataclass(frozen=True)
class NumberByColumn(Number):
    """A number for all columns, or COLUMN=NUMBER for each."""

    _: KW_ONLY
    metavar: str = "<[column=]number>"

    def parse(self, text: str) -> Any:
        return self._by_column.parse(text) if "=" in text else super().parse(text)

    def check(self, value: Any) -> Any:
        return self._by_column.check(value) if isinstance(value, Mapping) else super().check(value)

    def write(self, value: Any) -> list[str]:
        return self._by_column.write(value) if isinstance(value, Mapping) else super().write(value)

    @property
    def _by_column(self) -> Pairs:
        return Pairs(Number(self.above, self.most), example="COLUMN=NUMBER, age=5")


@dataclass(frozen=True)
class OneOf(Value):
    """One of a few names; with `objects`, also an object that stands for itself."""

    names: tuple[str, ...] = ()
    objects: bool = False
    _: KW_ONLY
    metavar: str = "<name>"

    def check(self, value: Any) -> Any:
        if self.objects and not isinstance(value, str):
            return value
        if value not in self.names:
            raise ValueError(f"is not known; use one of {', '.join(self.names)}")
        return value


@dataclass(frozen=True)
class Column(Value):
    """The name of a column."""

    _: KW_ONLY
    metavar: str = "<column>"

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ValueError("names no column; give the name of one, or leave it out")
        return value


@dataclass(frozen=True)
class File(Value):
    """A path. An empty one, as an unset shell variable gives, would be the current folder."""

    _: KW_ONLY
    metavar: str = "<path>"

    def parse(self, text: str) -> Path | str:
        self.check(text)
        return Path(text) if "://" not in text else text  # an address; a path would lose a slash

    def check(self, value: Any) -> Any:
        if isinstance(value, str) and (not value.strip() or NO_NAME.search(value)):
            raise ValueError("is no path; give the name of a file or folder")
        return value

    def write(self, value: Any) -> list[str]:
        return [_name_of(value)]


@dataclass(frozen=True)
class Columns(Value):
    """Names of columns, between commas; as a JSON list where a name has a comma in it."""

    _: KW_ONLY
    metavar: str = "<columns>"

    def parse(self, text: str) -> tuple[str, ...]:
        if text.startswith('["'):
            with suppress(ValueError):
                return self.check(json.loads(text))
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        if not names:
            raise ValueError("names no column; name at least one, or leave the option out")
        return names

    def check(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return (value,)
        names = tuple(value) if isinstance(value, Iterable) else (None,)
        if not all(isinstance(name, str) for name in names):
            raise ValueError("must be a list of columns, such as ['age']")
        return names

    def write(self, value: Iterable[str]) -> list[str]:
        names = list(value)
        try:
            return [",".join(_listed(names))]
        except ValueError:
            return [json.dumps(names)]


@dataclass(frozen=True)
class Pairs(Value):
    """COLUMN=VALUE: between commas, or repeated. A column's name may have an = in it, a value has none."""

    of: Value = Text()
    example: str = ""
    otherwise: Any = None  # the value of a column that is named alone; None: there is none
    _: KW_ONLY
    metavar: str = "<column=…>"

    def parse(self, text: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in [text] if self.repeated else text.split(","):
            column, _, word = (part.strip() for part in one.rpartition("="))
            if not column and word and self.otherwise is not None and "=" not in one:
                column, word = word, self.otherwise
            if not column or not word:
                raise ValueError(f"must name a column and give it a value; write {self.example}")
            if column in found:
                raise ValueError(f"names {short(column)!r} twice; give each column once")
            try:
                found[column] = self.of.parse(word)
            except ValueError as problem:
                raise ValueError(f"{short(word)!r} {problem}; write {self.example}") from None
        return found

    def parse_all(self, texts: Sequence[str]) -> dict[str, Any]:
        return _together([self.parse(text) for text in texts]) if self.repeated else super().parse_all(texts)

    def check(self, value: Any) -> dict[str, Any]:
        if self.otherwise is not None and not isinstance(value, Mapping):
            return dict.fromkeys(Columns().check(value), self.otherwise)
        if not isinstance(value, Mapping):
            raise ValueError(f"must be a dict of columns, such as {self.parse(self.example.split()[-1])}")
        found = {}
        for column, one in value.items():
            try:
                found[str(column)] = self.of.check(one)
            except ValueError as problem:
                raise ValueError(f"{short(column)}={one!r} {problem}") from None
        return found

    def write(self, value: Mapping[str, Any]) -> list[str]:
        pairs = [
            column if one == self.otherwise and "=" not in column else f"{column}={self.of.write(one)[0]}"
            for column, one in value.items()
        ]
        return pairs if self.repeated else [",".join(_listed(pairs))]


@dataclass(frozen=True)
class Codes(Value):
    """COLUMN=CODE, and more codes of the column after commas: bmi=998,999,age=-9. Numbers or words."""

    _: KW_ONLY
    metavar: str = "<column=code,…>"

    def parse(self, text: str) -> dict[str, tuple[Any, ...]]:
        codes: dict[str, list[Any]] = {}
        column = ""
        for piece in text.split(","):
            named, equals, code = (part.strip() for part in piece.rpartition("="))
            column = named if equals else column
            if not column or not code:
                raise ValueError("must name a column and its code; write bmi=999,age=-9")
            codes.setdefault(column, []).append(_code(code))
        return self.check(codes)

    def check(self, value: Any) -> dict[str, tuple[Any, ...]]:
        if not isinstance(value, Mapping):
            raise ValueError("must be a dict of columns and codes, such as {'bmi': [999]}")
        codes = {}
        for column, of_column in value.items():
            listed = (of_column,) if isinstance(of_column, str | Real) else tuple(of_column)
            if not all(isinstance(code, str | Real) for code in listed):
                raise ValueError(f"{short(column)}: a code must be a number or text")
            codes[str(column)] = listed
        return codes

    def write(self, value: Mapping[str, Any]) -> list[str]:
        return [",".join(f"{column}={','.join(map(str, codes))}" for column, codes in value.items())]


def _code(text: str) -> Any:
    """A number where it is one."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and "." not in text and "e" not in text.lower() else number


@dataclass(frozen=True)
class Orders(Value):
    """COLUMN=LOW<…<HIGH, repeated: the labels of a column from the lowest to the highest."""

    _: KW_ONLY
    repeated: bool = True
    metavar: str = "<column=low<…<high>"

    def parse(self, text: str) -> dict[str, tuple[str, ...]]:
        column, _, labels = text.partition("=")
        if not column.strip() or "<" not in labels:
            raise ValueError("must be a column and its labels; write risk='low<medium<high'")
        return {column.strip(): tuple(label.strip() for label in labels.split("<"))}

    def parse_all(self, texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return _together([self.parse(text) for text in texts])

    def write(self, value: Mapping[str, Iterable[str]]) -> list[str]:
        return [f"{column}={'<'.join(labels)}" for column, labels in value.items()]


@dataclass(frozen=True)
class Files(Value):
    """FILE for all columns (several: the first that has a value), or COLUMN=FILE; a program may give what it read."""

    WORDS: ClassVar = ("wordnet",)  # that are no files

    _: KW_ONLY
    repeated: bool = True
    metavar: str = "<[column=]file>"

    def parse(self, text: str) -> Any:
        column, equals, name = (part.strip() for part in text.partition("="))
        return {column: name} if equals and column and not Path(text).exists() else text

    def parse_all(self, texts: Sequence[str]) -> Any:
        files = [self.parse(text) for text in texts]
        if all(isinstance(file, dict) for file in files):
            return _together(files)
        if any(isinstance(file, dict) for file in files):
            raise ValueError("FILE is for all columns, COLUMN=FILE for one; give one or the other")
        return files if len(files) > 1 else files[0]

    def write(self, value: Any) -> list[str]:
        if isinstance(value, Mapping):
            return [f"{column}={_name_of(file)}" for column, file in value.items()]
        return [_name_of(file) for file in (value if isinstance(value, list | tuple) else [value])]


def _name_of(file: Any) -> str:
    """The path; what a program handed over has none."""
    return os.fspath(file) if isinstance(file, str | os.PathLike) else "FILE"


def _listed(names: Iterable[str]) -> list[str]:
    """Names that stand between commas on a command line."""
    found = list(names)
    for name in found:
        if "," in name or name != name.strip() or not name.isprintable():
            raise ValueError(f"{short(name)!r} fits no list between commas")
    return found


def _together(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of all of them."""
    merged: dict[str, Any] = {}
    for column, value in (pair for table in tables for pair in table.items()):
        if column in merged:
            raise ValueError(f"names {short(column)!r} twice; give each column once")
        merged[column] = value
    return merged
