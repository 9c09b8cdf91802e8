"""Blocks: sentences or paragraphs where the terms of a policy stand close together, proposed for removal.

Hits near each other are a cluster; a cluster is widened to the sentences or paragraphs it is in. The densest come
first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from shoal.errors import InputError
from shoal.results.sanitizing import Block, Hit
from shoal.sanitizer.policies.words import TextWords, join_overlapping, units_of

REACH = 150  # characters between two hits of a cluster at most: about 25 words
FEWEST = 2  # hits of a cluster at least


def propose_blocks(
    text: str, hits: Sequence[Hit], unit: str = "sentence", reach: int = REACH, fewest: int = FEWEST
) -> tuple[Block, ...]:
    """Blocks that do not overlap, the densest first: hits per word, the earlier one of equally dense ones first.

    >>> text = "It rained. The submarine fired a missile. We had lunch."
    >>> hits = [Hit(15, 24, "submarine", "ship", "a"), Hit(33, 40, "missile", "weapon", "a")]
    >>> [(text[block.start : block.end], round(block.density, 2)) for block in propose_blocks(text, hits)]
    [('The submarine fired a missile.', 0.4)]
    """
    if reach < 0 or fewest < 1:
        raise InputError(f"reach={reach} and fewest={fewest} give no blocks; give at least 0 and 1")
    units = units_of(text, unit)
    ordered = sorted(hits, key=lambda hit: (hit.start, hit.end))
    clusters = [cluster for cluster in _clusters(ordered, reach) if len(cluster) >= fewest]
    stretches = join_overlapping(_widened(cluster, units) for cluster in clusters)
    starts = [hit.start for hit in ordered]
    blocks = []
    for start, end in stretches:
        inside = tuple(ordered[bisect_left(starts, start) : bisect_left(starts, end)])
        blocks.append(Block(start, end, inside, len(inside) / len(TextWords(text[start:end]).written)))
    return tuple(sorted(blocks, key=lambda block: (-block.density, block.start)))


def _clusters(hits: Sequence[Hit], reach: int) -> Iterator[list[Hit]]:
    """Hits in runs; from each to the next it is not farther than the reach."""
    cluster: list[Hit] = []
    end = 0
    for hit in hits:
        if cluster and hit.start - end > reach:
            yield cluster
            cluster = []
        cluster.append(hit)
        end = max(end, hit.end)
    if cluster:
        yield cluster


def _widened(cluster: Sequence[Hit], units: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """From the beginning of the unit with the first hit to the end of the unit with the last."""
    start, end = cluster[0].start, max(hit.end for hit in cluster)
    first = units[max(bisect_right(units, start, key=lambda unit: unit[0]) - 1, 0)][0]
    last = units[max(bisect_right(units, end - 1, key=lambda unit: unit[0]) - 1, 0)][1]
    return min(first, start), max(last, end)
