"""Whole jobs that release sketches: what is in them, what is not, and that k is counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal import InputError, SphericalMicroaggregation, VectorSpace, load, protect, verify
from shoal.methods.sketches import (
    CrowdSketch,
    DeltaSketch,
    KVarianceSketch,
    SketchKey,
    SketchKMeans,
    SketchNeighborsClassifier,
    dot_product,
)
from tests.release.releases import LETTERS, files_of, quietly
from tests.release.test_privacy import everything_in

KEY = SketchKey(bytes(range(32)))
MDAV = SphericalMicroaggregation(refine=False)
FRUIT = ["apricot", "banana", "cherry", "damson", "elderberry"]
TOOLS = ["hammer", "pliers", "wrench", "chisel", "sander"]
BASKETS = [[side[(n + step) % 5] for step in range(2 + n % 3)] for n in range(12) for side in (FRUIT, TOOLS)]
METHODS = {
    "crowd": CrowdSketch(components=16, method=MDAV),
    "delta": DeltaSketch(0.25),
    "k-variance": KVarianceSketch(max_components=16),
}
EACH = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def baskets_file(folder: Path, baskets: list[list[str]] = BASKETS, labels: list[str] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    records = [
        {"id": f"b-{n}", "items": basket} | ({} if labels is None else {"shop": labels[n]})
        for n, basket in enumerate(baskets)
    ]
    path = folder / "baskets.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def letters_file(folder: Path) -> Path:
    path = folder / "letters.jsonl"
    lines = [json.dumps({"id": name, "text": text, "part": part}) for name, text, part in LETTERS]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def release(folder: Path, method, k: int = 3, source: Path | None = None, **options):
    source = baskets_file(folder / "in") if source is None else source
    return quietly(protect, source, k, folder / "release", method=method, **options)


@EACH
def test_a_release_of_sketches_holds_what_it_promises(tmp_path, method):
    made = release(tmp_path, method)
    assert verify(made.folder)
    assert sorted(files_of(made.folder)) == ["README.md", "certificate.json", "report.html", "sketches.parquet"]
    assert sorted(files_of(made.private)) == ["mapping.parquet", "sketch.key", "withheld.csv", "words_left_out.csv"]


@EACH
def test_neither_the_key_nor_a_term_leaves_the_owner(tmp_path, method):
    made = release(tmp_path, method, source=baskets_file(tmp_path / "secret-place", labels=["north", "south"] * 12))
    key = SketchKey.read(made.private / "sketch.key")
    everything = everything_in(made.folder)
    assert key.secret.hex() not in everything
    assert not any(key.secret in path.read_bytes() for path in made.folder.iterdir())
    for private in (*FRUIT, *TOOLS, "b-1", "secret-place", "baskets.jsonl"):
        assert private not in everything, private
    assert (made.private / "sketch.key").stat().st_mode & 0o777 == 0o600


@EACH
def test_no_word_of_a_text_is_in_a_release_of_its_sketch(tmp_path, method):
    made = release(tmp_path, method, k=2, source=letters_file(tmp_path), label_column="part")
    words = {word.strip(".,;:").lower() for _, text, _ in LETTERS for word in text.split()}
    told = {word for word in words if len(word) > 4 and word in everything_in(made.folder)}
    # "before and after" is in every report.
    assert told <= {"after"}
    assert "heart" in everything_in(made.folder)  # a label: the search does find what is there


@EACH
def test_the_same_key_gives_the_same_bytes_and_another_one_nothing_in_common(tmp_path, method):
    method = type(method)(**method.get_params(deep=False) | {"key": KEY})
    one, again = (release(tmp_path / name, method) for name in ("one", "again"))
    assert files_of(one.folder) == files_of(again.folder)
    other = release(tmp_path / "other", type(method)(**method.get_params(deep=False) | {"key": None}))
    ours, theirs = (load(made.folder).sketches for made in (one, other))
    shared = set(map(tuple, (ours[row] for row in range(len(ours)) if ours.lengths[row] > 8)))
    assert not shared & set(map(tuple, (theirs[row] for row in range(len(theirs)))))


@EACH
def test_the_order_of_the_input_does_not_show(tmp_path, method):
    method = type(method)(**method.get_params(deep=False) | {"key": KEY})
    forth, back = (
        release(tmp_path / name, method, source=baskets_file(tmp_path / name / "in", BASKETS[::step]))
        for name, step in (("forth", 1), ("back", -1))
    )
    assert files_of(forth.folder) == files_of(back.folder)


def test_a_crowd_sketch_is_the_sketch_of_its_groups_pool(tmp_path):
    space = VectorSpace(min_df=2, items=True, weighting="tf")
    made = release(tmp_path, CrowdSketch(components=8, method=MDAV, key=KEY), space=space)
    rows = pq.read_table(made.folder / "sketches.parquet")["sketch"].to_pylist()
    mapping = pq.read_table(made.private / "mapping.parquet").to_pylist()
    pools: dict[int, Counter[str]] = {}
    for line in mapping:
        pools.setdefault(line["group"], Counter()).update(BASKETS[int(line["id"].removeprefix("b-"))])
    for line in mapping:
        pool = pools[line["group"]]
        length = sum(count**2 for count in pool.values()) ** 0.5
        sketch = sum(count / length * KEY.signs([item], 8)[0] for item, count in pool.items())
        assert np.allclose(rows[line["released_row"] - 1], sketch, rtol=0, atol=0.0005 + 1e-6)
    assert len(pools) > 1


def test_groups_whose_pools_differ_in_scale_alone_are_one_crowd(tmp_path):
    baskets = [["apple", "pear"]] * 4 + [["apple", "pear"] * 3] * 4
    space = VectorSpace(min_df=1, items=True, weighting="tf")
    made = release(
        tmp_path, CrowdSketch(components=8, method=MDAV), source=baskets_file(tmp_path / "in", baskets), space=space
    )
    assert made.certificate["promises"]["anonymity"]["smallest_group"] == 8
    assert verify(made.folder)


def test_delta_sketches_of_baskets_are_of_their_counts(tmp_path):
    baskets = [["a", "b", "c"], ["a", "a", "b"], ["c"]]
    made = release(tmp_path, DeltaSketch(0.5, key=KEY), source=baskets_file(tmp_path / "in", baskets))
    # (3 - 1) / 0.5 = 4 numbers; (4 + 1 - 4) / 0.5 = 2; none of a single item.
    signs = {item: KEY.signs([item], 4)[0] for item in "abc"}
    expected = [(signs["a"] + signs["b"] + signs["c"]).tolist(), (2 * signs["a"] + signs["b"])[:2].tolist()]
    assert pq.read_table(made.folder / "sketches.parquet")["sketch"].to_pylist() == sorted(expected)
    assert made.certificate["stated"]["withheld"] == [{"reason": "no component meets delta=0.5", "count": 1}]
    assert made.certificate["promises"]["lengths"] == {"shortest": 2, "longest": 4}
    assert "b-2,no component meets" in (made.private / "withheld.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", [METHODS["delta"], METHODS["k-variance"]], ids=["delta", "k-variance"])
def test_the_first_sentence_says_that_no_crowd_is_promised(tmp_path, method):
    made = release(tmp_path, method)
    anonymity = made.certificate["promises"]["anonymity"]
    assert (anonymity["k"], anonymity["whole_rows"]) == (None, False)
    report = (made.folder / "report.html").read_text(encoding="utf-8")
    assert '<p class="promise">No crowd is promised' in report
    assert "**No crowd is promised" in (made.folder / "README.md").read_text(encoding="utf-8")
    assert [statement.about for statement in verify(made.folder).stated] == [
        "delta" if isinstance(method, DeltaSketch) else "k-variance"
    ]
    assert not verify(made.folder, min_k=2)


def test_a_seed_is_not_published_since_the_key_is_made_of_it(tmp_path):
    method = CrowdSketch(components=8, method=SphericalMicroaggregation(refine=False, random_state=77), random_state=77)
    made = release(tmp_path, method)
    assert SketchKey.read(made.private / "sketch.key") == SketchKey.from_seed(77)
    assert "77" not in json.dumps(made.certificate["stated"]["parameters"])
    with pytest.warns(UserWarning, match="can be guessed"):
        protect(baskets_file(tmp_path / "in"), 3, tmp_path / "again", method=method)


def test_releases_with_one_key_can_be_compared(tmp_path):
    method = CrowdSketch(components=256, method=MDAV, key=KEY)
    one = load(release(tmp_path / "one", method).folder).sketches
    other = load(release(tmp_path / "other", method, k=4).folder).sketches
    nearest = [max(dot_product(one[[row] * len(other)], other).value) for row in range(len(one))]
    assert min(nearest) > 0.7


def test_an_analyst_classifies_and_clusters_what_was_loaded(tmp_path):
    labels = ["fruit", "tools"] * 12
    source = baskets_file(tmp_path / "in", labels=labels)
    made = release(tmp_path, CrowdSketch(components=256, method=MDAV, key=KEY), source=source, label_column="shop")
    loaded = load(made.folder)
    shops = loaded.table["shop"].to_pylist()
    assert Counter(shops) == Counter(labels)
    model = SketchNeighborsClassifier(n_neighbors=1).fit(loaded.sketches[::2], shops[::2])
    assert model.predict(loaded.sketches[1::2]).tolist() == shops[1::2]
    clusters = SketchKMeans(2, random_state=0).fit(loaded.sketches).labels_
    assert len({*zip(clusters.tolist(), shops, strict=True)}) == 2


def test_labels_are_diverse_where_that_is_asked_for(tmp_path):
    source = baskets_file(tmp_path / "in", labels=[f"shop {n % 5}" for n in range(24)])
    made = release(tmp_path, METHODS["crowd"], source=source, label_column="shop", l=3)
    rows = pq.read_table(made.folder / "sketches.parquet").to_pylist()
    shops: dict[str, set[str]] = {}
    for row in rows:
        shops.setdefault(repr(row["sketch"]), set()).add(row["shop"])
    assert min(map(len, shops.values())) >= 3
    assert verify(made.folder)


def test_sketches_of_a_crowd_come_in_parts_as_documents_do(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for part in range(3):
        lines = [json.dumps({"id": str(n), "items": BASKETS[n]}) for n in range(part * 8, part * 8 + 8)]
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = quietly(protect, str(folder / "*.jsonl"), 3, tmp_path / "release", method=METHODS["crowd"])
    assert verify(made.folder)
    assert (made.folder / "sketches" / "part-00000.parquet").is_file()
    assert len(load(made.folder).sketches) == 24
    with pytest.raises(InputError, match="delta sketches need one file"):
        protect(str(folder / "*.jsonl"), 3, tmp_path / "other", method=METHODS["delta"])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4), min_size=6, max_size=30),
    st.integers(2, 4),
    st.integers(1, 12),
)
def test_k_of_crowd_sketches_is_counted_by_equal_sketches(tmp_path_factory, baskets, k, components):
    folder = tmp_path_factory.mktemp("crowd")
    source = baskets_file(folder / "in", baskets)
    space = VectorSpace(min_df=1, items=True, weighting="tf")
    method = CrowdSketch(components=components, method=MDAV)
    made = release(folder, method, k=k, source=source, space=space, attack=False)
    rows = pq.read_table(made.folder / "sketches.parquet")["sketch"].to_pylist()
    smallest = min(Counter(map(repr, rows)).values())
    assert smallest >= k
    assert smallest == made.certificate["promises"]["anonymity"]["smallest_group"]
    assert rows == sorted(rows)
    assert verify(made.folder)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (DeltaSketch(1e6), {}, "delta=1e\\+06: no record can meet it"),
        (DeltaSketch(0.0), {}, "delta=0.0 must be a number above 0"),
        (DeltaSketch(0.5, max_components=0), {}, "max_components=0"),
        (DeltaSketch(0.5), {"l": 2, "label_column": "shop"}, "l=2 is for groups, and delta sketches have none"),
        (DeltaSketch(0.5), {"missing": "withhold"}, "missing is for tables"),
        (DeltaSketch(0.5), {"coarsen": {"age": 3}}, "coarsen is for tables"),
        (DeltaSketch(0.5), {"space": VectorSpace()}, "these are baskets"),
        (KVarianceSketch(), {"k": 30}, "k=30 needs at least 31 records"),
        (CrowdSketch(components=0), {}, "components=0"),
        (CrowdSketch(), {"k": 30}, "k=30 needs at least 30 baskets"),
        (CrowdSketch(method=DeltaSketch()), {}, "DeltaSketch cannot protect documents"),
        (CrowdSketch(key=b"short"), {}, "key must be a SketchKey"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(tmp_path, method, options, message):
    source = baskets_file(tmp_path / "in", labels=["north", "south"] * 12)
    with pytest.raises(InputError, match=message):
        quietly(protect, source, options.pop("k", 3), tmp_path / "release", method=method, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_table_is_not_sketched(tmp_path):
    (tmp_path / "people.csv").write_text("age,pay\n1,2\n3,4\n5,6\n7,8\n", encoding="utf-8")
    with pytest.raises(InputError, match="CrowdSketch cannot protect a table"):
        protect(tmp_path / "people.csv", 2, tmp_path / "release", method=CrowdSketch())


def test_more_components_than_items_are_warned_of(tmp_path):
    source = baskets_file(tmp_path / "in")
    with pytest.warns(UserWarning, match="components=16 for 10 terms"):
        protect(source, 3, tmp_path / "out", method=METHODS["crowd"], attack=False)


def test_a_report_of_sketches_counts_no_different_items(tmp_path):
    made = release(
        tmp_path, METHODS["crowd"], source=baskets_file(tmp_path / "in", [*BASKETS, ["apricot", "zucchini"]])
    )
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    assert "too rare" in page
    assert "Different" not in page
