"""Groups joined until each has enough different values of every confidential column."""

from __future__ import annotations

from dataclasses import replace

from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.diversity import GroupDistances, merge_until_diverse
from shoal.protection.groups import check_values, value_codes
from shoal.protection.masked import values_of
from shoal.protection.tables.layout import Layout, column_of

__all__ = ["merged"]


def merged(block: Block, layout: Layout, least: int, distance_to_groups: GroupDistances) -> Block:
    """The block with groups joined, each with the nearest."""
    codes = []
    for name in layout.roles.confidential:
        values = values_of(column_of(block, layout, name))
        check_values(name, values, least)
        codes.append(value_codes(values))
    return replace(block, groups=merge_until_diverse(block.groups, codes, least, distance_to_groups))
