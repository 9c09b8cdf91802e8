"""A release before it is written: what each file will hold, and what may be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.release.folders import Writer
from shoal.results.summary import Summary


@dataclass(frozen=True)
class Draft:
    """Public files and figures on one side, private files on the other."""

    summary: Summary
    columns: tuple[dict[str, str], ...]  # name, role and type of each released column
    shared_columns: tuple[tuple[str, ...], ...]  # sets of columns whose values at least k rows share
    parameters: dict[str, Any]
    files: Mapping[str, Writer]
    private_files: Mapping[str, Writer]
    measured_loss: float | None = None  # for the owner alone: the summary has what may be published of it
    copy: dict[str, Any] | None = None  # what the certificate says of a copy of the rows in another format
    formulas: Mapping[str, int] = field(default_factory=dict)  # cells of each column that a spreadsheet would run
