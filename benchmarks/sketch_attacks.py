"""Attacks on sketches: baskets and texts, by delta, and all kinds of sketches in one table."""

from __future__ import annotations

import gzip
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data, measure
from shoal.assessment.sketches import NamedCounts, all_kinds
from shoal.attacks.sketches.records import SketchedRecords
from shoal.attacks.sketches.recovery import KeyHolder
from shoal.data.baskets import count_baskets
from shoal.methods.sketches import DeltaSketch, SketchKey
from shoal.results.attacks import Recovered, SketchAttacks
from shoal.terms.vector_space import VectorSpace

BASKETS = 20_000
K = 5
# Specification 05: per cent of the items, by matching pursuit and by the largest estimates.
EXPECTED = {0.1: (92, 65), 0.2: (22, 38), 0.3: (10, 28), 0.4: (5, 20), 1.0: (2, 8)}
KEY = SketchKey.from_seed(0)


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    baskets = of_baskets()
    results: dict[str, Any] = {"deltas": [of_delta(baskets, delta) for delta in EXPECTED]}
    measure.show("T10I4D100K: items recovered with the key, by delta", results["deltas"])
    for name, records in (("baskets", baskets), ("texts", of_texts())):
        start = time.perf_counter()
        kinds = all_kinds(records, K, KEY)
        results[f"{name} seconds"] = [{"seconds": time.perf_counter() - start}]
        results[name] = [row for one in kinds for row in rows_of(one)]
        results[f"{name} known"] = [row for one in kinds for row in known(one)]
        measure.show(f"{name}: {results[f'{name} seconds']}", results[name])
        measure.show(f"{name}: records known", results[f"{name} known"])
    return results


def of_baskets() -> NamedCounts:
    with gzip.open(data.path("basket_T10I4D100K.dat.gz"), "rt", encoding="ascii") as lines:
        counts, items = count_baskets([line.split() for line, _ in zip(lines, range(BASKETS), strict=False)])
    return NamedCounts(counts, counts, items, of_items=True)


def of_texts() -> NamedCounts:
    space = VectorSpace(min_df=2)
    counted = space.count(data.texts("reuters_r52.jsonl.gz", only="r8"))
    rows = sp.csr_matrix(space.fit_counted(counted))
    counts = sp.csr_matrix(space.count_rows(counted), dtype=np.float64)
    counts.sort_indices()
    return NamedCounts(counts, rows, space.terms_.tolist(), of_items=False)


def of_delta(baskets: NamedCounts, delta: float) -> dict[str, Any]:
    sketches = DeltaSketch(delta, terms=baskets.terms, key=KEY).fit_transform(baskets.rows)
    sketched = SketchedRecords.each_its_own(baskets.rows, sketches.values, sketches.offsets)
    passing = KeyHolder().run(sketched, KEY.signs(baskets.terms, sketched.width))
    expected = EXPECTED[delta]
    return {
        "delta": delta,
        "components": int(np.median(sketches.lengths)),
        "matching pursuit, specified %": expected[0],
        "largest estimates, specified %": expected[1],
        "message passing %": percent(passing),
        "whole %": f"{100 * passing.whole.rate:.0f}",
        "guessing %": f"{100 * passing.items.baseline:.0f}",
    }


def rows_of(one: SketchAttacks) -> list[dict[str, Any]]:
    """A line of the table to choose by; of crowds, another for the sums published openly."""
    best = one.with_key
    line = {
        "sketches": f"{one.kind}, {one.setting}",
        "components": one.components,
        "withheld": one.withheld,
        "items, key %": percent(best),
        "whole, key %": f"{100 * best.whole.rate:.0f}",
        f"items, {one.most_known.known} known %": percent(one.most_known.strangers),
        "linked, key %": f"{100 * one.linked_with_key.rate:.1f}",
        "linked, no key %": f"{100 * one.linked_without_key.rate:.2f}",
        "guessing %": f"{100 * best.items.baseline:.0f}",
        "neighbours kept %": f"{100 * one.utility.neighbours.rate:.0f}",
    }
    if one.openly is None:
        return [line]
    openly = dict.fromkeys(line, "") | {
        "sketches": "the same sums, openly",
        "items, key %": percent(one.openly),
        "whole, key %": f"{100 * one.openly.whole.rate:.0f}",
    }
    return [line, openly]


def known(one: SketchAttacks) -> list[dict[str, Any]]:
    return [
        {
            "sketches": one.kind,
            "known": point.known,
            "signs %": f"{100 * point.signs:.0f}",
            "items of others %": percent(point.strangers),
        }
        for point in one.knowing_records
    ]


def percent(recovered: Recovered) -> str:
    """With its interval."""
    items = recovered.items
    return f"{100 * items.rate:.0f} ({100 * items.low:.0f}–{100 * items.high:.0f})"
