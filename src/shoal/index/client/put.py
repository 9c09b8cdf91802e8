"""put: documents are counted, assigned to groups and encrypted here, and uploaded several at a time, each of them once.

The client chooses groups by the same rules as `shoal.index.DynamicIndex`. The server sees which group was chosen, and
of documents that waited the pooled counts of k or more.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal import progress
from shoal.data.keys import Keys
from shoal.errors import InputError
from shoal.index.client.connection import JSON, OCTETS, Connection, Refusal, new_key
from shoal.index.client.journal import Journal, PendingRequest, Upload, digest_of
from shoal.index.client.opened import OpenedIndex, settle
from shoal.index.client.results import DAY, PutReport
from shoal.index.waiting import Waiting
from shoal.methods.pools import unit_rows

AT_ONCE = 8  # requests that are sent at the same time
BATCH, CHARACTERS = 256, 16_000_000  # most documents, and about the most text, that are counted at a time
JOURNALED = 32  # documents that enter the journal at once, which takes as long as one
DOCUMENT_REFUSED = (400, 413, 422)  # the server may still accept the next document
STATE_CHANGED = (404, 409)  # a document or a group is no longer as this client knows it
TRIES = 5
ANY = -1.0  # below every similarity

Answer = dict[str, Any] | Refusal


@dataclass
class Put:
    """One put: from names and texts to answers of the server."""

    index: OpenedIndex
    keys: Keys
    embargo: float | None  # documents less similar than this to every group wait; None: none does
    thin: bool = False  # the server chooses the groups, and sees the vectors
    store_only: bool = False  # groups are made later, when all documents are there
    report: PutReport = field(default_factory=PutReport)

    def __post_init__(self) -> None:
        self.index.expire_groups()
        self._min_similarity = self.embargo or ANY
        self._groups = self.index.published.groups()
        self._waiting = Waiting(self.index.k, self.index.vocabulary.weights)
        self._sent: dict[str, tuple[str, sp.csr_matrix]] = {}  # name and counts of what was sent, by key

    def run(self, documents: Iterable[tuple[str, str]], total: int) -> PutReport:
        """Put documents, given by name and text. If this is interrupted, running it again resumes it."""
        for request, answer in _answers(self.index.connection, self._requests(documents)):
            self._answered(request, answer)
            progress.step("uploading", self.report.uploaded + self.report.known, total)
        self.report.waiting = self.index.journal.figures()["waiting"]
        return self.report

    def place_waiting(self, days: float) -> None:
        """Look again at the documents that wait: some may form a group by now, and overdue ones join the nearest."""
        for document, since, counts in self.index.journal.waiting(len(self.index.vocabulary.terms)):
            overdue = since <= time.time() - days * DAY
            if not overdue or not self._join(document, counts, ANY):
                self._wait(document, counts)

    def _requests(self, documents: Iterable[tuple[str, str]]) -> Iterator[PendingRequest]:
        """The uploads of new documents; each is in the journal before it is sent."""
        for batch in _batches(documents):
            self.report.documents += len(batch)
            digests = [digest_of(name, text) for name, text in batch]
            new = [(*batch[row], digest) for row, digest in enumerate(digests) if digest not in self.index.journal]
            self.report.known += len(batch) - len(new)
            if not self.store_only:
                self._place_ungrouped([(text, digest) for (_, text), digest in zip(batch, digests, strict=True)])
            counts = self._counted([text for _, text, _ in new])
            for first in range(0, len(new), JOURNALED):
                rows = range(first, min(first + JOURNALED, len(new)))
                yield from self._begin([(*new[row], counts[row]) for row in rows])

    def _place_ungrouped(self, documents: list[tuple[str, bytes]]) -> None:
        """Place documents that the server has in no group: a backup was restored, or a creation never finished."""
        ungrouped = [(text, id) for text, digest in documents if (id := self.index.journal.unplaced(digest))]
        for (_, document), counts in zip(ungrouped, self._counted([text for text, _ in ungrouped]), strict=True):
            if counts.nnz and not self._join(document, counts, self._min_similarity):
                self.index.journal.hold(document, counts)
                self._wait(document, counts)

    def _begin(self, documents: list[tuple[str, str, bytes, sp.csr_matrix]]) -> Iterator[PendingRequest]:
        """Uploads of documents (name, text, digest, counts), which enter the journal together."""
        uploads = []
        for name, text, digest, counts in documents:
            self.report.changed += [(name, earlier) for earlier, _ in self.index.journal.named(name)]
            request, waits = self._upload_request(self.keys.encrypt(text.encode()), counts)
            uploads.append(Upload(digest, name, request, counts if waits else None))
            self._sent[request.key] = name, counts
        begun = self.index.journal.begin_uploads(uploads)
        self.report.known += len(uploads) - len(begun)
        yield from (upload.request for upload in begun)

    def _upload_request(self, ciphertext: bytes, counts: sp.csr_matrix) -> tuple[PendingRequest, bool]:
        """The upload of a document, and whether the document waits for a group on this machine."""
        if self.thin and counts.nnz:
            body = {"ciphertext": base64.b64encode(ciphertext).decode(), "terms": as_terms(counts)}
            return PendingRequest(new_key(), "/v1/documents/thin", JSON, json.dumps(body).encode()), False
        searchable = bool(counts.nnz) and not self.store_only
        group = self._nearest_group(counts, self._min_similarity) if searchable else None
        path = "/v1/documents?" + (f"representative={group}" if group else "status=stored")
        return PendingRequest(new_key(), path, OCTETS, ciphertext), searchable and group is None

    def _answered(self, request: PendingRequest, answer: Answer) -> None:
        name, counts = self._sent.pop(request.key)
        while isinstance(answer, Refusal) and answer.status == 409 and not self.thin:
            # The group was retired meanwhile: choose another.
            self._groups = self.index.published.groups()
            again, waits = self._upload_request(request.body, counts)
            if not self.index.journal.replace(request, again, counts if waits else None):
                return
            request, answer = again, _post(self.index.connection, again)
        if isinstance(answer, Refusal):
            _drop_refused(self.index.journal, request, answer)
            if answer.status not in DOCUMENT_REFUSED:
                raise answer
            self.report.refused.append((name, str(answer)))
            return
        _note_upload(self.index.journal, request, answer)
        self.report.uploaded += 1
        self.report.without_terms += not counts.nnz
        if answer["representative"] is None and counts.nnz and not (self.thin or self.store_only):
            self._wait(answer["id"], counts)

    def _join(self, document: str, counts: sp.csr_matrix, min_similarity: float) -> bool:
        """Have an uploaded document join the nearest group; False if none is similar enough.

        True also if it turns out to be in a group, or deleted.
        """
        for _ in range(TRIES):
            group = self._nearest_group(counts, min_similarity)
            if group is None:
                return False
            body = json.dumps({"representative": group}).encode()
            request = PendingRequest(new_key(), f"/v1/documents/{document}/group", JSON, body)
            if _send_grouping(self.index, request) or not self.index.journal.in_no_group(document):
                return True
            self._groups = self.index.published.groups()  # the group was retired meanwhile
        raise InputError("the index changes faster than documents can join it; try again later")

    def _wait(self, document: str, counts: sp.csr_matrix) -> None:
        """Let a document wait; if it completes a crowd of waiting documents, they become a group."""
        self._waiting.add(document, counts)
        min_similarity = self._min_similarity if len(self._groups) else ANY
        made = self._waiting.group_around(document, min_similarity, self._min_similarity)
        if made is None:
            return
        documents, pool = made
        if make_groups(self.index, [made]):
            self._groups.add(pool, len(documents))
            return
        # Some were deleted, or are in a group: the others wait on.
        still_waiting = self.index.journal.waiting(len(self.index.vocabulary.terms))
        left = [(other, its_counts) for other, _, its_counts in still_waiting if other in documents]
        if len(left) == len(documents):
            raise InputError("the server refuses to group documents that are in no group; ask the operator")
        for other, its_counts in left:
            self._wait(other, its_counts)

    def _nearest_group(self, counts: sp.csr_matrix, min_similarity: float) -> str | None:
        """The name of the most similar representative; None if there is none, or if it is less similar than this."""
        if not len(self._groups):
            return None
        representatives = self._groups.representatives
        number, similarity = representatives.nearest(unit_rows(counts.astype(np.float64), representatives.idf)[0])
        return representatives.names[number] if similarity >= min_similarity else None

    def _counted(self, texts: list[str]) -> sp.csr_matrix:
        return self.index.space.count_rows(self.index.space.count(texts))


def make_groups(index: OpenedIndex, groups: list[tuple[list[str], sp.csr_matrix]]) -> bool:
    """Make groups of uploaded documents, by their pooled counts; False if one of them cannot be grouped."""
    body = {"groups": [{"documents": documents, "pool": as_terms(pool)} for documents, pool in groups]}
    return _send_grouping(index, PendingRequest(new_key(), "/v1/groups", JSON, json.dumps(body).encode()))


def resume(index: OpenedIndex) -> None:
    """Finish what an interrupted put began, with the same bytes and the same keys."""
    for request, answer in _answers(index.connection, index.journal.unanswered()):
        if request.path.endswith(("/group", "/groups")):
            _note_grouping(index, request, answer)
        elif not isinstance(answer, Refusal):
            _note_upload(index.journal, request, answer)
        else:
            _drop_refused(index.journal, request, answer)  # this put uploads the document anew
            if answer.status not in (*DOCUMENT_REFUSED, 409):
                raise answer


def _send_grouping(index: OpenedIndex, request: PendingRequest) -> bool:
    """Have uploaded documents join groups; False if one of them cannot."""
    index.journal.begin(request)
    return _note_grouping(index, request, _post(index.connection, request))


def _note_grouping(index: OpenedIndex, request: PendingRequest, answer: Answer) -> bool:
    if isinstance(answer, Refusal):
        _drop_refused(index.journal, request, answer)
        if answer.status not in STATE_CHANGED:
            raise answer
        settle(index.connection, index.journal)
        return False
    if "groups" in answer:
        groups = zip(json.loads(request.body)["groups"], answer["groups"], strict=True)
        group_of = {document: made["representative"] for group, made in groups for document in group["documents"]}
    else:
        group_of = {answer["id"]: answer["representative"]}
    index.journal.grouped(request, group_of)
    return True


def _note_upload(journal: Journal, request: PendingRequest, answer: dict[str, Any]) -> None:
    group = answer["representative"]
    if group is None and request.path.endswith("/thin"):
        group = ""  # the server holds it back, and will find it a group
    journal.uploaded(request, answer["id"], group)


def _drop_refused(journal: Journal, request: PendingRequest, refusal: Refusal) -> None:
    """Forget a refused request. One that failed may have been carried out: it stays, to be repeated with its key."""
    if refusal.status < 500:
        journal.forget(request)


def _answers(connection: Connection, requests: Iterable[PendingRequest]) -> Iterator[tuple[PendingRequest, Answer]]:
    """Send requests, and yield each with its answer as the answers come in."""
    pool = ThreadPoolExecutor(AT_ONCE)
    running: dict[Future[Answer], PendingRequest] = {}

    def finished() -> list[tuple[PendingRequest, Answer]]:
        return [(running.pop(future), future.result()) for future in wait(running, return_when=FIRST_COMPLETED).done]

    try:
        for request in requests:
            running[pool.submit(_post, connection, request)] = request
            if len(running) >= AT_ONCE:
                yield from finished()
        while running:
            yield from finished()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _post(connection: Connection, request: PendingRequest) -> Answer:
    try:
        return connection.post(request.path, request.body, request.content_type, request.key)
    except Refusal as refusal:
        return refusal


def as_terms(counts: sp.csr_matrix) -> dict[str, int]:
    """Counts by the number of the term, as JSON has them."""
    row = sp.csr_matrix(counts)
    return dict(zip(map(str, row.indices.tolist()), row.data.astype(np.int64).tolist(), strict=True))


def _batches(documents: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Documents in batches of many small ones or a few large ones."""
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
