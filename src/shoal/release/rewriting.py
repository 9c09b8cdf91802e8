"""A release written anew: whoever passes on what was counted passes on nothing else.

What is vouched for is the content of a release. Its bytes may hold more: between the pages of a Parquet file, in the
packing of an archive, in a page for people. A release that is rewritten has what was counted, in bytes of our own.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from shoal.errors import InputError, MissingExtra
from shoal.release.documents.sketches import rows_at_once as sketches_at_once
from shoal.release.documents.vectors import ROWS_AT_ONCE as DOCUMENTS_AT_ONCE
from shoal.release.folders import CERTIFICATE, PUBLIC_FOLDER, check_free, folders_written_aside
from shoal.release.load import read_release
from shoal.release.tables.copies import copied, writer_of
from shoal.release.tables.files import ROWS_AT_ONCE as TABLE_ROWS_AT_ONCE
from shoal.release.tables.files import canonical
from shoal.release.writing import dump, sealed_certificate, without_times
from shoal.results.claims import Claim
from shoal.results.summary import Dialect
from shoal.verification.copies import dictionary_of
from shoal.verification.delimited import text_of
from shoal.verification.parquet import parquet_file
from shoal.verification.promises import Counts
from shoal.verification.release_files import ReleaseFolder
from shoal.verification.sanitized_files import repacked_pictures
from shoal.verification.signatures import SIGNATURE
from shoal.verification.tables import read_released_table
from shoal.verification.verify import pages_of


def copy_claims(release: ReleaseFolder, content: dict[str, Any]) -> Iterator[Claim]:
    """Whether the copy of a table is what its rows make it: it is written anew and compared."""
    copy = content["promises"].get("copy")
    if copy is None:
        return
    name = copy["file"]
    try:
        expected = _copied(release, content)
        same = release.size(name) == len(expected) and release.read(name, len(expected)) == expected
    except MissingExtra:
        raise
    except (InputError, LookupError, ValueError, OSError):
        same = False
    kept = "holds the rows and nothing else: written anew, it is the same"
    other = f"is not what {writer_of(name)} makes of the rows; rewriting the release makes it anew"
    yield Claim("copy", same, kept if same else other, name)


def _copied(release: ReleaseFolder, content: dict[str, Any]) -> bytes:
    copy = content["promises"]["copy"]
    dialect = None if copy["dialect"] is None else Dialect(**copy["dialect"])
    rows = canonical(read_released_table(release, content["promises"]["columns"]))
    return copied(rows, copy["file"], dictionary_of(copy), dialect)


def rewrite_release(release: ReleaseFolder, content: dict[str, Any], counts: Counts, out: Path) -> None:
    """Write what was counted of a release, and nothing else, to a new folder."""
    check_free(out, False, lambda names: False)
    promises = content["promises"]
    with folders_written_aside((out, PUBLIC_FOLDER)) as (aside,):
        pages = pages_of(content, counts)
        for name in content["files"]:
            (aside / name).parent.mkdir(exist_ok=True)
            if name in pages:
                (aside / name).write_bytes(pages[name])
            else:
                _rewrite_file(release, name, content, aside / name)
        if "copy" in promises:
            promises = promises | {"copy": promises["copy"] | {"writer": writer_of(promises["copy"]["file"])}}
        written = dump(sealed_certificate(content["kind"], promises, content["stated"], aside))
        (aside / CERTIFICATE).write_bytes(written)
        if SIGNATURE in release and written == dump(content):  # of other bytes it is no signature
            (aside / SIGNATURE).write_bytes(release.read(SIGNATURE, 1 << 20))
        without_times(aside)


def _rewrite_file(release: ReleaseFolder, name: str, content: dict[str, Any], path: Path) -> None:
    promises = content["promises"]
    if name == promises.get("copy", {}).get("file"):
        path.write_bytes(_copied(release, content))
    elif name.endswith(".parquet"):
        _rewrite_rows(release, name, _rows_at_once(content), path)
    elif name == "vectors.npz":
        _rewrite_matrix(release, path)
    elif name.endswith(".pdf"):
        path.write_bytes(repacked_pictures(release, name))
    else:
        with text_of(release, name) as file:
            text = file.read()
        path.write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)


def _rewrite_matrix(release: ReleaseFolder, path: Path) -> None:
    vectors: Any = read_release(release).vectors
    index = np.int32 if max(vectors.nnz, *vectors.shape) < 2**31 else np.int64
    arrays = vectors.data, vectors.indices.astype(index), vectors.indptr.astype(index)
    sp.save_npz(path, sp.csr_array(arrays, shape=vectors.shape))


def _rows_at_once(content: dict[str, Any]) -> int:
    """Rows of a row group, as releases of this kind have them."""
    if content["kind"] == "sketches":
        return sketches_at_once(content["promises"]["lengths"]["longest"])
    return DOCUMENTS_AT_ONCE if content["kind"] == "documents" else TABLE_ROWS_AT_ONCE


def _rewrite_rows(release: ReleaseFolder, name: str, rows_at_once: int, path: Path) -> None:
    file = parquet_file(release, name)
    schema = pa.schema([(field.name, _plain_type(field.type)) for field in file.schema_arrow])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for rows in _regrouped(file, rows_at_once):
            plain = canonical(rows.replace_schema_metadata(None)).combine_chunks()
            writer.write_table(plain.cast(schema), row_group_size=rows_at_once)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """A type as a release is written with it: the elements of a list have no name of their own."""
    return pa.list_(kind.value_type) if pa.types.is_list(kind) else kind


def _regrouped(file: pq.ParquetFile, rows_at_once: int) -> Iterator[pa.Table]:
    """The rows of a file, `rows_at_once` at a time, whatever row groups it has."""
    waiting: list[pa.Table] = []
    for number in range(file.num_row_groups):
        waiting.append(file.read_row_group(number))
        while sum(table.num_rows for table in waiting) >= rows_at_once:
            rows = pa.concat_tables(waiting)
            yield rows.slice(0, rows_at_once)
            waiting = [rows.slice(rows_at_once)]
    if any(table.num_rows for table in waiting):
        yield pa.concat_tables(waiting)
