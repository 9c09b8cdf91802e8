"""Rows that are not equal although they look it, and values that are not different although they look it."""

from __future__ import annotations

import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.release.releases import write_documents
from tests.verification.hostile.cases import Change, Hostile, edit, table_of

ROWS = 6


def protected(values: pa.Array) -> Change:
    """A table whose only protected column has these values, sorted."""
    return lambda release: table_of({"age": values.take(pa.compute.sort_indices(values))}, {"age": "quasi"}, release)


def confidential(*values: Any) -> Change:
    """A table of one group, whose confidential column has these values and tells but one thing."""

    def change(release: Path) -> None:
        table = pa.table({"age": [30.0] * len(values), "illness": pa.array(values)}).sort_by("illness")
        table_of(
            {"age": table["age"], "illness": table["illness"]}, {"age": "quasi", "illness": "confidential"}, release
        )

    return change


def nans() -> pa.Array:
    """Values that are no numbers, each another one."""
    bits = [0x7FF8000000000000 + row for row in range(ROWS)]
    return pa.array(np.array([struct.unpack("<d", struct.pack("<Q", one))[0] for one in bits]))


def documents(change: Any) -> Change:
    def write(release: Path) -> None:
        rows = pq.read_table(release / "vectors.parquet").to_pylist()
        write_documents(change(rows), release / "vectors.parquet")

    return write


def swapped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The terms of every row in reverse, their counts and weights with them."""
    return [row | {name: row[name][::-1] for name in ("terms", "counts", "weights")} for row in rows]


def repeated(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first term of every row twice."""
    return [row | {name: row[name][:1] + row[name] for name in ("terms", "counts", "weights")} for row in rows]


def weight(value: float) -> Any:
    return lambda rows: [row | {"weights": [value, *row["weights"][1:]]} for row in rows]


def count(value: int) -> Any:
    """Another count of the first term, in all rows."""
    return lambda rows: [row | {"counts": [value, *row["counts"][1:]]} for row in rows]


def weights_of_means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every weight a little off, by less than a reader would see: as much as a document's own scale needs."""
    return [row | {"weights": [round(one + 1e-8, 9) for one in row["weights"]]} for row in rows]


def more_digits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A digit beyond the ninth, in which a document could have a say."""
    return [row | {"weights": [one + 3e-10 for one in row["weights"]]} for row in rows]


ZERO_WIDTH, SOFT_HYPHEN, JOINER, SELECTOR, FILLER = "\u200b", "\u00ad", "\u200d", "\ufe0f", "\u3164"
K, TYPES, L = "k-anonymity", "not a double, a whole number, a date or text", "1 value(s)"

ROW_CHANGES = [
    Hostile("times that print alike", "table.parquet", protected(pa.array(range(ROWS), pa.time64("ns"))), "schema", TYPES),
    Hostile("moments that print alike", "table.parquet", protected(pa.array(range(ROWS), pa.timestamp("ns"))), K, "shared by 1 only"),
    Hostile("spans of time", "table.parquet", protected(pa.array([3] * ROWS, pa.duration("s"))), "schema", TYPES),
    Hostile("values that are no numbers, each another", "table.parquet", protected(nans()), K, "not finite"),
    Hostile("infinite values", "table.parquet", protected(pa.array([float("inf")] * ROWS)), K, "not finite"),
    Hostile("zeros and minus zeros", "table.parquet", protected(pa.array([0.0, -0.0] * 3)), K, "minus zero"),
    Hostile("minus zeros only", "table.parquet", protected(pa.array([-0.0] * ROWS)), K, "minus zero"),
    Hostile("missing numbers", "table.parquet", protected(pa.array([None] * ROWS, pa.float64())), K, "missing"),
    Hostile("narrow whole numbers", "table.parquet", protected(pa.array([3] * ROWS, pa.int8())), "schema", TYPES),
    Hostile("narrow numbers", "table.parquet", protected(pa.array([3.0] * ROWS, pa.float32())), "schema", TYPES),
    Hostile("decimals", "table.parquet", protected(pa.array([Decimal("3.10")] * ROWS)), "schema", TYPES),
    Hostile("bytes", "table.parquet", protected(pa.array([b"three"] * ROWS)), "schema", TYPES),
    Hostile("truth values", "table.parquet", protected(pa.array([True] * ROWS)), "schema", TYPES),
    Hostile("wide texts", "table.parquet", protected(pa.array(["three"] * ROWS, pa.large_string())), "schema", TYPES),
    Hostile("texts that look alike", "table.parquet", protected(pa.array(["Wick", "Wick" + ZERO_WIDTH] * 3)), K),
    Hostile("doubles that differ in the last bit", "table.parquet", protected(pa.array([0.3] * 5 + [0.1 + 0.2])), K, "shared by 1 only"),
    Hostile("a missing text among empty ones", "table.parquet", protected(pa.array(["", None] * 3)), K),
    Hostile("a space that nobody sees", "table.parquet", confidential("flu", "flu" + ZERO_WIDTH, "flu"), "l-diversity", L),
    Hostile("a hyphen that nobody sees", "table.parquet", confidential("flu", f"f{SOFT_HYPHEN}lu", "flu"), "l-diversity", L),
    Hostile("letters joined by nothing", "table.parquet", confidential("flu", f"f{JOINER}lu", "flu"), "l-diversity", L),
    Hostile("a variation of a letter", "table.parquet", confidential("flu", f"flu{SELECTOR}", "flu"), "l-diversity", L),
    Hostile("a filler", "table.parquet", confidential("flu", f"flu{FILLER}", "flu"), "l-diversity", L),
    Hostile("a control character", "table.parquet", confidential("flu", "flu\x01", "flu"), "l-diversity", L),
    Hostile("a ligature", "table.parquet", confidential("flu", "ﬂu", "FLU"), "l-diversity", L),
    Hostile("wide letters", "table.parquet", confidential("flu", "ｆｌｕ", "flu"), "l-diversity", L),
    Hostile("an accent of its own", "table.parquet", confidential("café", "cafe\u0301", "café"), "l-diversity", L),
    Hostile("another case", "table.parquet", confidential("Straße", "STRASSE", "strasse"), "l-diversity", L),
    Hostile("space around", "table.parquet", confidential("flu", "\u00a0flu ", "flu\n"), "l-diversity", L),
    Hostile("a number with a zero more in a text", "table.parquet", confidential("1", "1.0", "+1e0"), "l-diversity", L),
    Hostile("digits of another script", "table.parquet", confidential("12", "١٢", "१२"), "l-diversity", L),
    Hostile("zero and minus zero", "table.parquet", confidential(0.0, -0.0, 0.0), "l-diversity", L),
    Hostile("no number among numbers", "table.parquet", confidential(1.0, float("nan"), 1.0), "l-diversity", L),
    Hostile("ways to say nothing", "table.parquet", confidential("flu", "N/A", "-nan", "None", " ", "flu"), "l-diversity", L),
    Hostile("terms in another order", "documents", documents(swapped), "schema", "in order"),
    Hostile("a term twice in a row", "documents", documents(repeated), "schema", "distinct"),
    Hostile("weights that are minus zero", "documents", documents(weight(-0.0)), "schema", "minus zero"),
    Hostile("weights that are no numbers", "documents", documents(weight(float("nan"))), "schema", "not finite"),
    Hostile("weights that do not follow from the counts", "documents", documents(weights_of_means), "form", "does not follow"),
    Hostile("weights with a digit too many", "documents", documents(more_digits), "form", "does not follow"),
    Hostile("counts that are not those of the weights", "documents", documents(count(7)), "form", "does not follow"),
    Hostile("a count of nothing", "documents", documents(count(0)), "schema", "whole number from 1"),
    Hostile("a form that is not known", "documents", edit("promises", "form", to="means"), "certificate", "pooled"),
    Hostile("no form", "documents", edit("promises", "form", to=None), "form", "does not say"),
    Hostile("another form", "documents", edit("promises", "form", to="pooled counts, tf"), "form", "does not follow"),
    Hostile("a row with another weight", "documents", documents(lambda rows: [rows[0] | {"weights": [1.0] * len(rows[0]["weights"])}, *rows[1:]]), K),
    Hostile("labels out of order", "documents", documents(lambda rows: [row | {"part": label} for row, label in zip(rows, ["lung", "bone", "heart"] * 3, strict=False)]), "order"),
    Hostile("a missing label", "documents", documents(lambda rows: [*rows[:-1], rows[-1] | {"part": None}]), "schema", "label is missing"),
    Hostile("rows out of order", "documents", documents(lambda rows: rows[::-1]), "order"),
    Hostile("a promise of a larger crowd", "documents", edit("promises", "anonymity", "k", to=9), K, "k=9"),
    Hostile("a promise of more values", "table.csv", edit("promises", "diversity", "l", to=4), "l-diversity", "l=4"),
    Hostile("a promise of fewer rows", "table.parquet", edit("promises", "rows", to=6), "rows", "6 are promised"),
    Hostile("a promise of fewer rows of text", "table.csv", edit("promises", "rows", to=6), "rows", "6 that are promised"),
    Hostile("another type than the file has", "table.parquet", edit("promises", "columns", 2, "type", to="binary"), "schema", "types differ"),
    Hostile("a type that no text file has", "table.csv", edit("promises", "columns", 2, "type", to="Ann Pike"), "schema", "type"),
    Hostile("a type that no document has", "documents", edit("promises", "columns", 2, "type", to="Ann Pike"), "schema", "types"),
]  # fmt: skip
