"""The files of a release: data, pages for people, and the certificate over all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.pages.report import release_pages
from shoal.release.certificate import dump, promises_of, sealed_certificate, stated_of
from shoal.release.draft import Draft, warn_of_formulas
from shoal.release.folders import CERTIFICATE, write_files
from shoal.results.stated import summary_of

EPOCH = 315_532_800  # the beginning of 1980, the first time that every archive can hold


def write_release(draft: Draft, folder: Path) -> dict[str, Any]:
    """Write the public files of a draft into a folder that may hold rows already; the certificate comes last."""
    warn_of_formulas((column["name"] for column in draft.columns), draft.formulas)
    progress.step("writing", 0, 2)
    write_files(folder, draft.files)
    progress.step("writing", 1, 2)
    promises, stated, summary = promises_of(draft), stated_of(draft), draft.summary
    # The pages are made of what the certificate says, so that whoever has the release can make them again.
    shown = summary_of(summary.kind, promises, stated, summary.group_sizes, getattr(summary.figures, "lengths", ()))
    write_files(folder, release_pages(shown))
    content = sealed_certificate(summary.kind, promises, stated, folder)
    (folder / CERTIFICATE).write_bytes(dump(content))
    without_times(folder)
    progress.step("writing", 2, 2)
    return content


def without_times(folder: Path) -> None:
    """When files were written is nobody's business."""
    for path in folder.rglob("*"):
        os.utime(path, (EPOCH, EPOCH))
