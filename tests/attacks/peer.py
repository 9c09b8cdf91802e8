"""Run by the Python of another environment, which has `recordlinkage` and not Shoal: fit its model to our patterns.

Reads {"patterns": [...], "attributes": d} from standard input, one pattern a pair, and writes what was learnt.
"""

from __future__ import annotations

import json
import sys

import pandas
from recordlinkage import ECMClassifier

given = json.load(sys.stdin)
columns = range(given["attributes"])
pairs = pandas.DataFrame([[pattern >> column & 1 for column in columns] for pattern in given["patterns"]])
pairs.columns = [f"attribute {column}" for column in columns]
pairs.index = pandas.MultiIndex.from_tuples([(place, place) for place in range(len(pairs))])
model = ECMClassifier(max_iter=10_000, atol=1e-12)
matches = model.fit_predict(pairs)
learnt = {
    "matches": float(model.p),
    "agree_if_match": [model.m_probs[name][1] for name in pairs.columns],
    "agree_if_not": [model.u_probs[name][1] for name in pairs.columns],
    "linked": sorted(place for place, _ in matches),
}
json.dump(learnt, sys.stdout)
