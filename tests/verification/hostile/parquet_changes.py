"""Parquet files in which something rides along."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.verification.hostile.cases import BYTES, Change, Hostile, rewrite
from tests.verification.hostile.surgery import BINARY, I32, I64, LIST, STRUCT, TRUE, Page, Parquet, parsed

VECTORS, TABLE = "vectors.parquet", "table.parquet"
NOTE = b"Ann has the flu."


def operated(change: Callable[[Parquet], Any], name: str = VECTORS) -> Change:
    def operate(release: Path) -> None:
        file = parsed(release / name)
        change(file)
        file.write(release / name)

    return operate


def rewritten(
    name: str = VECTORS, schema: Callable[[pa.Schema], pa.Schema] = lambda old: old, **options: Any
) -> Change:
    """The same rows written by Arrow with other options, or another schema."""

    def write(release: Path) -> None:
        table = pq.read_table(release / name)
        fields = {"terms": pa.list_(pa.string()), "counts": pa.list_(pa.int64()), "weights": pa.list_(pa.float64())}
        plain = pa.schema([(field.name, fields.get(field.name, field.type)) for field in table.schema])
        asked = {"compression": "zstd"} | options
        pq.write_table(table.cast(schema(plain)), release / name, **asked)

    return write


def noted_in_a_list(schema: pa.Schema) -> pa.Schema:
    return schema.set(0, pa.field("terms", pa.list_(pa.field("item", pa.string(), metadata={"who": NOTE}))))


def noted_on_a_column(schema: pa.Schema) -> pa.Schema:
    return schema.set(2, schema.field(2).with_metadata({"who": NOTE}))


def first_data(file: Parquet, column: int = 0) -> Page:
    return next(page for page in file.chunks[column] if not page.is_dictionary)


def unused_term(file: Parquet) -> None:
    page = file.chunks[0][0]
    page.body += struct.pack("<I", len(NOTE)) + NOTE
    page.header[7][1][1] = (I32, page.header[7][1][1][1] + 1)


def twice_in_the_dictionary(file: Parquet) -> None:
    page = file.chunks[0][0]
    size = struct.unpack_from("<I", page.body)[0]
    page.body += page.body[: 4 + size]
    page.header[7][1][1] = (I32, page.header[7][1][1][1] + 1)


def more_after_the_values(file: Parquet) -> None:
    first_data(file, 1).body += NOTE


def frame_that_is_skipped(file: Parquet) -> None:
    first_data(file).packed_more = b"\x50\x2a\x4d\x18" + struct.pack("<I", len(NOTE)) + NOTE


def one_page_more(file: Parquet) -> None:
    file.chunks[2].append(file.chunks[2][-1])


def lying_statistics(file: Parquet) -> None:
    statistics = file.column(0)[12][1]
    for number in (1, 2, 5, 6):
        if number in statistics:
            statistics[number] = (BINARY, NOTE)


def note_in_the_footer(file: Parquet) -> None:
    file.footer[5][1].append((STRUCT, {1: (BINARY, b"who"), 2: (BINARY, NOTE)}))


def note_on_a_chunk(file: Parquet) -> None:
    file.column(0)[8] = (LIST, [(STRUCT, {1: (BINARY, b"who"), 2: (BINARY, NOTE)})])


def put(change: Callable[[Parquet], dict[int, Any]], number: int, value: tuple[int, Any]) -> Callable[[Parquet], None]:
    return lambda file: change(file).update({number: value})


def sealed_schema(release: Path) -> None:
    """The schema that Arrow keeps, with bytes more that it does not read."""
    file = parsed(release / VECTORS)
    note = file.footer[5][1][0][1]
    note[2] = (BINARY, base64.b64encode(base64.b64decode(note[2][1]) + NOTE + b"...."))
    file.write(release / VECTORS)


def long_number(release: Path) -> None:
    """A number of the footer written with a byte more than it needs."""
    data = (release / VECTORS).read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    assert footer[:1] == b"\x15"
    footer = footer[:1] + bytes([footer[1] | 0x80, 0]) + footer[2:]
    (release / VECTORS).write_bytes(data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


PARQUET_CHANGES = [
    Hostile("bytes before the footer", "documents", operated(lambda file: setattr(file, "before_footer", NOTE)), BYTES),
    Hostile("bytes between columns", "documents", operated(lambda file: file.after_chunk.update({0: NOTE})), BYTES),
    Hostile("bytes after the last column", "table.parquet", operated(lambda file: file.after_chunk.update({3: NOTE}), TABLE), BYTES),
    Hostile("a file after the file", "documents", rewrite(VECTORS, lambda data: data + NOTE), BYTES),
    Hostile("a term that no row has in the dictionary", "documents", operated(unused_term), "schema", "not listed"),
    Hostile("a term twice in the dictionary", "documents", operated(twice_in_the_dictionary), BYTES),
    Hostile("bytes after the weights of a page", "documents", operated(more_after_the_values), BYTES),
    Hostile("a frame that unpacking skips", "documents", operated(frame_that_is_skipped), BYTES),
    Hostile("bytes after a frame", "documents", operated(lambda file: setattr(first_data(file), "packed_more", b"\0")), BYTES),
    Hostile("a page more than the column has", "documents", operated(one_page_more), BYTES),
    Hostile("statistics that tell something else", "documents", operated(lying_statistics), BYTES),
    Hostile("a note in the footer", "documents", operated(note_in_the_footer), BYTES),
    Hostile("a note on a column chunk", "documents", operated(note_on_a_chunk), BYTES),
    Hostile("a field that Parquet does not know", "documents", operated(put(lambda file: file.footer, 14, (BINARY, NOTE))), BYTES),
    Hostile("a page with a field more", "documents", operated(put(lambda file: first_data(file).header, 14, (BINARY, NOTE))), BYTES),
    Hostile("a checksum on a page", "documents", operated(put(lambda file: first_data(file).header, 4, (I32, 1_234_567))), BYTES),
    Hostile("a data page's header with a field more", "documents", operated(put(lambda file: first_data(file).header[5][1], 9, (BINARY, NOTE))), BYTES),
    Hostile("a dictionary that says it is sorted", "documents", operated(put(lambda file: file.chunks[0][0].header[7][1], 3, (TRUE, True))), BYTES),
    Hostile("a schema element with a field more", "documents", operated(put(lambda file: file.footer[2][1][1][1], 9, (I32, 77))), BYTES),
    Hostile("a column in another file", "documents", operated(put(lambda file: file.row_group[1][1][0][1], 1, (BINARY, NOTE))), BYTES),
    Hostile("a place where no column is", "documents", operated(put(lambda file: file.row_group[1][1][0][1], 2, (I64, 77))), BYTES),
    Hostile("a row group that counts itself the seventh", "documents", operated(put(lambda file: file.row_group, 7, (4, 7))), BYTES),
    Hostile("a schema for Arrow with bytes more", "documents", sealed_schema, BYTES),
    Hostile("a number written the long way", "documents", long_number, BYTES),
    Hostile("another name of the writing program", "documents", rewrite(VECTORS, lambda data: data.replace(b"parquet-cpp-arrow", b"Ann-has-the-flu..")), BYTES),
    Hostile("a name instead of a version", "documents", rewrite(VECTORS, lambda data: data.replace(pa.cpp_version.encode(), b"ann.pike"[: len(pa.cpp_version)])), BYTES),
    Hostile("notes on the file", "documents", rewritten(schema=lambda schema: schema.with_metadata({"who": NOTE})), BYTES),
    Hostile("notes on a column", "documents", rewritten(schema=noted_on_a_column), BYTES),
    Hostile("notes inside a list", "documents", rewritten(schema=noted_in_a_list), BYTES),
    Hostile("one-row row groups", "documents", rewritten(row_group_size=1), BYTES),
    Hostile("one-row row groups of a table", "table.parquet", rewritten(TABLE, row_group_size=1), BYTES),
    Hostile("row groups as long as names", "table.parquet", rewritten(TABLE, row_group_size=5), BYTES),
    Hostile("another compression", "documents", rewritten(compression="snappy"), BYTES),
    Hostile("no compression", "table.parquet", rewritten(TABLE, compression="none"), BYTES),
    Hostile("page indexes", "documents", rewritten(write_page_index=True), BYTES),
    Hostile("page checksums", "documents", rewritten(write_page_checksum=True), BYTES),
    Hostile("pages of version 2", "documents", rewritten(data_page_version="2.0"), BYTES),
    Hostile("no dictionaries", "documents", rewritten(use_dictionary=False), BYTES),
    Hostile("no statistics", "documents", rewritten(write_statistics=False), BYTES),
    Hostile("another encoding", "table.parquet", rewritten(TABLE, use_dictionary=False, column_encoding={"age": "BYTE_STREAM_SPLIT"}), BYTES),
    Hostile("texts by their differences", "table.parquet", rewritten(TABLE, use_dictionary=False, column_encoding={"town": "DELTA_BYTE_ARRAY"}), BYTES),
    Hostile("a part with a note", "documents in parts", operated(note_in_the_footer, "vectors/part-00001.parquet"), BYTES),
    Hostile("a part of a table with bytes more", "table in parts", operated(lambda file: setattr(file, "before_footer", NOTE), "table/part-00001.parquet"), BYTES),
]  # fmt: skip
