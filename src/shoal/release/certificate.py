"""certificate.json: what is promised, what is stated, and the fingerprint of every file. See docs/certificate.md."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from shoal.release.draft import Draft
from shoal.request.options import DISTINCT
from shoal.results.stated import reported, worded, worded_parameters
from shoal.results.summary import SketchFigures, StatedLoss, Summary

FORMAT = "shoal-certificate/3"


def promises_of(draft: Draft) -> dict[str, Any]:
    """What the release promises."""
    summary, figures = draft.summary, draft.summary.figures
    return {
        "rows": summary.rows,
        "columns": list(draft.columns),
        "anonymity": {
            "k": summary.k if summary.k > 1 else None,  # null: no crowd is promised
            "whole_rows": summary.promises_k,
            "shared_columns": [list(part) for part in draft.shared_columns],
            "smallest_group": summary.smallest_group,
        },
        "form": getattr(figures, "form", None),
        **({} if draft.copy is None else {"copy": draft.copy}),
        **_lengths(figures),
        **_of_groups(summary),
    }


def stated_of(draft: Draft) -> dict[str, Any]:
    """What only the owner can know: figures, and how the release was made, in words of Shoal's own."""
    summary, figures = draft.summary, draft.summary.figures
    columns = {column["name"] for column in draft.columns}
    return {
        "method": worded(summary.method),
        "parameters": worded_parameters(_plain(draft.parameters), columns),
        "report": _plain(reported(summary, columns)),
        **_loss(summary.loss),
        "loss_of_means": getattr(figures, "loss_of_means", None),
        "above_optimum": getattr(figures, "above_optimum", None),
        "linked": getattr(figures, "linked", None),
        "attacks": [
            {"about": worded(attack.about), "n": attack.n}
            | {name: round(getattr(attack, name), 4) for name in ("rate", "low", "high", "baseline")}
            for attack in summary.attacks
        ],
        "closeness": [asdict(closeness) for closeness in summary.closeness],
        "withheld": [{"reason": worded(reason.reason), "count": reason.count} for reason in summary.withheld],
    }


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


def _of_groups(summary: Summary) -> dict[str, Any]:
    """What is promised of groups beside their size; promises that were not asked for are absent."""
    asked = summary.promised
    columns = [asdict(one) for one in summary.diversity]
    diversity: dict[str, Any] = {
        "l": asked.l,
        "columns": [{name: value for name, value in one.items() if value is not None} for one in columns],
    }
    if asked.diversity != DISTINCT:
        diversity |= {"kind": asked.diversity} | ({} if asked.c is None else {"c": asked.c})
    found: dict[str, Any] = {"diversity": diversity}
    if asked.t is not None:
        found["closeness"] = {"t": asked.t, "columns": [asdict(one) for one in summary.closeness]}
    for further in summary.further:
        columns = [{"column": column, "gain": value} for column, value in further.columns]
        found[further.name] = {"bound": further.bound, "columns": columns}
    if asked.of_crowds:
        found["crowds"] = [asdict(crowd) for crowd in summary.crowds]
    return found


def _lengths(figures: object) -> dict[str, Any]:
    """Of sketches: how many numbers the shortest and the longest have."""
    if not isinstance(figures, SketchFigures):
        return {}
    return {"lengths": {"shortest": figures.lengths[0][0], "longest": figures.lengths[-1][0]}}


def _loss(loss: StatedLoss | None) -> dict[str, Any]:
    """The loss as measured, or the tenths between which one lies that may not be published so; null: there is none."""
    if loss is None:
        return dict.fromkeys(("sse", "ssa", "information_loss", "loss_range"))
    about = None if loss.measured else {"low": loss.low, "high": loss.high, "reason": worded(loss.reason or "")}
    share = round(loss.low, 6) if loss.measured else None
    return {"sse": loss.sse, "ssa": loss.ssa, "information_loss": share, "loss_range": about}


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: NumPy's numbers as numbers, sequences as lists, an object by its kind alone."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, str | int | float) else type(value).__name__


def dump(content: dict[str, Any]) -> bytes:
    """The one way a certificate is written: a changed byte is a changed certificate."""
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def fingerprint(path: Path) -> dict[str, Any]:
    """SHA-256 and size of a file."""
    with path.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}
