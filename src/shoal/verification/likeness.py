"""β-likeness, recounted: how much more frequent a confidential value is in some group than in all rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shoal.results.claims import Claim
from shoal.verification.values import LAST_DIGIT, DistinctValues, shares, within_likeness


def likeness_claims(
    values: Mapping[str, DistinctValues], n_groups: int, promises: dict[str, Any], file: str
) -> Iterator[Claim]:
    """A share p of all rows becomes at most p · (1 + min(β, -ln p)) of a group; and the gain is the one stated."""
    promised = promises["likeness"]
    beta, stated = promised["bound"], {column["column"]: column["gain"] for column in promised["columns"]}
    if beta <= 0 or stated.keys() != values.keys() or len(stated) < len(promised["columns"]) or not stated:
        yield Claim("β-likeness", False, "it is not stated of the confidential columns, of each once", file)
        return
    for name, column in values.items():
        group, code, rows = column.counted()
        p, q = shares(group, code, rows, n_groups)
        gain = float((q / p - 1.0).max(initial=0.0))
        within = within_likeness(group, code, rows, n_groups, beta)
        holds = within and abs(gain - stated[name]) <= LAST_DIGIT
        kept = f"{name!r}: no value is more than {1 + gain:.4f} times as frequent in a group as in all (β={beta:g})"
        wrong = f"{name!r}: a value is {1 + gain:.4f} times as frequent in a group as in all, β={beta:g}"
        yield Claim("β-likeness", holds, kept if holds else f"{wrong} and {stated[name]:g} are stated", file)
