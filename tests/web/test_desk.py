"""The desk without a browser: places, what is decided together, blind readings, and several people at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.web.desk import Choice, Desk
from shoal.web.desk_views import Offsets
from tests.sanitizer.review.folders import entity, named_folder, work_folder


def stands(desk: Desk, document: str, reviewer: str) -> dict[str, str]:
    return {item["id"]: item["stands"] for item in desk.document(document, reviewer)["items"]}


def item_of(desk: Desk, document: str, item: str, reviewer: str) -> dict[str, Any]:
    return next(one for one in desk.document(document, reviewer)["items"] if one["id"] == item)


@given(st.text(alphabet="aé🙂𝒜\ud800 ", max_size=12))
def test_places_are_the_browsers_and_come_back(text: str) -> None:
    offsets = Offsets(text)
    for place in range(len(text) + 1):
        units = len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
        assert offsets.to_browser(place) == units
        assert offsets.from_browser(units) == place


def test_an_emoji_before_a_name_does_not_shift_its_mark(tmp_path: Path) -> None:
    text = "🙂🙂 Ann Smith"
    named_folder(tmp_path / "work", (text, (entity(text, "PERSON", "Ann Smith"),)))
    desk = Desk(tmp_path / "work")
    assert item_of(desk, "d1", "e0", "ana")["spans"] == [(5, 14)]
    desk.decide("ana", Choice(("d1", "e0"), "shrink", (9, 14)))
    assert item_of(desk, "d1", "e0", "ana")["cut"] == [(9, 14)]
    assert desk.after("d1")["text"] == "🙂🙂 Ann Pers1"


def test_equal_ones_go_together_but_not_what_was_decided_otherwise(tmp_path: Path) -> None:
    texts = [f"{number} Bob Ray" for number in range(4)]
    named_folder(tmp_path / "work", *((text, (entity(text, "PERSON", "Bob Ray", probability=0.5),)) for text in texts))
    desk = Desk(tmp_path / "work")
    desk.decide("ana", Choice(("d2", "e0"), "reject"))
    desk.decide("ben", Choice(("d3", "e0"), "accept"))
    desk.snapshot()
    desk.decide("ana", Choice(("d1", "e0"), "accept", everywhere=True))
    now = [stands(desk, document, "ana")["e0"] for document in ("d1", "d2", "d3", "d4")]
    assert now == ["masked", "kept", "masked", "masked"]
    assert desk.snapshot().length == 4  # d3 was Ben's: Ana did not decide it again
    desk.decide("ana", Choice(("d1", "e0"), "reject", everywhere=True))
    now = [stands(desk, document, "ana")["e0"] for document in ("d1", "d2", "d3", "d4")]
    assert now == ["kept", "kept", "masked", "kept"]


def test_what_is_below_the_threshold_is_masked_with_its_equals(tmp_path: Path) -> None:
    texts = [("Girona", 0.6), ("to Girona", 0.1)]
    named_folder(
        tmp_path / "work", *((text, (entity(text, "LOC", "Girona", probability=share),)) for text, share in texts)
    )
    desk = Desk(tmp_path / "work")
    assert stands(desk, "d2", "ana") == {"e0": "below"}
    desk.decide("ana", Choice(("d1", "e0"), "accept", everywhere=True))
    assert stands(desk, "d2", "ana") == {"e0": "masked"}


def test_a_second_reader_sees_no_answer_before_their_own(tmp_path: Path) -> None:
    work_folder(tmp_path / "work", reviewers=2)
    desk = Desk(tmp_path / "work")
    desk.decide("ana", Choice(("d1", "e0"), "accept", reason="a patient"))
    assert stands(desk, "d1", "ana")["e0"] == "waiting"
    assert item_of(desk, "d1", "e0", "ben")["by"] == []
    (line,) = desk.history("ben", 10)
    assert (line["action"], line["reason"]) == ("decided", "")
    desk.decide("ben", Choice(("d1", "e0"), "reject"))
    assert [answer["reviewer"] for answer in item_of(desk, "d1", "e0", "ben")["by"]] == ["ana", "ben"]
    assert stands(desk, "d1", "chair")["e0"] == "disputed"
    with pytest.raises(InputError, match="cannot adjudicate"):
        desk.decide("ben", Choice(("d1", "e0"), "accept", adjudicates=True))
    desk.decide("chair", Choice(("d1", "e0"), "accept", adjudicates=True))
    assert stands(desk, "d1", "ben")["e0"] == "masked"


def test_people_who_decide_at_once_lose_nothing(tmp_path: Path) -> None:
    text = " ".join(f"Person{number:02}" for number in range(40))
    entities = tuple(entity(text, "PERSON", f"Person{number:02}", probability=0.5) for number in range(40))
    named_folder(tmp_path / "work", (text, entities))
    desk, other = Desk(tmp_path / "work"), Desk(tmp_path / "work")
    with ThreadPoolExecutor(8) as threads:
        for number in range(40):
            threads.submit((desk, other)[number % 2].decide, "ana", Choice(("d1", f"e{number}"), "accept"))
            threads.submit(desk.news, "d1", "ana", 0)
    assert desk.snapshot().length == other.snapshot().length == 40
    assert set(stands(desk, "d1", "ana").values()) == {"masked"}


def test_news_are_short_when_nothing_happened(tmp_path: Path) -> None:
    work_folder(tmp_path / "work")
    desk = Desk(tmp_path / "work")
    assert desk.news("d1", "ana", 0) == {"length": 0, "locked": False}
    desk.decide("ana", Choice(("d1", "e1"), "accept", everywhere=True))
    news = desk.news("d2", "ana", 0)
    assert news["length"] == 2
    assert [(one["open"], one["total"]) for one in news["documents"]] == [(2, 3), (0, 1)]


def test_all_of_a_kind_is_decided_at_once_and_taken_back_as_one_step(tmp_path: Path) -> None:
    texts = ["Ann Smith wrote to a@b.org", "Bob Ray wrote to c@d.org", "Cy Day wrote to e@f.org"]
    people, mails = ("Ann Smith", "Bob Ray", "Cy Day"), ("a@b.org", "c@d.org", "e@f.org")
    named_folder(
        tmp_path / "work",
        *(
            (text, (entity(text, "PERSON", person, probability=0.5), entity(text, "EMAIL", mail, probability=0.5)))
            for text, person, mail in zip(texts, people, mails, strict=True)
        ),
    )
    desk = Desk(tmp_path / "work")
    desk.decide("ana", Choice(("d2", "e1"), "reject"))
    assert desk.open_of_kind("EMAIL", "ana") == {
        "items": 2,
        "documents": 2,
        "names": ["a@b.org", "e@f.org"],
        "others": 0,
    }
    assert desk.decide_kind("ana", "d1", "EMAIL", "accept", "all mails go")["made"] == 2
    mails_now = [stands(desk, document, "ana")["e1"] for document in ("d1", "d2", "d3")]
    assert mails_now == ["masked", "kept", "masked"]  # what was decided by hand stays
    assert {stands(desk, document, "ana")["e0"] for document in ("d1", "d2", "d3")} == {"open"}
    with pytest.raises(InputError, match="nothing of this kind is open"):
        desk.decide_kind("ana", "d1", "EMAIL", "reject", "")
    desk.undo("ana", "d1", "")
    assert [stands(desk, document, "ana")["e1"] for document in ("d1", "d2", "d3")] == ["open", "kept", "open"]
