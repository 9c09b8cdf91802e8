"""The search-engine evaluation of the sanitizer on declassified documents, with the policy of EO 13526.

Queries are made from the documents' own subjects and markings, by these rules:

- utility: for every volume with at least five documents that have a subject line, the five words that weigh most
  (tf · idf, subject lines as documents) in these lines. Truly relevant are the documents of the volume. The random set
  are the documents of the other volumes. Once more without the queries that ask for a masked name, as in the paper:
  a word of which the documents of the volume lose at least half the occurrences when names are masked.
- risk by topic, as in the paper: for every topic of the policy the words of its concepts, and one query of all topics.
  Truly relevant are the documents that are found before.
- risk by marking: for Top Secret, Secret and Confidential the eight terms of the policy whose share of documents with
  that marking exceeds their share of the other documents most. Truly relevant are the documents with that marking.

The re-identification attack is tried twice: with sanitized texts among the originals, and with the sanitized second
halves of texts among the first halves, which are other texts about the same matter.

The reviewer is simulated: they accept every proposed block, or the densest half of all proposals.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import data, measure
from shoal.assessment.sanitized_texts import risk_queries
from shoal.attacks.documents import SearchAttack
from shoal.results.sanitizing import Block, Entity, Mention
from shoal.results.searches import SearchChange
from shoal.sanitizer.entities.finder import EntityFinder
from shoal.sanitizer.policies.matching import propose_blocks
from shoal.sanitizer.policies.policy import Policy
from shoal.sanitizer.release.masking import masked, replacements_of
from shoal.sanitizer.release.pseudonyms import pseudonyms_of
from shoal.terms.search_engine import SearchEngine, words_of
from shoal.utility.search_change import Query, compare_searches

SUBJECT = re.compile(r"^SUBJECTS?:?[ \t]*\n(.+)$", re.MULTILINE)
MARKINGS = ("Top Secret", "Secret", "Confidential")
FEWEST = 5  # subject lines of a volume
MASKED_ABOVE = 0.5  # probability that an entity must be masked
# Nettleton and Abril (2012), steps 1 and 2. The risk is the mean that is printed; that of the printed rows is -40.7.
PAPER = {"sanitized": "paper", "IL %": "-26.1", "IL, no masked name %": "-16.1", "risk by topic %": "-47.3"}


def run() -> dict[str, Any]:
    documents = data.records("frus_docs.jsonl.gz")
    texts = [document["text"] for document in documents]
    policy = Policy.read("eo13526")
    finder = policy.finder()
    start = time.perf_counter()
    hits = [finder.find(text) for text in texts]
    blocks = [propose_blocks(text, found) for text, found in zip(texts, hits, strict=True)]
    seconds = {"blocks": time.perf_counter() - start}
    start = time.perf_counter()
    entities = [tuple(e for e in found if e.probability >= MASKED_ABOVE) for found in EntityFinder().find(texts)]
    seconds["entities"] = time.perf_counter() - start
    before = SearchEngine().fit(texts)
    useful, unrelated = subject_queries(documents)
    kinds = {
        "utility": (useful, unrelated),
        "risk by topic": (risk_queries(policy), unrelated),
        "risk by marking": (marking_queries(documents, [{hit.term for hit in found} for found in hits]), unrelated),
    }
    none: list[Sequence[Block]] = [()] * len(texts)
    accepted = {"names only": none, "all blocks": blocks, "top half": densest_half(blocks)}
    versions = {name: sanitized(texts, entities, taken) for name, taken in accepted.items()}
    kinds["no masked name"] = unmasked_queries(useful, texts, versions["names only"]), unrelated
    versions["all blocks, no names"] = sanitized(texts, [()] * len(texts), blocks)
    rows, details = [], list[dict[str, Any]]()
    for name, after in versions.items():
        changes = {
            kind: compare_searches(before, SearchEngine().fit(after), queries, random_documents=random)
            for kind, (queries, random) in kinds.items()
        }
        rows.append(row_of(name, texts, after, changes))
        if name == "all blocks":
            details = [
                row for kind, change in changes.items() if kind != "no masked name" for row in details_of(kind, change)
            ]
    halves = second_halves(texts, entities, accepted)
    results = {"collection": filled([*rows, PAPER]), "queries": details, "halves": halves, "seconds": [seconds]}
    for title, table in results.items():
        measure.show(f"frus_docs: {title}", table)
    return results


def subject_queries(documents: Sequence[dict[str, Any]]) -> tuple[list[Query], list[int]]:
    """A query for each volume, and the documents of volumes that have none."""
    subjects = [SUBJECT.search(document["text"]) for document in documents]
    rows = [row for row, subject in enumerate(subjects) if subject]
    engine = SearchEngine().fit([subject.group(1) for subject in subjects if subject])
    volumes = Counter(documents[row]["volume"] for row in rows)
    queries, asked = [], set()
    for volume in sorted(name for name, count in volumes.items() if count >= FEWEST):
        lines = [line for line, row in enumerate(rows) if documents[row]["volume"] == volume]
        words = engine.words(np.asarray(engine.rows_[lines].sum(axis=0)).ravel(), 5)
        own = frozenset(row for row, document in enumerate(documents) if document["volume"] == volume)
        queries.append(Query(volume, " ".join(words), own))
        asked |= own
    return queries, [row for row in range(len(documents)) if row not in asked]


def unmasked_queries(queries: Sequence[Query], texts: Sequence[str], masked_texts: Sequence[str]) -> list[Query]:
    """The queries without those that ask for a masked name."""
    kept = []
    for query in queries:
        rows = query.relevant or ()
        before, after = (sum((words_of(some[row]) for row in rows), Counter()) for some in (texts, masked_texts))
        if all(2 * after[word] > before[word] for word in words_of(query.words)):
            kept.append(query)
    return kept


def marking_queries(documents: Sequence[dict[str, Any]], terms: Sequence[set[str]]) -> list[Query]:
    """A query for each marking: the terms of the policy that set its documents apart."""
    queries = []
    for marking in MARKINGS:
        own = frozenset(row for row, document in enumerate(documents) if document["classification"] == marking)
        others = frozenset(range(len(documents))) - own
        inside, outside = (Counter(term for row in rows for term in terms[row]) for rows in (own, others))
        excess = {term: count / len(own) - outside[term] / len(others) for term, count in inside.items()}
        heaviest = sorted(excess, key=lambda term: (-excess[term], term))[:8]
        queries.append(Query(marking, " ".join(heaviest), own))
    return queries


def densest_half(blocks: Sequence[Sequence[Block]]) -> list[Sequence[Block]]:
    """Of all proposals of the collection the densest half; the earlier document first where they tie."""
    ranked = sorted((-block.density, row, block.start) for row, found in enumerate(blocks) for block in found)
    kept = {(row, start) for _, row, start in ranked[: len(ranked) // 2]}
    return [[block for block in found if (row, block.start) in kept] for row, found in enumerate(blocks)]


def sanitized(
    texts: Sequence[str], entities: Sequence[Sequence[Entity]], blocks: Sequence[Sequence[Block]]
) -> list[str]:
    """The texts with numbered pseudonyms and without the accepted blocks."""
    pseudonyms = pseudonyms_of(entities, texts, style="numbered", scope="document")
    return [
        masked(text, replacements_of(found, names), [(block.start, block.end) for block in taken]).text
        for text, found, names, taken in zip(texts, entities, pseudonyms, blocks, strict=True)
    ]


def row_of(
    name: str, texts: Sequence[str], after: Sequence[str], changes: dict[str, SearchChange | None]
) -> dict[str, Any]:
    """A line of the table."""
    left = sum((words_of(text) & words_of(other)).total() for text, other in zip(texts, after, strict=True))
    attack = SearchAttack().run(after, texts)
    return {
        "sanitized": name,
        "words left %": f"{100 * left / sum(words_of(text).total() for text in texts):.1f}",
        "IL %": shown(changes["utility"]),
        "IL, no masked name %": shown(changes["no masked name"]),
        "risk by topic %": shown(changes["risk by topic"]),
        "risk by marking %": shown(changes["risk by marking"]),
        "original first, 3 words %": f"{100 * attack.searches[0].first.rate:.1f}",
        "original first %": f"{100 * attack.with_all_words.first.rate:.1f}",
        "named (strangers) %": f"{100 * attack.named.rate:.1f} ({100 * attack.named.control:.1f})",
    }


def second_halves(
    texts: Sequence[str], entities: Sequence[Sequence[Entity]], accepted: dict[str, list[Sequence[Block]]]
) -> list[dict[str, Any]]:
    """The attack with another text about the same matter: second halves searched for among first halves."""
    middles = [text.find("\n", len(text) // 2) + 1 or len(text) // 2 for text in texts]
    first = [text[:middle] for text, middle in zip(texts, middles, strict=True)]
    second = [text[middle:] for text, middle in zip(texts, middles, strict=True)]
    named = [_entities_from(found, middle) for found, middle in zip(entities, middles, strict=True)]
    versions = {"nothing": second}
    for name, blocks in accepted.items():
        later = [_blocks_from(found, middle) for found, middle in zip(blocks, middles, strict=True)]
        versions[name] = sanitized(second, named, later)
    rows = []
    for name, after in versions.items():
        attack = SearchAttack().run(after, first)
        best = attack.with_all_words
        rows.append(
            {
                "sanitized": name,
                "first half first %": f"{100 * best.first.rate:.1f} ({100 * best.first.low:.1f} to "
                f"{100 * best.first.high:.1f})",
                "guessing %": f"{100 * best.first.baseline:.2f}",
                "median place": f"{best.median_rank:g} ({best.median_low:g} to {best.median_high:g})",
                "guessing": f"{attack.random_rank:g}",
                "named %": f"{100 * attack.named.rate:.1f} ({100 * attack.named.low:.1f} to "
                f"{100 * attack.named.high:.1f})",
                "strangers named %": f"{100 * (attack.named.control or 0.0):.1f}",
            }
        )
    return rows


def _entities_from(entities: Sequence[Entity], start: int) -> tuple[Entity, ...]:
    """What is mentioned from a place on, counted from there."""
    moved = [
        replace(
            entity, mentions=tuple(Mention(m.start - start, m.end - start) for m in entity.mentions if m.start >= start)
        )
        for entity in entities
    ]
    return tuple(entity for entity in moved if entity.mentions)


def _blocks_from(blocks: Sequence[Block], start: int) -> list[Block]:
    return [
        replace(block, start=max(block.start - start, 0), end=block.end - start)
        for block in blocks
        if block.end > start
    ]


def shown(change: SearchChange | None) -> str:
    if change is None:
        return "nothing found"
    return f"{change.mean:.1f} ({change.low:.1f} to {change.high:.1f})"


def details_of(kind: str, change: SearchChange | None) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind,
            "query": query.name,
            "words": query.words,
            "relevant": query.relevant,
            "F": f"{query.before.f:.2f} to {query.after.f:.2f}",
            "returned": f"{query.before.returned} to {query.after.returned}",
            "NMI": f"{query.nmi:.2f}",
            "change %": f"{query.changes.total:.1f}",
        }
        for query in (change.queries if change else ())
    ]


def filled(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same columns in every row."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name, "") for name in names} for row in rows]
