"""What a file says of its columns besides values: labels, codes, missing codes; and how a text is written."""

from __future__ import annotations

from dataclasses import dataclass

Code = float | str


@dataclass(frozen=True)
class ColumnDictionary:
    """A column of a statistics package. Where every value has a label, the column holds labels in place of codes."""

    label: str = ""  # of the column
    values: tuple[tuple[Code, str], ...] = ()  # codes and their labels
    missing: tuple[tuple[Code, Code], ...] = ()  # codes that stand for a missing value, from the first to the last
    letters: bool = False  # missing values .a to .z are among the numbers, which are text therefore
    category: bool = False  # the column holds labels, not codes
    measure: str = ""  # nominal, ordinal or scale


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def in_words(self) -> str:
        """As a note says it."""
        between = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}.get(self.delimiter, self.delimiter)
        comma = ", decimal commas" if self.decimal == "," else ""
        return f"{self.encoding}, {between} between cells{comma}"
