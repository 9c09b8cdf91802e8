"""Weights learned from documents in which it is marked what must be masked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from shoal.data.files import PathLike, is_folder, reading, shown
from shoal.errors import InputError
from shoal.sanitizer.entities.finder import EntityFinder
from shoal.sanitizer.entities.judging import TextContext, Weights, features
from shoal.sanitizer.entities.linking import Draft
from shoal.sanitizer.entities.rules import RuleTable
from shoal.sanitizer.release.masking import check_decided
from shoal.sanitizer.review.outcome import current
from shoal.sanitizer.review.work import BLOCK, WorkFolder

_RAREST = 5  # a feature that fewer entities have teaches nothing
_STRENGTH = 0.5  # inverse of the penalty on large weights
_BY_THEMSELVES = RuleTable("training").lists("by_themselves")
_AS_IF_SEEN = 20  # times, each
_HEADER = """# How likely an entity must be masked: 1 / (1 + exp(-(bias + sum of weight x value))).
# A positive weight says "identifies", a negative one "harmless". Written by `train`; see docs/sanitizer/tuning.md.
"""


class LabelledText(NamedTuple):
    """A text and the stretches of it that must be masked."""

    text: str
    masked: Sequence[tuple[int, int]]


class Example(NamedTuple):
    """An entity of a labelled text."""

    values: Mapping[str, float]
    must_be_masked: bool


def train(documents: Iterable[LabelledText], path: Path | None = None, model: str | None = None) -> Weights:
    """Weights learned from labelled documents, written to a file if one is named."""
    labelled = list(documents)
    finder = EntityFinder(model, stays=())
    drafted = finder.drafts(document.text for document in labelled)
    examples = [
        example
        for document, (_, drafts) in zip(labelled, drafted, strict=True)
        for example in examples_of(document, drafts)
    ]
    weights = fit_weights(examples)
    if path is not None:
        path.write_text(_as_toml(weights), encoding="utf-8")
    return weights


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
                raise InputError(f"{shown(path)}, line {number} is not a text with the spans to mask; write: {form}")
            yield LabelledText(text, masked)


def _reviewed(work: WorkFolder) -> Iterator[LabelledText]:
    """What reviewers accepted; blocks teach nothing about entities."""
    outcomes = list(current(work).outcomes())
    check_decided(outcomes)
    for outcome in outcomes:
        entities = (item for item in outcome.masked if item.kind != BLOCK)
        masked = [(mention.start, mention.end) for item in entities for mention in item.mentions]
        yield LabelledText(work.text(outcome.proposals), masked)


def examples_of(document: LabelledText, drafts: Iterable[Draft]) -> list[Example]:
    """Each entity with its features; it must be masked if half of its words are."""
    marked = bytearray(len(document.text))
    for start, end in document.masked:
        marked[start:end] = b"\1" * (end - start)
    context = TextContext(document.text)
    return [Example(features(context, draft), _must_be_masked(document.text, marked, draft)) for draft in drafts]


def fit_weights(examples: Sequence[Example]) -> Weights:
    """A logistic regression with a penalty on large weights, on the features that are not rare."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    if len({example.must_be_masked for example in examples}) < 2:
        raise InputError("the labelled documents need entities that must be masked and entities that need not")
    examples = [*examples, *_certain_examples()]
    seen = Counter(name for example in examples for name, value in example.values.items() if value)
    frequent = {name for name, count in seen.items() if count >= _RAREST}
    vectorizer = DictVectorizer()
    rows = [{name: value for name, value in example.values.items() if name in frequent} for example in examples]
    matrix = vectorizer.fit_transform(rows)
    labels = [example.must_be_masked for example in examples]
    model = LogisticRegression(C=_STRENGTH, max_iter=5000).fit(matrix, labels)
    named = zip(vectorizer.feature_names_, model.coef_[0], strict=True)
    return Weights(round(float(model.intercept_[0]), 3), {name: round(float(weight), 3) for name, weight in named})


def _certain_examples() -> list[Example]:
    return [
        Example({kind: 1.0, f"{kind} {form}": 1.0}, True)
        for kind, forms in _BY_THEMSELVES.items()
        for form in forms
        for _ in range(_AS_IF_SEEN)
    ]


def _must_be_masked(text: str, marked: bytearray, draft: Draft) -> bool:
    words = [
        (start + word.start(), start + word.end())
        for start, end in draft.mentions
        for word in re.finditer(r"\w+", text[start:end])
    ]
    return bool(words) and 2 * sum(all(marked[start:end]) for start, end in words) >= len(words)


def _as_toml(weights: Weights) -> str:
    lines = [f'"{name}" = {weight}'.replace("\\", "\\\\") for name, weight in sorted(weights.of_feature.items())]
    return f"{_HEADER}bias = {weights.bias}\n\n[weights]\n" + "\n".join(lines) + "\n"
