"""An index as its readers and its operator see it: is a message found again, and what does the server learn of that?

2,000 messages are made of FRUS passages, 100 of each of 20 volumes: the first words of a passage are its subject line,
the whole passage is the message, and the volume is its topic; or they are movie reviews, whose topics are good and bad.
A reader looks for a message by its subject line, and reads it. The operator has recorded all requests, knows the groups
of all documents, and has the mean vector of every topic: more than most would. They guess the document that was read,
and from the bucket in which it came the topic of the search; a search sends the same whatever is looked for.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sqlalchemy import select

from benchmarks import data, measure
from benchmarks.blocks import PASSAGES
from shoal.attacks.rates import wilson
from shoal.data.corpus import Corpus
from shoal.index.client import IndexClient, Keys
from shoal.index.client.demo import local_server
from shoal.index.client.opened import bucket_bits
from shoal.index.server.database import Database
from shoal.index.server.tables import documents, representatives
from shoal.methods.pools import unit_rows

K = 5
TOPICS, EACH = 20, 100
SUBJECT = 8  # words
SEARCHES = int(os.environ.get("SHOAL_BENCH_SEARCHES", "500"))
FIRST = 10
REVIEWS = "movie_reviews.jsonl.gz"
READ_TOGETHER = (2, 5, 10)  # documents of one search that are read


@dataclass(frozen=True)
class Messages:
    """Messages, their subject lines and their topics."""

    texts: list[str]
    subjects: list[str]
    topics: np.ndarray

    @property
    def n_topics(self) -> int:
        return int(self.topics.max()) + 1

    @property
    def names(self) -> list[str]:
        return [f"m{number}" for number in range(len(self.texts))]


@dataclass
class Traffic:
    """What the server sees of one search and one reading."""

    searched: list[str] = field(default_factory=list)  # paths
    fetched: list[str] = field(default_factory=list)


def run() -> dict[str, Any]:
    parts = [
        measured(made(0), "FRUS, tuned on"),
        measured(made(TOPICS), "FRUS, held out"),
        measured(reviews(), "movie reviews"),
    ]
    results = {name: [row for part in parts for row in part[name]] for name in parts[0]}
    for title, rows in results.items():
        measure.show(title, rows)
    return results


def measured(messages: Messages, texts: str) -> dict[str, Any]:
    """Searches of messages: of those that the weights of words were tuned on, or of others."""
    with tempfile.TemporaryDirectory() as folder, local_server(Path(folder) / "shoal.db") as server:
        token, keys = server.account("operator", "operator"), Keys.draw()
        with IndexClient(server.address, token, keys, folder=Path(folder) / "client") as client:
            client.create(Corpus.from_texts(messages.texts, ids=messages.names), k=K)
            client.sync()
            operator = Operator(client, messages, server.database)
            chosen = np.random.default_rng(0).choice(len(messages.texts), SEARCHES, replace=False)
            found = [{"search": "plain tf-idf"} | quality(messages, chosen, plain(messages, chosen))]
            seen, answers = [], []
            for row in chosen.tolist():
                with recorded(client) as traffic:
                    hits = client.search(messages.subjects[row], FIRST)
                    client.get(operator.id_of[f"m{row}"])
                seen.append(traffic)
                answers.append([int(hit.name[1:]) for hit in hits if hit.name])
            found.append({"search": "at home"} | quality(messages, chosen, answers))
            same = len({tuple(traffic.searched) for traffic in seen})
            learned = [{"seen": f"searches, {same} kind of requests"} | chance(messages)]
            learned.append({"seen": "one bucket"} | operator.guesses(seen, chosen))
            learned += [operator.guesses_by_likeness(answers, count) for count in READ_TOGETHER]
    for share in ("in the first ten", "precision at 10"):
        for row in found:
            row[f"{share}, of plain"] = row[share] / found[0][share]
    return {
        "found": [{"texts": texts} | row for row in found],
        "learned": [{"texts": texts} | row for row in learned],
    }


def chance(messages: Messages) -> dict[str, Any]:
    """A guess by somebody who saw nothing that depends on the search."""
    return shown_guesses(1 / messages.n_topics, None, 1 / len(messages.texts), None)


def reviews() -> Messages:
    """The movie reviews, whose first words are their subject lines."""
    records = data.records(REVIEWS)
    _, topics = np.unique([record["label"] for record in records], return_inverse=True)
    texts = [record["text"] for record in records]
    return Messages(texts, [subject_of(text) for text in texts], topics)


def made(first: int) -> Messages:
    """Messages of the volumes that have the most passages, after the first so many."""
    records = [record for record in data.records(PASSAGES) if len(record["text"].split()) > 3 * SUBJECT]
    volumes = [volume for volume, _ in Counter(record["volume"] for record in records).most_common(first + TOPICS)]
    random = np.random.default_rng(0)
    texts: list[str] = []
    for volume in volumes[first:]:
        of_volume = [record["text"] for record in records if record["volume"] == volume]
        texts += [of_volume[row] for row in random.choice(len(of_volume), EACH, replace=False)]
    return Messages(texts, [subject_of(text) for text in texts], np.repeat(np.arange(TOPICS), EACH))


def subject_of(text: str) -> str:
    """The first words of a message."""
    return " ".join(re.findall(r"\w+", text)[:SUBJECT])


def plain(messages: Messages, chosen: np.ndarray) -> list[list[int]]:
    """The best messages by tf-idf over all words, without any protection."""
    space = TfidfVectorizer(stop_words="english", token_pattern=r"\w+")
    rows = space.fit_transform(messages.texts)
    similar = (space.transform([messages.subjects[row] for row in chosen]) @ rows.T).toarray()
    return [np.argsort(-of_query, kind="stable")[:FIRST].tolist() for of_query in similar]


def quality(messages: Messages, chosen: np.ndarray, answers: list[list[int]]) -> dict[str, float]:
    """How often the message is found, and how many of the first ten are of its topic."""
    same = [
        np.mean(messages.topics[found] == messages.topics[row]) if found else 0.0
        for row, found in both(chosen, answers)
    ]
    return {
        "first": float(np.mean([found[:1] == [row] for row, found in both(chosen, answers)])),
        "in the first ten": float(np.mean([row in found for row, found in both(chosen, answers)])),
        "precision at 10": float(np.mean(same)),
    }


def both(chosen: np.ndarray, answers: list[Any]) -> Iterator[tuple[int, Any]]:
    return zip(chosen.tolist(), answers, strict=True)


@contextmanager
def recorded(client: IndexClient) -> Iterator[Traffic]:
    """The traffic of a client within this block."""
    traffic, connection = Traffic(), client._connection
    get = connection.get

    def watched_get(path: str) -> bytes:
        if not path.startswith("/v1/buckets/"):
            traffic.searched.append(path)
        elif path.endswith("?after="):
            traffic.fetched.append(path)
        return get(path)

    connection.get = watched_get  # type: ignore[method-assign]
    try:
        yield traffic
    finally:
        del connection.get


class Operator:
    """Guesses from what the server sees."""

    def __init__(self, client: IndexClient, messages: Messages, database: Database) -> None:
        index = client._index
        self.id_of = {name: client.id_of(name) for name in messages.names}
        self._row_of = {id: int(name[1:]) for name, id in self.id_of.items()}
        self._messages = messages
        unit = unit_rows(index.space.count_rows(index.space.count(messages.texts)).astype(float), index.space.idf_)[0]
        topics = sp.csr_matrix((np.ones(len(messages.topics)), (messages.topics, np.arange(len(messages.topics)))))
        self._topics = unit_rows(sp.csr_matrix(topics @ unit), np.ones(unit.shape[1]))[0]
        groups = index.published.groups()
        self._number = {name: number for number, name in enumerate(groups.representatives.names)}
        self._pools = unit_rows(groups.representatives.pools.astype(float), index.space.idf_)[0]
        belongs = documents.c.representative == representatives.c.number
        with database.reading() as connection:
            rows = connection.execute(select(documents.c.id, representatives.c.name).where(belongs)).all()
        self._group_of = {row.id: row.name for row in rows}

    def guesses(self, seen: list[Traffic], chosen: np.ndarray) -> dict[str, Any]:
        """How often the topic and the document are guessed."""
        random = np.random.default_rng(1)
        candidates = [self._candidates(traffic) for traffic in seen]
        topic = [self._topic(ids) == self._messages.topics[row] for row, ids in both(chosen, candidates)]
        document = [self._row_of[str(random.choice(ids))] == row for row, ids in both(chosen, candidates)]
        return shown_guesses(float(np.mean(topic)), topic, float(np.mean(document)), document)

    def guesses_by_likeness(self, answers: list[list[int]], count: int) -> dict[str, Any]:
        """Several documents of a search are read: in each bucket, that whose group is most like the other buckets'."""
        ids = list(self._row_of)
        bits = bucket_bits(len(ids), K)
        bucket_of = np.array([int(id, 16) >> (128 - bits) for id in ids])
        pool_of = np.array([self._number[self._group_of[id]] for id in ids])
        place_of = {self._row_of[id]: place for place, id in enumerate(ids)}
        right: list[bool] = []
        chances = []
        for read in ([place_of[row] for row in found[:count]] for found in answers if len(found) >= count):
            buckets = [np.flatnonzero(bucket_of == bucket_of[place]) for place in read]
            for own, (place, bucket) in enumerate(zip(read, buckets, strict=True)):
                likeness = np.zeros(len(bucket))
                for other in buckets[:own] + buckets[own + 1 :]:
                    likeness += (self._pools[pool_of[bucket]] @ self._pools[pool_of[other]].T).toarray().max(axis=1)
                right.append(bool(bucket[np.argmax(likeness)] == place))
                chances.append(1 / len(bucket))
        seen = f"{count} buckets, by likeness (chance {np.mean(chances):.3f})"
        return {"seen": seen} | shown_guesses(float("nan"), None, float(np.mean(right)), right)

    def _topic(self, fetched: list[str]) -> int:
        """The topic whose mean is nearest to the groups of what was fetched."""
        pools = self._pools[[self._number[self._group_of[id]] for id in fetched]]
        return int(np.argmax(np.asarray((self._topics @ sp.csr_matrix(pools.sum(axis=0)).T).todense()).ravel()))

    def _candidates(self, traffic: Traffic) -> list[str]:
        bits, number = map(int, re.findall(r"/(\d+)", traffic.fetched[-1]))
        return [id for id in self._row_of if int(id, 16) >> (128 - bits) == number]


def shown_guesses(
    topic: float, of_topics: list[bool] | None, document: float, of_documents: list[bool] | None
) -> dict[str, Any]:
    """Rates of right guesses, with 95 % intervals if they were counted."""
    return {
        "topic": topic,
        "topic, interval": interval(of_topics) if of_topics else "",
        "document": document,
        "document, interval": interval(of_documents) if of_documents else "",
    }


def interval(hits: list[bool]) -> str:
    low, high = wilson(float(np.mean(hits)), len(hits))
    return f"{low:.3f} to {high:.3f}"
