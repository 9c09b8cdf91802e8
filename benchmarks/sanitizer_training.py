"""What decisions buy: weights trained on some reviewed biographies, judged on others."""

from __future__ import annotations

import random
from typing import Any

from benchmarks import data, measure
from benchmarks.sanitizer import figures, must_be_masked, spans

REVIEWED = (0, 4, 8, 16, 32, 64)  # biographies; of none: the weights of the package, which have seen court cases
TIMES = 5  # random divisions
THRESHOLD = 0.15
FIGURES = ("direct entities", "quasi entities", "precision")


def run() -> dict[str, Any]:
    from shoal.sanitizer.entities.descriptions import well_known
    from shoal.sanitizer.entities.finder import EntityFinder
    from shoal.sanitizer.entities.judging import shipped_weights
    from shoal.sanitizer.training import LabelledText, examples_of, fit_weights

    lives = data.records("wikibio_tune.jsonl.gz")
    drafted = [drafts for _, drafts in EntityFinder().drafts(life["text"] for life in lives)]
    examples = [
        examples_of(LabelledText(life["text"], must_be_masked(life)), drafts)
        for life, drafts in zip(lives, drafted, strict=True)
    ]
    sums = {count: dict.fromkeys(("decisions", *FIGURES), 0.0) for count in REVIEWED}
    for time in range(TIMES):
        order = random.Random(time).sample(range(len(lives)), len(lives))
        judged = order[max(REVIEWED) :]
        for count in REVIEWED:
            seen = [example for number in order[:count] for example in examples[number]]
            weights = fit_weights(seen) if seen else shipped_weights()
            masked = [
                spans(weights.judged(lives[number]["text"], drafted[number], well_known().stays), THRESHOLD)
                for number in judged
            ]
            scores = figures("", [lives[number] for number in judged], masked)
            sums[count]["decisions"] += len(seen)
            for name in FIGURES:
                sums[count][name] += scores[name]
    rows = [
        {"documents reviewed": count, **{name: value / TIMES for name, value in row.items()}}
        for count, row in sums.items()
    ]
    measure.show("curve", rows)
    return {"curve": rows}
