"""Taxonomies as arrays, and how far apart their concepts are, against their slow twins."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given

from shoal import Hierarchy, InputError
from shoal.terms.taxonomy import build_taxonomy, distances, subsumers
from tests.reference import taxonomy as twin
from tests.terms.hierarchies import hierarchies, hierarchy_of


@given(hierarchies())
def test_depths_ancestors_and_links_are_those_of_the_twin(parents):
    taxonomy = hierarchy_of(parents).taxonomy
    names = taxonomy.names
    assert list(names) == sorted(parents)
    for concept, name in enumerate(names):
        assert taxonomy.depth[concept] == twin.depth(parents, name)
        assert {names[above] for above in taxonomy.parents_of(concept)} == parents[name]
        above = taxonomy.ancestors_of(concept).tolist()
        assert above == sorted(above)
        assert {names[one] for one in above} == twin.ancestors(parents, name)
        start = taxonomy.ancestor_indptr[concept]
        for place, one in enumerate(above):
            assert taxonomy.links[start + place] == twin.links(parents, name, names[one])
        below = taxonomy.descendants_of(concept).tolist()
        assert below == [other for other in range(len(names)) if concept in taxonomy.ancestors_of(other)]
    assert parents[names[taxonomy.root]] == set()


def test_a_root_alone_is_a_taxonomy():
    taxonomy = build_taxonomy(["everything"], [])
    assert (len(taxonomy), taxonomy.root, taxonomy.depth.tolist()) == (1, 0, [1])


def test_a_long_chain_is_no_trouble():
    n = 1500
    taxonomy = build_taxonomy([f"{number:04d}" for number in range(n)], [(child, child - 1) for child in range(1, n)])
    assert taxonomy.depth[-1] == n
    assert taxonomy.links[taxonomy.ancestor_indptr[-2]] == n - 1


@pytest.mark.parametrize(
    ("names", "pairs", "message"),
    [
        ([], [], "a hierarchy of 0 concepts; give at least one"),
        (["a", "b"], [(0, 1), (0, 0)], "'a': a concept cannot be its own parent"),
        (["a", "b", "c"], [(0, 1)], r"2 roots \('b', 'c'\), and a hierarchy has one; put one concept above them"),
        (["a", "b", "c"], [(0, 1), (1, 2), (2, 0)], "a cycle: 'a' > 'b' > 'c' > 'a'; remove one of its links"),
        (["a", "b", "c", "r"], [(0, 1), (1, 2), (2, 1), (2, 3)], "a cycle: 'b' > 'c' > 'b'"),
    ],
    ids=["nothing", "own parent", "roots", "cycle", "cycle below"],
)
def test_what_is_no_hierarchy_is_refused_in_one_line(names, pairs, message):
    with pytest.raises(InputError, match=message) as refused:
        build_taxonomy(names, pairs)
    assert "\n" not in str(refused.value)


def test_of_many_roots_and_of_a_long_cycle_the_message_names_a_few():
    names = [f"c{number:02d}" for number in range(40)]
    with pytest.raises(InputError, match=r"40 roots \('c00', 'c01', 'c02', 'c03', 'c04', …\)"):
        build_taxonomy(names, [])
    with pytest.raises(InputError, match="'c04' > … > 'c00'; remove"):
        build_taxonomy(names, [(child, (child + 1) % 40) for child in range(40)])


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
    assert even.label(subsumers(even.taxonomy, even.senses("x"), even.senses("y")).item()) == "p"


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


def test_a_link_given_twice_counts_once():
    taxonomy = build_taxonomy(["a", "b"], [(0, 1), (0, 1)])
    assert taxonomy.parents_of(0).tolist() == [1]


def test_no_concepts_make_an_empty_matrix():
    pair = Hierarchy.from_pairs([("a", "b")])
    assert distances(pair.taxonomy, [], [0, 1]).shape == (0, 2)
    assert subsumers(pair.taxonomy, [0], []).shape == (1, 0)
