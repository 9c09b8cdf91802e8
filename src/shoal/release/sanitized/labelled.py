"""Documents in which it is marked what must be masked: a work folder that was reviewed, or JSONL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import InputError
from shoal.io.files import PathLike, is_folder, reading, shown
from shoal.release.sanitized.plan import check_decided
from shoal.sanitizer.identifying.training import LabelledText
from shoal.sanitizer.review.items import BLOCK
from shoal.sanitizer.review.outcome import current
from shoal.sanitizer.review.work import WorkFolder

__all__ = ["labelled_texts"]


def labelled_texts(path: PathLike) -> Iterator[LabelledText]:
    """Each text with the stretches that must be masked; a line of JSONL is {"text": …, "masked": [[0, 9], …]}."""
    if is_folder(path):
        yield from _reviewed(WorkFolder(path))
        return
    with reading(path), Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                content = json.loads(line)
                text = content["text"]
                masked = [(int(start), int(end)) for start, end in content["masked"]]
                sound = isinstance(text, str) and all(0 <= start < end <= len(text) for start, end in masked)
            except (ValueError, TypeError, KeyError):
                sound = False
            if not sound:
                form = '{"text": "…", "masked": [[0, 9]]}'
                raise InputError(f"{shown(path)}, line {number} is not a text and stretches of it; write: {form}")
            yield LabelledText(text, masked)


def _reviewed(work: WorkFolder) -> Iterator[LabelledText]:
    """What reviewers accepted; blocks teach nothing about entities."""
    outcomes = list(current(work).outcomes())
    check_decided(outcomes)
    for outcome in outcomes:
        entities = (item for item in outcome.masked if item.kind != BLOCK)
        masked = [(mention.start, mention.end) for item in entities for mention in item.mentions]
        yield LabelledText(work.text(outcome.proposals), masked)
