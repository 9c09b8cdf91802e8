"""protect: places, failures, l, missing values, formats, and loading what was released."""

from __future__ import annotations

import csv
import gzip
import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import shoal.release.writing as module
from shoal import InputError, Microaggregation, Roles, SphericalMicroaggregation, VectorSpace, load, protect, verify
from shoal.verification import delimited
from tests.release.releases import (
    LETTERS,
    PEOPLE,
    ROLES,
    TABLE_MDAV,
    certificate_of,
    copy_of,
    fewest_values,
    files_of,
    quietly,
    release_frame,
    release_letters,
    release_table,
    release_texts,
    reseal,
    rows_of,
    smallest_class,
)

pytestmark = pytest.mark.usefixtures("without_attack")

MAKERS = pytest.mark.parametrize("make", [release_table, release_letters])

# l-diversity


@pytest.mark.parametrize("l", [2, 3])
def test_l_is_enforced_in_tables(tmp_path, l):
    made = release_table(tmp_path, k=2, l=l)
    rows = rows_of(made.folder / "table.csv")
    assert fewest_values(rows, ["age", "pay"], "illness") >= l
    assert smallest_class(rows, ["age", "pay"]) >= 2
    assert made.certificate["promises"]["diversity"]["l"] == l
    assert verify(made.folder)


@pytest.mark.parametrize("l", [2, 3])
def test_l_is_enforced_in_documents(tmp_path, l):
    made = release_letters(tmp_path, k=2, l=np.int64(l))
    rows = rows_of(made.folder / "vectors.parquet")
    assert fewest_values(rows, ["terms", "weights"], "part") >= l
    assert smallest_class(rows, ["terms", "weights"]) >= 2
    assert verify(made.folder)


@MAKERS
def test_an_impossible_l_is_refused_with_what_there_is(tmp_path, make):
    with pytest.raises(InputError, match=r"l=4 needs 4 different values, .* has 3"):
        make(tmp_path, l=4)
    assert not (tmp_path / "release").exists()


def test_l_needs_a_confidential_column(tmp_path):
    with pytest.raises(InputError, match=r"l=2 needs a confidential column; name it .confidential."):
        release_table(tmp_path, l=2, roles=Roles(quasi=("age", "pay")))
    with pytest.raises(InputError, match=r"l=2 needs a confidential column; name it .label_column."):
        release_letters(tmp_path, l=2, label_column=None)


def test_l_needs_whole_rows(tmp_path):
    with pytest.raises(InputError, match="l=2 needs groups over all quasi-identifiers at once"):
        release_table(tmp_path, l=2, method=Microaggregation(method="ranking"))


def test_a_group_that_shares_one_confidential_value_is_warned_of(tmp_path):
    frame = pd.DataFrame({"age": [1, 2, 8, 9], "illness": ["flu", "flu", "gout", "flu"]})
    made = release_frame(frame, 2, tmp_path / "release", Roles(quasi=("age",), confidential=("illness",)))
    (stated,) = made.certificate["promises"]["diversity"]["columns"]
    assert stated == {"column": "illness", "groups": 2, "least": 1, "single_valued_groups": 1, "values": 2}
    for page in ("README.md", "report.html"):
        assert "same value" in (made.folder / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("value", [1, 0, -2, 2.5, "3", True])
@pytest.mark.parametrize("name", ["k", "l"])
def test_k_and_l_are_whole_numbers_from_2(tmp_path, name, value):
    with pytest.raises(InputError, match=rf"{name}={value!r} must be a whole number of at least 2"):
        release_table(tmp_path, **{name: value})


@MAKERS
def test_k_above_the_number_of_records_is_refused(tmp_path, make):
    with pytest.raises(InputError, match=r"k=9 needs at least 9 .* got 8"):
        make(tmp_path, k=9)
    assert sorted(path.suffix for path in tmp_path.iterdir()) in ([".csv"], [".jsonl"])


def test_documents_without_any_term_are_refused(tmp_path):
    with pytest.raises(InputError, match="k=2 needs at least 2 documents with terms, got 0"):
        release_texts(["the of and"] * 4, list("abab"), 2, tmp_path / "release")


# Places


@MAKERS
def test_a_failure_in_the_middle_leaves_nothing_behind(tmp_path, make, monkeypatch):
    def fail(summary):
        raise RuntimeError("in the middle")

    monkeypatch.setattr(module, "release_pages", fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        make(tmp_path / "deep" / "down")
    assert [path.suffix for path in (tmp_path / "deep" / "down").iterdir()] in ([".csv"], [".jsonl"])
    with pytest.raises(RuntimeError, match="in the middle"):
        release_frame(pd.DataFrame({"a": range(6)}), 2, tmp_path / "new" / "folder" / "release")
    assert not (tmp_path / "new").exists()


@MAKERS
def test_a_failure_in_the_middle_leaves_an_earlier_release_as_it_was(tmp_path, make, monkeypatch):
    made = make(tmp_path)
    public, private = files_of(made.folder), files_of(made.private)
    before = sorted(os.listdir(tmp_path))
    monkeypatch.setattr(module, "release_pages", lambda summary: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(tmp_path, k=2, force=True)
    assert files_of(made.folder) == public
    assert files_of(made.private) == private
    assert sorted(os.listdir(tmp_path)) == before
    assert verify(made.folder)


@MAKERS
def test_nothing_is_replaced_unless_forced(tmp_path, make):
    made = make(tmp_path)
    public = files_of(made.folder)
    with pytest.raises(InputError, match="exists; choose another name or pass force"):
        make(tmp_path, k=2)
    assert files_of(made.folder) == public
    make(tmp_path, k=2, force=True)
    assert certificate_of(made.folder)["promises"]["anonymity"]["k"] == 2
    assert verify(made.folder)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("which", ["release", "release-private"])
def test_force_replaces_nothing_that_shoal_did_not_make(tmp_path, which):
    (tmp_path / which).mkdir()
    (tmp_path / which / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match="not made by Shoal"):
        release_table(tmp_path, force=True)
    assert (tmp_path / which / "thesis.txt").read_text(encoding="utf-8") == "years of work"
    assert not (tmp_path / ({"release", "release-private"} - {which}).pop()).exists()


def test_an_empty_folder_may_be_filled(tmp_path):
    (tmp_path / "release").mkdir()
    assert verify(release_table(tmp_path).folder)


def test_a_file_or_a_link_is_no_place_for_a_release(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "release").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="exists and is not a folder"):
        release_table(tmp_path, force=True)


@pytest.mark.parametrize("private", ["release/private", "release", "."])
def test_the_private_side_never_is_in_the_release_nor_the_other_way_round(tmp_path, private):
    with pytest.raises(InputError, match=r"must not be inside|exists|no name for a new folder"):
        release_table(tmp_path, private=tmp_path / private)
    assert not (tmp_path / "release").exists()


def test_the_release_is_not_written_into_the_input(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text, _ in LETTERS:
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="must not be inside the input"):
        protect(folder, 2, folder / "release")
    assert len(list(folder.iterdir())) == len(LETTERS)


# Missing values


def test_missing_values_are_refused_or_their_rows_withheld(tmp_path):
    frame = pd.DataFrame({"age": [1, 2, None, 8, 9], "illness": ["flu", "gout", "secret", None, "flu"]})
    roles = Roles(quasi=("age",), confidential=("illness",))
    with pytest.raises(InputError, match=r"column age: 1 missing value .*first in row 3"):
        release_frame(frame, 2, tmp_path / "refused", roles)
    made = release_frame(frame, 2, tmp_path / "release", roles, missing="withhold")
    rows = rows_of(made.folder / "table.parquet")
    assert [row["age"] for row in rows] == [1.5, 1.5, 8.5, 8.5]
    assert "secret" not in {row["illness"] for row in rows}
    assert made.certificate["stated"]["withheld"] == [{"count": 1, "reason": "a quasi-identifier is missing"}]
    assert rows_of(made.private / "withheld.csv") == [{"row": "3", "reason": "a quasi-identifier is missing"}]
    assert sorted(row["id"] for row in rows_of(made.private / "mapping.parquet")) == [1, 2, 4, 5]
    assert verify(made.folder)


def test_an_unknown_way_with_missing_values_is_refused(tmp_path):
    with pytest.raises(InputError, match="missing='guess' is not known"):
        release_table(tmp_path, missing="guess")


# Formats


VERBATIM = ["007", "TRUE", "1.10", "NA", "", "null", "1e5", 'a "quote"', "two\nlines", "a,b\tc", " padded ", "é東😀"]


def written_table(path, rows, delimiter):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL).writerows(rows)
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "tsv.gz"])
@pytest.mark.parametrize("role", ["confidential", "insensitive"])
def test_values_that_are_not_protected_come_out_as_they_stood(tmp_path, suffix, role):
    rows = [["age", "note"], *([str(number), note] for number, note in enumerate(VERBATIM))]
    source = written_table(tmp_path / f"in.{suffix}", rows, "\t" if "tsv" in suffix else ",")
    made = quietly(
        protect, source, 3, tmp_path / "release", roles=Roles(quasi=("age",), **{role: ("note",)}), method=TABLE_MDAV
    )
    released = rows_of(made.folder / f"table.{suffix}")
    assert sorted(row["note"] for row in released) == sorted(VERBATIM)
    assert smallest_class(released, ["age"]) >= 3
    assert verify(made.folder)
    assert sorted(load(made.folder).table["note"].to_pylist()) == sorted(VERBATIM)


def test_a_value_longer_than_the_readers_blocks_can_be_verified_too(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 1000)
    rows = [["age", "note"], *([str(number), "x" * 5000] for number in range(2))]
    made = quietly(
        protect,
        written_table(tmp_path / "in.csv", rows, ","),
        2,
        tmp_path / "release",
        roles=Roles(quasi=("age",), confidential=("note",)),
        method=TABLE_MDAV,
    )
    assert verify(made.folder)


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet", "pandas", "polars", "arrow"])
def test_every_kind_of_table_gives_the_same_rows(tmp_path, kind):
    frame = pd.DataFrame(people())
    source = {
        "pandas": lambda: frame,
        "polars": lambda: pl.DataFrame(frame.to_dict("list")),
        "arrow": lambda: pa.Table.from_pandas(frame),
    }.get(kind, lambda: saved(frame, tmp_path / f"in.{kind}"))()
    made = quietly(protect, source, 3, tmp_path / "release", roles=ROLES, method=TABLE_MDAV)
    expected = release_table(tmp_path / "expected").folder / "table.csv"
    name = f"table.{kind}" if kind in ("csv", "tsv", "csv.gz") else "table.parquet"
    assert sorted(files_of(made.folder)) == ["README.md", "certificate.json", "report.html", name]
    found = [(float(r["age"]), float(r["pay"]), r["town"], r["illness"]) for r in rows_of(made.folder / name)]
    assert found == [(float(r["age"]), float(r["pay"]), r["town"], r["illness"]) for r in rows_of(expected)]
    assert verify(made.folder)


def people():
    return [row | {"age": int(row["age"]), "pay": int(row["pay"])} for row in csv.DictReader(PEOPLE.splitlines())]


def saved(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
        return path
    rows = [list(frame.columns), *frame.astype(str).to_numpy().tolist()]
    return written_table(path, rows, "\t" if "tsv" in path.name else ",")


@pytest.mark.parametrize(
    "values",
    [
        pa.array([True, False, None, True]),
        pa.array([1, 2, None, 2], pa.uint64()),
        pa.array([float("nan"), None, 0.0, 1.0]),
        pa.array(["a", None, "", "a"], pa.large_string()),
        pa.array(["a", None, "", "a"], pa.string_view()),
        pa.array([0, 10**6, None, 5], pa.timestamp("us", "UTC")),
        pa.array([0, 1, None, 5], pa.date32()),
        pa.array([0, 1, None, 5], pa.duration("s")),
        pa.array(["a", "b", None, "a"]).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_confidential_columns_may_be_of_any_type_that_can_be_sorted(tmp_path, values):
    table = pa.table({"age": [1.0, 2, 8, 9], "secret": values})
    release_frame(table, 2, tmp_path / "release", Roles(quasi=("age",), confidential=("secret",)))
    verification = verify(tmp_path / "release")
    assert verification.holds, verification.broken
    plain = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    released = pq.read_table(tmp_path / "release" / "table.parquet")["secret"]
    assert sorted(map(repr, released.to_pylist())) == sorted(map(repr, plain.to_pylist()))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"a", None, b"", b"a"]),
        pa.nulls(4),
        pa.array([[1], [2]] * 2),
        pa.array(np.zeros(4, np.float16)),
        pa.array([10**15] * 4, pa.timestamp("s")),
    ],
)
def test_columns_that_cannot_be_sorted_or_read_back_are_refused_by_name(tmp_path, values):
    table = pa.table({"age": [1.0, 2, 8, 9], "odd one": values})
    with pytest.raises(InputError, match="column odd one"):
        release_frame(table, 2, tmp_path / "release", Roles(quasi=("age",), insensitive=("odd one",)))


@pytest.mark.parametrize(
    "method", [Microaggregation(refine=False, attribute_groups=np.int64(1), random_state=np.int64(0)), TABLE_MDAV]
)
def test_numpys_numbers_are_as_good_as_pythons(tmp_path, method):
    made = release_frame(pd.DataFrame({"a": range(6), "b": range(6)}), np.int64(2), tmp_path / "release", method=method)
    assert verify(made.folder)


def test_the_methods_own_k_is_replaced_and_the_method_left_alone(tmp_path):
    method = SphericalMicroaggregation(k=7, refine=False)
    made = release_letters(tmp_path, k=2, method=method)
    assert made.certificate["stated"]["parameters"]["microaggregation"]["k"] == 2
    assert method.k == 7
    assert not hasattr(method, "groups_")


@pytest.mark.parametrize("label", ["terms", "weights", "id", "text"])
def test_a_label_that_would_clash_or_give_away_the_text_is_refused(tmp_path, label):
    with pytest.raises(InputError, match="label column"):
        release_letters(tmp_path, label_column=label)


def test_options_of_the_other_kind_are_refused(tmp_path):
    frame = pd.DataFrame({"a": range(6)})
    with pytest.raises(InputError, match="SphericalMicroaggregation cannot protect a table"):
        release_frame(frame, 2, tmp_path / "release", method=SphericalMicroaggregation())
    with pytest.raises(InputError, match="Microaggregation cannot protect documents"):
        release_letters(tmp_path, method=Microaggregation())
    with pytest.raises(InputError, match="space is for documents"):
        release_frame(frame, 2, tmp_path / "release", space=VectorSpace())
    with pytest.raises(InputError, match="missing is for tables"):
        release_letters(tmp_path, missing="withhold")


# Loading


def test_a_release_of_documents_loads(tmp_path):
    release = load(release_letters(tmp_path).folder)
    assert isinstance(release.vectors, sp.csr_array)
    assert release.vectors.shape == (8, len(release.terms))
    assert release.table.column_names == ["terms", "counts", "weights", "part"]
    assert release.certificate["kind"] == "documents"
    for number, row in enumerate(release.table.to_pylist()):
        columns = release.vectors[[number]].indices
        assert release.terms[columns].tolist() == row["terms"]
        assert release.vectors[[number]].data.tolist() == row["weights"]
        assert release.counts[[number]].data.tolist() == row["counts"]


def test_a_release_of_a_table_loads(tmp_path):
    release = load(release_table(tmp_path).folder)
    assert release.vectors is None
    assert release.terms is None
    assert release.table.column_names == ["age", "pay", "town", "illness"]
    assert release.table.num_rows == 8
    assert release.certificate["kind"] == "table"


CODES = "age,code,visits,dose,town,note\n" + "".join(
    f"{20 + n},{n:05},{n % 3 if n else '?'},{n / 4},{'NA' if n % 2 else 'Rye'},{['007', 'x'][n % 2]}\n"
    for n in range(8)
)
CODE_ROLES = Roles(quasi="age", confidential=("code", "visits", "dose"), insensitive=("town", "note"))


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz"])
def test_a_text_file_loads_with_the_types_that_the_certificate_states(tmp_path, suffix):
    content = (CODES.replace(",", "\t") if "tsv" in suffix else CODES).encode()
    (tmp_path / f"in.{suffix}").write_bytes(gzip.compress(content) if "gz" in suffix else content)
    made = quietly(protect, tmp_path / f"in.{suffix}", 2, tmp_path / "release", roles=CODE_ROLES, method=TABLE_MDAV)
    stated = {column["name"]: column["type"] for column in made.certificate["promises"]["columns"]}
    expected = {"age": "double", "code": "string", "visits": "int64", "dose": "double", "town": "string"}
    assert stated == expected | {"note": "string"}
    assert verify(made.folder)
    table = load(made.folder).table
    assert {field.name: str(field.type) for field in table.schema} == stated
    assert sorted(table["code"].to_pylist()) == [f"{n:05}" for n in range(8)]
    assert sorted(table["visits"].drop_null().to_pylist()) == [0, 0, 1, 1, 1, 2, 2]
    assert table["visits"].null_count == 1
    assert sum(table["dose"].to_pylist()) == 7.0
    assert set(table["town"].to_pylist()) == {"NA", "Rye"}

    readme = (made.folder / "README.md").read_text(encoding="utf-8")
    snippet = readme.split("Without Shoal:")[1].split("```python\n")[1].split("```")[0]
    names: dict[str, pd.DataFrame] = {}
    exec(snippet.replace("FOLDER", str(made.folder)), names)
    expected_frame = table.to_pandas().astype({"visits": "Int64"})
    pd.testing.assert_frame_equal(names["table"], expected_frame, check_dtype=False)
    assert names["table"]["visits"].dtype == "Int64"
    assert names["table"]["code"].min() == "00000"


def test_a_value_that_is_not_of_its_promised_type_breaks_the_promise(tmp_path):
    (tmp_path / "in.csv").write_text(CODES)
    release = quietly(protect, tmp_path / "in.csv", 2, tmp_path / "release", roles=CODE_ROLES).folder
    for column, kind in ((1, "int64"), (4, "double"), (2, "timestamp[s]"), (0, "int64")):
        folder = copy_of(release, tmp_path / f"changed{column}")
        content = certificate_of(folder)
        content["promises"]["columns"][column]["type"] = kind
        reseal(folder, content)
        assert [claim.promise for claim in verify(folder).broken] == ["schema"]


def test_what_is_no_release_does_not_load(tmp_path):
    folder = release_letters(tmp_path).folder
    (folder / "vectors.parquet").write_bytes(b"broken")
    for place in (tmp_path / "absent", tmp_path, folder):
        with pytest.raises(InputError, match=r"is not a (release|folder)|does not hold its promises"):
            load(place)


def test_a_release_of_many_parts_is_read_and_verified_part_by_part(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.release.documents.vectors.ROWS_AT_ONCE", 7)
    texts = [f"the {animal} {verb} near the river" for animal in ("heron", "otter", "trout") for verb in VERBS]
    made = protect(texts, 3, tmp_path / "release", space=VectorSpace(min_df=1))
    assert verify(made.folder)
    assert load(made.folder).table.num_rows == len(texts)
    assert pq.ParquetFile(made.folder / "vectors.parquet").num_row_groups > 1


VERBS = ("swims", "sleeps", "waits", "eats", "hunts", "rests", "hides", "plays")


def test_of_a_few_records_nothing_is_told_that_would_give_the_values_away(tmp_path):
    """Of two salaries the mean and the standard deviation are the salaries."""
    made = protect(pa.table({"salary": [2100.0, 4400.0]}), 2, tmp_path / "release")
    told = "".join((made.folder / name).read_text() for name in ("report.html", "README.md", "certificate.json"))
    assert "1,150" not in told
    assert "1150" not in told


def test_a_generator_of_texts_is_a_collection(tmp_path):
    made = protect((f"the heron {verb}" for verb in VERBS), 2, tmp_path / "release", space=VectorSpace(min_df=1))
    assert made.certificate["kind"] == "documents"


def test_a_column_in_which_few_records_differ_tells_nothing_of_them(tmp_path):
    """38 zeros and two others: their spread, or the error, would be enough to have both."""
    rows = pa.table({"debt": [0.0] * 38 + [13.0, 29.0]})
    made = protect(rows, 2, tmp_path / "release", method=TABLE_MDAV, quasi=["debt"], kinds={"debt": "number"})
    stated = made.certificate["stated"]
    assert [stated[figure] for figure in ("sse", "ssa", "information_loss")] == [None, None, None]
    # One group of both, 21 each: 2 · 8² lost of 13² + 29² - 42²/40 = 965.9.
    reason = "in some column fewer than 30 records changed, and figures about so few tell each of them"
    assert stated["loss_range"] == {"low": 0.1, "high": 0.2, "reason": reason}
    report = (made.folder / "report.html").read_text()
    assert "Spread" not in report
    assert "between 0.1 and 0.2, or 10% to 20%. It is not published more exactly: " + reason in report
    assert "SSE =" not in report


def test_a_constant_column_does_not_hide_how_much_was_lost(tmp_path):
    """Nobody changed in it, so it says nothing of anybody."""
    ages = pa.array([float(age) for age in range(40)])
    stated = [
        protect(pa.table(columns), 2, tmp_path / str(number), method=TABLE_MDAV, attack=False).certificate["stated"]
        for number, columns in enumerate(({"age": ages}, {"age": ages, "always": pa.array([7.0] * 40)}))
    ]
    assert [one["loss_range"] for one in stated] == [None, None]
    assert stated[0]["information_loss"] == stated[1]["information_loss"] > 0
    assert stated[1]["sse"] is not None


@pytest.mark.parametrize(("make", "rows"), [(release_table, "table.csv"), (release_letters, "vectors.parquet")])
def test_a_release_that_was_not_attacked_says_so_and_has_the_same_rows(make, rows, tmp_path):
    attacked, untried = make(tmp_path / "a"), make(tmp_path / "b", attack=False)
    assert (attacked.folder / rows).read_bytes() == (untried.folder / rows).read_bytes()
    assert untried.certificate["stated"]["attacks"] == []
    assert not (untried.private / "leaks.html").exists()
    assert "The owner did not attack this release" in (untried.folder / "report.html").read_text(encoding="utf-8")
    assert "The owner did not attack this release" not in (attacked.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("other", ["", "NA", " FLU ", "flu"])
def test_a_missing_or_respelt_value_is_no_second_value(tmp_path, other):
    table = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "illness": ["flu", other, "gout", "flu"]})
    roles = Roles(quasi=("age",), confidential=("illness",))
    made = protect(table, 2, tmp_path / "release", roles=roles, method=TABLE_MDAV)
    assert made.certificate["promises"]["diversity"]["columns"][0]["least"] == 1
    assert verify(made.folder)
    with pytest.raises(InputError, match="l=3 needs 3 different values"):
        protect(table, 2, tmp_path / "other", roles=roles, method=TABLE_MDAV, l=3)


def test_terms_that_fewer_than_k_documents_have_are_remarked(tmp_path):
    texts = [f"the heron {verb}" for verb in VERBS]
    with pytest.warns(UserWarning, match="min_df=1 is below k=3"):
        protect(texts, 3, tmp_path / "release", space=VectorSpace(min_df=1))


def test_a_refined_table_says_how_far_from_the_best_it_can_be(tmp_path):
    values = np.random.default_rng(0).normal(size=(120, 2))
    made = protect(
        pd.DataFrame(values, columns=["a", "b"]), 3, tmp_path / "release", method=Microaggregation(time_budget=0.1)
    )
    above = made.certificate["stated"]["above_optimum"]
    assert 0 <= above < 2
    assert "above the least that groups" in (made.folder / "report.html").read_text()


def test_when_files_were_written_is_not_told(tmp_path):
    made = protect(pa.table({"a": [1.0, 2.0, 3.0, 4.0]}), 2, tmp_path / "release", method=TABLE_MDAV)
    assert {path.stat().st_mtime for path in made.folder.iterdir()} == {315_532_800.0}
