"""The copy of a table in the format that came in, written from the rows and their dictionary alone."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather

from shoal.errors import InputError, MissingExtra
from shoal.results.summary import ColumnDictionary, Dialect

LIBRARIES = {".sav": "pyreadstat", ".dta": "pyreadstat", ".xpt": "pyreadstat", ".xlsx": "XlsxWriter"}
LIBRARIES |= {".csv": "pyarrow", ".tsv": "pyarrow", ".feather": "pyarrow"}
MOST_ROWS_OF_A_SHEET = 1_048_575
Dictionary = dict[str, ColumnDictionary]


def writer_of(name: str) -> str:
    """The library that writes such a file, and its version: another version may write other bytes."""
    library = LIBRARIES[Path(name).suffix]
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        raise MissingExtra("formats", f"writing {name}") from None


def copied(rows: pa.Table, name: str, dictionary: Dictionary, dialect: Dialect | None) -> bytes:
    """The bytes of the copy."""
    suffix = Path(name).suffix
    try:
        if suffix == ".feather":
            return _feather(rows)
        if suffix in (".csv", ".tsv"):
            return _text(rows, dialect or Dialect())
        if suffix == ".xlsx":
            return _sheet(rows)
        return _statistical(rows, suffix, dictionary)
    except ImportError as problem:
        raise problem if isinstance(problem, MissingExtra) else MissingExtra("formats", f"writing {name}") from None


def _feather(rows: pa.Table) -> bytes:
    stream = io.BytesIO()
    pyarrow.feather.write_feather(rows.combine_chunks(), stream, compression="zstd")
    return stream.getvalue()


def _text(rows: pa.Table, dialect: Dialect) -> bytes:
    for place, field in enumerate(rows.schema):
        column = rows[field.name]
        if pa.types.is_floating(field.type):  # as Arrow spells numbers, with the decimal sign of the dialect
            spelt = pc.replace_substring(column.cast(pa.string()), ".", dialect.decimal)
            rows = rows.set_column(place, field.name, spelt)
        elif not pa.types.is_string(field.type):
            rows = rows.set_column(place, field.name, column.cast(pa.string()))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=dialect.delimiter, lineterminator="\n")
    writer.writerow(rows.column_names)
    for batch in rows.to_batches():
        writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    text = stream.getvalue()
    try:
        encoded = text.encode("utf-16-le" if dialect.encoding == "utf-16" else dialect.encoding)
    except UnicodeError:
        raise InputError(f"the release has letters that {dialect.encoding} lacks; save the input as UTF-8") from None
    return codecs.BOM_UTF16_LE + encoded if dialect.encoding == "utf-16" else encoded


def _sheet(rows: pa.Table) -> bytes:
    """One sheet; text is written as text, so that nothing in it runs."""
    import datetime

    import xlsxwriter

    if rows.num_rows > MOST_ROWS_OF_A_SHEET:
        raise InputError(
            f"a sheet has room for {MOST_ROWS_OF_A_SHEET:,} rows, got {rows.num_rows:,}; give CSV or Parquet"
        )
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"created": datetime.datetime(1980, 1, 1)})
    sheet = book.add_worksheet("table")
    forms = {"date": book.add_format({"num_format": "yyyy-mm-dd"})}
    forms["moment"] = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    forms["time"] = book.add_format({"num_format": "hh:mm:ss"})
    for place, (name, column) in enumerate(zip(rows.column_names, rows.columns, strict=True)):
        sheet.write_string(0, place, name)
        write = _cell_writer(sheet, column.type, forms)
        for row, value in enumerate(column.to_pylist(), start=1):
            if value is not None and write(row, place, value) < 0:
                raise InputError(
                    f"column {name!r} has a text that no cell of a sheet has room for; give CSV or Parquet"
                )
    book.close()
    return stream.getvalue()


def _cell_writer(sheet: Any, kind: pa.DataType, forms: dict[str, Any]) -> Callable[[int, int, Any], Any]:
    if pa.types.is_boolean(kind):
        return sheet.write_boolean  # type: ignore[no-any-return]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        form = forms["date" if pa.types.is_date(kind) else "moment"]

        def write(row: int, place: int, value: Any) -> Any:
            plain = value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value
            if plain.year < 1900:  # which no spreadsheet has
                return sheet.write_string(row, place, str(value))
            return sheet.write_datetime(row, place, plain, form)

        return write
    if pa.types.is_time(kind):
        return lambda row, place, value: sheet.write_datetime(row, place, value, forms["time"])
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return sheet.write_number  # type: ignore[no-any-return]
    return lambda row, place, value: sheet.write_string(row, place, str(value))


def _statistical(rows: pa.Table, suffix: str, dictionary: Dictionary) -> bytes:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {name: _series(rows[name], dictionary.get(name, ColumnDictionary())) for name in rows.column_names}
    )
    options: dict[str, Any] = {"column_labels": {name: about.label or None for name, about in dictionary.items()}}
    if suffix == ".sav":  # SPSS has numbers of one type
        frame = frame.astype({name: "float64" for name in frame if frame[name].dtype == "int32"})
    values = {
        name: {int(code) if frame[name].dtype == "int32" else code: label for code, label in about.values}
        for name, about in dictionary.items()
        if about.values
    }
    if suffix == ".xpt":
        options["file_format_version"] = _version_of_transport(frame, dictionary)
    else:
        options["variable_value_labels"] = values
    if suffix == ".sav":
        options["missing_ranges"] = {
            name: [{"lo": low, "hi": high} for low, high in about.missing]
            for name, about in dictionary.items()
            if about.missing
        }
        options["variable_measure"] = {name: about.measure for name, about in dictionary.items() if about.measure}
        whole = [name for name in rows.column_names if _is_whole(rows[name].type, dictionary.get(name))]
        options["variable_format"] = dict.fromkeys(whole, "F8.0")
    if suffix == ".dta":
        options["version"] = 14  # format 118; only Stata/MP reads 119, which pyreadstat would write
        options["missing_user_values"] = {
            name: sorted({cell for cell in frame[name] if isinstance(cell, str)})
            for name, about in dictionary.items()
            if about.letters
        }
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}[suffix]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"table{suffix}")
        try:
            write(frame, path, **options)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError):
            raise InputError(
                f"the format of table{suffix} cannot hold these rows; convert the input to Parquet"
            ) from None
        return _without_times(Path(path).read_bytes(), suffix)


def _is_whole(kind: pa.DataType, about: ColumnDictionary | None) -> bool:
    """Whether numbers, or the codes in place of labels, have no decimals to show."""
    if about is None or not about.category:
        return bool(pa.types.is_integer(kind))
    return all(not isinstance(code, str) and float(code).is_integer() for code, _ in about.values)


def _version_of_transport(frame: Any, dictionary: Dictionary) -> int:
    """5 of SAS transport, which its XPORT engine and most programs read; 8 where 5 has no room."""
    names_fit = all(len(name) <= 8 for name in frame)
    labels_fit = all(len(about.label.encode()) <= 40 for about in dictionary.values())
    cells = (cell for name in frame if frame[name].dtype == object for cell in frame[name])
    texts_fit = all(len(cell.encode()) <= 200 for cell in cells if isinstance(cell, str))
    return 5 if names_fit and labels_fit and texts_fit else 8


def _series(column: pa.ChunkedArray, about: ColumnDictionary) -> Any:
    """A column as pyreadstat takes it: codes in place of labels, letters for missing values."""
    import pandas as pd

    cells = column.to_pylist()
    if about.category:
        codes = {label: code for code, label in about.values}
        cells = [None if cell is None else codes[cell] for cell in cells]
        text = any(isinstance(code, str) for code in codes.values())
        return pd.Series(cells, dtype=object if text else "float64")
    if about.letters:
        return pd.Series(
            [None if one is None else one[1] if one.startswith(".") else float(one) for one in cells], dtype=object
        )
    empty = pa.types.is_temporal(column.type) and column.null_count == len(column)  # which would be taken for text
    if empty or pa.types.is_boolean(column.type) or pa.types.is_floating(column.type):
        return pd.Series(cells, dtype="float64")
    if pa.types.is_integer(column.type):
        fits = all(cell is not None and -(2**31) < cell < 2**31 - 100 for cell in cells)
        large = any(cell is not None and abs(cell) >= 2**53 for cell in cells)
        if large:
            return pd.Series([None if cell is None else str(cell) for cell in cells], dtype=object)
        return pd.Series(cells, dtype="int32" if fits else "float64")
    return pd.Series(cells, dtype=object)


def _without_times(content: bytes, suffix: str) -> bytes:
    """When a file was written is nobody's business."""
    if suffix == ".sav":
        return content[:92] + b"01 Jan 80" + b"00:00:00" + content[109:]
    if suffix == ".dta":
        return re.sub(rb"(?<=<timestamp>\x11)[^<]{17}", b"01 Jan 1980 00:00", content[:400], count=1) + content[400:]
    return re.sub(rb"\d\d[A-Z]{3}\d\d(?::\d\d){3}", b"01JAN80:00:00:00", content[:1200]) + content[1200:]
