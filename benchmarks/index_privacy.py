"""An index as its readers and its operator see it: is a message found again, and what does the server learn of that?

2,000 messages are made of FRUS passages, 100 of each of 20 volumes: the first words of a passage are its subject line,
the whole passage is the message, and the volume is its topic. A reader looks for a message by its subject line, and
reads it. The operator has recorded all requests, knows the groups of all documents, and has the mean vector of every
topic: more than most would. They guess the topic of the search, and the document that was read.
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

from benchmarks import data, measure
from benchmarks.blocks import PASSAGES
from shoal.attacks.rates import wilson
from shoal.data.corpus import Corpus
from shoal.index.client import IndexClient, Keys
from shoal.index.client.demo import local_server
from shoal.index.client.search import group_records
from shoal.methods.pools import unit_rows

K = 5
TOPICS, EACH = 20, 100
SUBJECT = 8  # words
SEARCHES = int(os.environ.get("SHOAL_BENCH_SEARCHES", "500"))
FIRST = 10
READ_TOGETHER = (2, 5, 10)  # documents of one search that are read
MODES: dict[str, dict[str, bool]] = {"sync": {}, "groups": {"by_groups": True}}


@dataclass(frozen=True)
class Messages:
    """Messages, their subject lines and their topics."""

    texts: list[str]
    subjects: list[str]
    topics: np.ndarray

    @property
    def names(self) -> list[str]:
        return [f"m{number}" for number in range(len(self.texts))]


@dataclass
class Traffic:
    """What the server sees of one search and one reading."""

    groups: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)  # ids of documents


def run() -> dict[str, Any]:
    tuned, held_out = measured(made(0), "tuned on"), measured(made(TOPICS), "held out")
    results = {name: tuned[name] + held_out[name] for name in tuned}
    for title, rows in results.items():
        measure.show(title, rows)
    return results


def measured(messages: Messages, volumes: str) -> dict[str, Any]:
    """Searches of messages: of the volumes that the weights of words were tuned on, or of others."""
    with tempfile.TemporaryDirectory() as folder, local_server(Path(folder) / "shoal.db") as server:
        token, keys = server.account("operator", "operator"), Keys.draw()
        with IndexClient(server.address, token, keys, folder=Path(folder) / "client") as client:
            client.create(Corpus.from_texts(messages.texts, ids=messages.names), k=K)
            client.sync()
            operator = Operator(client, messages)
            chosen = np.random.default_rng(0).choice(len(messages.texts), SEARCHES, replace=False)
            found = [{"search": "plain tf-idf"} | quality(messages, chosen, plain(messages, chosen))]
            learned = [
                {"search": "nothing seen (chance)", "topic": 1 / TOPICS, "document": 1 / len(messages.texts)},
            ]
            for mode, options in MODES.items():
                seen, answers = [], []
                for row in chosen.tolist():
                    with recorded(client) as traffic:
                        hits = client.search(messages.subjects[row], FIRST, **options)
                        client.get(operator.id_of[f"m{row}"])
                    seen.append(traffic)
                    answers.append([int(hit.name[1:]) for hit in hits if hit.name])
                found.append({"search": mode} | quality(messages, chosen, answers))
                learned.append({"search": mode} | operator.guesses(seen, chosen))
            learned += [operator.guesses_by_likeness(answers, count) for count in READ_TOGETHER]
    for row in found[1:]:
        row["in the first ten, of plain"] = row["in the first ten"] / found[0]["in the first ten"]
        row["precision at 10, of plain"] = row["precision at 10"] / found[0]["precision at 10"]
    return {
        "found": [{"volumes": volumes} | row for row in found],
        "learned": [{"volumes": volumes} | row for row in learned],
    }


def made(first: int) -> Messages:
    """Messages of the volumes that have the most passages, after the first so many."""
    records = [record for record in data.records(PASSAGES) if len(record["text"].split()) > 3 * SUBJECT]
    volumes = [volume for volume, _ in Counter(record["volume"] for record in records).most_common(first + TOPICS)]
    random = np.random.default_rng(0)
    texts: list[str] = []
    for volume in volumes[first:]:
        of_volume = [record["text"] for record in records if record["volume"] == volume]
        texts += [of_volume[row] for row in random.choice(len(of_volume), EACH, replace=False)]
    subjects = [" ".join(re.findall(r"\w+", text)[:SUBJECT]) for text in texts]
    return Messages(texts, subjects, np.repeat(np.arange(TOPICS), EACH))


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
        if path.startswith("/v1/groups/records"):
            traffic.groups += path.partition("=")[2].split(",")
        elif path.startswith("/v1/documents/"):
            traffic.fetched.append(path.rpartition("/")[2])
        elif (match := re.match(r"/v1/buckets/(\d+)/(\d+)\?after=$", path)) is not None:
            traffic.fetched.append(f"{match[1]}/{match[2]}")
        return get(path)

    connection.get = watched_get  # type: ignore[method-assign]
    try:
        yield traffic
    finally:
        del connection.get


class Operator:
    """Guesses from what the server sees."""

    def __init__(self, client: IndexClient, messages: Messages) -> None:
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
        names = list(self._number)
        rows = [row for first in range(0, len(names), 100) for row in group_records(index, names[first : first + 100])]
        self._group_of = {row["document"]: row["representative"] for row in rows}

    def guesses(self, seen: list[Traffic], chosen: np.ndarray) -> dict[str, Any]:
        """How often the topic and the document are guessed, with 95 % intervals, and how many candidates there are."""
        random = np.random.default_rng(1)
        topic = [self._topic(traffic, random) == self._messages.topics[row] for row, traffic in both(chosen, seen)]
        guessed = [self._document(traffic, random) for traffic in seen]
        document = [guess == row for row, (guess, _) in both(chosen, guessed)]
        return {
            "topic": float(np.mean(topic)),
            "topic, interval": interval(topic),
            "document": float(np.mean(document)),
            "document, interval": interval(document),
            "fewest documents fetched": min(candidates for _, candidates in guessed),
        }

    def guesses_by_likeness(self, answers: list[list[int]], count: int) -> dict[str, Any]:
        """Several documents of a search are read: in each bucket, that whose group is most like the other buckets'."""
        ids = list(self._row_of)
        bits = max(len(ids) // (2 * K + 8), 1).bit_length() - 1
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
        return {
            "search": f"{count} read, by likeness (chance {np.mean(chances):.3f})",
            "document": float(np.mean(right)),
            "document, interval": interval(right),
        }

    def _topic(self, traffic: Traffic, random: np.random.Generator) -> int:
        """The topic whose mean is nearest to the groups that were asked for; else any."""
        shown = self._shown(traffic)
        if shown is None:
            return int(random.integers(TOPICS))
        return int(np.argmax(np.asarray((self._topics @ shown.T).todense()).ravel()))

    def _document(self, traffic: Traffic, random: np.random.Generator) -> tuple[int, int]:
        """Of the documents that were fetched, that whose group is nearest to what is known of the query."""
        rows = [self._row_of[id] for id in self._candidates(traffic)]
        shown = self._shown(traffic)
        ids = {row: id for id, row in self._row_of.items()}
        if shown is None:
            return int(random.choice(rows)), len(rows)
        asked = [row for row in rows if self._group_of[ids[row]] in traffic.groups] or rows
        pools = self._pools[[self._number[self._group_of[ids[row]]] for row in asked]]
        return asked[int(np.argmax(np.asarray((pools @ shown.T).todense()).ravel()))], len(rows)

    def _candidates(self, traffic: Traffic) -> list[str]:
        fetched = traffic.fetched[-1]
        if "/" not in fetched:
            return [fetched]
        bits, number = map(int, fetched.split("/"))
        return [id for id in self._row_of if int(id, 16) >> (128 - bits) == number]

    def _shown(self, traffic: Traffic) -> sp.csr_matrix | None:
        """What the operator knows of the query, as a vector."""
        return (
            sp.csr_matrix(self._pools[[self._number[name] for name in traffic.groups]].sum(axis=0))
            if traffic.groups
            else None
        )


def interval(hits: list[bool]) -> str:
    low, high = wilson(float(np.mean(hits)), len(hits))
    return f"{low:.3f} to {high:.3f}"
