"""The files of a release: data, pages for people, and the certificate over all of them; see docs/certificate.md."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.pages.report import release_pages
from shoal.release.draft import Draft, warn_of_formulas
from shoal.release.folders import CERTIFICATE, write_files
from shoal.results.stated import promises_of, stated_of, summary_of

FORMAT = "shoal-certificate/3"
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
    pages = release_pages(summary_of(summary.kind, promises, stated, summary.group_sizes, lengths))
    write_files(folder, pages)
    content = sealed_certificate(summary.kind, promises, stated, folder)
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
            "shoal": version("shoal"),
            "python": ".".join(platform.python_version_tuple()[:2]),
            "numpy": version("numpy"),
            "charts": version("vl-convert-python"),
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
