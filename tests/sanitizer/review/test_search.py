"""A search that remembers finds what a search from the beginning finds."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from shoal.sanitizer.review.outcome import current
from shoal.sanitizer.review.review import Review
from shoal.sanitizer.review.strings import RememberedSearch, Strings
from shoal.sanitizer.review.work import text_digest
from tests.sanitizer.review.folders import work_folder

WORDS = ("Ann", "Smith", "smith", "SMITH-Jones", "Blacksmith", "annsmith", "Šmith", "Will", "will", "1234567", "of")
STRINGS = ("annsmith", "smith", "Smith", "smithjones", "Will", "1234567", "jones", "ann", "blacksmith")


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=3),
    st.lists(st.sets(st.sampled_from(STRINGS)), min_size=2, max_size=6),
)
def test_nothing_is_missed_and_nothing_stays_whatever_strings_come_and_go(
    texts: list[str], steps: list[set[str]]
) -> None:
    remembered = RememberedSearch()
    for strings in steps:
        search = Strings(strings)
        for text in texts:
            assert remembered.readable(search, text_digest(text), text) == tuple(search.readable(text))


def test_a_review_comes_to_the_same_with_it(tmp_path: Path) -> None:
    work = work_folder(tmp_path / "work")
    remembered = RememberedSearch()
    review = Review(work, "ana", remembered)
    for key, action in ((("d1", "e0"), "accept"), (("d1", "e1"), "accept"), (("d1", "e0"), "reject")):
        review.decide([key], action)
        assert list(review.collection().outcomes()) == list(current(work).outcomes())
