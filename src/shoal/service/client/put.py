"""put: documents are counted, placed and encrypted here, and sent several at a time, each of them once."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal import progress
from shoal.errors import InputError
from shoal.io.sealing.keys import Keys
from shoal.service.client.connection import JSON, OCTETS, Connection, Refusal, new_key
from shoal.service.client.journal import Beginning, Journal, Outgoing, digest_of
from shoal.service.client.opened import settle
from shoal.service.client.placing import Placing
from shoal.vectors import VectorSpace

__all__ = ["Put", "PutReport", "as_terms", "make_groups", "resume"]

AT_ONCE = 8  # requests on their way
BATCH, CHARACTERS = 256, 16_000_000  # most documents, and about the most text, that are counted at a time
TOGETHER = 32  # documents that enter the journal at once, which takes as long as one
NOT_THIS_ONE = (400, 413, 422)  # the server refuses a document, and may well take the next
NOT_SO = (404, 409)  # a document, or the group that was chosen for it, is not what it was taken for
TRIES = 5
DAY = 86_400.0


@dataclass
class PutReport:
    """What became of the documents of a put."""

    documents: int = 0  # in the source
    known: int = 0  # put before, and not sent again
    uploaded: int = 0
    waiting: int = 0  # in no group until enough others are like them
    without_terms: int = 0  # stored, but no search finds them: none of their words is in the vocabulary
    changed: list[tuple[str, str]] = field(default_factory=list)  # name, and id of an earlier text of it, which stays
    refused: list[tuple[str, str]] = field(default_factory=list)  # name and reason


@dataclass
class Put:
    """One put: from names and texts to answers of the server."""

    connection: Connection
    journal: Journal
    keys: Keys
    space: VectorSpace
    placing: Placing
    thin: bool = False  # the server chooses the group, and sees the vectors
    stored_only: bool = False  # groups are made later, of documents that are all there
    report: PutReport = field(default_factory=PutReport)
    # Name and counts of what is on its way, by key.
    _sent: dict[str, tuple[str, sp.csr_matrix]] = field(default_factory=dict, repr=False)

    def run(self, documents: Iterable[tuple[str, str]], total: int) -> PutReport:
        """Put all of them. Whatever ends this early, running it again goes on where it ended."""
        for request, answer in _in_flight(self.connection, self._requests(documents)):
            self._answered(request, answer)
            progress.step("uploading", self.report.uploaded + self.report.known, total)
        self.report.waiting = self.journal.figures()["waiting"]
        return self.report

    def place_waiting(self, days: float) -> None:
        """Take up the documents that wait: some may be a group by now, and old ones join the nearest."""
        for document, since, counts in self.journal.waiting(len(self.space.terms_)):
            overdue = since <= time.time() - days * DAY
            if not overdue or not self._joined(document, counts, self.placing.nearest):
                self._wait(document, counts)

    def _requests(self, documents: Iterable[tuple[str, str]]) -> Iterator[Outgoing]:
        """What is to be sent of documents that were not put yet; each is in the journal before it is given."""
        for batch in _batches(documents):
            self.report.documents += len(batch)
            digests = [digest_of(name, text) for name, text in batch]
            new = [(*batch[row], digest) for row, digest in enumerate(digests) if digest not in self.journal]
            self.report.known += len(batch) - len(new)
            if not self.stored_only:
                self._take_up([(text, digest) for (_, text), digest in zip(batch, digests, strict=True)])
            counts = self.space.count_rows(self.space.count([text for _, text, _ in new]))
            for first in range(0, len(new), TOGETHER):
                rows = range(first, min(first + TOGETHER, len(new)))
                yield from self._begun([(*new[row], counts[row]) for row in rows])

    def _take_up(self, documents: list[tuple[str, bytes]]) -> None:
        """Of these, the server may have some in no group: a backup was restored, or a creation never finished."""
        resting = [(text, document) for text, digest in documents if (document := self.journal.unplaced(digest))]
        counts = self.space.count_rows(self.space.count([text for text, _ in resting]))
        for row, (_, document) in enumerate(resting):
            if counts[row].nnz and not self._joined(document, counts[row], self.placing.chosen):
                self.journal.hold(document, counts[row])
                self._wait(document, counts[row])

    def _begun(self, documents: list[tuple[str, str, bytes, sp.csr_matrix]]) -> Iterator[Outgoing]:
        """Requests for documents (name, text, digest, counts), in the journal together."""
        beginnings = []
        for name, text, digest, counts in documents:
            self.report.changed += [(name, earlier) for earlier, _ in self.journal.named(name)]
            request, waits = self._request(self.keys.encrypt(text.encode()), counts)
            beginnings.append(Beginning(digest, name, request, counts if waits else None))
            self._sent[request.key] = name, counts
        begun = self.journal.begin(beginnings)
        self.report.known += len(beginnings) - len(begun)
        yield from (beginning.request for beginning in begun)

    def _request(self, ciphertext: bytes, counts: sp.csr_matrix) -> tuple[Outgoing, bool]:
        """How a document is sent, and whether it waits for a group here."""
        if self.thin and counts.nnz:
            body = {"ciphertext": base64.b64encode(ciphertext).decode(), "terms": as_terms(counts)}
            return Outgoing(new_key(), "/v1/documents/thin", JSON, json.dumps(body).encode()), False
        representative = self.placing.chosen(counts) if counts.nnz and not self.stored_only else None
        path = "/v1/documents?" + (f"representative={representative}" if representative else "status=stored")
        waits = representative is None and bool(counts.nnz) and not self.stored_only
        return Outgoing(new_key(), path, OCTETS, ciphertext), waits

    def _answered(self, request: Outgoing, answer: dict[str, Any] | Refusal) -> None:
        name, counts = self._sent.pop(request.key)
        while isinstance(answer, Refusal) and answer.status == 409 and not self.thin:
            # The group was retired meanwhile: choose another.
            self.placing.refresh()
            again, waits = self._request(request.body, counts)
            if not self.journal.replace(request, again, counts if waits else None):
                return
            request, answer = again, _posted(self.connection, again)
        if isinstance(answer, Refusal):
            _refused(self.journal, request, answer)
            if answer.status not in NOT_THIS_ONE:
                raise answer
            self.report.refused.append((name, str(answer)))
            return
        _stored(self.journal, request, answer)
        self.report.uploaded += 1
        self.report.without_terms += not counts.nnz
        if answer["representative"] is None and counts.nnz and not (self.thin or self.stored_only):
            self._wait(answer["id"], counts)

    def _joined(self, document: str, counts: sp.csr_matrix, choose: Callable[[sp.csr_matrix], str | None]) -> bool:
        """A document that the server has joins a group, or is found to be in one, or gone; False if it is to wait."""
        for _ in range(TRIES):
            representative = choose(counts)
            if representative is None:
                return False
            body = json.dumps({"representative": representative}).encode()
            request = Outgoing(new_key(), f"/v1/documents/{document}/group", JSON, body)
            if _placed(self.connection, self.journal, request) or not self.journal.in_no_group(document):
                return True
            self.placing.refresh()  # the group was retired meanwhile
        raise InputError("the index changes faster than documents can join it; try again later")

    def _wait(self, document: str, counts: sp.csr_matrix) -> None:
        """The document waits; if there is a crowd around it now, they become a group."""
        made = self.placing.wait(document, counts)
        if made is None:
            return
        documents, pool = made
        if make_groups(self.connection, self.journal, [made]):
            self.placing.groups.add(pool, len(documents))
            return
        # Some are gone, or in a group: the others wait on.
        left = [row for row in self.journal.waiting(len(self.space.terms_)) if row[0] in documents]
        if len(left) == len(documents):
            raise InputError("the server makes no group of documents that it has in none; ask the operator")
        for still, _, its_counts in left:
            self._wait(still, its_counts)


def make_groups(connection: Connection, journal: Journal, groups: list[tuple[list[str], sp.csr_matrix]]) -> bool:
    """Make groups of documents that the server has, by their pools; False if some are not there to be grouped."""
    body = {"groups": [{"documents": documents, "pool": as_terms(pool)} for documents, pool in groups]}
    return _placed(connection, journal, Outgoing(new_key(), "/v1/groups", JSON, json.dumps(body).encode()))


def resume(connection: Connection, journal: Journal) -> None:
    """Finish what an earlier put began: the same bytes with the same keys."""
    for request, answer in _in_flight(connection, journal.outgoing()):
        if _is_placing(request):
            _note_placed(connection, journal, request, answer)
        elif not isinstance(answer, Refusal):
            _stored(journal, request, answer)
        else:
            _refused(journal, request, answer)  # the document gets its turn again, and a group of its own choice
            if answer.status not in (*NOT_THIS_ONE, 409):
                raise answer


def _placed(connection: Connection, journal: Journal, request: Outgoing) -> bool:
    """Documents that the server has get into groups; False if it is not so with one of them."""
    journal.begin_placing(request)
    return _note_placed(connection, journal, request, _posted(connection, request))


def _note_placed(connection: Connection, journal: Journal, request: Outgoing, answer: dict[str, Any] | Refusal) -> bool:
    if isinstance(answer, Refusal):
        _refused(journal, request, answer)
        if answer.status not in NOT_SO:
            raise answer
        settle(connection, journal)
        return False
    if "groups" in answer:
        groups = zip(json.loads(request.body)["groups"], answer["groups"], strict=True)
        placed = {document: made["representative"] for group, made in groups for document in group["documents"]}
    else:
        placed = {answer["id"]: answer["representative"]}
    journal.placed(request, placed)
    return True


def _is_placing(request: Outgoing) -> bool:
    return request.path.endswith(("/group", "/groups"))


def _stored(journal: Journal, request: Outgoing, answer: dict[str, Any]) -> None:
    representative = answer["representative"]
    if representative is None and request.path.endswith("/thin"):
        representative = ""  # the server holds it back, and will find it a group
    journal.stored(request, answer["id"], representative)


def _refused(journal: Journal, request: Outgoing, refusal: Refusal) -> None:
    """What was refused is not asked for again. What failed may have been done: it is asked for with the same key."""
    if refusal.status < 500:
        journal.forget(request)


def _in_flight(
    connection: Connection, requests: Iterable[Outgoing]
) -> Iterator[tuple[Outgoing, dict[str, Any] | Refusal]]:
    """Every request with its answer, as the answers come in."""
    pool = ThreadPoolExecutor(AT_ONCE)
    running: dict[Future[dict[str, Any] | Refusal], Outgoing] = {}

    def answered() -> list[tuple[Outgoing, dict[str, Any] | Refusal]]:
        return [(running.pop(future), future.result()) for future in wait(running, return_when=FIRST_COMPLETED).done]

    try:
        for request in requests:
            running[pool.submit(_posted, connection, request)] = request
            if len(running) >= AT_ONCE:
                yield from answered()
        while running:
            yield from answered()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _posted(connection: Connection, request: Outgoing) -> dict[str, Any] | Refusal:
    try:
        return connection.post(request.path, request.body, request.kind, request.key)
    except Refusal as refusal:
        return refusal


def as_terms(counts: sp.csr_matrix) -> dict[str, int]:
    """Counts by the number of the term, as JSON has them."""
    row = sp.csr_matrix(counts)
    return dict(zip(map(str, row.indices.tolist()), row.data.astype(np.int64).tolist(), strict=True))


def _batches(documents: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Documents, many small ones or a few large ones at a time."""
    batch: list[tuple[str, str]] = []
    characters = 0
    for name, text in documents:
        batch.append((name, text))
        characters += len(text)
        if len(batch) == BATCH or characters > CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
