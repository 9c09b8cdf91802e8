"""What was protected, as it is given again to be compared: one table or collection, or parts that together are one.

Rows of parts go by the names that the private mapping has: the file's name and, after a colon, the row or the id.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.data.columns import holds_numbers
from shoal.data.corpus import Corpus
from shoal.data.files import PathLike, counted, kind_of, shown
from shoal.data.sources import in_parts, list_parts, local_copy
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.release.private_mapping import PrivateMapping
from shoal.terms.vector_space import VectorSpace


@dataclass(frozen=True)
class Original:
    """A table, and how many rows of it came from each file, by the file's name; none of a table in memory."""

    data: pa.Table
    parts: tuple[tuple[str, int], ...]

    def original_rows(self, names: pa.ChunkedArray) -> NDArray[np.int64]:
        """The rows (from 0) of these names, each a file and a row of it (from 1)."""
        if not self.parts:
            raise InputError("the release came in parts, and this is a table in memory; give the files: 'people/*.csv'")
        read = pc.extract_regex(names.cast(pa.large_string()), r"(?s)^(?P<file>.*):(?P<row>[0-9]{1,15})$")
        read = read.combine_chunks()
        files = [name for name, _ in self.parts]
        file = pc.index_in(read.field("file"), value_set=pa.array(files, pa.large_string()))
        if read.null_count or file.null_count:
            unknown = set(read.field("file").unique().to_pylist()) - {*files}
            raise InputError(
                f"the release was made of {counted(len(unknown), 'file')} that the original lacks; "
                f"give all parts that were protected, here are {len(files)}"
            )
        n_rows = np.array([rows for _, rows in self.parts], dtype=np.int64)
        number, row = np.asarray(file), np.asarray(read.field("row").cast(pa.int64()))
        beyond = int(np.sum((row < 1) | (row > n_rows[number])))
        if beyond:
            raise InputError(
                f"{counted(beyond, 'row')} of the release beyond the end of the original's parts; "
                "give the parts that were protected"
            )
        return np.asarray((np.cumsum(n_rows) - n_rows)[number] + row - 1)


def read_original(source: Any, verbatim: Iterable[str] = (), parts: bool = False) -> Original:
    """A table from a file, a dataframe, or the files that a pattern stands for, in the order of their names.

    `parts`: it is known to be in parts, so that a folder stands for its files.
    """
    if not isinstance(source, str | os.PathLike):
        return Original(read_table(source).data, ())
    if not (in_parts(source) or (parts and os.path.isdir(source))):
        data = read_table(source, verbatim).data
        return Original(data, ((Path(source).name, data.num_rows),))
    files = part_files(source)
    tables = [_read_part(file, verbatim) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise InputError(
                f"{shown(file)} has other columns than {shown(files[0])}; give all parts the same in the same order"
            )
    mixed = [name for name in tables[0].column_names if _disagree([table[name].type for table in tables])]
    if mixed:  # what is text in one file is text: 007 must not become 7 in another
        tables = [
            _read_part(file, [*verbatim, *mixed]) if kind_of(file) in ("csv", "tsv") else table
            for file, table in zip(files, tables, strict=True)
        ]
    rows = tuple((Path(file).name, table.num_rows) for file, table in zip(files, tables, strict=True))
    return Original(_together(tables), rows)


def part_files(source: PathLike) -> list[Any]:
    """The files of a folder or a pattern; a file stands for itself. No two may have the same name."""
    files = [source] if os.path.isfile(source) else list_parts(source)
    twice = [name for name, count in Counter(Path(file).name for file in files).items() if count > 1]
    if twice:
        raise InputError(
            f"{shown(source)} has several files called {shown(twice[0])}, so their rows would share names; rename them"
        )
    return files


def vectors_in_order(
    source: Any, columns: dict[str, str | None], mapping: PrivateMapping, space: VectorSpace
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """The originals of released records, in their order, as vectors and as counts; `space` is fitted to them all."""
    names: list[str] = []
    with warnings.catch_warnings():
        # What is remarkable in the originals was said when they were protected.
        warnings.simplefilter("ignore", UserWarning)
        originals = named_contents(source, columns, mapping.in_parts)
        counted_texts = space.count(_heard(originals, names))
        vectors = space.fit_counted(counted_texts)
    row_of = {name: row for row, name in enumerate(names)}
    ids = mapping.names.to_pylist()
    unknown = sum(name not in row_of for name in ids)
    if unknown:
        raise InputError(
            f"{counted(unknown, 'document')} of the release not among the originals; give the collection that was "
            "protected, and its {option}",
            "id_column",
        )
    in_order = [row_of[name] for name in ids]
    return sp.csr_matrix(vectors[in_order]), space.count_rows(counted_texts)[in_order]


def _heard(originals: Iterable[tuple[str, Any]], names: list[str]) -> Iterator[Any]:
    """The contents; the name of each is added to `names`."""
    for name, content in originals:
        names.append(name)
        yield content


def named_contents(source: Any, columns: dict[str, str | None], parts: bool) -> Iterator[tuple[str, Any]]:
    """Texts or baskets one by one, each with its name in the private mapping."""
    if not parts:
        if isinstance(source, str | os.PathLike) and in_parts(source):
            raise InputError(f"the release was made from one collection, not from {shown(source)}; give the collection")
        for document in source if isinstance(source, Corpus) else Corpus(source, **columns):
            yield document.id, document.content
        return
    if not isinstance(source, str | os.PathLike):
        raise InputError("the release came in parts, and this is not a path; give the files: 'letters/*.jsonl'")
    for file in part_files(source):
        with local_copy(file) as path:
            for document in Corpus(path, **columns):
                yield f"{Path(file).name}:{document.id}", document.content


def _read_part(file: PathLike, verbatim: Iterable[str]) -> pa.Table:
    with local_copy(file) as path:
        return read_table(path, verbatim).data


def _disagree(types: Sequence[pa.DataType]) -> bool:
    """Whether a column is numbers in some parts and something else in others."""
    known = {holds_numbers(kind) for kind in types if not pa.types.is_null(kind)}
    return len(known) > 1


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """One table of all parts; a column whose types do not go together is text."""
    columns = {}
    for name in tables[0].column_names:
        same = [table.select([name]) for table in tables]
        try:
            columns[name] = pa.concat_tables(same, promote_options="permissive")[name]
        except pa.ArrowException:
            columns[name] = pa.chunked_array([chunk for part in same for chunk in _texts(part[name]).chunks])
    return pa.table(columns)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException:  # lists and the like
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.large_string())])
