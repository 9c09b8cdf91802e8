"""A release's protection, repeated on the same table with some rows left out: for attacks that compare releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.bundle.folders import CERTIFICATE
from shoal.errors import InputError
from shoal.microaggregation import Microaggregation
from shoal.protection.coarsening import coarsened_columns
from shoal.protection.numbers import published_means

__all__ = ["protection_of"]

Floats = NDArray[np.float64]


def protection_of(release: Any, names: tuple[str, ...]) -> Callable[[Floats], Floats]:
    """What turned the numbers of a table, one column for each name, into those of the release."""
    stated, columns = _certified(release)
    if sorted(columns) != sorted(names):
        raise InputError("differencing needs all protected columns; leave out --columns")
    coarsen = stated["parameters"].get("coarsen", {})
    method = Microaggregation(**stated["parameters"]["microaggregation"]).set_output(transform="default")

    def protect(values: Floats) -> Floats:
        ordered = values[np.lexsort(values.T[::-1])]  # as a release has them, in the order of their content
        means = coarsened_columns(names, method.fit_transform(ordered), coarsen)
        return published_means(ordered, means, method.k)

    return protect


def _certified(release: Any) -> tuple[dict[str, Any], list[str]]:
    """What the certificate states, and the protected columns; refused if the protection cannot be repeated."""
    try:
        folder = Path(release).parent if Path(release).is_file() else Path(release)
        content = json.loads((folder / CERTIFICATE).read_bytes())
        stated, promises = content["stated"], content["promises"]
        quasi = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
        numbers = all(column["type"] == "double" for column in promises["columns"] if column["role"] == "quasi")
        repeatable = "method" in stated["parameters"]["microaggregation"] and "diversity" not in stated["parameters"]
    except (OSError, TypeError, ValueError, KeyError):
        repeatable = False
    if not (repeatable and numbers):
        raise InputError(
            "differencing repeats the protection, which it can for releases of numbers by microaggregation without l; "
            "leave it out"
        )
    return stated, quasi
