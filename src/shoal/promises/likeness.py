"""β-likeness: no confidential value is much more frequent in a group than among all records.

Source: Cao and Karras (2012), the enhanced form: a value that a share p of all records have, a group has at most
p · (1 + min(β, -ln p)) of. A value that becomes rarer in a group reveals less, and is not limited. Missing values are
left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from shoal.promises.requirements import ROUNDING, ConfidentialColumn, Ints, Requirement, ShareRequirement
from shoal.request.options import GroupPromises

OPTION = "beta"  # that promises it


class Like(ShareRequirement):
    """No value more frequent than β allows."""

    def __init__(self, codes: Ints, beta: float, overall: Ints) -> None:
        self.codes = codes
        share = overall / max(int(overall.sum()), 1)
        with np.errstate(divide="ignore"):
            self._most = share * (1.0 + np.minimum(beta, -np.log(share)))

    def enough(self, counts: Ints) -> bool:
        total = int(counts.sum())
        return total == 0 or bool(np.all(counts / total <= self._most[: len(counts)] + ROUNDING))


def requirement(promises: GroupPromises, column: ConfidentialColumn) -> Requirement:
    """What β asks of a column."""
    assert promises.beta is not None
    return Like(column.codes, promises.beta, column.overall)


def largest_gain(groups: Sequence[Mapping[str, int]]) -> float:
    """The largest (q - p) / p of any value, q its share in a group and p among all records."""
    overall: Counter[str] = Counter()
    for counts in groups:
        overall.update(counts)
    n_rows = overall.total()
    gains = [
        count / sum(counts.values()) * n_rows / overall[value] - 1.0
        for counts in groups
        for value, count in counts.items()
    ]
    return round(max(gains, default=0.0), 4)
