"""Numbers for people or households in a release: what they promise is counted, and they carry nothing of their own."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from shoal import InputError, load, protect, verify
from tests.release.releases import certificate_of, copy_of, quietly, reseal

PROTECTED = ["roof", "age", "relation"]


def households() -> pd.DataFrame:
    """40 households of one to three members and one of five, each with one head and one roof."""
    random = np.random.default_rng(15)
    size = np.append(np.arange(40) % 3 + 1, 5)
    home = np.repeat(np.arange(41), size)
    head = np.append(True, np.diff(home) > 0)
    return pd.DataFrame(
        {
            "home": [f"H{7 * number % 101}" for number in home],
            "roof": random.choice(["tin", "tile"], 41)[home],
            "age": np.where(head, random.integers(20, 90, len(home)), random.integers(0, 90, len(home))),
            "relation": np.where(head, "head", random.choice(["child", "spouse"], len(home))),
            "illness": random.choice(["flu", "gout", "burn"], len(home)),
        }
    )


def numbered(data: pd.DataFrame, folder, **asked):
    path = folder / "people.csv"
    data.to_csv(path, index=False)
    options = {"quasi": PROTECTED, "confidential": ["illness"], "household": "home", "pseudonym": True} | asked
    return quietly(protect, path, k=4, out=folder / "release", refine=False, attack=False, **options)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return numbered(households(), tmp_path_factory.mktemp("numbered")).folder


def test_as_many_households_as_promised_have_the_same_rows_each_as_often(release):
    assert verify(release)
    rows = load(release).table.to_pandas()
    assert list(rows.columns) == ["roof", "age", "relation", "illness", "home"]
    carried = rows.groupby("home")[PROTECTED].apply(lambda own: tuple(sorted(map(tuple, own.astype(str).to_numpy()))))
    assert min(Counter(carried).values()) >= 4
    assert (rows.groupby("home")["roof"].nunique() == 1).all()
    assert (rows[rows["relation"] == "head"].groupby("home").size() == 1).all()
    assert (rows["relation"] == "head").sum() == 41
    assert len(rows) == len(households()) - 2  # the household of five shows three, as others have


def test_numbers_say_nothing_of_the_names_that_households_had(release, tmp_path):
    data = households()
    renamed = numbered(data.assign(home="X" + data["home"].str[::-1]), tmp_path).folder
    assert (renamed / "table.csv").read_bytes() == (release / "table.csv").read_bytes()


def test_numbers_need_people_or_households(tmp_path):
    with pytest.raises(InputError, match="numbers need people or households"):
        numbered(households(), tmp_path, household=None)


@pytest.mark.parametrize("bound", [{"l": 2}, {"t": 0.5}, {"beta": 1.0}])
def test_values_are_not_promised_beside_numbers_that_would_tell_them(tmp_path, bound):
    """Of couples, one ill with flu and one with gout, every slot has two values; linked, each is known to have flu."""
    with pytest.raises(InputError, match="a number joins a person's"):
        numbered(households(), tmp_path, **bound)


@pytest.mark.parametrize("rent", [lambda home: home, lambda home: home.str[-1]], ids=["own", "shared"])
def test_a_value_that_links_the_rows_of_a_household_as_a_number_would_is_warned_of(tmp_path, rent):
    data = households()
    data.assign(rent=rent(data["home"])).to_csv(tmp_path / "people.csv", index=False)
    options = {"quasi": PROTECTED, "confidential": ["illness", "rent"], "household": "home", "l": 2, "attack": False}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        protect(tmp_path / "people.csv", k=4, out=tmp_path / "release", refine=False, **options)
    assert any("rows can be linked" in str(one.message) for one in said) == (len(set(rent(data["home"]))) > 20)


def test_a_promise_of_values_beside_numbers_is_refused(release, tmp_path):
    forged = copy_of(release, tmp_path / "forged")
    content = certificate_of(forged)
    content["promises"]["diversity"]["l"] = 2
    reseal(forged, content)
    assert "numbers" in {claim.promise for claim in verify(forged).broken}


def moved_row(rows: pd.DataFrame) -> pd.DataFrame:
    rows.loc[0, "home"] = rows.loc[1, "home"]
    return rows


def renumbered(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(home=rows["home"].max() + 1 - rows["home"])


def skipped(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(home=rows["home"] + 1)


def exchanged(rows: pd.DataFrame) -> pd.DataFrame:
    """Two households of unlike rows take each other's number."""
    return rows.assign(home=rows["home"].replace({1: rows["home"].iloc[-1], rows["home"].iloc[-1]: 1}))


@pytest.mark.parametrize(
    ("change", "promise"),
    [(moved_row, "whole people"), (renumbered, "numbers"), (skipped, "numbers"), (exchanged, "numbers")],
)
def test_numbers_that_were_changed_are_found_out(release, tmp_path, change, promise):
    forged = copy_of(release, tmp_path / "forged")
    text = (forged / "table.csv").read_text().splitlines()
    rows = change(load(release).table.to_pandas())
    cells = [line.rpartition(",")[0] for line in text[1:]]
    lines = sorted(zip(cells, rows["home"].tolist(), strict=True), key=lambda line: (cells.index(line[0]), line[1]))
    (forged / "table.csv").write_text("\n".join([text[0], *(f"{cell},{home}" for cell, home in lines)]) + "\n")
    reseal(forged)
    assert promise in {claim.promise for claim in verify(forged).broken}


def test_a_number_that_is_not_called_one_is_refused(release, tmp_path):
    forged = copy_of(release, tmp_path / "forged")
    content = certificate_of(forged)
    content["promises"]["columns"][-1]["role"] = "insensitive"
    reseal(forged, content)
    assert not verify(forged)


def test_crowds_that_are_not_those_of_the_numbers_are_found_out(release, tmp_path):
    forged = copy_of(release, tmp_path / "forged")
    content = certificate_of(forged)
    content["promises"]["crowds"] = [crowd | {"people": 4} for crowd in content["promises"]["crowds"]]
    reseal(forged, content)
    assert "whole people" in {claim.promise for claim in verify(forged).broken}
