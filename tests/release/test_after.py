"""A release that follows another: rows are kept, newcomers come in crowds, and the pair shows nobody."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import Hierarchy, InputError, MixedMicroaggregation, Roles, protect, verify
from tests.cli.run import run
from tests.release.releases import TABLE_MDAV, certificate_of, copy_of, quietly, reseal, rows_of

pytestmark = pytest.mark.usefixtures("without_attack")

RANDOM = np.random.default_rng(5)
N, K = 61, 3
PEOPLE = pd.DataFrame(
    {
        "who": [f"p{one:03d}" for one in range(N + 20)],
        "age": RANDOM.integers(18, 90, N + 20).astype(float),
        "pay": RANDOM.normal(3000, 500, N + 20).round(),
        "ill": RANDOM.choice(["flu", "gout", "mumps", "cold"], N + 20),
    }
)
ROLES = Roles(quasi=("age", "pay"))
WITH_ILLNESS = Roles(quasi=("age", "pay"), confidential=("ill",))


def release(people: pd.DataFrame, folder: Path, **options: Any) -> Path:
    given = {"roles": ROLES, "method": TABLE_MDAV, "id_column": "who", "attack": False} | options
    quietly(protect, people, K, folder, **given)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two releases of the first sixty-one, without and with illnesses."""
    place = tmp_path_factory.mktemp("earlier")
    release(PEOPLE[:N], place / "plain")
    release(PEOPLE[:N], place / "ill", roles=WITH_ILLNESS)
    return place


def rows(folder: Path) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in rows_of(folder / "table.parquet"))


def published(folder: Path) -> dict[str, tuple[Any, ...]]:
    """The row of each person, by the private side."""
    cells = [tuple(row.values()) for row in rows_of(folder / "table.parquet")]
    mapping = pd.read_parquet(folder.with_name(folder.name + "-private") / "mapping.parquet")
    return {record: cells[row - 1] for record, row in zip(mapping["record"], mapping["released_row"], strict=True)}


def test_those_who_stay_keep_their_row_and_newcomers_have_rows_of_their_own(made: Path, tmp_path: Path) -> None:
    after = release(PEOPLE[1 : N + 9], tmp_path / "next", after=made / "plain")
    before, now = published(made / "plain"), published(after)
    with_first = {who for who, row in before.items() if row == before["p000"]} - {"p000"}
    assert {who for who in before if who in now and now[who] != before[who]} <= with_first
    new = set(PEOPLE["who"][N : N + 9])
    assert not {now[who] for who in new} & {now[who] for who in before if who in now}
    assert min(Counter(now.values()).values()) >= K
    checked = verify(after, after=made / "plain")
    assert checked, checked.broken
    assert {"follows", "differences"} <= {claim.promise for claim in checked.claims}
    assert certificate_of(after)["stated"]["parameters"]["after"]["seal"] == certificate_of(made / "plain")["seal"]


def test_nothing_changes_when_nobody_comes_or_goes_or_a_few_come_or_somebody_moves(made: Path, tmp_path: Path) -> None:
    same = rows(made / "plain")
    assert rows(release(PEOPLE[:N], tmp_path / "same", after=made / "plain")) == same
    assert rows(release(PEOPLE[: N + K - 1], tmp_path / "few", after=made / "plain")) == same
    withheld = (tmp_path / "few-private" / "withheld.csv").read_text()
    assert withheld.count("they wait for a later release") == K - 1
    moved = PEOPLE[:N].assign(pay=PEOPLE["pay"].where(PEOPLE["who"] != "p007", 9000.0))
    assert rows(release(moved, tmp_path / "moved", after=made / "plain")) == same


def test_whoever_may_have_left_is_one_of_a_crowd(made: Path, tmp_path: Path) -> None:
    """The attacker knows everybody and the method: which of all could have left, to give what they see?

    Not a byte of the rows, the certificate, the report or the README depends on it.
    """
    before = published(made / "plain")
    crowd = [who for who, row in before.items() if row == before["p000"]]
    seen = []
    for who in crowd:
        release(PEOPLE[:N][PEOPLE["who"][:N] != who], tmp_path / who, after=made / "plain")
        seen.append({path.name: path.read_bytes() for path in (tmp_path / who).iterdir()})
    assert len(crowd) >= K
    assert all(one == seen[0] for one in seen)
    lost = json.loads((tmp_path / "p000-private" / "loss.json").read_text())
    assert 0 < lost["starting_anew"] < 1
    assert 0 < lost["information_loss"] < 1


def test_whoever_left_does_not_come_back(made: Path, tmp_path: Path) -> None:
    """In a group of newcomers, only p000 would have been in the old group as well: a crowd of one in both."""
    without = release(PEOPLE[1:N], tmp_path / "without", after=made / "plain")
    again = release(PEOPLE[: N + 9], tmp_path / "again", after=without)
    assert "p000" not in published(again)
    assert "nobody comes back" in (tmp_path / "again-private" / "withheld.csv").read_text()
    third = release(PEOPLE[: N + 9], tmp_path / "third", after=again)
    assert "p000" not in published(third)
    gone = tmp_path / "third-private" / "gone.csv"
    for content in (b"who\np000\n", b"", b"\xff\x00"):
        gone.write_bytes(content)
        with pytest.raises(InputError, match="as it was written"):
            release(PEOPLE[:N], tmp_path / "fourth", after=third)
    gone.unlink()
    with pytest.raises(InputError, match=r"gone\.csv is not there"):
        release(PEOPLE[:N], tmp_path / "fourth", after=third)


def test_illnesses_of_those_who_left_vanish_among_k(made: Path, tmp_path: Path) -> None:
    after = release(PEOPLE[1:N], tmp_path / "next", roles=WITH_ILLNESS, after=made / "ill")
    gone = rows(made / "ill") - rows(after)
    assert sum(gone.values()) >= K
    assert len({row[:2] for row in gone}) == 1
    with (tmp_path / "next-private" / "gone.csv").open() as lines:
        kept_out = [row["record"] for row in csv.DictReader(lines)]
    assert "p000" in kept_out
    assert len(kept_out) >= K
    assert verify(after, after=made / "ill")
    third = release(PEOPLE[: N + 12], tmp_path / "third", roles=WITH_ILLNESS, after=after)
    assert not set(published(third)) & set(kept_out)  # else those who were only withheld would be told by coming back
    assert verify(third, after=after)


def test_a_changed_illness_is_withheld_with_others_of_the_group(made: Path, tmp_path: Path) -> None:
    healed = PEOPLE[: N + 10].assign(ill=PEOPLE["ill"].where(PEOPLE["who"] != "p004", "none at all"))
    after = release(healed, tmp_path / "next", roles=WITH_ILLNESS, after=made / "ill")
    assert "p004" not in published(after)
    assert sum((rows(made / "ill") - rows(after)).values()) >= K
    assert verify(after, after=made / "ill")


def test_where_everybody_has_other_values_rows_stay_and_the_values_are_new(made: Path, tmp_path: Path) -> None:
    other = PEOPLE[:N].assign(ill=[f"new {one // 2}" for one in range(N)])
    after = release(other, tmp_path / "next", roles=WITH_ILLNESS, after=made / "ill")
    before, now = published(made / "ill"), published(after)
    assert {who: row[:2] for who, row in now.items()} == {who: row[:2] for who, row in before.items()}
    assert {row[2] for row in now.values()} == set(other["ill"])
    assert verify(after, after=made / "ill")


def test_newcomers_who_are_all_alike_do_not_wait_for_somebody_to_be_told_from(tmp_path: Path) -> None:
    """Five alike wait, and one more comes: whoever comes last would be the one with the other value."""
    options: dict[str, Any] = {"roles": WITH_ILLNESS, "l": 2}
    first = release(PEOPLE[:N], tmp_path / "first", **options)
    alike = PEOPLE.assign(ill=PEOPLE["ill"].where(PEOPLE.index < N, "flu"))
    after = release(alike[: N + 5], tmp_path / "next", after=first, **options)
    assert set(published(after)) == set(PEOPLE["who"][:N])
    mixed = PEOPLE.assign(ill=alike["ill"].where(PEOPLE.index < N + 5, PEOPLE["ill"]))
    third = release(mixed[: N + 15], tmp_path / "third", after=after, **options)
    assert set(published(third)) == {*PEOPLE["who"][:N], *PEOPLE["who"][N + 5 : N + 15]}
    with pytest.raises(InputError, match=r"promises l=2; give l=2 or more"):
        release(PEOPLE[:N], tmp_path / "less", after=first, roles=WITH_ILLNESS)
    assert not (tmp_path / "less").exists()


def test_newcomers_may_have_a_row_that_lost_others(tmp_path: Path) -> None:
    """Of labels that is usual. What such a row lost cannot be counted, so it is not held against the pair."""
    people = PEOPLE.assign(sex=["f", "m"] * ((N + 20) // 2) + ["f"] * ((N + 20) % 2))
    options: dict[str, Any] = {
        "roles": Roles(quasi=("sex",), confidential=("ill",)),
        "method": None,
        "categorical": ["sex"],
    }
    first = release(people[:N], tmp_path / "first", **options)
    after = release(people[1:], tmp_path / "next", after=first, **options)
    assert len(published(after)) == N + 20 - K
    assert verify(after, after=first)


def test_numbers_with_labels_and_l_go_on_as_well(tmp_path: Path) -> None:
    sports = Hierarchy.from_pairs(
        [("golf", "sport"), ("rugby", "football"), ("soccer", "football"), ("football", "sport")]
    )
    people = PEOPLE.assign(sport=RANDOM.choice(["golf", "rugby", "soccer"], len(PEOPLE)))
    options: dict[str, Any] = {
        "roles": Roles(quasi=("age", "sport"), confidential=("ill",)),
        "method": MixedMicroaggregation(ontology={"sport": sports}, refine=False),
        "l": 2,
    }
    first = release(people[:N], tmp_path / "first", **options)
    after = release(people[2 : N + 12], tmp_path / "next", after=first, **options)
    assert verify(after, after=first)
    before, now = published(first), published(after)
    stayed = [who for who in now if who in before]
    assert sum(now[who] == before[who] for who in stayed) >= len(stayed) - 2 * (2 * K - 1)
    labels = quietly(
        protect,
        people[:N],
        K,
        tmp_path / "labels",
        roles=Roles(quasi=("sport",)),
        id_column="who",
        attack=False,
        method=_of_labels(sports),
    )
    again = quietly(
        protect,
        people[1:N],
        K,
        tmp_path / "labels2",
        roles=Roles(quasi=("sport",)),
        id_column="who",
        attack=False,
        method=_of_labels(sports),
        after=labels.folder,
    )
    assert verify(again.folder, after=labels.folder)


def _of_labels(ontology: Hierarchy) -> Any:
    from shoal import CategoricalMicroaggregation

    return CategoricalMicroaggregation(ontology=ontology, refine=False)


def test_a_pair_that_was_tampered_with_does_not_hold(made: Path, tmp_path: Path) -> None:
    after = release(PEOPLE[: N + 5], tmp_path / "next", roles=WITH_ILLNESS, after=made / "ill")
    assert verify(after, after=made / "ill")
    other = copy_of(after, tmp_path / "other")
    content = certificate_of(other)
    content["stated"]["parameters"]["after"]["seal"] = "0" * 64
    reseal(other, content)
    assert verify(other)
    assert [claim.promise for claim in verify(other, after=made / "ill").broken] == ["follows"]
    # A release made on its own that says it follows: its rows were computed anew.
    alone = release(PEOPLE[1:N], tmp_path / "alone", roles=WITH_ILLNESS)
    content = certificate_of(alone)
    content["stated"]["parameters"]["after"] = certificate_of(after)["stated"]["parameters"]["after"]
    reseal(alone, content)
    assert verify(alone)
    pair = verify(alone, after=made / "ill")
    assert "kept rows" in [claim.promise for claim in pair.broken]
    # A group that joined another, but for one: the difference would show whose illness it was.
    _check_joined(made / "ill", after, tmp_path / "joined")
    # One row of the earlier release left out: the difference would show whose illness it was.
    short = copy_of(after, tmp_path / "short")
    table = pq.read_table(short / "table.parquet")
    old = {row[:2] for row in rows(made / "ill")}
    large = next(row[:2] for row, _ in rows(after).items() if row[:2] in old and _size(after, row[:2]) > K)
    place = next(one for one, row in enumerate(table.to_pylist()) if tuple(row.values())[:2] == large)
    some = pa.concat_tables([table.slice(0, place), table.slice(place + 1)]).combine_chunks()
    pq.write_table(some, short / "table.parquet", compression="zstd", row_group_size=1 << 17)
    content = certificate_of(short)
    content["promises"]["rows"] -= 1
    content["stated"]["parameters"]["after"]["kept"] -= 1
    reseal(short, content)
    assert [claim.promise for claim in verify(short, after=made / "ill").broken] == ["differences"]


def _check_joined(earlier: Path, after: Path, folder: Path) -> None:
    joined = copy_of(after, folder)
    table = pq.read_table(joined / "table.parquet").to_pandas()
    (one, other) = list(dict.fromkeys(row[:2] for row in rows(earlier)))[:2]
    of_one = (table["age"] == one[0]) & (table["pay"] == one[1])
    table.loc[of_one, ["age", "pay"]] = other
    table = table.drop(of_one.idxmax()).sort_values(["age", "pay", "ill"])
    schema = pq.read_schema(joined / "table.parquet")
    table = pa.Table.from_pandas(table, schema, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, joined / "table.parquet", compression="zstd", row_group_size=1 << 17)
    content = certificate_of(joined)
    content["promises"]["rows"] -= 1
    content["promises"]["diversity"]["columns"][0]["groups"] -= 1
    content["stated"]["parameters"]["after"]["kept"] -= 1
    reseal(joined, content)
    assert [claim.promise for claim in verify(joined, after=earlier).broken] == ["differences"]


def _size(folder: Path, quasi: tuple[Any, ...]) -> int:
    return sum(many for row, many in rows(folder).items() if row[:2] == quasi)


OTHER = PEOPLE.rename(columns={"pay": "height"})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"after": "nowhere"}, "is not a release"),
        ({"id_column": None}, r"needs an id column; name it \(id_column\)"),
        ({"id_column": "nobody"}, "nobody"),
        ({"id_column": "age"}, "would be released"),
        ({"people": OTHER[:N], "roles": Roles(quasi=("age", "height"))}, "quasi columns differ"),
        ({"roles": WITH_ILLNESS}, "confidential columns differ"),
        ({"people": PEOPLE[:N].assign(who="p001")}, "more than once"),
        ({"people": PEOPLE[:N].assign(who=None)}, "without an id"),
        ({"people": PEOPLE[:N].assign(who=PEOPLE["age"].astype(str) + PEOPLE["pay"].astype(str))}, "no record of"),
        ({"missing": "withhold"}, "needs all values"),
        ({"categorical": ["age"], "method": None}, "age: a release can follow by plain numbers"),
        ({"people": PEOPLE[:N].assign(age="1980-01-02"), "method": None}, "age would be released otherwise than"),
        ({"t": 0.5}, "keeps k and distinct l"),
        ({"coarsen": {"age": 9}}, "cannot be coarsened"),
        ({"k": 4}, "the earlier release has k=3; give -k 3"),
        ({"earlier_private": "nowhere"}, "is not there; give the private folder"),
        ({"earlier_private": "ill-private"}, "of another release"),
        ({"after": None, "earlier_private": "ill-private"}, r"needs that release as well; name it \(after\)"),
        ({"out": "plain", "force": True}, "must stay as they are"),
        ({"people": ["a text", "another text", "a third text"], "roles": None, "id_column": None}, "kept by the index"),
    ],
)
def test_what_cannot_follow_is_refused_and_nothing_is_written(
    made: Path, tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    given = {"after": "plain", "roles": ROLES, "method": TABLE_MDAV, "id_column": "who", "people": PEOPLE[:N], "k": K}
    given |= {"out": tmp_path / "next"} | options
    for name in ("after", "earlier_private"):
        given[name] = None if given.get(name) is None else made / given[name]
    people, k, out = given.pop("people"), given.pop("k"), given.pop("out")
    given["method"] = None if isinstance(people, list) else given["method"]
    given |= {"attack": False}
    before = sorted(made.rglob("*"))
    with pytest.raises(InputError, match=says):
        quietly(protect, people, k, made / out, **given)
    assert sorted(made.rglob("*")) == before
    assert not list(tmp_path.iterdir())


def test_an_earlier_release_without_ids_or_tampered_with_is_refused(made: Path, tmp_path: Path) -> None:
    quietly(protect, PEOPLE[:N], K, tmp_path / "bare", roles=ROLES, method=TABLE_MDAV, attack=False)
    with pytest.raises(InputError, match="made without id_column"):
        release(PEOPLE[:N], tmp_path / "next", after=tmp_path / "bare")
    broken = copy_of(made / "plain", tmp_path / "broken")
    (broken / "README.md").write_text("other words")
    with pytest.raises(InputError, match="does not hold its promises"):
        release(PEOPLE[:N], tmp_path / "next", after=broken, earlier_private=made / "plain-private")
    assert not (tmp_path / "next").exists()


def test_the_command_line_follows_and_says_so(tmp_path: Path) -> None:
    PEOPLE[:N].to_csv(tmp_path / "one.csv", index=False)
    PEOPLE[3 : N + 9].to_csv(tmp_path / "two.csv", index=False)
    asked = ("--quasi", "age,pay", "--id-column", "who", "-k", "3", "--no-refine", "--no-attack")
    assert run(tmp_path, "protect", "one.csv", "-o", "one", *asked).code == 0
    followed = run(tmp_path, "protect", "two.csv", "-o", "two", "--after", "one", *asked)
    assert followed.code == 0, followed.err
    assert "follows      the release sealed" in followed.out
    assert "starting anew would lose" in followed.out
    verified = run(tmp_path, "verify", "two", "--after", "one")
    assert verified.code == 0
    assert "differences" in verified.out
    assert run(tmp_path, "verify", "one", "--after", "two").code == 1
    wrong = run(tmp_path, "protect", "two.csv", "-o", "three", "--after", "two.csv", *asked)
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert json.loads(run(tmp_path, "verify", "two", "--after", "one", "--json").out)["holds"]
