"""Which columns a release coarsens: the request checked, and carried out on masked numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io import Roles
from shoal.io.files import shown, unknown_column
from shoal.microaggregation import coarsened

__all__ = ["check_coarsened_columns", "checked_coarsening", "coarsened_columns", "only_numbers"]

Floats = NDArray[np.float64]


def checked_coarsening(coarsen: Any) -> dict[str, int]:
    """Columns and the least number of records that shall share a value there, as asked for; empty for None."""
    if coarsen is None:
        return {}
    if not isinstance(coarsen, Mapping):
        raise InputError(f"coarsen={coarsen!r} must be a dict of columns and numbers, such as {{'income': 40}}")
    for name, least in coarsen.items():
        if not isinstance(least, int | np.integer) or isinstance(least, bool) or least < 2:
            raise InputError(
                f"coarsen {shown(str(name))}={least!r} must be a whole number of at least 2; raise it or leave it out"
            )
    return {str(name): int(least) for name, least in coarsen.items()}


def check_coarsened_columns(
    coarsen: Mapping[str, int], columns: Sequence[str], roles: Roles, numbers: Sequence[str], n_rows: int
) -> None:
    """Refuse columns that are not there, not protected or not averaged, and classes of more rows than there are."""
    for name, least in coarsen.items():
        if name not in columns:
            raise InputError(f"coarsen {shown(name)}={least}: {unknown_column(name, columns, 'the table')}")
        if name not in roles.quasi:
            raise InputError(
                f"coarsen {shown(name)}={least}: the column is not protected; name it in --quasi, or leave it out"
            )
        if name not in numbers:
            raise only_numbers(name, least)
        if least > n_rows:
            raise InputError(
                f"coarsen {shown(name)}={least} needs at least {least} rows, got {n_rows}; lower it or add rows"
            )


def only_numbers(name: str, least: int) -> InputError:
    """What to say of a column of labels."""
    return InputError(f"coarsen {shown(name)}={least}: the column holds labels, not numbers; leave it out")


def coarsened_columns(names: Sequence[str], masked: Floats, coarsen: Mapping[str, int]) -> Floats:
    """The masked numbers (rows, columns), those of the columns asked for aggregated once more."""
    coarser = masked.copy()
    for place, name in enumerate(names):
        if name in coarsen:
            coarser[:, place] = coarsened(masked[:, place], coarsen[name])
    return coarser
