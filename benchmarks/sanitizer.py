"""What the sanitizer finds and masks, beside Presidio with the same language model and documents, in one run."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from benchmarks import data, measure, sanitizer_documents

FOLDS = 5
DIAL = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5)  # thresholds shown; the first is the default
TIMED = 20  # court cases, read by both in turn
TIMES = 3
Spans = list[tuple[int, int]]


def run() -> dict[str, Any]:
    from shoal.sanitizer.entities.finder import EntityFinder

    finder, peer = EntityFinder(), presidio()
    cases, lives = data.records("tab_tune.jsonl.gz"), data.records("wikibio_tune.jsonl.gz")
    results = {
        "cases": court_cases(finder, peer, cases),
        "lives": biographies(finder, peer, lives),
        "documents": [row for name in sanitizer_documents.SETS for row in made_up(finder, peer, name)],
        "kinds": kinds(finder, peer, data.records("presidio_synth_pii.jsonl.gz")),
        "persons": persons(finder, peer, data.records("frus_docs.jsonl.gz")),
        "time": time(finder, peer, [case["text"] for case in cases[:TIMED]]),
    }
    for key, rows in results.items():
        measure.show(key, rows)
    return results


def presidio() -> Callable[[str], Spans]:
    """Presidio's analyzer as it comes, with the language model of the finder."""
    import logging
    from importlib.resources import files

    import yaml
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine

    from shoal.sanitizer.entities.finder import load_model

    shipped = yaml.safe_load(files("presidio_analyzer").joinpath("conf/default.yaml").read_text())

    class Engine(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__(
                models=[{"lang_code": "en", "model_name": "en_core_web_md"}],
                ner_model_configuration=NerModelConfiguration.from_dict(shipped["ner_model_configuration"]),
            )
            self.nlp = {"en": load_model(None)}

    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    analyzer = AnalyzerEngine(nlp_engine=Engine())
    return lambda text: [(hit.start, hit.end) for hit in analyzer.analyze(text, "en")]


def court_cases(finder: Any, peer: Callable[[str], Spans], cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cases judged with weights trained on the other folds; sister cases are in one fold."""
    from shoal.sanitizer.entities.descriptions import well_known
    from shoal.sanitizer.training import LabelledText, examples_of, fit_weights

    drafted = [drafts for _, drafts in finder.drafts(case["text"] for case in cases)]
    examples = [
        examples_of(LabelledText(case["text"], must_be_masked(case)), drafts)
        for case, drafts in zip(cases, drafted, strict=True)
    ]
    fold_of_case = folds(cases)
    entities: list[Any] = [()] * len(cases)
    for fold in range(FOLDS):
        weights = fit_weights(
            [example for case, rows in enumerate(examples) if fold_of_case[case] != fold for example in rows]
        )
        for case, drafts in enumerate(drafted):
            if fold_of_case[case] == fold:
                entities[case] = weights.judged(cases[case]["text"], drafts, well_known().stays)
    return dial(cases, entities, peer)


def biographies(finder: Any, peer: Callable[[str], Spans], lives: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Biographies judged with the weights of the package, which have seen court cases only."""
    return dial(lives, list(finder.find(life["text"] for life in lives)), peer)


def made_up(finder: Any, peer: Callable[[str], Spans], name: str) -> list[dict[str, Any]]:
    """Made-up documents of unlike kinds; the rules have seen all sets, the first most."""
    written = sanitizer_documents.marked(name)
    return [
        {"documents": name, **row} for row in dial(written, list(finder.find(row["text"] for row in written)), peer)
    ]


def dial(
    documents: list[dict[str, Any]], entities: Sequence[Any], peer: Callable[[str], Spans]
) -> list[dict[str, Any]]:
    """A row for Presidio and one for each threshold."""
    rows = [figures("Presidio", documents, [peer(document["text"]) for document in documents])]
    for threshold in DIAL:
        masked = [spans(found, threshold) for found in entities]
        rows.append(figures(f"Shoal, threshold {threshold}", documents, masked))
    return rows


def figures(name: str, documents: list[dict[str, Any]], masked: Sequence[Spans]) -> dict[str, Any]:
    predictions = [{"id": row["id"], "spans": found} for row, found in zip(documents, masked, strict=True)]
    scores = scorer().evaluate(documents, predictions)
    return {
        "method": name,
        "direct entities": scores["ER_di"],
        "quasi entities": scores["ER_qi"],
        "precision": scores["P"],
        "recall of words": scores["R"],
        "masked share": scores["masked_share"],
    }


def kinds(finder: Any, peer: Callable[[str], Spans], sentences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Recall of made-up personal data by kind: all words of a span are found, as whatever kind."""
    texts = [sentence["text"] for sentence in sentences]
    of_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence, found in zip(sentences, finder.find(texts), strict=True):
        ours, theirs = coverage(sentence["text"], spans(found, 0.0)), coverage(sentence["text"], peer(sentence["text"]))
        for start, end, kind in sentence["spans"]:
            of_kind[kind].update(n=1, ours=ours(start, end), theirs=theirs(start, end))
    return [
        {"kind": kind, "n": count["n"], "Shoal": count["ours"] / count["n"], "Presidio": count["theirs"] / count["n"]}
        for kind, count in sorted(of_kind.items())
    ]


def persons(finder: Any, peer: Callable[[str], Spans], letters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Recall of the persons that editors of diplomatic papers marked."""
    from shoal.results.sanitizing import DEFAULT_THRESHOLD

    counts: Counter[str] = Counter()
    found = finder.find(letter["text"] for letter in letters)
    for letter, entities in zip(letters, found, strict=True):
        text = letter["text"]
        covers = {
            "Shoal, found": coverage(text, spans(entities, 0.0)),
            "Shoal, masked by default": coverage(text, spans(entities, DEFAULT_THRESHOLD)),
            "Presidio": coverage(text, peer(text)),
        }
        for start, end, kind, *_ in letter["entities"]:
            if kind == "PERSON":
                counts.update({name: covered(start, end) for name, covered in covers.items()}, n=1)
    n = counts.pop("n")
    return [{"method": name, "persons": n, "recall": count / n} for name, count in counts.items()]


def time(finder: Any, peer: Callable[[str], Spans], texts: list[str]) -> list[dict[str, Any]]:
    ours, theirs = measure.side_by_side(TIMES, lambda: list(finder.find(texts)), lambda: [peer(text) for text in texts])
    return [{"court cases": len(texts), "Shoal, s": ours, "Presidio, s": theirs, "ratio": ours / theirs}]


def spans(entities: Iterable[Any], threshold: float) -> Spans:
    return [
        (mention.start, mention.end)
        for entity in entities
        if entity.probability >= threshold
        for mention in entity.mentions
    ]


def coverage(text: str, found: Spans) -> Callable[[int, int], bool]:
    """Whether all words of a stretch are covered, function words and titles apart, as the scorer counts it."""
    mask = bytearray(len(text))
    for start, end in found:
        mask[start:end] = b"\1" * (end - start)
    score = scorer()
    return lambda start, end: all(
        all(mask[first:last]) for first, last in score.words(text, start, end) if not score.skipped(text, first, last)
    )


def must_be_masked(case: dict[str, Any]) -> Spans:
    return [(mark["start"], mark["end"]) for mark in case["mentions"] if mark["identifier_type"] != "NO_MASK"]


def folds(cases: list[dict[str, Any]]) -> list[int]:
    """A fold for each case. Cases that share a name or number few others have are sisters, and are kept together."""
    holders: dict[str, set[int]] = defaultdict(set)
    for number, case in enumerate(cases):
        for mark in case["mentions"]:
            if mark["type"] in ("PERSON", "CODE"):
                name = re.sub(r"^(?:Mrs?|Ms)\.?\s", "", case["text"][mark["start"] : mark["end"]])
                if len(name) > 4:
                    holders[name].add(number)
    sister = list(range(len(cases)))
    for group in holders.values():
        if 1 < len(group) <= 3:
            first = min(sister[number] for number in group)
            merged = {sister[number] for number in group}
            sister = [first if root in merged else root for root in sister]
    sizes, fold_of_root = [0] * FOLDS, {}
    for root, size in sorted(Counter(sister).items(), key=lambda pair: (-pair[1], pair[0])):
        fold_of_root[root] = sizes.index(min(sizes))
        sizes[fold_of_root[root]] += size
    return [fold_of_root[root] for root in sister]


@cache
def scorer() -> ModuleType:
    """The scorer of the Text Anonymization Benchmark that lies beside the data."""
    path = data.FOLDER.parent / "tools" / "tab_eval.py"
    spec = importlib.util.spec_from_file_location("tab_eval", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise SystemExit("tab_eval.py is not in the folder `tools` beside the data folder")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
