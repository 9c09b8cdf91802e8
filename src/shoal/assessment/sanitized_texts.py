"""Sanitized texts judged: what searches lose, what they no longer betray, and whether the originals are found."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal import progress
from shoal.assessment.documents import check_related
from shoal.attacks.documents import SearchAttack
from shoal.data.corpus import Corpus
from shoal.data.files import counted, decode, is_folder, read_bytes, reading, shown
from shoal.data.records import collection_kind, list_folder
from shoal.errors import InputError
from shoal.release.folders import CERTIFICATE
from shoal.release.load import kind_of_release
from shoal.request.judging_options import AssessOptions
from shoal.results.searches import TextAssessment
from shoal.sanitizer.policies.policy import BUILT_IN, Policy
from shoal.sanitizer.reading.sources import TextSource
from shoal.terms.search_engine import SearchEngine, words_of
from shoal.utility.clustering import spherical_kmeans
from shoal.utility.search_change import Query, compare_searches
from shoal.utility.spaces import distinct_rows

RELEASED = "documents"  # folder of a release's texts
UNMASKED = "index.csv"  # of shoal unmask
SUBJECTS = 10
FEWEST = 4  # documents to a subject, on average
WORDS = 4  # of a query
RANDOM = 0.2  # share of the documents in the random set
DEFAULT = "eo13526"  # policy
FEW = 30  # below, shares of documents say little


@dataclass(frozen=True)
class AlignedTexts:
    """Text i of `after` is what became of text i of `before`."""

    names: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]  # "" of a text that was withheld
    notes: tuple[str, ...]


def is_sanitized(protected: Any) -> bool:
    """Whether this is a release of sanitized texts."""
    return isinstance(protected, str | os.PathLike) and kind_of_release(protected) == "sanitized"


def align_texts(original: Any, protected: Any, columns: Mapping[str, str | None]) -> AlignedTexts:
    """Read both sides. Texts are matched by id, files by name; the suffix may differ, as of letter.docx in text."""
    if any(columns.values()) and not (_has_columns(original) or _has_columns(protected)):
        raise InputError("text files have no columns; leave out {option} and {option}", ("text_column", "id_column"))
    released = is_sanitized(protected)
    before = (_unmasked(original) if released else None) or read_texts(original, columns)
    after = _released(Path(protected)) if released else read_texts(protected, columns)
    if not before.keys() >= after.keys():
        before, after = _by_stem(before), _by_stem(after)
    unknown = len(after.keys() - before.keys())
    if unknown:
        remedy = "give the collection that was sanitized, and its {option}"
        if released:  # its documents have names of their own, in an order of their own
            remedy = "give the originals as shoal unmask writes them"
        raise InputError(
            f"{counted(unknown, 'sanitized text')} of {len(after)} not among the originals by name; {remedy}",
            () if released else "id_column",
        )
    withheld = len(before) - len(after)
    notes = [] if not withheld else [f"{counted(withheld, 'text')} withheld or empty after sanitizing"]
    texts = tuple(after.get(name, "") for name in before)
    return AlignedTexts(tuple(before), tuple(before.values()), texts, tuple(notes))


def _released(folder: Path) -> dict[str, str]:
    """The texts of a release; its pages and pictures say the same."""
    texts = {}
    for path in sorted((folder / RELEASED).glob("*.txt")):
        with reading(path):
            texts[path.name] = path.read_bytes().decode("utf-8")
    return texts


def _unmasked(source: Any) -> dict[str, str] | None:
    """Originals as shoal unmask writes them, by their names in the release; None: there is no index of these."""
    index = Path(source) / UNMASKED if isinstance(source, str | os.PathLike) else None
    if index is None or not index.is_file():
        return None
    with reading(index), index.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows or rows[0] != ["document", "original"] or any(len(row) != 2 for row in rows):
        return None
    texts = {}
    for document, name in rows[1:]:
        path = Path(source) / name
        with reading(path):
            texts[f"{document}.txt"] = path.read_bytes().decode("utf-8", "surrogatepass")
    return texts


def read_texts(source: Any, columns: Mapping[str, str | None]) -> dict[str, str]:
    """The texts by their names, in order."""
    if isinstance(source, str | os.PathLike):
        named = columns if _has_columns(source) else {}
        return {text.id: text.text for text in TextSource(source, **named)}
    corpus = source if isinstance(source, Corpus) else Corpus.from_texts(source)
    return {document.id: document.text for document in corpus}


def _has_columns(source: Any) -> bool:
    """Whether these are records; a folder of text files has no columns, and texts in memory have none."""
    if not isinstance(source, str | os.PathLike) or is_sanitized(source):
        return False
    return not is_folder(source) or collection_kind(list_folder(Path(source))[0]) is not None


def _by_stem(texts: Mapping[str, str]) -> dict[str, str]:
    """The same without suffixes; two files that differ in nothing else are refused."""
    named = {PurePosixPath(name).with_suffix("").as_posix(): text for name, text in texts.items()}
    if len(named) < len(texts):
        raise InputError(
            f"{counted(len(texts) - len(named), 'text')} cannot be told apart without the suffix of the file's name, "
            "and with it the two sides differ; rename them"
        )
    return named


def subject_queries(engine: SearchEngine, random_state: int = 0) -> list[Query]:
    """A query for each subject of the collection.

    The rule: documents are clustered by their words (spherical k-means, ten clusters or one for four documents), and
    each cluster is asked for by the four words that weigh most in it.
    """
    rows = sp.csr_matrix(engine.rows_[np.flatnonzero(np.diff(engine.rows_.indptr))])
    if not rows.shape[0]:
        return []
    distinct = distinct_rows(rows)
    n_subjects = int(np.clip(distinct.rows.shape[0] // FEWEST, 1, SUBJECTS))
    subject_of_row = spherical_kmeans(distinct, n_subjects, random_state)[distinct.of_row]
    queries = []
    for subject in range(n_subjects):
        weights = np.asarray(rows[subject_of_row == subject].sum(axis=0)).ravel()
        queries.append(Query(f"subject {subject + 1}", " ".join(engine.words(weights, WORDS))))
    return queries


def risk_queries(policy: Policy) -> list[Query]:
    """A query for each topic of the policy, of the words of its concepts, and one of all of them."""
    topics = [Query(topic.title, _once(concept.word for concept in topic.concepts)) for topic in policy.topics]
    return topics if len(topics) < 2 else [*topics, Query("all topics", _once(query.words for query in topics))]


def _once(phrases: Iterable[str]) -> str:
    """Each word once: a query asks for words, however many concepts have them."""
    return " ".join(dict.fromkeys(word for phrase in phrases for word in phrase.split()))


def read_queries(path: str | os.PathLike[str]) -> list[Query]:
    """Queries from a text file, one per line."""
    with reading(path):
        lines = [" ".join(line.split()) for line in decode(read_bytes(path)).splitlines()]
    queries = [Query(words, words) for words in lines if words]
    if not queries:
        raise InputError(f"{shown(path)} has no query; write one per line")
    return queries


def assess_texts(
    original: Any, protected: Any, options: AssessOptions, columns: dict[str, str | None]
) -> TextAssessment:
    """Put the texts side by side, search them, and search for them."""
    language, random_state = options.language or "english", options.random_state
    pair = align_texts(original, protected, columns)
    progress.step("indexing texts", 0, 2)
    before = SearchEngine(language).fit(pair.before)
    progress.step("indexing texts", 1, 2)
    after = SearchEngine(language).fit(pair.after)
    progress.step("indexing texts", 2, 2)
    if not options.aligned:
        check_related(before.rows_, before.queries(pair.after))
    policy = _policy(options.policy, protected)
    useful = subject_queries(before, random_state) if options.queries is None else _queries(options.queries)
    n_texts = len(pair.names)
    random = np.random.default_rng(random_state).choice(n_texts, size=round(RANDOM * n_texts), replace=False)
    utility, risk = (
        compare_searches(before, after, queries, threshold=options.relevance, random_documents=random.tolist())
        for queries in (useful, risk_queries(policy))
    )
    background_rows, background = _background(pair, options.background, columns)
    attack = SearchAttack(language=language, random_state=random_state)
    alike = Counter(pair.after).values()
    notes = [f"{n_texts} texts are few: shares of fewer than {FEW} say little"] if n_texts < FEW else []
    return TextAssessment(
        rows=n_texts,
        how="by their names",
        words_left=_words_left(pair),
        utility=utility,
        risk=risk,
        policy=policy.name,
        attack=attack.run(pair.after, background, background_rows),
        unsanitized=attack.run(pair.before, background, background_rows),
        smallest_group=min(alike),
        unique=sum(count == 1 for count in alike),
        notes=(*pair.notes, *notes),
        names=pair.names,
    )


def _policy(given: Any, protected: Any) -> Policy:
    """The one that is asked for, else the one that a release was made with, if it is built in, else the default."""
    if isinstance(given, Policy):
        return given
    if given is None and is_sanitized(protected):
        stated = json.loads((Path(protected) / CERTIFICATE).read_bytes()).get("stated", {}).get("policy")
        given = stated if stated in BUILT_IN else None
    return Policy.read(DEFAULT if given is None else given)


def _queries(given: Any) -> list[Query]:
    """From a file, or as they are: strings and `Query`."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [query if isinstance(query, Query) else Query(str(query), str(query)) for query in given]
    return read_queries(given)


def _background(pair: AlignedTexts, given: Any, columns: dict[str, str | None]) -> tuple[list[int], Sequence[str]]:
    """Where each text's original is in the background, -1 for nowhere, and the texts of that."""
    if given is None:
        return list(range(len(pair.names))), pair.before
    background = read_texts(given, columns)
    row_of = {name: row for row, name in enumerate(background)}
    background_rows = [row_of.get(name, -1) for name in pair.names]
    if max(background_rows) < 0:
        raise InputError(
            f"none of the {len(background)} documents of the background has the name of a text, so the right one "
            "is unknown; give those about the same people or cases the same names"
        )
    return background_rows, list(background.values())


def _words_left(pair: AlignedTexts) -> float:
    """The share of the originals' words, repetitions counted, that their sanitized texts still have."""
    left = total = 0
    for before, after in zip(pair.before, pair.after, strict=True):
        words = words_of(before)
        total += words.total()
        left += (words & words_of(after)).total()
    return left / total if total else 1.0
