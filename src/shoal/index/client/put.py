"""put: documents are counted, assigned to groups and encrypted here, and uploaded many at a time, each of them once.

The client chooses groups by the same rules as `shoal.index.DynamicIndex`. The server sees which group was chosen, and
of documents that waited the pooled counts of k or more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from shoal import progress
from shoal.data.keys import Keys
from shoal.errors import InputError
from shoal.index.client.connection import JSON, OCTETS, Connection, Refusal, new_key
from shoal.index.client.journal import DAY, Journal, PendingRequest, Upload, digest_of
from shoal.index.client.opened import OpenedIndex
from shoal.index.client.records import About, Record, opening_of
from shoal.index.client.search import settle
from shoal.index.client.sources import SourceDocument
from shoal.index.waiting import Waiting
from shoal.methods.pools import unit_rows

AT_ONCE = 4  # requests that are sent at the same time
BATCH, CHARACTERS = 256, 2_000_000  # most documents, and about the most text, of a request
DOCUMENT_REFUSED = (400, 413, 422)  # the server may still accept the next document
STATE_CHANGED = (404, 409)  # a document or a group is no longer as this client knows it
TERMS_AT_ONCE = 50_000  # of the groups of a request: less than a megabyte
TRIES = 5
ANY = -1.0  # below every similarity

Answer = dict[str, Any] | Refusal
T = TypeVar("T")


@dataclass
class PutReport:
    """What became of the documents of a put."""

    documents: int = 0  # in the source
    known: int = 0  # put before, and not sent again
    uploaded: int = 0
    waiting: int = 0  # in no group until enough similar documents have come
    without_terms: int = 0  # stored, but no search finds them: none of their words is in the vocabulary
    changed: list[tuple[str, str]] = field(default_factory=list)  # name, and id of an earlier text of it, which stays
    refused: list[tuple[str, str]] = field(default_factory=list)  # name and reason


@dataclass
class Put:
    """One put: from names and texts to answers of the server."""

    index: OpenedIndex
    keys: Keys
    embargo: float | None  # documents less similar than this to every group wait; None: none does
    store_only: bool = False  # groups are made later, when all documents are there
    report: PutReport = field(default_factory=PutReport)

    def __post_init__(self) -> None:
        # Who may make no groups waits for none: a document joins the nearest group as soon as there is one.
        self._min_similarity = (self.embargo if self.index.may_group else None) or ANY
        self._groups = self.index.published.groups()
        self._waiting = Waiting(self.index.k, self.index.vocabulary.weights)
        self._sent: dict[str, list[Upload]] = {}  # by the key of the request
        self._made: list[tuple[list[str], sp.csr_matrix]] = []  # groups that the server does not have yet

    def run(self, documents: Iterable[SourceDocument], total: int) -> PutReport:
        """Put documents. If this is interrupted, running it again resumes it."""
        for request, answer in _answers(self.index.connection, self._requests(documents)):
            self._answered(request, answer)
            progress.step("uploading", self.report.uploaded + self.report.known, total)
        self._make_groups()
        self.report.waiting = self.index.journal.figures()["waiting"]
        return self.report

    def place_waiting(self, days: float) -> None:
        """Look again at the documents that wait: some may form a group by now, and overdue ones join the nearest."""
        for document, since, counts in self.index.journal.waiting(len(self.index.vocabulary.terms)):
            overdue = since <= time.time() - days * DAY or not self.index.may_group
            if not overdue or not self._join(document, counts, ANY):
                self._wait(document, counts)
        self._make_groups()

    def _requests(self, documents: Iterable[SourceDocument]) -> Iterator[PendingRequest]:
        """The uploads of new documents; each is in the journal before it is sent."""
        for batch in in_parts(documents, lambda document: len(document.text), CHARACTERS):
            self.report.documents += len(batch)
            digests = [digest_of(document.name, document.text) for document in batch]
            known = [digest in self.index.journal for digest in digests]
            self.report.known += sum(known)
            both = list(zip(batch, digests, strict=True))
            self._complete([pair for pair, is_known in zip(both, known, strict=True) if is_known])
            new = [pair for pair, is_known in zip(both, known, strict=True) if not is_known]
            self._make_groups()  # documents may be about to join them
            yield from self._begin(self._placed(new))

    def _complete(self, known: list[tuple[SourceDocument, bytes]]) -> None:
        """Group documents that were put before and are in no group, after a backup or a broken creation."""
        ungrouped = [(document.text, id) for document, digest in known if (id := self.index.journal.unplaced(digest))]
        if self.store_only or not ungrouped:
            return
        for (_, id), counts in zip(ungrouped, self._counted([text for text, _ in ungrouped]), strict=True):
            if counts.nnz and not self._join(id, counts, self._min_similarity):
                self.index.journal.hold(id, counts)
                self._wait(id, counts)

    def _placed(self, documents: list[tuple[SourceDocument, bytes]]) -> list[Upload]:
        """Documents with the group that each joins, or waiting for one."""
        counts = self._counted([document.text for document, _ in documents])
        if self.store_only:
            return [Upload(*document, counts[row]) for row, document in enumerate(documents)]
        groups = self._nearest_groups(counts, self._min_similarity)
        has_terms = np.diff(counts.indptr) > 0
        return [
            Upload(*document, counts[row], group if has_terms[row] else None, bool(has_terms[row] and group is None))
            for row, (document, group) in enumerate(zip(documents, groups, strict=True))
        ]

    def _begin(self, uploads: list[Upload]) -> Iterator[PendingRequest]:
        """The request that uploads documents, without those that another put is sending."""
        key = new_key()
        requests = []

        def request_of(begun: list[Upload]) -> PendingRequest:
            self._sent[key] = begun
            requests.append(self._upload_request(key, begun))
            return requests[0]

        begun = self.index.journal.begin_uploads(key, uploads, request_of)
        self.report.known += len(uploads) - len(begun)
        for upload in begun:
            name = upload.document.name
            self.report.changed += [(name, id) for id in self.index.journal.earlier_texts(name, upload.digest)]
        yield from requests

    def _upload_request(self, key: str, uploads: list[Upload]) -> PendingRequest:
        contents: list[bytes] = []
        lengths = []
        for upload in uploads:
            document = upload.document
            about = About(document.name, document.date, document.label, opening_of(document.text))
            record = Record(about, upload.digest, self.index.words.counts(document.text))
            content, sealed = self.keys.encrypt(document.text.encode()), record.sealed(self.keys)
            contents += [content, sealed]
            lengths.append({"bytes": len(content), "record": len(sealed), "representative": upload.group})
        line = json.dumps({"documents": lengths}).encode()
        return PendingRequest(key, "/v1/batches", OCTETS, b"".join((line, b"\n", *contents)))

    def _answered(self, request: PendingRequest, answer: Answer) -> None:
        documents = self._sent.pop(request.key)
        if isinstance(answer, Refusal):
            _drop_refused(self.index.journal, request, answer)
            if answer.status not in DOCUMENT_REFUSED:
                raise answer
            if len(documents) == 1:
                self.report.refused.append((documents[0].document.name, str(answer)))
                return
            for sent in documents:  # one of them is at fault: each by itself
                for alone in self._begin([sent]):
                    self._answered(alone, _post(self.index.connection, alone))
            return
        stored = _note_upload(self.index.journal, request, answer)
        self.report.uploaded += len(stored)
        for sent, (id, group) in zip(documents, stored, strict=True):
            self.report.without_terms += not sent.counts.nnz
            if group is None and sent.group is not None:  # it was retired meanwhile: choose another
                self._groups = self.index.published.groups()
                if not self._join(id, sent.counts, self._min_similarity):
                    self.index.journal.hold(id, sent.counts)
                    self._wait(id, sent.counts)
            elif sent.waits:
                self._wait(id, sent.counts)

    def _join(self, document: str, counts: sp.csr_matrix, min_similarity: float) -> bool:
        """Have an uploaded document join the nearest group; False if none is similar enough.

        True also if it turns out to be in a group, or deleted.
        """
        for _ in range(TRIES):
            (group,) = self._nearest_groups(counts, min_similarity)
            if group is None:
                return False
            body = json.dumps({"representative": group}).encode()
            request = PendingRequest(new_key(), f"/v1/documents/{document}/group", JSON, body)
            if _send_grouping(self.index, request) or not self.index.journal.in_no_group(document):
                return True
            self._groups = self.index.published.groups()  # the group was retired meanwhile
        raise InputError("the index changes faster than documents can join it; try again later")

    def _wait(self, document: str, counts: sp.csr_matrix) -> None:
        """Let a document wait; if it completes a crowd of waiting documents, they will be a group."""
        if not self.index.may_group:
            return
        self._waiting.add(document, counts)
        min_similarity = self._min_similarity if len(self._groups) else ANY
        made = self._waiting.group_around(document, min_similarity, self._min_similarity)
        if made is not None:
            documents, pool = made
            self._made.append(made)
            self._groups.add(pool, len(documents))

    def _make_groups(self) -> None:
        """Have the server make the groups of documents that waited, many at once."""
        while self._made:
            made, self._made = self._made, []
            for part in in_parts(made, lambda group: int(group[1].nnz), TERMS_AT_ONCE):
                if not make_groups(self.index, part):
                    self._wait_on({document for documents, _ in part for document in documents})

    def _wait_on(self, documents: set[str]) -> None:
        """Of documents that could not be grouped some were deleted, or are in a group: the others wait on."""
        still_waiting = self.index.journal.waiting(len(self.index.vocabulary.terms))
        left = [(document, counts) for document, _, counts in still_waiting if document in documents]
        if len(left) == len(documents):
            raise InputError("the server refuses to group documents that are in no group; ask the operator")
        self._groups = self.index.published.groups()
        for document, counts in left:
            self._wait(document, counts)

    def _nearest_groups(self, counts: sp.csr_matrix, min_similarity: float) -> list[str | None]:
        """For each row the name of the most similar representative; None if there is none that similar."""
        if not len(self._groups) or not counts.shape[0]:
            return [None] * counts.shape[0]
        representatives = self._groups.representatives
        nearest = representatives.nearest(unit_rows(counts.astype(np.float64), representatives.idf)[0])
        return [
            representatives.names[number] if similarity >= min_similarity else None for number, similarity in nearest
        ]

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


def _note_upload(journal: Journal, request: PendingRequest, answer: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Note the answer to an upload; returns id and group of each document."""
    stored = [(document["id"], document["representative"]) for document in answer["documents"]]
    journal.uploaded(request, [id for id, _ in stored], [group for _, group in stored])
    return stored


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


def in_parts(things: Iterable[T], size_of: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Things in parts of many small ones or a few large ones."""
    part: list[T] = []
    size = 0
    for thing in things:
        part.append(thing)
        size += size_of(thing)
        if len(part) == BATCH or size > most:
            yield part
            part, size = [], 0
    if part:
        yield part
