"""Releases of tables with labels: k by counting, nothing of the originals but what the release shows."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import (
    CategoricalMicroaggregation,
    Hierarchy,
    InputError,
    MixedMicroaggregation,
    Roles,
    SphericalMicroaggregation,
    assess,
    load,
    protect,
    verify,
)
from shoal.methods.label_columns import ColumnReading, Flat
from shoal.release.protect import Protected
from shoal.release.tables.labels import generalisation

pytestmark = pytest.mark.usefixtures("without_attack")

PLACES = Hierarchy.from_pairs(
    [
        (town, county)
        for county, towns in {"Kent": ("Deal", "Dover"), "Fife": ("Crail", "Leven")}.items()
        for town in towns
    ]
    + [("Kent", "England"), ("Fife", "Scotland"), ("England", "Britain"), ("Scotland", "Britain")]
)
TOWNS = ["Deal", "Dover", "Crail", "Leven"]
ROLES = Roles(quasi=("town", "job"), confidential=("illness",))
JOBS = Hierarchy.from_pairs([(job, "work") for job in ("smith", "baker", "clerk")])
METHOD = CategoricalMicroaggregation(ontology={"town": PLACES, "job": JOBS}, refine=True, time_budget=0.1)


def people(n: int = 24) -> dict[str, list[Any]]:
    return {
        "town": [TOWNS[(row * row) % 4 if row % 7 else 3] for row in range(n)],
        "job": [("smith", "baker", "clerk")[row % 3] for row in range(n)],
        "illness": [("flu", "gout")[row % 2] for row in range(n)],
        "age": [20 + (row * 13) % 50 for row in range(n)],
    }


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(columns)
        lines.writerows(zip(*columns.values(), strict=True))
    return path


def rows_of(made: Protected, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    with (made.folder / "table.csv").open(newline="", encoding="utf-8") as file:
        return [tuple(row[name] for name in columns) for row in csv.DictReader(file)]


def test_every_row_of_labels_is_shared_by_k(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "people.csv", people())
    made = protect(source, 4, tmp_path / "out", roles=ROLES, method=METHOD)
    assert min(Counter(rows_of(made, ROLES.quasi)).values()) >= 4
    assert verify(made.folder)
    assert load(made.folder).table.column_names == ["town", "job", "illness"]
    assert {label for label, _ in rows_of(made, ROLES.quasi)} <= set(PLACES.taxonomy.names)


def test_numbers_and_labels_together(tmp_path: Path) -> None:
    roles = Roles(quasi=("town", "age"), confidential=("illness",))
    method = MixedMicroaggregation(ontology={"town": PLACES}, time_budget=0.1)
    source = write_csv(tmp_path / "people.csv", people())
    made = protect(source, 4, tmp_path / "out", roles=roles, method=method, l=2)
    assert min(Counter(rows_of(made, roles.quasi)).values()) >= 4
    by_group: dict[Any, set[str]] = {}
    for town, age, illness in rows_of(made, ("town", "age", "illness")):
        by_group.setdefault((town, age), set()).add(illness)
    assert min(map(len, by_group.values())) >= 2
    assert verify(made.folder)


def test_labels_of_one_value_are_kept_diverse_on_request(tmp_path: Path) -> None:
    columns = people()
    columns["illness"] = ["flu" if town == "Deal" else "gout" for town in columns["town"]]
    source = write_csv(tmp_path / "people.csv", columns)
    made = protect(source, 3, tmp_path / "out", roles=ROLES, method=METHOD, l=2)
    assert made.certificate["promises"]["diversity"]["columns"][0]["least"] >= 2
    assert verify(made.folder)


def test_the_columns_choose_the_method(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "people.csv", {"animal": ["dog", "cat", "horse", "wolf"] * 3, "age": list(range(12))})
    meant = {"animal": "wordnet"}
    labels = protect(source, 3, tmp_path / "a", roles=Roles(quasi=("animal",)), ontology=meant)
    both = protect(source, 3, tmp_path / "b", roles=Roles(quasi=("animal", "age")), ontology=meant)
    assert "SA-MDAV" in labels.certificate["stated"]["method"]
    assert "numbers and labels" in both.certificate["stated"]["method"]
    assert verify(labels.folder)
    assert verify(both.folder)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_missing_label_is_a_value_of_its_own(tmp_path: Path, kind: str) -> None:
    columns = {"town": ["Deal"] * 3 + [None] * 3 + ["Dover"] * 3}
    source = tmp_path / f"people.{kind}"
    if kind == "csv":
        write_csv(source, {"town": [town or "" for town in columns["town"]], "n": list(range(9))})
    else:
        pq.write_table(pa.table(columns), source)
    made = protect(source, 3, tmp_path / "out", roles=Roles(quasi=("town",)), method=METHOD_FOR_TOWNS)
    found = [town or None for town in load(made.folder).table["town"].to_pylist()]
    assert Counter(found) == {"Deal": 3, "Dover": 3, None: 3}
    assert verify(made.folder)


METHOD_FOR_TOWNS = CategoricalMicroaggregation(ontology=PLACES)


def test_nothing_of_a_mapping_or_of_a_rare_value_is_handed_out(tmp_path: Path) -> None:
    columns = {"town": ["s3cret-town"] + ["Deal"] * 39 + ["Dover"] * 40, "n": list(range(80))}
    source = write_csv(tmp_path / "people.csv", columns)
    mapping = tmp_path / "s3cret-mapping.csv"
    mapping.write_text("column,value,concept\ntown,s3cret-town,Leven\n", encoding="utf-8")
    method = CategoricalMicroaggregation(ontology=PLACES, mapping=mapping)
    made = protect(source, 5, tmp_path / "out", roles=Roles(quasi=("town",)), method=method)
    for path in made.folder.iterdir():
        content = path.read_bytes()
        assert b"s3cret" not in content, path.name
        assert b"Leven" not in content, path.name
    private = (made.private / "generalisations.csv").read_text(encoding="utf-8")
    assert "s3cret-town" in private


def test_values_that_nothing_knows_are_counted_and_not_quoted(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "people.csv", {"town": ["Deal", "s3cret", "Dover"]})
    with pytest.raises(InputError, match="column town: 1 value not in the hierarchy") as caught:
        protect(source, 2, tmp_path / "out", roles=Roles(quasi=("town",)), method=METHOD_FOR_TOWNS)
    assert "s3cret" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_column_of_broken_numbers_is_not_taken_for_labels(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "people.csv", {"age": ["31", "32", "3x", "34"]})
    with pytest.raises(InputError, match="1 of 4 values not numbers"):
        protect(source, 2, tmp_path / "out", roles=Roles(quasi=("age",)))


def test_an_estimator_for_documents_is_refused_for_a_table(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "people.csv", people())
    with pytest.raises(InputError, match="SphericalMicroaggregation cannot protect a table; use Microaggregation"):
        protect(source, 2, tmp_path / "out", roles=ROLES, method=SphericalMicroaggregation())


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.sampled_from(TOWNS), st.sampled_from(("smith", "baker"))), min_size=6, max_size=30),
    st.integers(2, 6),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_does_not_show_and_a_second_run_gives_the_same(rows: Any, k: int, random: Any) -> None:
    def release(name: str, some: Any) -> dict[str, bytes]:
        columns = {"town": [town for town, _ in some], "job": [job for _, job in some]}
        made = protect(pa.table(columns), k, f"{name}", roles=Roles(quasi=("town", "job")), method=METHOD, force=True)
        assert verify(made.folder)
        rows = load(made.folder).table.select(["town", "job"]).to_pylist()
        assert min(Counter(json.dumps(row) for row in rows).values()) >= k
        return {path.name: path.read_bytes() for path in sorted(made.folder.iterdir())}

    with tempfile.TemporaryDirectory() as folder:
        shuffled = rows[:]
        random.shuffle(shuffled)
        assert release(f"{folder}/a", rows) == release(f"{folder}/b", shuffled)


POSTS = Hierarchy.from_pairs([(f"0{a}0{b}", f"0{a}") for a in "12" for b in "123"] + [("01", "all"), ("02", "all")])
POSTCODES = {"post": [f"0{1 + row % 2}0{1 + row % 3}" for row in range(24)], "age": [20 + row % 9 for row in range(24)]}


@pytest.mark.parametrize(
    "asked",
    [
        {"method": MixedMicroaggregation(ontology={"post": POSTS}, refine=False)},
        {"ontology": {"post": POSTS}, "refine": False},
    ],
)
def test_labels_of_digits_are_read_as_they_stand_when_a_hierarchy_names_their_column(
    tmp_path: Path, asked: Any
) -> None:
    source = write_csv(tmp_path / "people.csv", POSTCODES)
    made = protect(source, 2, tmp_path / "release", roles=Roles(quasi=("post", "age")), **asked)
    assert verify(made.folder)
    assert set(load(made.folder).table["post"].to_pylist()) <= {*POSTCODES["post"], "01", "02", "all"}
    found = assess(source, made.folder)
    assert (found.labels, found.numbers) == (("post",), ("age",))
    assert found.labels_changed[0][1] < 1


def test_labels_of_digits_are_read_as_they_stand_when_a_mapping_names_their_column(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "people.csv", {"post": ["007", "012"] * 6})
    mapping = write_csv(
        tmp_path / "m.csv", {"column": ["post"] * 2, "value": ["007", "012"], "concept": ["Deal", "Crail"]}
    )
    method = CategoricalMicroaggregation(ontology=PLACES, mapping=mapping)
    made = protect(source, 3, tmp_path / "release", roles=Roles(quasi=("post",)), method=method)
    assert set(load(made.folder).table["post"].to_pylist()) == {"007", "012"}


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["jbo"], r"m\.csv: rows for column jbo, which the table does not have; did you mean job\?"),
        (["job", "zzz"], "rows for column zzz, which the table does not have; correct the name, or take them out"),
        (["zzz", "xxx"], "rows for column zzz and 1 other column, which the table does not have"),
    ],
)
def test_a_mapping_of_columns_that_are_not_there_is_refused(tmp_path: Path, columns: list[str], says: str) -> None:
    source = write_csv(tmp_path / "people.csv", people())
    rows = {"column": columns, "value": ["smith"] * len(columns), "concept": ["baker"] * len(columns)}
    method = CategoricalMicroaggregation(ontology=JOBS, mapping=write_csv(tmp_path / "m.csv", rows))
    with pytest.raises(InputError, match=says):
        protect(source, 2, tmp_path / "release", roles=Roles(quasi=("job",)), method=method)


def test_what_stands_above_truth_values_is_called_any_value():
    reading = ColumnReading("smoker", Flat([False, True]))
    shown = generalisation(reading, {(0, 0): 5, (1, 1): 5}, {}, 2, True)
    assert [line.label for line in shown.concepts] == ["any value", "False", "True"]
