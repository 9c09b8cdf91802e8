"""Tables in parts: one release, here and on a cluster, however the rows are cut; and every part is counted."""

from __future__ import annotations

import datetime
import gzip
import json
import shutil
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from shoal import InputError, Microaggregation, Roles, assess, load, protect, verify
from tests.release.releases import steps_of

pytestmark = pytest.mark.usefixtures("without_attack")

METHOD = Microaggregation(refine=False, blocks=60)
ROLES = Roles(quasi=("age", "pay"), confidential=("illness",), insensitive=("day",), identifier=("name",))
ILLNESSES = ("flu", "gout", "asthma", None)


def people(n_rows=300):
    random = np.random.default_rng(4)
    day = datetime.datetime(2020, 2, 29, 12)
    return pa.table(
        {
            "illness": pa.array([ILLNESSES[number] for number in random.integers(0, 4, n_rows)], pa.string()),
            "age": random.integers(18, 90, n_rows),
            "name": [f"Ann {number}" for number in range(n_rows)],
            "pay": random.lognormal(8.0, 1.0, n_rows),
            "day": pa.array([day + datetime.timedelta(hours=h) for h in random.integers(0, 9, n_rows).tolist()]),
        }
    )


def cut(table, folder, n_parts):
    """Every n-th row to the same file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n_parts):
        pq.write_table(table.take(np.arange(number, table.num_rows, n_parts)), folder / f"people-{number}.parquet")
    return folder


def protected(folder, out, **more):
    return protect(f"{folder}/*", 4, out / "release", **({"roles": ROLES, "method": METHOD} | more))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return cut(people(), tmp_path_factory.mktemp("people"), 3)


@pytest.fixture(scope="module")
def here(parts, tmp_path_factory):
    return protected(parts, tmp_path_factory.mktemp("here"))


def test_a_table_in_parts_is_verified_and_loaded(here):
    assert verify(here.folder)
    table = load(here.folder).table
    assert table.num_rows == 300
    assert table.column_names == ["illness", "age", "pay", "day"]
    assert len(list((here.folder / "table").iterdir())) > 1


def test_every_row_of_a_table_is_shared_by_k_when_all_parts_are_counted_by_hand(here):
    tables = [pq.read_table(path) for path in (here.folder / "table").iterdir()]
    rows = Counter((row["age"], row["pay"]) for table in tables for row in table.to_pylist())
    assert min(rows.values()) >= 4


def test_means_stay_within_the_grid_and_unprotected_columns_as_they_are(here):
    released, original = load(here.folder).table, people()
    for name, step in steps_of(here).items():
        assert pc.mean(released[name]).as_py() == pytest.approx(pc.mean(original[name]).as_py(), abs=step / 2)
    for name in ("illness", "day"):
        assert Counter(released[name].to_pylist()) == Counter(original[name].to_pylist())
        assert released[name].type == original[name].type


def test_each_record_gets_the_mean_of_its_group_on_the_grid(here):
    step = steps_of(here)["pay"]
    pay = dict(zip(people()["name"].to_pylist(), people()["pay"].to_pylist(), strict=True))
    for path in sorted((here.private / "mapping").iterdir()):
        mapping, released = pq.read_table(path), pq.read_table(here.folder / "table" / path.name)
        rows = [name.split(".parquet:") for name in mapping["id"].to_pylist()]
        names = [f"Ann {int(file.split('-')[1]) + 3 * (int(row) - 1)}" for file, row in rows]
        groups = np.array(mapping["group"].to_pylist())
        mine = np.array([pay[name] for name in names])
        for group in set(groups.tolist()):
            mean = mine[groups == group].mean()
            assert np.allclose(np.array(released["pay"].to_pylist())[groups == group], step * np.rint(mean / step))


@pytest.mark.parametrize("n_parts", [1, 7])
@pytest.mark.parametrize("refine", [False, True])
def test_how_a_table_is_cut_into_parts_does_not_show(parts, tmp_path, n_parts, refine):
    method = Microaggregation(refine=refine, blocks=60, time_budget=0.05)
    shuffled = people().take(np.random.default_rng(1).permutation(300))
    one = protected(parts, tmp_path / "one", method=method)
    two = protected(cut(shuffled, tmp_path / "other", n_parts), tmp_path / "two", method=method)
    assert one.certificate["seal"] == two.certificate["seal"]


def test_a_cluster_gives_the_same_bytes_for_a_table(here, parts, cluster, tmp_path):
    made = protected(parts, tmp_path, client=cluster.scheduler_address)
    assert made.certificate["seal"] == here.certificate["seal"]


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory):
    random = np.random.default_rng(7)
    towns = pa.array([f"town {number}" for number in random.integers(0, 5, 300)])
    return cut(people().append_column("town", towns), tmp_path_factory.mktemp("surveyed"), 3)


TREATED = [
    {},
    {"town": "blank"},
    {"age": "generalise", "pay": "blank"},
    dict.fromkeys(("age", "pay", "town"), "generalise"),
]


@pytest.mark.parametrize("treat", TREATED, ids=["by default", "blank", "both", "generalise"])
def test_columns_in_parts_are_generalised_and_blanked_as_in_one_file(surveyed, tmp_path, treat):
    options = {
        "quasi": ["age", "pay", "town"],
        "confidential": ["illness"],
        "l": 2,
        "treat": treat,
        "time_budget": 0.05,
    }
    made = protect(f"{surveyed}/*", 4, tmp_path / "release", **options)
    assert verify(made.folder)
    originals = {row["name"]: row for row in pq.ParquetDataset(surveyed).read().to_pylist()}
    towns: Counter[str | None] = Counter()
    for path in sorted((made.private / "mapping").iterdir()):
        released = pq.read_table(made.folder / "table" / path.name).to_pylist()
        for name, row in zip(pq.read_table(path)["id"].to_pylist(), released, strict=True):
            file, place = name.split(".parquet:")
            original = originals[f"Ann {int(file.split('-')[1]) + 3 * (int(place) - 1)}"]
            towns[row["town"]] += 1
            if treat.get("town") == "blank":
                assert row["town"] in (None, original["town"])
            else:
                assert row["town"] == "*" or original["town"] in row["town"].split(" | ")
            if treat.get("age") == "generalise":
                low, _, high = row["age"].partition(" to ")
                assert int(low) <= original["age"] <= int(high or low)
            if treat.get("pay") == "blank":
                assert row["pay"] is None
    assert min(towns.values()) >= 4
    assert len(towns) > 3


def test_a_cluster_gives_the_same_bytes_where_columns_are_generalised_and_blanked(surveyed, cluster, tmp_path):
    options = {"quasi": ["age", "pay", "town"], "treat": {"age": "blank"}, "time_budget": 0.05}
    here = protect(f"{surveyed}/*", 4, tmp_path / "here", **options)
    there = protect(f"{surveyed}/*", 4, tmp_path / "there", client=cluster.scheduler_address, **options)
    assert here.certificate["seal"] == there.certificate["seal"]


def test_mixed_rows_with_l_give_the_same_bytes_on_any_number_of_workers(surveyed, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"quasi": ["age", "pay", "town"], "confidential": ["illness"], "l": 2, "time_budget": 0.05}
    seals = {protect(f"{surveyed}/*", 4, tmp_path / "here", **options).certificate["seal"]}
    how = {"threads_per_worker": 1, "processes": False, "dashboard_address": None}
    for workers in (1, 2, 4):
        with distributed.LocalCluster(workers, **how) as own, distributed.Client(own) as client:
            made = protect(f"{surveyed}/*", 4, tmp_path / f"on {workers}", client=client, **options)
        seals.add(made.certificate["seal"])
    assert len(seals) == 1


def test_text_parts_may_be_gzipped_and_keep_what_stands_in_them(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for number in range(2):
        lines = "".join(f"{20 + row},{row * 1.5},0{row % 3}\n" for row in range(number * 20, number * 20 + 20))
        text = f"age,pay,illness\n{lines}"
        (folder / f"{number}.csv.gz").write_bytes(gzip.compress(text.encode()))
    made = protected(folder, tmp_path, roles=Roles(quasi=("age", "pay"), confidential=("illness",)))
    assert verify(made.folder)
    assert set(load(made.folder).table["illness"].to_pylist()) == {"00", "01", "02"}


def test_every_part_is_read_as_was_said_of_the_pattern(tmp_path):
    for number in range(2):
        rows = range(number * 20, number * 20 + 20)
        lines = "".join(f"{20 + row};{-9 if row % 7 == 0 else 2 * row}\n" for row in rows)
        (tmp_path / f"{number}.csv").write_text(f"People of 2020\nage;pay\nyears;euro\n{lines}")
    reading = {"delimiter": ";", "skip_rows": 1, "header_rows": 2, "missing_codes": {"pay euro": [-9]}}
    options = {"quasi": ["age years", "pay euro"], "missing": "withhold", **reading}
    made = protect(f"{tmp_path}/*.csv", 4, tmp_path / "release", **options)
    assert verify(made.folder)
    assert load(made.folder).table.num_rows == 34  # of 40, six have the code
    assert min(load(made.folder).table["pay euro"].to_pylist()) > 0
    judged = assess(f"{tmp_path}/*.csv", made.folder, private=made.private, **reading)
    assert judged.rows == 34


def test_rows_that_lack_a_value_are_withheld_or_refused(tmp_path):
    table = people(90)
    holes = pa.array([None if row in (3, 40) else age for row, age in enumerate(table["age"].to_pylist())])
    folder = cut(table.set_column(1, "age", holes), tmp_path / "people", 2)
    with pytest.raises(InputError, match=r"people-0\.parquet: column age: 1 missing value \(first in row 21\)"):
        protected(folder, tmp_path)
    made = protected(folder, tmp_path, missing="withhold")
    assert verify(made.folder)
    assert made.certificate["promises"]["rows"] == 88
    assert [one["count"] for one in made.certificate["stated"]["withheld"]] == [2]
    assert "people-0.parquet:21" in (made.private / "withheld.csv").read_text()


def test_l_holds_in_every_part_of_a_table(parts, tmp_path):
    made = protected(parts, tmp_path, l=3)
    diversity = json.loads((made.folder / "certificate.json").read_text())["promises"]["diversity"]
    assert diversity["columns"][0]["least"] >= 3
    assert verify(made.folder)


def test_a_changed_or_missing_part_of_a_table_is_found(here, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(here.folder, copy)
    part = copy / "table" / "part-00001.parquet"
    table = pq.read_table(part)
    pq.write_table(table.take(np.arange(table.num_rows)[::-1]), part, compression="zstd")
    broken = {(claim.promise, claim.file) for claim in verify(copy).broken}
    assert {("files", "table/part-00001.parquet"), ("order", "table/part-00000.parquet")} <= broken
    part.unlink()
    assert "table/part-00001.parquet" in {claim.file for claim in verify(copy).broken}


def test_rows_that_moved_to_another_part_are_found(here, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(here.folder, copy)
    one, two = (copy / "table" / f"part-0000{number}.parquet" for number in (0, 1))
    first, second = pq.read_table(one), pq.read_table(two)
    pq.write_table(first.slice(1), one, compression="zstd")
    pq.write_table(pa.concat_tables([first.slice(0, 1), second]), two, compression="zstd")
    details = {claim.detail for claim in verify(copy).broken}
    assert "a row is shared by 1 only, k=4 is promised" in details


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop_columns(["day"]), r"people-2\.parquet: the table has no column day"),
        (lambda table: table.append_column("more", table["age"]), r"people-2\.parquet has .*, more where .*people-0"),
        (
            lambda table: table.set_column(0, "illness", pa.array([1] * table.num_rows)),
            r"people-2\.parquet: column illness is int64, in the parts before it string; write all parts",
        ),
        (
            lambda table: table.set_column(1, "age", pa.array(["old"] * table.num_rows)),
            r"column age is label and whole number in different parts; say which",
        ),
    ],
)
def test_a_part_that_is_unlike_the_others_is_named_and_nothing_is_written(parts, tmp_path, change, message):
    folder = tmp_path / "people"
    shutil.copytree(parts, folder)
    pq.write_table(change(pq.read_table(folder / "people-2.parquet")), folder / "people-2.parquet")
    with pytest.raises(InputError, match=message):
        protected(folder, tmp_path)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_column_that_is_empty_in_a_part_agrees_with_any(parts, tmp_path):
    folder = tmp_path / "people"
    shutil.copytree(parts, folder)
    for name in ("people-0.parquet", "people-2.parquet"):
        table = pq.read_table(folder / name)
        pq.write_table(table.set_column(0, "illness", pa.nulls(table.num_rows)), folder / name)
    assert verify(protected(folder, tmp_path).folder)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"method": Microaggregation(method="ranking")}, "for a table in parts use 'mdav'"),
        ({"method": Microaggregation(attribute_groups=1)}, "leave out the attribute groups"),
        (
            {"treat": {"age": "keep"}, "method": None},
            "treat={'age': 'keep'} needs one file: records with the same value",
        ),
        ({"l": 9}, "l=9 needs 9 different values, column illness has 3; lower l"),
        ({"l": 2, "roles": Roles(quasi=("age",))}, "needs a confidential column"),
        ({"label_column": "illness"}, "label_column is for documents"),
        ({"roles": None, "missing": "withhold"}, "missing is for tables, and this is a collection"),
        ({"k": 400}, "k=400 needs at least 400 rows, got 300"),
    ],
)
def test_what_a_table_in_parts_cannot_have_is_said(parts, tmp_path, more, message):
    options = {"roles": ROLES, "method": METHOD, "k": 4} | more
    method = None if options["roles"] is None else options.pop("method")
    options.pop("method", None)
    with pytest.raises(InputError, match=message):
        protect(f"{parts}/*", out=tmp_path / "release", method=method, **options)
    assert list(tmp_path.iterdir()) == []
