"""Groups are a function of what is protected: confidential values never decide a tie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from shoal import Microaggregation, MixedMicroaggregation, Roles, SphericalMicroaggregation, VectorSpace, protect
from shoal.data.inputs import open_source
from shoal.release.tables.columns import TableOptions, table_method
from shoal.release.tables.steps import TableSteps
from shoal.request.method_options import MethodOptions
from shoal.results.claims import NOTHING_MORE

EXCHANGES = 120

pytestmark = pytest.mark.usefixtures("without_attack")


def numbers_with_ties() -> pa.Table:
    random = np.random.default_rng(1)
    return pa.table(
        {
            "illness": random.choice(["flu", "gout", "cold", "asthma"], 120),
            "age": random.integers(20, 26, 120),
            "rooms": random.integers(1, 5, 120) + 0.5,
            "visits": random.integers(0, 9, 120),
        }
    )


def numbers_and_labels() -> pa.Table:
    random = np.random.default_rng(2)
    return pa.table(
        {
            "age": random.integers(20, 30, 90),
            "town": pa.array(random.choice(["Ulm", "Bonn", "Kiel"], 90)).dictionary_encode(),
            "illness": random.choice(["flu", "gout", "cold"], 90),
            "visits": random.integers(0, 9, 90),
        }
    )


def steps_and_source(table: pa.Table, quasi: tuple[str, ...], method: Any) -> tuple[TableSteps, Any]:
    rest = tuple(name for name in table.column_names if name not in quasi)
    roles = Roles(quasi=quasi, confidential=rest[:1], insensitive=rest[1:])
    options = TableOptions(table_method(MethodOptions(method=method)), NOTHING_MORE, "refuse", {}, False)
    return TableSteps(5, options), open_source(table, roles=roles)


def group_of_row(table: pa.Table, quasi: tuple[str, ...], method: Any) -> dict[str, int]:
    """The group of each row of the table, by its number."""
    steps, source = steps_and_source(table, quasi, method)
    records = steps.read(source)
    (groups,) = steps.join(steps.group(records), records)
    return dict(sorted(zip(records.rows.names.tolist(), groups.group_of_row.tolist(), strict=True)))


def exchanged(table: pa.Table, column: str, one: int, other: int) -> pa.Table:
    order = np.arange(table.num_rows)
    order[[one, other]] = order[[other, one]]
    return table.set_column(table.column_names.index(column), column, table[column].take(pa.array(order)))


def check_exchanges(table: pa.Table, quasi: tuple[str, ...], method: Any) -> None:
    """Exchange confidential, then insensitive values of two rows of a group, 120 times."""
    groups = group_of_row(table, quasi, method)
    random, rest = np.random.default_rng(3), [name for name in table.column_names if name not in quasi]
    for turn in range(EXCHANGES):
        group = random.choice(list(groups.values()))
        members = [int(row) - 1 for row in groups if groups[row] == group]
        one, other = random.choice(members, 2, replace=False)
        table = exchanged(table, rest[turn % len(rest)], int(one), int(other))
        assert group_of_row(table, quasi, method) == groups


def test_exchanging_unprotected_values_never_changes_a_group_of_numbers() -> None:
    check_exchanges(numbers_with_ties(), ("age", "rooms"), Microaggregation(refine=False))


def test_exchanging_unprotected_values_never_changes_a_group_of_numbers_and_labels() -> None:
    check_exchanges(numbers_and_labels(), ("age", "town"), MixedMicroaggregation(refine=False))


def test_exchanging_unprotected_values_never_changes_a_group_of_adults(data_folder: Path) -> None:
    columns = ["age", "education-num", "hours-per-week", "workclass", "capital-gain"]
    table = pyarrow.csv.read_csv(data_folder / "adult_train.csv.gz").select(columns).slice(0, 800)
    check_exchanges(table, tuple(columns[:3]), Microaggregation(refine=False))


def test_the_order_of_the_input_may_exchange_equal_rows_and_shows_in_no_protected_column(tmp_path: Path) -> None:
    table, protected = numbers_with_ties(), []
    for name, order in (("one", np.arange(120)), ("other", np.arange(120)[::-1])):
        roles = Roles(quasi=("age", "rooms"), confidential=("illness",), identifier=("visits",))
        made = protect(table.take(pa.array(order)), 5, tmp_path / name, roles=roles, method=Microaggregation())
        released = pq.read_table(made.folder / "table.parquet").select(["age", "rooms"])
        protected.append(sorted(tuple(row.values()) for row in released.to_pylist()))
    assert protected[0] == protected[1]


def test_labels_of_equal_documents_decide_no_group(tmp_path: Path) -> None:
    texts = ["heron gull", "gull boat", "boat net", "net heron"] * 6
    made = []
    for name, labels in (("one", ["a", "b", "c"] * 8), ("other", ["c", "a", "b"] * 8)):
        lines = [f'{{"id": "{n}", "text": "{text}", "part": "{labels[n]}"}}\n' for n, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
        method, space = SphericalMicroaggregation(refine=False), VectorSpace(min_df=1)
        protect(tmp_path / f"{name}.jsonl", 4, tmp_path / name, label_column="part", method=method, space=space)
        mapping = pq.read_table(tmp_path / f"{name}-private" / "mapping.parquet")
        made.append(dict(zip(mapping["id"].to_pylist(), mapping["group"].to_pylist(), strict=True)))
    assert made[0] == made[1]


def test_a_table_whose_columns_are_all_protected_gives_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    table = pa.table({"age": random.integers(0, 6, 120), "town": random.choice(["a", "b", "c"], 120)})
    tables = [table, table.take(pa.array(random.permutation(120)))]
    options: dict[str, Any] = {"quasi": ["age", "town"], "kinds": {"age": "number"}, "force": True}
    seals = [protect(rows, 5, tmp_path / "release", **options).certificate["seal"] for rows in tables]
    assert seals[0] == seals[1]
