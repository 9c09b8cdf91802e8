"""Decisions: a log that replays, undo, two reviewers, repeats of what is masked."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.results.sanitizing import Decision, Entity, Mention
from shoal.sanitizer.review.decisions import replay
from shoal.sanitizer.review.outcome import ReviewedCollection, current
from shoal.sanitizer.review.review import Review
from shoal.sanitizer.review.strings import Strings, folded
from shoal.sanitizer.review.work import Unfinished, WorkFolder
from tests.sanitizer.review.folders import LETTERS, SETTINGS, entity, letters, named_folder, work_folder

SMITH, RAY, GIRONA, DOSE, RAY_2 = ("d1", "e0"), ("d1", "e1"), ("d1", "e2"), ("d1", "b0"), ("d2", "e0")


@pytest.fixture
def work(tmp_path: Path) -> WorkFolder:
    return work_folder(tmp_path / "work")


def masked(work: WorkFolder) -> set[tuple[str, str]]:
    return {item.key for outcome in current(work).outcomes() for item in outcome.masked}


def open_items(work: WorkFolder) -> set[tuple[str, str]]:
    return {item.key for outcome in current(work).outcomes() for item in outcome.open}


def test_what_is_below_the_threshold_stays_and_everything_else_is_pending(work: WorkFolder) -> None:
    assert open_items(work) == {SMITH, RAY, DOSE, RAY_2}
    assert masked(work) == set()


def test_what_is_unsure_comes_first_and_equal_ones_come_together(work: WorkFolder) -> None:
    first, *_ = Review(work, "ana").queue()
    assert {item.key for item in first} == {RAY, RAY_2}  # .6 is nearer to .5 than .9


def test_a_masked_string_is_found_wherever_else_it_stands(work: WorkFolder) -> None:
    review = Review(work, "ana")
    review.decide([SMITH], "accept")
    start = LETTERS[1].index("ANN-SMITH")
    repeat = ("d2", f"r{start}-{start + 9}")
    assert repeat in open_items(work)
    review.decide([repeat], "reject", reason="another Smith")
    assert repeat not in open_items(work) | masked(work)


@pytest.mark.parametrize(
    ("masked_name", "other", "places"),
    [
        ("Mr. Dunstable", "See dunstable.pdf.", {"r4-13"}),
        ("Ivo Dunstable", "Dear DUNSTABLE, dear Ivo,", {"r5-14"}),
        ("Dr. Ivo Fox", "ivo fox, a fox", {"r0-7"}),  # a surname of 3 letters is not searched for
        ("Mrs. Baker", "Baker is a baker.", {"r0-5"}),  # an ordinary word: only with a capital
        ("Mr. Fox", "Fox is a fox.", {"r0-3"}),
        ("Ann Dunstable Jr.", "Junior, or Dunstable", {"r11-20"}),
        ("the King of Spain", "Spain won.", set()),
    ],
)
def test_a_person_is_found_by_surname_and_without_title(
    tmp_path: Path, masked_name: str, other: str, places: set[str]
) -> None:
    first = f"We met {masked_name} there."
    work = named_folder(tmp_path / "w", (first, (entity(first, "PERSON", masked_name),)), (other, ()))
    Review(work, "ana").decide([("d1", "e0")], "accept")
    assert open_items(work) == {("d2", place) for place in places}


def test_a_rejected_entity_is_left_even_where_it_is_masked_elsewhere(work: WorkFolder) -> None:
    review = Review(work, "ana")
    review.decide([RAY], "accept")
    review.decide([RAY_2], "reject")
    assert masked(work) == {RAY}
    assert open_items(work) == {SMITH, DOSE}


def test_a_rejected_entity_does_not_hide_the_masked_name_within_it(tmp_path: Path) -> None:
    first, second = "Quillfeather left.", "On the Dhomhnaill & Quillfeather Case."
    work = named_folder(
        tmp_path / "w",
        (first, (entity(first, "PERSON", "Quillfeather"),)),
        (second, (entity(second, "CASE", "Dhomhnaill & Quillfeather Case"),)),
    )
    review = Review(work, "ana")
    review.decide([("d1", "e0")], "accept")
    review.decide([("d2", "e0")], "reject")
    assert open_items(work) == {("d2", "r20-32")}
    review.decide([("d2", "r20-32")], "reject")
    assert open_items(work) == set()


def test_what_is_below_the_threshold_can_be_accepted(work: WorkFolder) -> None:
    Review(work, "ana").decide([GIRONA], "accept")
    assert masked(work) == {GIRONA}


def test_a_block_shrinks_within_its_bounds_only(work: WorkFolder) -> None:
    review = Review(work, "ana")
    review.decide([DOSE], "shrink", span=(37, 41))
    (outcome, _) = current(work).outcomes()
    assert [LETTERS[0][m.start : m.end] for item in outcome.masked for m in item.mentions] == ["dose"]
    with pytest.raises(InputError, match="span 0-41 is not within b0 of d1"):
        review.decide([DOSE], "shrink", span=(0, 41))
    with pytest.raises(InputError, match="no letter"):
        review.decide([DOSE], "shrink", span=(36, 37))


def test_an_entity_shrinks_in_all_its_places_alike(tmp_path: Path) -> None:
    first = "Dr Ann Vale of Girona met Vale; DR ANN VALE OF GIRONA left Girona."
    second = "To Dr. Ann Vale of Girona."
    mentions = tuple(Mention(*span) for span in ((0, 21), (26, 30), (32, 53)))
    name = "Dr Ann Vale of Girona"
    work = named_folder(
        tmp_path / "w",
        (first, (Entity("PERSON", mentions, name, "direct", 0.9),)),
        (
            second,
            (entity(second, "PERSON", "Dr. Ann Vale of Girona"), entity(second, "LOC", "Girona", probability=0.1)),
        ),
    )
    review = Review(work, "ana")
    made = review.shrink([("d1", "e0"), ("d2", "e0")], (0, 11))
    assert [(decision.action, decision.span) for decision in made] == [("shrink", (0, 11)), ("shrink", (3, 15))]
    shown = [
        (item.name, [review.text(item.document)[m.start : m.end] for m in item.mentions])
        for outcome in current(work).outcomes()
        for item in outcome.masked
    ]
    assert shown == [("Dr Ann Vale", ["Dr Ann Vale", "Vale", "DR ANN VALE"]), ("Dr. Ann Vale", ["Dr. Ann Vale"])]
    assert open_items(work) == set()  # Girona is masked nowhere any more
    with pytest.raises(InputError, match="e1 of d2 does not have that part; decide it by itself"):
        review.shrink([("d1", "e0"), ("d2", "e1")], (0, 11))
    review.undo()
    assert open_items(work) == {("d1", "e0"), ("d2", "e0")}


def test_redo_brings_back_what_undo_took_step_by_step(work: WorkFolder) -> None:
    review, other = Review(work, "ana"), Review(work, "ben")
    review.decide([SMITH], "accept")
    review.decide([RAY, RAY_2], "accept")
    review.undo()
    review.undo()
    assert masked(work) == set()
    other.decide([GIRONA], "accept")  # what others do is no matter
    assert [decision.of for decision in review.redo()] == [5]
    assert masked(work) == {SMITH, GIRONA}
    review.redo()
    assert masked(work) == {SMITH, RAY, RAY_2, GIRONA}
    assert review.redo() == ()
    review.undo()
    assert masked(work) == {SMITH, GIRONA}
    review.decide([DOSE], "reject")
    assert review.redo() == ()  # another way was taken
    assert masked(work) == {SMITH, GIRONA}


def test_history_says_who_decided_what_and_what_still_holds(work: WorkFolder) -> None:
    review = Review(work, "ana")
    review.decide([SMITH], "accept", reason="a patient")
    review.undo()
    Review(work, "ben").decide([SMITH, RAY], "reject")
    lines = [(line.decision.reviewer, line.decision.action, line.holds) for line in review.history(SMITH)]
    assert lines == [("ana", "accept", False), ("ana", "undo", True), ("ben", "reject", True)]
    assert len(review.history()) == 4
    review.redo()
    assert [line.holds for line in review.history(SMITH)] == [True, False, True, True]


def test_progress_counts_what_is_decided_and_open(work: WorkFolder) -> None:
    ana, ben = Review(work, "ana"), Review(work, "ben")
    ana.decide([SMITH, RAY], "accept")
    ben.decide([RAY, DOSE], "reject")
    progress = ana.progress()
    # Masked: Ann Smith. Left: the dose. Disputed: Bob Ray of the first letter. Pending: Bob Ray of the second, and
    # ANN-SMITH there.
    assert (progress.masked, progress.left, progress.disputed, progress.pending) == (1, 1, 1, 2)
    assert progress.items == 5
    assert ben.outcome("d2").open == tuple(item for item in ana.outcome("d2").items)
    with pytest.raises(InputError, match="there is no document 'd3'; give one of d1 to d2"):
        ana.text("d3")


def test_an_added_entity_is_masked_wherever_the_document_has_it(tmp_path: Path) -> None:
    text = "Vic saw vic, not Victor."
    (first, _) = letters()
    from dataclasses import replace

    from shoal.sanitizer.review.work import text_digest

    work = work_folder(tmp_path / "w", (text,), [replace(first, digest=text_digest(text), entities=(), blocks=())])
    Review(work, "ana").add("d1", (0, 3), "PERSON")
    (outcome,) = current(work).outcomes()
    assert [(m.start, m.end) for m in outcome.masked[0].mentions] == [(0, 3), (8, 11)]


def test_a_string_is_looked_up_in_all_documents_in_any_spelling(work: WorkFolder) -> None:
    assert Review(work, "ana").places_of("Ann Smith") == {"d1": (0, 9), "d2": (17, 26)}
    assert Review(work, "ana").places_of("Zoe") == Review(work, "ana").places_of("") == {}


def test_undo_takes_back_the_last_step_as_a_whole_and_can_be_undone(work: WorkFolder) -> None:
    review = Review(work, "ana")
    review.decide([SMITH], "accept")
    review.decide([RAY, RAY_2], "accept")
    undone = review.undo()
    assert [decision.of for decision in undone] == [1, 2]
    assert masked(work) == {SMITH}
    review.undo([decision.number for decision in undone])
    assert masked(work) == {SMITH, RAY, RAY_2}


def test_nobody_takes_back_what_another_decided(work: WorkFolder) -> None:
    Review(work, "ana").decide([SMITH], "accept")
    with pytest.raises(InputError, match="another reviewer's"):
        Review(work, "ben").undo([0])
    assert Review(work, "ben").undo() == ()


def test_two_reviewers_must_agree_and_a_third_decision_settles(tmp_path: Path) -> None:
    work = work_folder(tmp_path / "w", reviewers=2)
    ana, ben = Review(work, "ana"), Review(work, "ben")
    ana.decide([SMITH, RAY], "accept")
    assert SMITH in open_items(work)
    ben.decide([SMITH], "accept")
    ben.decide([RAY], "reject")
    assert masked(work) == {SMITH}
    ((item, decisions),) = ben.differences()
    assert item.key == RAY
    assert {(decision.reviewer, decision.action) for decision in decisions} == {
        ("ana", "accept"),
        ("ben", "reject"),
    }
    with pytest.raises(InputError, match="e1 of d1 was decided by ana, who cannot adjudicate it"):
        ana.decide([RAY], "accept", adjudicates=True)
    Review(work, "chair").decide([RAY], "accept", reason="a witness", adjudicates=True)
    assert masked(work) == {SMITH, RAY}
    assert ben.differences() == []


def test_reviewers_who_shrink_differently_differ(work: WorkFolder) -> None:
    Review(work, "ana").decide([DOSE], "shrink", span=(33, 41))
    Review(work, "ben").decide([DOSE], "shrink", span=(37, 41))
    assert [item.key for item, _ in Review(work, "ben").differences()] == [DOSE]


def test_a_locked_folder_takes_no_decision(work: WorkFolder) -> None:
    work.lock("0" * 64)
    with pytest.raises(InputError, match="locked"):
        Review(work, "ana").decide([SMITH], "accept")


def test_the_folder_and_everything_in_it_is_its_owners_alone(work: WorkFolder) -> None:
    Review(work, "ana").decide([SMITH], "accept")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (work.path, *work.path.rglob("*"))}
    assert modes == {0o700, 0o600}


def changed(path: Path, change: object) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(change(lines)))  # type: ignore[operator]


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[1:],
        lambda lines: [lines[0], lines[2]],
        lambda lines: [lines[0].replace("accept", "reject"), *lines[1:]],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: ["{}\n", *lines[1:]],
        lambda lines: ["\ufeff" + lines[0], *lines[1:]],
    ],
)
def test_a_log_that_was_changed_is_refused(work: WorkFolder, change: object) -> None:
    review = Review(work, "ana")
    for key in (SMITH, RAY, DOSE):
        review.decide([key], "accept")
    changed(work.path / "decisions.jsonl", change)
    with pytest.raises(InputError, match="restore the log"):
        current(WorkFolder(work.path))


def test_a_log_of_other_documents_is_refused(work: WorkFolder, tmp_path: Path) -> None:
    other = work_folder(tmp_path / "other")
    Review(other, "ana").decide([SMITH], "accept")
    (work.path / "decisions.jsonl").write_bytes((other.path / "decisions.jsonl").read_bytes())
    with pytest.raises(InputError, match="belongs to other documents"):
        current(WorkFolder(work.path))


def test_a_line_that_was_not_finished_is_cut_off_and_nothing_else_is_lost(work: WorkFolder) -> None:
    review = Review(work, "ana")
    review.decide([SMITH], "accept")
    with (work.path / "decisions.jsonl").open("ab") as file:
        file.write(b'{"action": "acc')
    again = WorkFolder(work.path)
    assert masked(again) == {SMITH}
    Review(again, "ana").decide([DOSE], "accept")
    assert masked(WorkFolder(work.path)) == {SMITH, DOSE}


def test_a_text_that_was_changed_is_refused(work: WorkFolder) -> None:
    (work.path / "documents" / "d1.txt").write_text("other")
    with pytest.raises(InputError, match="has changed since it was read"):
        open_items(work)


def test_reading_goes_on_where_it_ended(tmp_path: Path) -> None:
    first, second = letters()
    unfinished = Unfinished(tmp_path / "w", SETTINGS)
    unfinished.add(first, LETTERS[0], None)
    with pytest.raises(InputError, match="not finished"):
        WorkFolder(tmp_path / "w")
    with (tmp_path / "w" / "proposals.part.jsonl").open("ab") as file:
        file.write(b'{"docu')
    again = Unfinished(tmp_path / "w", SETTINGS)
    assert again.done == {"a.txt": first.digest}
    again.add(second, LETTERS[1], None)
    assert [proposals.document for proposals in again.finish().proposals] == ["d1", "d2"]
    with pytest.raises(InputError, match="other settings"):
        Unfinished(tmp_path / "w", SETTINGS | {"threshold": 0.5})


def decide_many(path: str, reviewer: str, count: int) -> None:
    """In a process of its own."""
    review = Review(WorkFolder(path), reviewer)
    for number in range(count):
        review.decide([SMITH, DOSE], ("accept", "reject")[number % 2])


def test_two_reviewers_deciding_at_once_lose_nothing(work: WorkFolder) -> None:
    spawned = multiprocessing.get_context("spawn")
    processes = [spawned.Process(target=decide_many, args=(str(work.path), name, 60)) for name in ("ana", "ben", "cy")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    decisions = WorkFolder(work.path).log.read()  # the chain is checked line by line
    assert len(decisions) == 3 * 60 * 2
    for name in ("ana", "ben", "cy"):
        own = [decision.action for decision in decisions if decision.reviewer == name]
        assert own == ["accept", "accept", "reject", "reject"] * 30
    assert len({decision.at for decision in decisions}) == 180  # a step is a time


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["accept", "reject"]), st.sampled_from([SMITH, RAY, GIRONA, DOSE, RAY_2])),
        st.tuples(st.just("shrink"), st.integers(33, 40)),
        st.tuples(st.just("add"), st.integers(0, 60)),
        st.tuples(st.just("shrink entity"), st.integers(1, 9)),
        st.tuples(st.just("undo"), st.none()),
        st.tuples(st.just("redo"), st.none()),
    ),
    max_size=12,
)


def act(review: Review, step: tuple[str, object]) -> None:
    action, of = step
    if action == "undo":
        review.undo()
    elif action == "redo":
        review.redo()
    elif action == "shrink entity":
        review.shrink([SMITH], (0, of))  # type: ignore[arg-type]
    elif action == "shrink":
        review.decide([DOSE], "shrink", span=(of, 41))  # type: ignore[arg-type]
    elif action == "add":
        review.add("d1", (of, of + 3), "PERSON")  # type: ignore[operator, arg-type]
    else:
        review.decide([of], action)  # type: ignore[list-item]


@given(steps=STEPS, who=st.lists(st.sampled_from(["ana", "ben"]), min_size=12, max_size=12))
def test_replaying_the_log_gives_the_same_state_and_undoing_everything_the_original(
    steps: list[tuple[str, object]], who: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = work_folder(Path(folder) / "w")
        before = list(current(work).outcomes())
        for step, reviewer in zip(steps, who, strict=False):
            act(Review(work, reviewer), step)
        decisions = work.log.read()
        again = WorkFolder(work.path)
        assert again.log.read() == decisions
        assert again.log.head == work.log.head
        assert list(current(again).outcomes()) == list(ReviewedCollection(work, replay(decisions)).outcomes())
        for reviewer in ("ana", "ben"):
            while Review(work, reviewer).undo():
                pass
        assert list(current(work).outcomes()) == before


def test_a_decision_needs_an_item_that_is_there(work: WorkFolder) -> None:
    for key in (("d1", "e9"), ("d9", "e0"), ("d1", "r0-3")):
        with pytest.raises(InputError, match="there is no item"):
            Review(work, "ana").decide([key], "accept")
    assert not (work.path / "decisions.jsonl").exists()


def test_the_log_is_readable_data(work: WorkFolder) -> None:
    Review(work, "ana").decide([SMITH], "accept", reason="a patient")
    line = json.loads((work.path / "decisions.jsonl").read_text())
    assert set(line) == set(Decision.__dataclass_fields__)
    assert (line["reviewer"], line["reason"], line["action"]) == ("ana", "a patient", "accept")


@pytest.mark.parametrize(
    ("string", "text"),
    [
        ("José Núñez", "as jose nunez said"),
        ("Jean-Paul", "JEAN PAUL left"),
        ("Jean Paul", "(JeanPaul)"),
        ("0123 456", "call 01-234-56 now"),
        ("Straße", "in der STRASSE"),
    ],
)
def test_strings_are_found_whatever_their_case_accents_spaces_and_hyphens(string: str, text: str) -> None:
    (found,) = Strings([folded(string)]).find(text)
    assert folded(text[found.start : found.end]) == folded(string)


def test_strings_are_whole_words_and_the_longest_wins() -> None:
    search = Strings(["ann", "annsmith", "5"])
    assert [found.string for found in search.find("Anna met Ann Smith and Ann, 5 times")] == ["annsmith", "ann"]


def test_a_folder_of_another_version_is_told_from_one_that_is_no_work_folder(work: WorkFolder) -> None:
    settings_file = work.path / "settings.json"
    settings_file.write_text(settings_file.read_text().replace("shoal-sanitizer/1", "shoal-sanitizer/9"))
    with pytest.raises(
        InputError, match=r"another version of Shoal, or changed \('shoal-sanitizer/9', this version reads"
    ):
        WorkFolder(work.path)
    settings_file.write_text("[")
    with pytest.raises(InputError, match="not a work folder"):
        WorkFolder(work.path)


def test_a_folder_that_could_not_be_begun_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.rename", full)
        with pytest.raises(OSError, match="No space left"):
            Unfinished(tmp_path / "w", SETTINGS)
    first, _ = letters()
    Unfinished(tmp_path / "w", SETTINGS).add(first, LETTERS[0], None)
    assert list(Unfinished(tmp_path / "w", SETTINGS).done) == ["a.txt"]


def test_a_folder_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    with pytest.raises(InputError, match="not a work folder"):
        Unfinished(tmp_path / "mine", SETTINGS)
    assert os.listdir(tmp_path / "mine") == ["file"]


def test_a_word_masked_by_mistake_does_not_empty_other_documents(tmp_path: Path) -> None:
    first, second = "Article I. The pact. Union men left. ISA ruled.", "The men said it is a union, not the Union. ISA!"
    people = (
        entity(first, "PERSON", "Article I. The", "The"),
        entity(first, "ORG", "Union"),
        entity(first, "ORG", "ISA"),
    )
    work = named_folder(tmp_path / "work", (first, people), (second, ()))
    review = Review(work, "ana")
    review.decide([("d1", "e0"), ("d1", "e1"), ("d1", "e2")], "accept")
    *_, outcome = review.collection().outcomes()
    assert [second[m.start : m.end] for item in outcome.open for m in item.mentions] == ["Union", "ISA"]


def test_undo_and_redo_go_back_and_forth_until_something_else_is_decided(tmp_path: Path) -> None:
    review = Review(work_folder(tmp_path / "work"), "ana")

    def answers() -> dict[str, str]:
        given = review.collection().state.by_reviewer
        return {item: decision.action for (_, item), own in given.items() for decision in own.values()}

    review.decide([("d1", "e0")], "accept")
    review.decide([("d1", "e1"), ("d2", "e0")], "reject")
    assert len(review.undo()) == 2
    assert len(review.undo()) == 1
    assert answers() == {}
    assert review.undo() == ()
    review.redo()
    assert answers() == {"e0": "accept"}
    assert len(review.redo()) == 2
    assert answers() == {"e0": "reject", "e1": "reject"}  # e0 of both letters; the second comes last
    assert review.redo() == ()
    review.undo()
    review.redo()
    review.undo()
    assert answers() == {"e0": "accept"}
    review.decide([("d1", "b0")], "accept")
    assert review.redo() == ()
    assert answers() == {"e0": "accept", "b0": "accept"}
    assert Review(review.work, "ben").redo() == ()


def test_a_proposal_of_an_unknown_kind_is_a_damaged_line(work: WorkFolder) -> None:
    proposals = work.path / "proposals.jsonl"
    proposals.write_text(proposals.read_text().replace('"kind": "PERSON"', '"kind": "BIRD"', 1))
    with pytest.raises(InputError, match=r"proposals\.jsonl is damaged in line 1") as refused:
        WorkFolder(work.path).proposals  # noqa: B018
    assert "BIRD" not in str(refused.value)
