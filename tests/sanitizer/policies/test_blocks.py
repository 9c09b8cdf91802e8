"""Dense stretches are proposed at the bounds of sentences, the densest first."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.results.sanitizing import Hit
from shoal.sanitizer.policies.matching import propose_blocks

FILLER = "We had lunch and spoke of the weather for a long while. " * 4  # longer than the reach of a cluster


def hits_of(text: str, *terms: str) -> list[Hit]:
    return [
        Hit(place, place + len(term), term, term, "a")
        for term in terms
        for place in range(len(text))
        if text.startswith(term, place)
    ]


def test_a_dense_stretch_is_proposed_with_the_terms_that_caused_it() -> None:
    text = f"{FILLER}The submarine fired a missile. {FILLER}"
    (block,) = propose_blocks(text, hits_of(text, "missile", "submarine"))
    assert text[block.start : block.end] == "The submarine fired a missile."
    assert [hit.term for hit in block.hits] == ["submarine", "missile"]
    assert block.density == 2 / 5  # hits per word


def test_the_densest_block_comes_first() -> None:
    text = f"A gun and, among many other and harmless things, a tank. {FILLER}Guns, guns. {FILLER}"
    blocks = propose_blocks(text, hits_of(text, "gun", "tank", "Gun"))
    assert [text[block.start : block.end] for block in blocks] == [
        "Guns, guns.",
        "A gun and, among many other and harmless things, a tank.",
    ]


def test_a_single_hit_is_no_dense_stretch_unless_asked_for() -> None:
    text = f"{FILLER}A gun. {FILLER}"
    assert propose_blocks(text, hits_of(text, "gun")) == ()
    (block,) = propose_blocks(text, hits_of(text, "gun"), fewest=1)
    assert text[block.start : block.end] == "A gun."


def test_hits_far_from_each_other_are_no_cluster() -> None:
    text = f"A gun. {FILLER}A tank."
    assert propose_blocks(text, hits_of(text, "gun", "tank")) == ()
    assert len(propose_blocks(text, hits_of(text, "gun", "tank"), reach=len(FILLER) + 20)) == 1


def test_a_block_of_paragraphs_ends_with_a_paragraph() -> None:
    text = "It rained. A gun and a tank. It rained.\n\nIt rained again."
    (block,) = propose_blocks(text, hits_of(text, "gun", "tank"), unit="paragraph")
    assert text[block.start : block.end] == "It rained. A gun and a tank. It rained."


def test_a_cluster_over_two_sentences_takes_both_whole() -> None:
    text = "It rained. He drew a gun there. A tank came. It rained."
    (block,) = propose_blocks(text, hits_of(text, "gun", "tank"))
    assert text[block.start : block.end] == "He drew a gun there. A tank came."


def test_a_text_without_hits_has_no_blocks() -> None:
    assert propose_blocks("", []) == propose_blocks("It rained.", []) == ()


def test_a_reach_or_a_number_of_hits_that_gives_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="reach=-1"):
        propose_blocks("", [], reach=-1)


@given(
    st.lists(st.sampled_from(["gun ", "tank ", "rain ", "Sun. ", "Sea!\n\n", "🐟 "]), max_size=60).map("".join),
    st.integers(0, 40),
    st.integers(1, 3),
    st.sampled_from(["sentence", "paragraph"]),
)
def test_blocks_never_overlap_and_hold_every_cluster(text: str, reach: int, fewest: int, unit: str) -> None:
    hits = hits_of(text, "gun", "tank")
    blocks = propose_blocks(text, hits, unit, reach, fewest)
    assert [block.density for block in blocks] == sorted((block.density for block in blocks), reverse=True)
    places = sorted((block.start, block.end) for block in blocks)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    assert all(len(block.hits) >= fewest for block in blocks)
    held = {hit for block in blocks for hit in block.hits}
    assert len(held) == sum(len(block.hits) for block in blocks)
    if fewest == 1:
        assert held == set(hits)
