"""Distances and subsumers against the twin that walks every path."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Hierarchy, InputError
from shoal.ontology import candidates, distances, least_common_subsumer, subsumers
from tests.ontology.hierarchies import hierarchies, hierarchy_of
from tests.reference import taxonomy as twin


@given(hierarchies())
def test_distances_and_subsumers_are_those_of_the_twin(parents):
    taxonomy = hierarchy_of(parents).taxonomy
    names = taxonomy.names
    everyone = np.arange(len(names))
    assert distances(taxonomy, everyone, everyone).tolist() == [
        [twin.distance(parents, a, b) for b in names] for a in names
    ]
    assert subsumers(taxonomy, everyone, everyone).tolist() == [
        [names.index(twin.subsumer(parents, {a, b})) for b in names] for a in names
    ]


@given(hierarchies(most=30))
def test_distances_are_symmetric_within_0_and_1_and_0_only_to_oneself(parents):
    taxonomy = hierarchy_of(parents).taxonomy
    everyone = np.arange(len(taxonomy))
    matrix = distances(taxonomy, everyone, everyone)
    assert (matrix == matrix.T).all()
    assert ((matrix >= 0) & (matrix < 1)).all()
    assert ((matrix == 0) == np.eye(len(taxonomy), dtype=bool)).all()


@given(hierarchies(), st.data())
def test_the_subsumer_of_a_set_and_its_candidates_are_those_of_the_twin(parents, data):
    taxonomy = hierarchy_of(parents).taxonomy
    names = taxonomy.names
    some = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=5))
    numbers = [names.index(name) for name in some]
    assert names[least_common_subsumer(taxonomy, numbers)] == twin.subsumer(parents, set(some))
    found = candidates(taxonomy, numbers)
    assert sorted(found) == list(found)
    assert {names[concept] for concept in found} == twin.candidates(parents, set(some))


def test_the_distance_worked_by_hand():
    """Depths: living 1, plant 2, tree 3, oak 4; animal 2, dog 3. Oak and tree meet in tree, oak and dog in living."""
    life = Hierarchy.from_pairs(
        [("plant", "living"), ("tree", "plant"), ("oak", "tree"), ("animal", "living"), ("dog", "animal")]
    )
    oak, tree, dog = (life.concept(name) for name in ("oak", "tree", "dog"))
    assert distances(life.taxonomy, [oak], [tree, dog, oak]).tolist() == [[1 / (1 + 6), 5 / (5 + 2), 0.0]]


def test_a_short_cut_to_the_root_does_not_make_a_concept_differ_from_itself():
    short_cut = Hierarchy.from_pairs([("b", "root"), ("c", "b"), ("d", "c"), ("d", "root")])
    d = short_cut.concept("d")
    assert short_cut.taxonomy.depth[d] == 4
    assert distances(short_cut.taxonomy, [d], [d]).item() == 0
    # Up to b two links, though the root is one link away.
    assert distances(short_cut.taxonomy, [d], [short_cut.concept("b")]).item() == 2 / (2 + 2 * 2)


def test_equally_deep_subsumers_go_by_links_then_by_name():
    """x and y are both below p and below q; q is one link nearer to x."""
    links = [("p", "top"), ("q", "top"), ("m", "p"), ("x", "m"), ("x", "q"), ("y", "p"), ("y", "q")]
    tied = Hierarchy.from_pairs(links)
    x, y = tied.concept("x"), tied.concept("y")
    assert tied.label(subsumers(tied.taxonomy, [x], [y]).item()) == "q"
    even = Hierarchy.from_pairs([("p", "top"), ("q", "top"), ("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")])
    assert even.label(least_common_subsumer(even.taxonomy, even.senses("x") + even.senses("y"))) == "p"


def test_the_number_of_threads_has_no_bearing():
    parents = {"c0": set()} | {f"c{n}": {f"c{n // 3}", f"c{n // 2}"} - {f"c{n}"} for n in range(1, 300)}
    taxonomy = hierarchy_of(parents).taxonomy
    everyone = np.arange(300)
    before = numba.get_num_threads()
    many = distances(taxonomy, everyone, everyone)
    try:
        numba.set_num_threads(1)
        assert (distances(taxonomy, everyone, everyone) == many).all()
    finally:
        numba.set_num_threads(before)


def test_no_concepts_make_an_empty_matrix():
    pair = Hierarchy.from_pairs([("a", "b")])
    assert distances(pair.taxonomy, [], [0, 1]).shape == (0, 2)
    assert subsumers(pair.taxonomy, [0], []).shape == (1, 0)


@pytest.mark.parametrize("function", [least_common_subsumer, candidates])
def test_no_concepts_have_no_subsumer(function):
    with pytest.raises(InputError, match="0 concepts have no common subsumer"):
        function(Hierarchy.from_pairs([("a", "b")]).taxonomy, [])


@pytest.mark.parametrize("number", [-1, 2])
def test_an_unknown_number_is_refused(number):
    taxonomy = Hierarchy.from_pairs([("a", "b")]).taxonomy
    with pytest.raises(InputError, match=f"concept {number} is unknown; this taxonomy has the numbers 0 to 1"):
        distances(taxonomy, [0], [number])
