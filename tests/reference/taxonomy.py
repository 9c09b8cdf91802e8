"""Wu and Palmer's distance over sets: every path is walked, every common subsumer looked at."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

Parents = dict[str, set[str]]


def paths_up(parents: Parents, concept: str) -> Iterator[list[str]]:
    """Every way from a concept up to the root, both included."""
    if not parents[concept]:
        yield [concept]
    for parent in parents[concept]:
        for path in paths_up(parents, parent):
            yield [concept, *path]


def depth(parents: Parents, concept: str) -> int:
    """Nodes on the longest path from the root."""
    return max(len(path) for path in paths_up(parents, concept))


def ancestors(parents: Parents, concept: str) -> set[str]:
    """The concept and all above it."""
    return {above for path in paths_up(parents, concept) for above in path}


def links(parents: Parents, concept: str, above: str) -> int:
    """Fewest links up."""
    return min(path.index(above) for path in paths_up(parents, concept) if above in path)


def subsumer(parents: Parents, concepts: set[str]) -> str:
    """The deepest common subsumer; ties to the fewest links in all, then to the smaller name."""
    common = set.intersection(*(ancestors(parents, concept) for concept in concepts))
    return min(
        common,
        key=lambda one: (-depth(parents, one), sum(links(parents, concept, one) for concept in concepts), one),
    )


def distance(parents: Parents, a: str, b: str) -> float:
    """1 - similarity, rounded once."""
    lcs = subsumer(parents, {a, b})
    twice_depth = 2 * depth(parents, lcs)
    similarity = Fraction(twice_depth, links(parents, a, lcs) + links(parents, b, lcs) + twice_depth)
    return float(1 - similarity)


def candidates(parents: Parents, concepts: set[str]) -> set[str]:
    """All concepts on a path from one of the concepts up to their subsumer."""
    top = subsumer(parents, concepts)
    return {
        on_path
        for concept in concepts
        for path in paths_up(parents, concept)
        if top in path
        for on_path in path[: path.index(top) + 1]
    }
