"""Random hierarchies for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from shoal import Hierarchy
from tests.reference.taxonomy import Parents


@st.composite
def hierarchies(draw: st.DrawFn, most: int = 10) -> Parents:
    """A root and up to `most` - 1 concepts below it, with one to three parents each; names in any order."""
    names = draw(st.permutations([chr(ord("a") + place) for place in range(draw(st.integers(2, most)))]))
    parents: Parents = {names[0]: set()}
    for place, name in enumerate(names[1:], start=1):
        parents[name] = draw(st.sets(st.sampled_from(names[:place]), min_size=1, max_size=3))
    return parents


def hierarchy_of(parents: Parents) -> Hierarchy:
    return Hierarchy.from_pairs([(child, parent) for child, above in parents.items() for parent in sorted(above)])
