"""A table to be explored: its quasi-identifiers, the ways to protect them, and the release of each way."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.exploration.trials import (
    TrialSetup,
    label_trials,
    mixed_trials,
    number_trials,
    table_method_of,
    try_out,
)
from shoal.io import Roles, check_complete, quasi_matrix, read_table, resolve_roles
from shoal.io.kinds.label_checks import check_labels
from shoal.io.table import holds_numbers
from shoal.ontology.value_mapping import check_mapping, explained_columns
from shoal.results.exploration import Outcome, Trial

__all__ = ["ExploredTable", "open_table"]


@dataclass(frozen=True, eq=False)
class ExploredTable:
    """The quasi-identifiers of a table: numbers, labels, or both."""

    quasi: pa.Table
    roles: Roles
    setup: TrialSetup

    @property
    def kind(self) -> str:
        return self.setup.kind

    @property
    def columns(self) -> dict[str, str | None]:
        return {}

    def trials(self) -> list[Trial]:
        if self.kind == "numbers":
            return number_trials(self.quasi.num_rows, self.quasi.num_columns)
        return (label_trials if self.kind == "labels" else mixed_trials)(self.quasi.num_rows)

    def try_out(self, trial: Trial) -> Outcome:
        return try_out(trial, self.quasi, self.setup)

    def protect_with(self, trial: Trial) -> dict[str, Any]:
        given = {"roles": self.roles, "method": table_method_of(trial, self.setup), "coarsen": dict(trial.coarsen)}
        return given if trial.k is None else given | {"k": trial.k}

    def fingerprint(self) -> str:
        setup, quasi = self.setup, self.quasi
        meaning = [] if self.kind == "numbers" else [_content(setup.mapping), _content(setup.ontology)]
        settings = version("shoal"), quasi.schema.names, quasi.num_rows, setup.refine, meaning
        digest = hashlib.sha256(repr(settings).encode())
        for column in quasi.columns:
            digest.update(repr(column.to_pylist()).encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return int(self.quasi.num_rows)

    def sample(self, rows: NDArray[np.int64]) -> ExploredTable:
        """These rows only."""
        return replace(self, quasi=self.quasi.take(pa.array(rows)).combine_chunks())


def open_table(source: Any, roles: Roles | None, setup: TrialSetup) -> ExploredTable:
    """Read a table, and tell what its quasi-identifiers are."""
    ontology, mapping = setup.ontology, setup.mapping
    table = read_table(source, verbatim=explained_columns(ontology, mapping))
    check_mapping(mapping, table.data.column_names)
    roles = resolve_roles(table, roles)
    numbers = tuple(name for name in roles.quasi if holds_numbers(table.data[name].type))
    labels = tuple(name for name in roles.quasi if name not in numbers)
    columns: dict[str, Any] = {name: table.data[name].combine_chunks() for name in labels}
    if labels:
        check_labels(table, labels, hierarchy=ontology is not None or mapping is not None)
    if numbers:
        only = Roles(quasi=numbers)
        values, complete = quasi_matrix(table, only)
        check_complete(table, only, complete, remedy="")
        columns |= dict(zip(numbers, map(pa.array, values.T), strict=True))
    kind = "numbers" if not labels else "mixed" if numbers else "labels"
    quasi = pa.table({name: columns[name] for name in roles.quasi})
    return ExploredTable(quasi, roles, replace(setup, kind=kind))


def _content(value: Any) -> Any:
    """What an ontology or a mapping says, not where it lies."""
    if isinstance(value, Mapping):
        return [(str(name), _content(one)) for name, one in sorted(value.items(), key=str)]
    if isinstance(value, str | os.PathLike) and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    taxonomy = getattr(value, "taxonomy", None)
    if taxonomy is not None:
        return hashlib.sha256(repr(taxonomy.names).encode() + taxonomy.parents.tobytes()).hexdigest()
    return str(value)
