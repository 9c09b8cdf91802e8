"""Groups joined until each has what is promised: of confidential values, of people, and of each record's own k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from shoal.errors import InputError
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.diversity import GroupDistances, join_until
from shoal.microaggregation.requirements import OwnK, People, Requirement
from shoal.protection.masked import values_of
from shoal.protection.tables.layout import OWN_K, PERSON, Layout, column_of
from shoal.protection.value_promises import check_kept, counted_values, value_requirements
from shoal.results.promised import GroupPromises

__all__ = ["joined_as_promised"]


def joined_as_promised(
    block: Block,
    layout: Layout,
    k: int,
    promises: GroupPromises,
    overall: Sequence[Mapping[str, int]] | None,
    distance_to_groups: GroupDistances,
) -> Block:
    """The block with groups joined; `overall` counts the values of all blocks, and is None where this is all."""
    columns = [values_of(column_of(block, layout, name)) for name in layout.roles.confidential]
    if overall is None:
        for name, values in zip(layout.roles.confidential, columns, strict=True):
            check_kept(promises, name, counted_values(values))
    requirements = [*_of_crowds(block, k), *value_requirements(promises, columns, overall)]
    groups = join_until(block.groups, requirements, distance_to_groups)
    if promises.t is not None and overall is None and block.groups.max() > 0 and groups.max() == 0:
        raise InputError(
            f"t={promises.t:g} leaves one group of all {len(groups):,} records; raise t, or name fewer --confidential "
            "columns"
        )
    return replace(block, groups=groups)


def _of_crowds(block: Block, k: int) -> list[Requirement]:
    person, own_k = block.carried.get(PERSON), block.carried.get(OWN_K)
    found: list[Requirement] = []
    if person is not None:
        found.append(People(person, k))
    if own_k is not None and int(np.max(own_k)) > k:
        found.append(OwnK(own_k, person))
    return found
