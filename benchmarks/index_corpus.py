"""Large indexes made of the FRUS passages, in real databases, and servers of them in processes of their own."""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data
from benchmarks.blocks import PASSAGES
from shoal import VectorSpace
from shoal.index.client import IndexClient, Keys, Vocabulary
from shoal.index.client.put import as_terms
from shoal.index.client.records import About, Record
from shoal.index.server.accounts import account_of, make_account
from shoal.index.server.database import Database
from shoal.index.server.documents import store_documents
from shoal.index.server.gate import Limits
from shoal.index.server.groups import make_groups
from shoal.index.server.store import Answer, Store, WriteTransaction
from shoal.methods.pools import pooled_counts

K = 5
AROUND = 5  # passages on either side that a document's words are drawn from
GROUPS_AT_ONCE = 2_000
CIPHERTEXT = 64  # bytes
COMMAND = [sys.executable, "-c", "from shoal.cli import main; main()"]
UNLIMITED = ("--rate", "1000000", "--max-documents", "10000000")
JSON, OCTETS = "application/json", "application/octet-stream"


@dataclass(frozen=True)
class Passages:
    """The passages as counts, by volume, in their order."""

    space: VectorSpace
    texts: list[str]
    volumes: list[sp.csr_matrix]  # rows without a term left out

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.space.terms_, self.space.idf_, self.space.get_params())


@cache
def passages() -> Passages:
    records = data.records(PASSAGES)
    texts = [record["text"] for record in records]
    space = VectorSpace(min_df=K)
    counted = space.count(texts)
    counts = space.settle([counted.tally]).count_rows(counted)
    names, volume_of = np.unique([record["volume"] for record in records], return_inverse=True)
    volumes = [counts[volume_of == number] for number in range(len(names))]
    return Passages(space, texts, [volume[np.diff(volume.indptr) > 0] for volume in volumes])


def documents(n_groups: int, random: np.random.Generator) -> Iterator[sp.csr_matrix]:
    """Counts of K times so many documents, a volume at a time; K successive ones are alike.

    A document is as long as a passage, and its words are drawn from that passage and those around it. So words are as
    frequent, and go together, as in the passages.
    """
    volumes = passages().volumes
    total, made, seen = sum(volume.shape[0] for volume in volumes), 0, 0
    for volume in volumes:
        seen += volume.shape[0]
        count = K * (n_groups * seen // total - made)
        made = n_groups * seen // total
        words = np.repeat(volume.indices, volume.data)
        starts = np.concatenate(([0], np.cumsum(np.asarray(volume.sum(axis=1)).ravel())))
        passage = np.arange(count) * volume.shape[0] // max(count, 1)
        lengths = np.diff(starts)[passage]
        first = starts[np.maximum(passage - AROUND, 0)]
        beyond = starts[np.minimum(passage + AROUND + 1, volume.shape[0])]
        drawn = words[random.integers(np.repeat(first, lengths), np.repeat(beyond, lengths))]
        rows = np.repeat(np.arange(count), lengths)
        yield sp.csr_matrix((np.ones(len(drawn), np.int64), (rows, drawn)), shape=(count, volume.shape[1]))


def queries(count: int, seed: int) -> list[str]:
    """Three words of a passage each."""
    random = np.random.default_rng(seed)
    texts, found = passages().texts, []
    while len(found) < count:
        words = re.findall(r"[a-z]{5,}", texts[random.integers(len(texts))])
        if len(words) >= 3:
            text = " ".join(random.choice(words, 3, replace=False))
            if counts_of(text).nnz:
                found.append(text)
    return found


def counts_of(text: str) -> sp.csr_matrix:
    """Of a text, by the numbers of terms."""
    space = passages().space
    return space.count_rows(space.count([text]))


def build(address: str, folder: Path, n_documents: int) -> str:
    """An index of so many documents in a database, written through the store; the token of its operator."""
    database = Database(address)
    database.create_tables()
    with database.writing() as connection:
        _, token = make_account(connection, "operator", "operator")
    with serving(address, folder) as server, IndexClient(server.url, token, folder=folder / "creating") as client:
        client.create(vocabulary=passages().vocabulary, k=K)
    store, keys = Store(database), Keys.draw()
    keys.write(folder / "key.txt", None)
    random = np.random.default_rng(0)
    for counts in documents(n_documents // K, random):
        for first in range(0, counts.shape[0] // K, GROUPS_AT_ONCE):
            part = counts[K * first : K * (first + GROUPS_AT_ONCE)]
            with database.reading() as connection:
                account = account_of(connection, token)
            assert account is not None
            store.write(account, None, lambda writing, part=part: _added(writing, part, keys))
    database.close()
    return token


def _added(writing: WriteTransaction, counts: sp.csr_matrix, keys: Keys) -> Answer:
    """Documents with records for one reader, that K by K are groups."""
    terms, groups = passages().space.terms_, np.arange(counts.shape[0]) // K
    contents = []
    for row in counts:
        words = dict(zip(terms[row.indices].tolist(), row.data.tolist(), strict=True))
        about = About(f"letters/{secrets.token_hex(4)}.txt", "2024-05-17", "", " ".join(words)[:120])
        contents.append((os.urandom(CIPHERTEXT), Record(about, os.urandom(32), words).sealed(keys)))
    stored = store_documents(writing, contents, [None] * len(contents), Limits(documents=10**9))
    ids = [document["id"] for document in stored]
    pools = [as_terms(pool) for pool in pooled_counts(counts, groups)]
    make_groups(writing, [ids[first : first + K] for first in range(0, len(ids), K)], pools)
    return {}


class Server:
    """`shoal serve` on a free port."""

    def __init__(self, address: str, folder: Path) -> None:
        self.started = time.perf_counter()
        self._log = folder / "log"
        arguments = ["serve", "--database", address, "--port", "0", *UNLIMITED]
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen([*COMMAND, *arguments], stderr=log, stdout=log)
        while not (said := re.search(r"serving on (http://\S+)", self._log.read_text())):
            if self.process.poll() is not None:
                raise SystemExit(self._log.read_text())
            time.sleep(0.01)
        self.url = said[1]
        caller = Caller(self.url, "")
        while caller.ask("GET", "/health/ready")[0] != 200:
            time.sleep(0.01)
        self.ready = time.perf_counter() - self.started

    def cpu_seconds(self) -> float:
        """Of all its threads so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, what: str) -> float:
        """Gigabytes: VmRSS now, or VmHWM at most so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{what}:\s+(\d+)", status)[1]) / 1e6


@contextmanager
def serving(address: str, folder: Path) -> Iterator[Server]:
    """A server that is ready, until the block ends."""
    server = Server(address, folder)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


class Caller:
    """Requests over one connection that stays open, with as little of our own time as can be."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        """Status and content of the answer."""
        kind = {"Content-Type": OCTETS if isinstance(body, bytes) else JSON} if body is not None else {}
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        self._connection.request(method, path, content, self._headers | kind | headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def write(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """A request with a key of its own, as clients send it."""
        return self.ask(method, path, body, **{"Idempotency-Key": secrets.token_hex(16)})
