"""Two releases judged as a pair: crowds in common, and who is told apart by subtracting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from shoal import InputError, Roles, protect
from shoal.assessment.several_releases import overlap_of
from tests.cli.run import run
from tests.release.releases import TABLE_MDAV, quietly

pytestmark = pytest.mark.usefixtures("without_attack")

# Two groups of three and four, far apart.
PEOPLE = pd.DataFrame(
    {
        "who": list("abcdefg"),
        "age": [20.0, 21.0, 22.0, 60.0, 61.0, 62.0, 63.0],
        "pay": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 9.0],
        "ill": ["flu", "gout", "flu", "cold", "flu", "gout", "cold"],
    }
)
NOTHING = pa.table({"age": pa.array([], pa.float64())})  # the originals are not at hand
ROLES = Roles(quasi=("age", "pay"), confidential=("ill",))


def release(people: pd.DataFrame, folder: Path, **options: Any) -> Path:
    given = {"roles": ROLES, "method": TABLE_MDAV, "id_column": "who", "attack": False} | options
    quietly(protect, people, 3, folder, **given)
    return folder


def judged(later: Path, first: Path) -> Any:
    return overlap_of(later, None, first, None, NOTHING)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release(PEOPLE, tmp_path_factory.mktemp("pair") / "first")


def test_the_same_release_twice_gives_nothing_away(first: Path, tmp_path: Path) -> None:
    found = judged(release(PEOPLE, tmp_path / "again"), first)
    assert (found.both, found.left, found.came, found.smallest, found.safe) == (7, 0, 0, 3, True)
    assert found.candidates == ((3, 3), (4, 4))
    assert "nobody left and nobody came" in found.sentence


def test_a_release_that_starts_anew_shows_who_left(first: Path, tmp_path: Path) -> None:
    found = judged(release(PEOPLE[PEOPLE["who"] != "d"], tmp_path / "anew"), first)
    assert (found.both, found.left) == (6, 1)
    # The group of four and that of three differ by d alone: a sum of one is the one.
    assert found.told_apart == 1
    assert not found.safe
    assert "shows the ill of 1 who left, came or changed, among fewer than 3" in found.sentence


def test_a_release_that_follows_does_not(first: Path, tmp_path: Path) -> None:
    found = judged(release(PEOPLE[PEOPLE["who"] != "d"], tmp_path / "after", after=first), first)
    assert found.left >= 3
    assert found.safe
    assert found.smallest >= 3


def test_a_changed_value_shows_though_nobody_left_and_a_group_of_newcomers_does_not(
    first: Path, tmp_path: Path
) -> None:
    # Of the group of three, c has gout now: flu is gone, and one gout more is there.
    found = judged(
        release(PEOPLE.assign(ill=PEOPLE["ill"].where(PEOPLE["who"] != "c", "gout")), tmp_path / "ill"), first
    )
    assert (found.left, found.came, found.told_apart, found.safe) == (0, 0, 1, False)
    assert "shows the ill of 1 who left, came or changed" in found.sentence
    # Three come, in a group of their own.
    new = pd.DataFrame({"who": list("xyz"), "age": [40.0, 41.0, 42.0], "pay": [5.0] * 3, "ill": ["cold"] * 3})
    found = judged(release(pd.concat([PEOPLE, new]), tmp_path / "new", after=first), first)
    assert (found.came, found.told_apart, found.safe) == (3, 0, True)


def test_groups_that_cross_leave_few_in_common(first: Path, tmp_path: Path) -> None:
    # By pay as it is now, c is with the others.
    moved = PEOPLE.assign(age=[20.0, 21.0, 60.0, 60.0, 61.0, 62.0, 21.0], pay=[1.0, 2.0, 8.0, 7.0, 8.0, 9.0, 2.0])
    found = judged(release(moved, tmp_path / "moved"), first)
    assert found.smallest == 1  # c and g were with others before
    assert found.exposed == 4  # they, and a and b
    assert "4 of 7 records in both releases have fewer than k=3 candidates left, at worst 1" in found.sentence


def test_the_command_line_says_it_and_refuses_what_is_no_pair(first: Path, tmp_path: Path) -> None:
    people = pd.concat([PEOPLE.assign(who=PEOPLE["who"] + str(one), age=PEOPLE["age"] + one / 9) for one in range(6)])
    people.to_csv(tmp_path / "one.csv", index=False)
    people[1:].to_csv(tmp_path / "two.csv", index=False)
    asked = (
        "--quasi",
        "age,pay",
        "--confidential",
        "ill",
        "--id-column",
        "who",
        "-k",
        "3",
        "--no-refine",
        "--no-attack",
    )
    for name in ("one", "two"):
        assert run(tmp_path, "protect", f"{name}.csv", "-o", name, *asked).code == 0
    bare = run(tmp_path, "protect", "one.csv", "-o", "bare", *asked[:4], "-k", "3", "--no-refine", "--no-attack")
    assert bare.code == 0
    pair = run(tmp_path, "assess", "two.csv", "two", "-o", "judged", "--with", "one")
    assert pair.code == 0, pair.err
    assert "together     " in pair.out
    assert "shows the ill of 1 who left, came or changed" in pair.out
    assert "Together with the earlier release" in (tmp_path / "judged" / "report.html").read_text()
    data = json.loads((tmp_path / "judged" / "assessment.json").read_text())
    assert data["overlap"]["safe"] is False
    assert data["overlap"]["cells"] is None  # whoever left is not among the originals of the later release
    other = run(tmp_path, "assess", "one.csv", "one", "-o", "other", "--with", "two", "--json")
    assert 0 <= json.loads(other.out)["overlap"]["cells"] <= 1
    for words, says in (
        (("two", "--with", "one.csv"), "is not the release of a table"),
        (("two", "--with", "bare"), "make both with --id-column"),
        (("two", "--with", "one", "--with-private", "nowhere"), "give the private folders"),
        (("two", "--with", "one", "--with-private", "bare-private"), "cannot be matched"),
        (("two", "--with-private", "one-private"), "name that, too: --with"),
        (("two.csv", "--with", "one"), "and the protected table is not one; give a release"),
    ):
        refused = run(tmp_path, "assess", "two.csv", words[0], "-o", "no", *words[1:])
        assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
        assert says in refused.err
        assert not (tmp_path / "no").exists()


def test_the_private_side_of_another_release_is_refused(first: Path, tmp_path: Path) -> None:
    other = release(PEOPLE.assign(age=PEOPLE["age"] + 1), tmp_path / "other")
    with pytest.raises(InputError, match="is the mapping of another release"):
        overlap_of(first, None, other, first.with_name("first-private"), NOTHING)


def test_releases_without_ids_are_matched_only_by_the_same_rows(tmp_path: Path) -> None:
    options: dict[str, Any] = {"id_column": None}
    one, two = release(PEOPLE, tmp_path / "one", **options), release(PEOPLE, tmp_path / "two", **options)
    assert overlap_of(two, None, one, None, NOTHING).how == "by the rows of the table"
    short = release(PEOPLE[1:], tmp_path / "short", **options)
    with pytest.raises(InputError, match="cannot be matched"):
        overlap_of(short, None, one, None, NOTHING)
