"""Any table and any collection: the release holds k, counted without Shoal, and depends on nothing but the content."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from shoal import Microaggregation, Roles, SphericalMicroaggregation, VectorSpace, protect, verify
from tests.release.releases import (
    certificate_of,
    fewest_values,
    files_of,
    quietly,
    release_frame,
    release_texts,
    rows_of,
    smallest_class,
)

pytestmark = pytest.mark.usefixtures("without_attack")

UNSHRUNK = (Phase.explicit, Phase.generate)  # a release takes too long to make many hundreds of them
WORDS = ["heron", "fish", "boat", "sea", "wind", "storm", "net", "harbour", "tide", "gull"]


@st.composite
def frames(draw):
    """One to three quasi-identifiers with ties, a confidential column with commas, quotes and lines, and names."""
    n_rows, width = draw(st.integers(4, 20)), draw(st.integers(1, 3))
    value = draw(st.sampled_from([st.integers(-4, 4), st.floats(-1e6, 1e6)]))
    columns = {f"q{n}": draw(st.lists(value, min_size=n_rows, max_size=n_rows)) for n in range(width)}
    secrets = st.sampled_from(["flu", "gout", "a,b", 'say "no"', "two\nlines", "", "NA", "007", "é"])
    columns["secret"] = draw(st.lists(secrets, min_size=n_rows, max_size=n_rows))
    columns["name"] = [f"person {n}" for n in range(n_rows)]
    return pd.DataFrame(columns)


@st.composite
def collections(draw):
    n_texts = draw(st.integers(6, 16))
    texts = st.lists(st.sampled_from(WORDS), min_size=2, max_size=8).map(" ".join)
    labels = st.sampled_from(["lung", "bone", "heart"])
    some = draw(st.lists(texts, min_size=n_texts, max_size=n_texts))
    return some, draw(st.lists(labels, min_size=n_texts, max_size=n_texts))


def roles_of(frame):
    quasi = tuple(name for name in frame.columns if name.startswith("q"))
    return Roles(quasi=quasi, confidential=("secret",), identifier=("name",))


def as_csv(frame, path):
    frame.to_csv(path, index=False)
    return path


@settings(max_examples=10, phases=UNSHRUNK)
@given(frames(), st.integers(2, 4), st.sampled_from(["csv", "parquet", "memory"]), st.randoms(use_true_random=False))
def test_a_table_is_k_anonymous_and_what_it_shows_of_protected_columns_depends_on_these_alone(frame, k, kind, random):
    order = list(range(len(frame)))
    random.shuffle(order)
    roles = roles_of(frame)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        releases = []
        for number, rows in enumerate((frame, frame, frame.iloc[order])):
            place = folder / f"owner {number}"
            place.mkdir()
            source = rows
            if kind == "csv":
                source = as_csv(rows, place / f"in{number}.csv")
            elif kind == "parquet":
                source = place / f"in{number}.parquet"
                rows.to_parquet(source, index=False)
            release_frame(source, k, place / f"out{number}", roles)
            releases.append(place / f"out{number}")
        data = next(path for path in releases[0].iterdir() if path.name.startswith("table."))
        rows = rows_of(data)
        assert len(rows) == len(frame)
        assert set(rows[0]) == {*roles.quasi, "secret"}
        assert smallest_class(rows, list(roles.quasi)) >= k
        assert sorted(row["secret"] for row in rows) == sorted(frame["secret"])
        promises = certificate_of(releases[0])["promises"]
        assert promises["anonymity"]["smallest_group"] == smallest_class(rows, list(roles.quasi))
        assert promises["diversity"]["columns"][0]["least"] == fewest_values(rows, list(roles.quasi), "secret")
        verification = verify(releases[0])
        assert verification.holds, verification.broken
        assert files_of(releases[0]) == files_of(releases[1])
        # In another order, records that are equal in all protected columns may take each other's place.
        protected = [
            sorted(tuple(row[name] for name in roles.quasi) for row in rows_of(made / data.name)) for made in releases
        ]
        assert protected[0] == protected[2]


@settings(max_examples=10, phases=UNSHRUNK)
@given(collections(), st.integers(2, 3), st.randoms(use_true_random=False))
def test_documents_are_k_anonymous_and_what_is_shown_of_their_terms_depends_on_these_alone(collection, k, random):
    texts, labels = collection
    order = list(range(len(texts)))
    random.shuffle(order)
    space = {"space": VectorSpace(min_df=1, weighting="tf")}
    with tempfile.TemporaryDirectory() as made:
        one, again, shuffled = (Path(made) / name / "release" for name in ("one", "again", "shuffled"))
        release_texts(texts, labels, k, one, **space)
        release_texts(texts, labels, k, again, **space)
        release_texts([texts[n] for n in order], [labels[n] for n in order], k, shuffled, **space)
        rows = rows_of(one / "vectors.parquet")
        assert len(rows) == len(texts)
        assert smallest_class(rows, ["terms", "weights"]) >= k
        assert sorted(row["part"] for row in rows) == sorted(labels)
        verification = verify(one)
        assert verification.holds, verification.broken
        assert files_of(one) == files_of(again)
        assert (one / "vectors.npz").read_bytes() == (shuffled / "vectors.npz").read_bytes()


@settings(max_examples=6, phases=UNSHRUNK)
@given(frames(), st.integers(2, 3))
def test_a_refined_table_is_k_anonymous_too(frame, k):
    with tempfile.TemporaryDirectory() as made:
        method = Microaggregation(time_budget=0.01, random_state=0)
        release_frame(frame, k, Path(made) / "release", roles_of(frame), method=method)
        rows = rows_of(Path(made) / "release" / "table.parquet")
        assert smallest_class(rows, [name for name in rows[0] if name.startswith("q")]) >= k
        assert verify(Path(made) / "release")


def test_refined_documents_are_k_anonymous_too(tmp_path):
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS, size=6)) for _ in range(40)]
    method = SphericalMicroaggregation(time_budget=0.01, random_state=0)
    release_texts(texts, ["x", "y"] * 20, 4, tmp_path / "release", method=method)
    assert smallest_class(rows_of(tmp_path / "release" / "vectors.parquet"), ["terms", "weights"]) >= 4
    assert verify(tmp_path / "release")


@settings(max_examples=8, phases=UNSHRUNK)
@given(frames(), st.sampled_from(["ranking", "z-scores", "principal-component"]))
def test_other_methods_promise_what_can_be_counted(frame, method):
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "release"
        release_frame(frame, 3, folder, roles_of(frame), method=Microaggregation(method=method))
        rows = rows_of(folder / "table.parquet")
        anonymity = certificate_of(folder)["promises"]["anonymity"]
        quasi = [name for name in rows[0] if name.startswith("q")]
        assert anonymity["whole_rows"] is (method != "ranking" or len(quasi) == 1)
        assert min(smallest_class(rows, part) for part in anonymity["shared_columns"]) == anonymity["smallest_group"]
        assert anonymity["smallest_group"] >= 3
        assert verify(folder)


def test_ids_that_are_numbers_are_numbers_in_the_mapping_so_that_sorting_pairs_them(tmp_path):
    table = pa.table({"person": list(range(1, 25)), "age": [float(age) for age in range(24)]})
    roles = Roles(identifier=("person",), quasi=("age",))
    made = quietly(protect, table, 3, tmp_path / "release", roles=roles, id_column="person")
    mapping = pq.read_table(made.private / "mapping.parquet")
    assert [str(mapping.schema.field(name).type) for name in ("id", "record")] == ["int64", "int64"]
    assert mapping.sort_by("record")["record"].to_pylist() == list(range(1, 25))
