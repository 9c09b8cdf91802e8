"""What protects one piece protects parts: labels, mixed tables, documents by meaning, coarsening, closeness."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import (
    CategoricalMicroaggregation,
    Hierarchy,
    Microaggregation,
    MixedMicroaggregation,
    RankSwap,
    Roles,
    SemanticMicroaggregation,
    load,
    protect,
    verify,
)
from shoal.errors import InputError
from shoal.sample import letters
from tests.release.releases import certificate_of

ABOVE = {"soccer": "ball", "rugby": "ball", "golf": "ball", "ball": "hobby"}
ABOVE |= {"violin": "music", "piano": "music", "music": "hobby"}
HOBBIES = Hierarchy.from_pairs(ABOVE.items())
NUMBERS = Roles(quasi=("age", "pay"), confidential=("illness",))
LABELS = Roles(quasi=("hobby", "town"), confidential=("illness",))
MIXED = Roles(quasi=("age", "hobby"), confidential=("illness",))
BY_LABELS = CategoricalMicroaggregation(ontology={"hobby": HOBBIES, "town": HOBBIES}, refine=True)
BY_BOTH = MixedMicroaggregation(ontology=HOBBIES, refine=False)
PLAIN = Microaggregation(refine=False, blocks=60)


def people(n_rows: int = 240) -> pa.Table:
    random = np.random.default_rng(8)
    hobbies = np.array(["soccer", "rugby", "golf", "violin", "piano"])
    return pa.table(
        {
            "age": random.integers(18, 90, n_rows),
            "pay": random.lognormal(8.0, 1.0, n_rows),
            "hobby": hobbies[random.integers(0, 5, n_rows)],
            "town": hobbies[random.integers(2, 5, n_rows)],
            "illness": np.array(["flu", "gout", "asthma"])[random.integers(0, 3, n_rows)],
        }
    )


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The rows in two files."""
    folder, table = tmp_path_factory.mktemp("people"), people()
    for number in range(2):
        pq.write_table(table.take(np.arange(number, table.num_rows, 2)), folder / f"people-{number}.parquet")
    return f"{folder}/*.parquet"


def crowds(folder, columns: tuple[str, ...]) -> Counter:
    return Counter(zip(*(load(folder).table[name].to_pylist() for name in columns), strict=True))


@pytest.mark.parametrize(("roles", "method"), [(LABELS, BY_LABELS), (MIXED, BY_BOTH)], ids=["labels", "mixed"])
@pytest.mark.parametrize("l", [None, 2])
def test_labels_in_parts_keep_k_and_l_and_can_be_verified(parts, tmp_path, roles, method, l):
    made = protect(parts, 4, tmp_path / "release", roles=roles, method=method, l=l)
    assert verify(made.folder, min_k=4)
    assert min(crowds(made.folder, roles.quasi).values()) >= 4
    if l is not None:
        groups: dict[tuple, set] = {}
        for row in load(made.folder).table.to_pylist():
            groups.setdefault(tuple(row[name] for name in roles.quasi), set()).add(row["illness"])
        assert min(map(len, groups.values())) >= 2


@pytest.mark.parametrize(("roles", "method"), [(LABELS, BY_LABELS), (MIXED, BY_BOTH)], ids=["labels", "mixed"])
def test_one_piece_and_parts_lose_about_the_same(parts, tmp_path, roles, method):
    """So few rows are one block: the groups are the same, and so is the loss. At k=20 enough change to state it."""
    stated = [
        certificate_of(protect(source, 20, tmp_path / name, roles=roles, method=method).folder)["stated"]
        for name, source in (("parts", parts), ("piece", people()))
    ]
    assert stated[0]["sse"] == pytest.approx(stated[1]["sse"], rel=0.05)
    assert stated[0]["ssa"] == pytest.approx(stated[1]["ssa"], rel=0.05)


def test_a_coarsened_column_of_a_table_in_parts_has_classes_over_all_parts(parts, tmp_path):
    made = protect(parts, 4, tmp_path / "release", roles=NUMBERS, method=PLAIN, coarsen={"pay": 40})
    assert verify(made.folder)
    assert min(crowds(made.folder, ("pay",)).values()) >= 40
    assert min(crowds(made.folder, NUMBERS.quasi).values()) >= 4


def test_closeness_of_parts_is_that_of_all_rows(parts, tmp_path):
    made = protect(parts, 4, tmp_path / "release", roles=NUMBERS, method=PLAIN, t=0.99)
    stated = certificate_of(made.folder)["promises"]["closeness"]["columns"]
    table = load(made.folder).table.to_pylist()
    overall = Counter(row["illness"] for row in table)
    farthest = 0.0
    groups: dict[tuple, Counter] = {}
    for row in table:
        groups.setdefault((row["age"], row["pay"]), Counter())[row["illness"]] += 1
    for counts in groups.values():
        apart = [counts[value] / counts.total() - overall[value] / overall.total() for value in overall]
        farthest = max(farthest, sum(map(abs, apart)) / 2)
    assert stated == [{"column": "illness", "ordered": False, "t": pytest.approx(farthest, abs=1e-4)}]


def test_documents_in_parts_by_meaning_keep_k_and_can_be_verified(tmp_path):
    sample = letters()[:24]
    for number in range(2):
        table = pa.table({"text": [letter.text for letter in sample[number::2]]})
        pq.write_table(table, tmp_path / f"letters-{number}.parquet")
    made = protect(f"{tmp_path}/*.parquet", 5, tmp_path / "release", method=SemanticMicroaggregation())
    assert verify(made.folder)
    rows = Counter(map(tuple, load(made.folder).table["terms"].to_pylist()))
    assert min(rows.values()) >= 5
    assert certificate_of(made.folder)["stated"]["method"] == "semantic microaggregation (MDAV), refined"


def test_what_needs_all_rows_at_once_says_so(parts, tmp_path):
    with pytest.raises(InputError, match="RankSwap needs all rows at once; give the table in one file"):
        protect(parts, 4, tmp_path / "release", roles=NUMBERS, method=RankSwap(5))
    assert not (tmp_path / "release").exists()


def test_a_cluster_gives_the_same_bytes_for_labels(parts, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    here = protect(parts, 4, tmp_path / "here", roles=MIXED, method=BY_BOTH)
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = protect(parts, 4, tmp_path / "there", roles=MIXED, method=BY_BOTH, client=client)
    assert certificate_of(here.folder)["seal"] == certificate_of(there.folder)["seal"]
