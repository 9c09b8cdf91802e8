"""assess: releases in parts, put side by side with the parts they were made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import InputError, Microaggregation, Roles, SphericalMicroaggregation, assess, protect
from shoal.release.protect import Protected
from shoal.sample import letters
from tests.cli.run import run

pytestmark = pytest.mark.usefixtures("without_attack")

ROLES = Roles(quasi=("age", "pay"), confidential=("illness",), identifier=("name",))
METHOD = Microaggregation(refine=False, blocks=60)


def people(n_rows: int = 240) -> pd.DataFrame:
    random = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "illness": random.choice(["flu", "gout", "asthma"], n_rows),
            "age": random.integers(18, 90, n_rows),
            "name": [f"Ann {number}" for number in range(n_rows)],
            "pay": random.lognormal(8.0, 1.0, n_rows).round(2),
        }
    )


def cut(folder: Path, n_parts: int = 3, suffix: str = "csv") -> Path:
    folder.mkdir(parents=True)
    for number in range(n_parts):
        part = people().iloc[number::n_parts]
        if suffix == "parquet":
            part.to_parquet(folder / f"people-{number}.parquet", index=False)
        else:
            part.to_csv(folder / f"people-{number}.{suffix}", index=False)
    return folder


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cut(tmp_path_factory.mktemp("in") / "people")


@pytest.fixture(scope="module")
def made(parts: Path, tmp_path_factory: pytest.TempPathFactory) -> Protected:
    return protect(f"{parts}/*.csv", 4, tmp_path_factory.mktemp("out") / "release", roles=ROLES, method=METHOD)


def test_a_table_in_parts_is_judged_as_if_it_were_one(parts: Path, made: Protected) -> None:
    found = assess(f"{parts}/*.csv", made.folder)
    assert found.how == "by the private mapping"
    assert found.rows == 240
    assert found.numbers == ("age", "pay")
    assert found.smallest_group >= 4
    assert found.loss.squared.information_loss == pytest.approx(
        made.certificate["stated"]["information_loss"], abs=1e-3
    )
    # The same rows put side by side by hand: file and row of each original stand in the mapping.
    before, after = [], []
    for place in sorted((made.private / "mapping").iterdir()):
        for name in pq.read_table(place)["id"].to_pylist():
            file, row = name.split(".csv:")
            before.append(people().iloc[int(file.removeprefix("people-")) :: 3].iloc[int(row) - 1][["age", "pay"]])
        after.append(pq.read_table(made.folder / "table" / place.name).to_pandas()[["age", "pay"]])
    by_hand = assess(pd.DataFrame(before).astype(float).reset_index(drop=True), pd.concat(after))
    assert found.data()["loss"] == by_hand.data()["loss"]
    assert found.data()["risk"] == by_hand.data()["risk"]


def test_the_folder_of_the_parts_and_other_formats_will_do(parts: Path, made: Protected, tmp_path: Path) -> None:
    folder = cut(tmp_path / "people", suffix="parquet")
    other = protect(f"{folder}/*", 4, tmp_path / "release", roles=ROLES, method=METHOD)
    one, two = assess(parts, made.folder), assess(folder, other.folder)
    assert one.data() == two.data()


def test_one_file_that_a_pattern_stood_for_is_found_again(tmp_path: Path) -> None:
    folder = cut(tmp_path / "people", 1)
    made = protect(f"{folder}/*.csv", 4, tmp_path / "release", roles=ROLES, method=METHOD)
    assert assess(folder / "people-0.csv", made.folder).rows == 240


def test_rows_that_were_withheld_are_left_out_of_the_comparison(tmp_path: Path) -> None:
    folder = cut(tmp_path / "people")
    table = pd.read_csv(folder / "people-1.csv")
    table.loc[5, "age"] = np.nan
    table.to_csv(folder / "people-1.csv", index=False)
    made = protect(f"{folder}/*", 4, tmp_path / "release", roles=ROLES, method=METHOD, missing="withhold")
    found = assess(folder, made.folder)
    assert found.rows == 239
    assert found.loss.squared.information_loss == pytest.approx(
        made.certificate["stated"]["information_loss"], abs=1e-3
    )


def test_parts_that_were_not_protected_are_refused(parts: Path, made: Protected, tmp_path: Path) -> None:
    def refused(original: Any, says: str, **options: Any) -> None:
        with pytest.raises(InputError, match=says):
            assess(original, made.folder, **options)

    refused(parts / "people-0.csv", "made of 2 files that the original lacks; give all parts that were protected")
    refused(people(), "came in parts, and this is a table in memory")
    refused(f"{tmp_path}/*.csv", "has 0 files")
    refused(f"{parts}/*.csv", "is not there", private=tmp_path)

    short = cut(tmp_path / "short")
    pd.read_csv(short / "people-2.csv").iloc[:70].to_csv(short / "people-2.csv", index=False)
    refused(short, "10 rows of the release beyond the end of the original's parts")
    shuffled = cut(tmp_path / "shuffled")
    for file in shuffled.iterdir():
        pd.read_csv(file).sample(frac=1, random_state=1).to_csv(file, index=False)
    refused(shuffled, "do not belong together")
    unlike = cut(tmp_path / "unlike")
    pd.read_csv(unlike / "people-2.csv").drop(columns="name").to_csv(unlike / "people-2.csv", index=False)
    refused(unlike, r"people-2\.csv has other columns than .*people-0\.csv")

    other = protect(f"{parts}/*", 4, tmp_path / "other", roles=ROLES, method=Microaggregation(refine=False, blocks=200))
    refused(parts, "rows in 4 parts, the release has 240 in 7 parts", private=other.private)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder in ("a", "b"):
        people().to_csv(tmp_path / folder / "people.csv", index=False)
    refused(f"{tmp_path}/[ab]*/people.csv", r"several files called people\.csv")


def test_a_table_in_one_file_is_not_looked_for_in_parts(parts: Path, tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    made = protect(tmp_path / "people.csv", 4, tmp_path / "release", roles=ROLES, method=METHOD)
    with pytest.raises(InputError, match="made from one table, and the original has 3 parts"):
        assess(f"{parts}/*.csv", made.folder)


def test_tables_in_parts_that_others_protected_are_compared_by_key_or_place(parts: Path, tmp_path: Path) -> None:
    folder = cut(tmp_path / "masked")
    for file in folder.iterdir():
        table = pd.read_csv(file)
        table.assign(age=table.age + 1).to_csv(file, index=False)
    by_place = assess(f"{parts}/*.csv", f"{folder}/*.csv", columns=["age", "pay"])
    by_key = assess(people().sample(frac=1, random_state=0), f"{folder}/*", key="name", columns=["age", "pay"])
    assert by_place.how == "by their place"
    assert by_place.loss.mean_change == pytest.approx(by_key.loss.mean_change)


def test_what_is_text_in_one_part_is_text_in_all(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("age,code\n30,007\n31,008\n")
    (tmp_path / "two.csv").write_text("age,code\n40,A1\n41,A2\n")
    found = assess(f"{tmp_path}/*.csv", pd.DataFrame({"age": [30, 31, 40, 41], "code": ["007", "008", "A1", "A2"]}))
    assert found.labels == ("code",)
    assert found.labels_changed == (("code", 0.0),)


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mail")
    for number in range(3):
        some = letters()[:120][number::3]
        columns = {"id": [one.id for one in some], "text": [one.text for one in some]}
        pq.write_table(pa.table(columns | {"kind": [one.speciality for one in some]}), folder / f"{number}.parquet")
    return folder


def test_documents_in_parts_are_judged_against_their_parts(mail: Path, tmp_path: Path) -> None:
    method = SphericalMicroaggregation(refine=False, blocks=60)
    made = protect(f"{mail}/*.parquet", 5, tmp_path / "release", label_column="kind", method=method)
    found = assess(f"{mail}/*.parquet", made.folder, tmp_path / "assessment")
    assert found.rows == 120
    assert found.smallest_group >= 5
    stated = made.certificate["stated"]["information_loss"]
    assert found.utility.loss.information_loss == pytest.approx(stated, abs=1e-4)  # only the right order gives it
    assert found.utility.classifiers
    with pytest.raises(InputError, match="documents of the release not among the originals"):
        assess(mail / "0.parquet", made.folder)
    with pytest.raises(InputError, match="came in parts, and this is not a path"):
        assess([one.text for one in letters()[:120]], made.folder)


def test_the_command_line_takes_the_pattern(parts: Path, made: Protected, tmp_path: Path) -> None:
    ran = run(tmp_path, "assess", f"{parts}/*.csv", str(made.folder), "-o", "assessment")
    assert ran.code == 0, ran.err
    assert "240, side by side by the private mapping" in ran.out
