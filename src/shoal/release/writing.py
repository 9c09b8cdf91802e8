"""A release drafted and written: data, pages for people, and the certificate over all of them; see docs/certificate.md.

Text that a spreadsheet would run, cells and column names that begin like a formula, is counted and never quoted.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal import progress
from shoal.data.columns import is_text, value_type
from shoal.data.files import counted, shown
from shoal.data.private_files import PRIVATE_FILE
from shoal.pages.report import release_pages
from shoal.release.folders import CERTIFICATE, Content, replacing, write_files
from shoal.results.stated import promises_of, stated_of, summary_of
from shoal.results.summary import CellShares, Summary
from shoal.version import __version__

# A sign, a tab or a line end, and more than signs after it: a lone - stands for a missing value.
FORMULA = r"(?s)^[=+\-@\t\r].*[\pL\pN]"
NUMBER = r"^[+-]?[0-9]*[.,]?[0-9][0-9.,]*([eE][+-]?[0-9]+)? ?%?$"


@dataclass(frozen=True)
class Draft:
    """Public files and figures on one side, private files on the other."""

    summary: Summary
    columns: tuple[dict[str, str], ...]  # name, role and type of each released column
    shared_columns: tuple[tuple[str, ...], ...]  # sets of columns whose values at least k rows share
    parameters: dict[str, Any]
    files: Mapping[str, Content]
    private_files: Mapping[str, Content]
    measured_loss: float | None = None  # for the owner alone: the summary has what may be published of it
    cells: tuple[CellShares, ...] = ()  # the same of cells, for tables
    copy: dict[str, Any] | None = None  # what the certificate says of a copy of the rows in another format
    formulas: Mapping[str, int] = field(default_factory=dict)  # cells of each column that a spreadsheet would run


def formulas_in(released: pa.Table) -> Counter[str]:
    """How many cells of each column of text begin like a formula, and are no numbers such as -5."""
    found: Counter[str] = Counter()
    for name, column in zip(released.column_names, released.columns, strict=True):
        if count := int(pc.sum(_are_formulas(column)).as_py() or 0) if is_text(value_type(column.type)) else 0:
            found[name] = count
    return found


def warn_of_formulas(columns: Iterable[str], found: Mapping[str, int]) -> None:
    """Name the columns, those whose own name is a formula among them, and the remedy."""
    cells = [f"{counted(count, 'cell')} of column {shown(name)}" for name, count in found.items()]
    names = list(columns)
    runs = _are_formulas(pa.array(names, pa.string())).to_pylist()
    cells += [f"the name of column {shown(name)}" for name, formula in zip(names, runs, strict=True) if formula]
    if cells:
        listed = ", ".join(cells[:10]) + (", …" if len(cells) > 10 else "")
        warnings.warn(
            f"a spreadsheet would run what begins with =, +, -, @ or a tab: {listed}; write an apostrophe before it in "
            "the input, leave the column out, or tell who gets the release to import it as text",
            stacklevel=3,
        )


def _are_formulas(texts: Any) -> Any:
    texts = texts.cast(pa.large_string())
    return pc.and_(
        pc.match_substring_regex(texts, FORMULA),
        pc.invert(pc.match_substring_regex(texts, NUMBER)),
    )


FORMAT = "shoal-certificate/3"
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")
EPOCH = 315_532_800  # the beginning of 1980, the first time that every archive can hold


def write_release(draft: Draft, folder: Path) -> dict[str, Any]:
    """Write the public files of a draft into a folder that may hold rows already; the certificate comes last."""
    summary, columns = draft.summary, [column["name"] for column in draft.columns]
    warn_of_formulas(columns, draft.formulas)
    progress.step("writing", 0, 2)
    write_files(folder, draft.files)
    progress.step("writing", 1, 2)
    promises = promises_of(summary, draft.columns, draft.shared_columns, draft.copy)
    stated = stated_of(summary, columns, draft.parameters)
    # The pages are made of what the certificate says, so that whoever has the release can make them again.
    lengths = getattr(summary.figures, "lengths", ())
    pages = release_pages(summary_of(summary.figures.kind, promises, stated, summary.group_sizes, lengths))
    write_files(folder, pages)
    content = sealed_certificate(summary.figures.kind, promises, stated, folder)
    (folder / CERTIFICATE).write_bytes(dump(content))
    without_times(folder)
    progress.step("writing", 2, 2)
    return content


def sealed_certificate(kind: str, promises: dict[str, Any], stated: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The certificate over all files in a folder."""
    content = {
        "format": FORMAT,
        "kind": kind,
        "promises": promises,
        "stated": stated,
        "versions": {
            "shoal": __version__,
            "python": ".".join(platform.python_version_tuple()[:2]),
            "numpy": version("numpy"),
        },
        "files": {
            path.relative_to(folder).as_posix(): fingerprint(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        },
    }
    return content | {"seal": hashlib.sha256(dump(content)).hexdigest()}


def dump(content: dict[str, Any]) -> bytes:
    """The one way a certificate is written: a changed byte is a changed certificate."""
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def fingerprint(path: Path) -> dict[str, Any]:
    """SHA-256 and size of a file."""
    with path.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}


def without_times(folder: Path) -> None:
    """When files were written is nobody's business."""
    for path in folder.rglob("*"):
        os.utime(path, (EPOCH, EPOCH))


def write_mapping_part(
    names: NDArray[Any], groups: NDArray[np.int64], target: str | Path, records: NDArray[Any] | None = None
) -> None:
    """Privately: which record became which row of the part; `records` are the ids that it goes by in other tables."""
    private = {"id": _ids(names.tolist()), "released_row": np.arange(1, len(names) + 1), "group": groups}
    private |= {} if records is None else {"record": _ids(records.tolist())}
    with replacing(target) as path:
        pq.write_table(pa.table(private), path)
        path.chmod(PRIVATE_FILE)  # here, for on a cluster the worker may be another user than who asked


def _ids(texts: list[str]) -> pa.Array:
    """Ids as numbers if all are whole numbers: sorted as text, 10 would come before 2. Codes such as 007 stay text."""
    whole = all(WHOLE_NUMBER.fullmatch(text) for text in texts)
    return pa.array(map(int, texts), pa.int64()) if whole else pa.array(texts, pa.string())
