"""Whether the copy of a table is what its rows make it: written anew, it must be the same to the last byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError, MissingExtra
from shoal.results.claims import Claim
from shoal.results.dictionary import ColumnDictionary, Dialect
from shoal.verification.copies.writing import copied, writer_of
from shoal.verification.forms.refused import Refused

__all__ = ["copy_claims", "dictionary_of"]


def copy_claims(release: Path, rows: pa.Table, copy: dict[str, Any]) -> Iterator[Claim]:
    """One claim; what cannot be compared here is no result but an error, for it may hold or not."""
    name = copy["file"]
    dictionary, dialect = dictionary_of(copy), None if copy["dialect"] is None else Dialect(**copy["dialect"])
    _check_dictionary(rows, dictionary, name)
    if writer_of(name) != copy["writer"] and not _is_text(name):
        raise InputError(
            f"{name} was written by {copy['writer']} and can be compared only by that version; install it, "
            f"or check the release without this file's reader: here is {writer_of(name)}"
        )
    try:
        same = copied(rows, name, dictionary, dialect) == (release / name).read_bytes()
    except MissingExtra:
        raise
    except (InputError, LookupError, ValueError, OSError):
        same = False
    yield Claim(
        "same data",
        same,
        "holds the rows and nothing else: written anew, it is the same" if same else "does not hold the same rows",
        name,
    )


def dictionary_of(copy: dict[str, Any]) -> dict[str, ColumnDictionary]:
    """Labels and missing codes, as the certificate has them."""
    return {
        one["name"]: ColumnDictionary(
            label=one["label"],
            values=tuple((value["code"], value["label"]) for value in one["values"]),
            missing=tuple((span["first"], span["last"]) for span in one["missing"]),
            letters=one["letters"],
            category=one["category"],
            measure=one["measure"],
        )
        for one in copy["columns"]
    }


def _check_dictionary(rows: pa.Table, dictionary: dict[str, ColumnDictionary], name: str) -> None:
    """A dictionary has values that are in the rows and no others: those would be of somebody who is not shown."""
    for column, about in dictionary.items():
        if column not in rows.column_names:
            raise Refused("same data", "labels are stated of a column that is not there", name)
        present = {cell for cell in rows[column].unique().to_pylist() if cell is not None}
        codes, labels = ([pair[place] for pair in about.values] for place in (0, 1))
        if about.category:
            fits = len(set(codes)) == len(codes) == len(labels) and set(labels) == present
        else:
            spelt = {float(cell) if about.letters and not cell.startswith(".") else cell for cell in present}
            fits = all((f".{code}" if about.letters and isinstance(code, str) else code) in spelt for code in codes)
        if not fits:
            raise Refused("same data", "labels are stated of values that no row has", name)


def _is_text(name: str) -> bool:
    return name.endswith((".csv", ".tsv"))
