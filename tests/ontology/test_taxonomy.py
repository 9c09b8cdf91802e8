"""Building taxonomies: arrays against the twin, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given

from shoal import InputError
from shoal.ontology import build_taxonomy
from tests.ontology.hierarchies import hierarchies, hierarchy_of
from tests.reference import taxonomy as twin


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
        (["a", "b", "a"], [(0, 1)], "'a' given more than once as a concept"),
        (["a", "b"], [(0, 2)], "concept 2 is unknown; the 2 concepts have the numbers 0 to 1"),
        (["a", "b"], [(0, -1)], "concept -1 is unknown"),
        (["a", "b"], [(0, 1), (0, 0)], "'a': a concept cannot be its own parent"),
        (["a", "b"], [(0, 1), (0, 1)], "'a' has the parent 'b' more than once"),
        (["a", "b", "c"], [(0, 1)], r"2 roots \('b', 'c'\), and a hierarchy has one; put one concept above them"),
        (["a", "b", "c"], [(0, 1), (1, 2), (2, 0)], "a cycle: 'a' > 'b' > 'c' > 'a'; remove one of its links"),
        (["a", "b", "c", "r"], [(0, 1), (1, 2), (2, 1), (2, 3)], "a cycle: 'b' > 'c' > 'b'"),
    ],
    ids=["nothing", "twice", "unknown", "negative", "own parent", "twice a parent", "roots", "cycle", "cycle below"],
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
