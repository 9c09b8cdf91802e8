"""IndexClient: the verbs of an index, for Python and the command line."""

from __future__ import annotations

import os
import re
import tempfile
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.errors import InputError
from shoal.index.waiting import Waiting
from shoal.io.files import counted, shown
from shoal.io.private_files import state_folder
from shoal.io.sealing.keys import Keys
from shoal.release.documents.snapshot import PublishedGroups, release_of_groups
from shoal.release.protect import protect
from shoal.release.sources import DocumentSource, Source
from shoal.service.client.connection import Connection, Refusal
from shoal.service.client.groups import Groups
from shoal.service.client.journal import digest_of
from shoal.service.client.opened import OpenedIndex, open_index
from shoal.service.client.placing import Placing
from shoal.service.client.put import DAY, Put, PutReport, make_groups, resume
from shoal.service.client.search import Query, SearchHit, ranked_by_server, ranked_here
from shoal.service.client.sources import Columns, documents_of, folder_of, named_documents_of, open_documents
from shoal.service.client.start import Start, read_start
from shoal.service.client.vocabulary import Vocabulary

__all__ = ["IndexClient", "IndexStatus"]

DOCUMENT = re.compile("[0-9a-f]{32}")
GROUPS_AT_ONCE = 200
WAIT = 7.0  # days
FRESH = 30.0  # seconds for which a search uses the groups that the one before it saw
TRIES = 5


@dataclass(frozen=True)
class IndexStatus:
    """An index in figures, and what is kept of it here."""

    k: int
    embargo: float | None
    trust: bool  # the server may hold vectors back
    version: int
    groups: int
    documents: int  # that can be seen
    terms: int
    waiting: int  # held back by the server
    mine: int  # documents of this account
    put_here: int  # of those, put from this machine
    waiting_here: int  # held back on this machine
    overdue: int  # of those, for longer than WAIT: the next put has them join the nearest groups
    unfinished: int  # requests of a put that was interrupted


class IndexClient:
    """An index on a server. Texts and queries are read, encrypted, counted and ranked here.

    Parameters
    ----------
    server : str
        Address, such as http://127.0.0.1:8750. Other machines are spoken to by https alone.
    token : str
    keys : Keys or None
        To encrypt and decrypt documents with.
    folder : path or None
        Where the journal and the copy of what the index publishes are kept. None: SHOAL_STATE, or the user's folder.
    """

    def __init__(
        self, server: str, token: str, keys: Keys | None = None, *, folder: str | os.PathLike[str] | None = None
    ) -> None:
        self._connection = Connection(server, token)
        self._keys = keys
        self._folder = state_folder() if folder is None else Path(folder)
        self._seen: tuple[float, Groups] | None = None  # by the last search, and when

    def __enter__(self) -> IndexClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the server and the journal."""
        self._connection.close()
        if "_index" in self.__dict__:
            self._index.journal.close()

    def has_index(self) -> bool:
        """Whether the server, which must let this token in, has an index yet."""
        try:
            self._connection.get_json("/v1/index")
        except Refusal as refusal:
            if refusal.status == 404:
                return False
            raise
        return True

    def create(
        self,
        source: Source | None = None,
        *,
        k: int = 5,
        release: str | os.PathLike[str] | None = None,
        private: str | os.PathLike[str] | None = None,
        vocabulary: Vocabulary | None = None,
        embargo: float | None = 0.45,
        trust: bool = False,
        columns: Columns = Columns(),
    ) -> PutReport:
        """Create the index of a server; an operator may. An interrupted creation goes on when it is called again.

        With a `source` the index starts with these documents: in the groups of a `release` that was made of them, with
        its private mapping, or in groups made here. Without, it is empty and gets the vocabulary of a release, or the
        one given.
        """
        if vocabulary is not None and (source is not None or release is not None):
            raise InputError("a vocabulary is for an empty index; leave out the release and the documents")
        if source is None:
            if vocabulary is not None:
                start = Start(k, vocabulary)
            elif release is not None:
                start = read_start(release, None, with_documents=False)
            else:
                raise InputError("there is nothing to start with; give documents, a release of them, or both")
            self._create(start, embargo, trust)
            return PutReport()
        keys, opened = self._needed_keys(), open_documents(source, columns)
        start = _protected(opened, k) if release is None else read_start(release, private)
        folder = folder_of(opened)
        digests = {name: digest_of(folder + name, text) for name, text in documents_of(opened)}
        missing = sum(name not in digests for name in start.group_of)
        if missing:
            raise InputError(
                f"the source lacks {counted(missing, 'document')} of the release; give what it was made of"
            )
        self._create(start, embargo, trust)
        index = self._index
        resume(self._connection, index.journal)
        put = Put(self._connection, index.journal, keys, index.space, self._placing(None), stored_only=True)
        report = put.run(named_documents_of(opened), len(digests))
        self._make_first_groups(start, digests)
        return report

    def put(self, source: Source, *, wait: float = WAIT, thin: bool = False, columns: Columns = Columns()) -> PutReport:
        """Encrypt and store documents, each in the group of its nearest representative. Those put before are skipped.

        A document that is like no group waits here until k such documents are alike. Only a put looks after those that
        wait: the first one after `wait` days has them join the nearest groups. 0: none waits. `thin` has the server
        choose the group: it sees the vectors.
        """
        keys, opened, index = self._needed_keys(), open_documents(source, columns), self._index
        total = sum(1 for _ in documents_of(opened))  # and nothing is sent of a source that cannot be read
        resume(self._connection, index.journal)
        placing = self._placing(index.embargo if wait > 0 else None)
        put = Put(self._connection, index.journal, keys, index.space, placing, thin)
        put.place_waiting(wait)
        return put.run(named_documents_of(opened), total)

    def get(self, document: str) -> str:
        """Fetch and decrypt a document, by its id or by the name it was put under."""
        keys, number = self._needed_keys(), self.id_of(document)
        content = keys.decrypt(self._connection.get(f"/v1/documents/{number}").content)
        text = content.decode("utf-8", "replace")
        if not self._index.journal.is_text(number, text):
            raise InputError("the server gave another text than the one that was put; ask the operator")
        return text

    def delete(self, document: str) -> None:
        """Delete a document of your own, by its id or by the name it was put under."""
        number = self.id_of(document)
        self._look_again()
        try:
            self._connection.delete(f"/v1/documents/{number}")
        except Refusal as refusal:
            if refusal.status == 404:
                self._index.journal.gone(number)
            raise
        self._index.journal.gone(number)

    def search(self, query: str, limit: int = 10, *, thin: bool = False) -> list[SearchHit]:
        """The documents that are most similar to a query. `thin` has the server rank: it sees the query."""
        if limit < 1:
            raise InputError(f"limit={limit} must be at least 1")
        index = self._index
        asked = Query.of(query, index.space)
        if not asked.counts.nnz:
            return []
        hits = ranked_by_server(self._connection, asked, limit) if thin else self._ranked(asked, limit)
        return [replace(hit, name=index.journal.name(hit.document)) for hit in hits]

    def export(self, out: str | os.PathLike[str], *, force: bool = False) -> dict[str, Any]:
        """Write what can be seen now as a release that anyone can verify; the certificate."""
        index = self._index
        pools, sizes = index.published.groups().published()
        if not len(sizes):
            raise InputError(f"fewer than k={index.k} documents are in groups, so nothing may be published; put more")
        waiting = int(self._connection.get_json("/v1/index")["waiting"])
        return release_of_groups(PublishedGroups(index.k, pools, sizes, waiting, index.space), Path(out), force)

    def status(self) -> IndexStatus:
        """The index in figures."""
        index = self._index
        shown, here = self._connection.get_json("/v1/index"), index.journal.figures()
        return IndexStatus(
            k=index.k,
            embargo=index.embargo,
            trust=bool(shown["trust"]),
            version=int(shown["version"]),
            groups=int(shown["groups"]),
            documents=int(shown["visible"]),
            terms=len(index.vocabulary.terms),
            waiting=int(shown["waiting"]),
            mine=int(shown["mine"]["documents"]),
            put_here=here["stored"],
            waiting_here=here["waiting"],
            overdue=index.journal.overdue(time.time() - WAIT * DAY),
            unfinished=here["unfinished"],
        )

    def id_of(self, document: str) -> str:
        """The id of a document, by the name it was put under, with or without its folder. An id stays as it is."""
        journal = self._index.journal
        if journal.name(document) is not None:
            return document
        known = journal.named(document) or journal.ending_with(document)
        if len(known) > 1:
            names = ", ".join(f"{shown(name)} is {number}" for number, name in known[-5:])
            raise InputError(f"{len(known)} texts go by the name {shown(document)}; give an id (newest last): {names}")
        if not known and not DOCUMENT.fullmatch(document):
            raise InputError(
                f"{shown(document)} is not a document here: it was deleted, or put from another machine; give an id"
            )
        return known[0][0] if known else document

    def name_of(self, document: str) -> str | None:
        """What a document was put under; None if it was put from another machine."""
        return self._index.journal.name(self.id_of(document))

    @cached_property
    def _index(self) -> OpenedIndex:
        return open_index(self._connection, self._folder)

    def _needed_keys(self) -> Keys:
        if self._keys is None:
            raise InputError("documents are encrypted, and there is no key; make one with: shoal index keys --new")
        return self._keys

    def _placing(self, embargo: float | None) -> Placing:
        index = self._index
        self._look_again()
        return Placing(index.published.groups, Waiting(index.k, index.vocabulary.weights), embargo)

    def _ranked(self, asked: Query, limit: int) -> list[SearchHit]:
        """Ranked by the groups of a moment ago; when one of them has gone by now, by those of this moment."""
        for _ in range(TRIES):
            hits = ranked_here(self._connection, self._groups(), asked, limit)
            if hits is not None:
                return hits
            self._look_again()
        raise InputError("the index changes faster than it can be searched; try again later")

    def _groups(self) -> Groups:
        """Not older than FRESH, nor than what this client has done."""
        seen, self._seen = self._seen, None
        if seen is None or time.monotonic() > seen[0] + FRESH:
            seen = time.monotonic(), self._index.published.groups(seen and seen[1])
        self._seen = seen
        return seen[1]

    def _look_again(self) -> None:
        if self._seen is not None:
            self._seen = -FRESH, self._seen[1]

    def _create(self, start: Start, embargo: float | None, trust: bool) -> None:
        """Create the index, unless this start has created it before."""
        try:
            shown = self._connection.get_json("/v1/index")
        except Refusal as refusal:
            if refusal.status != 404:
                raise
            wanted = {"k": start.k, "embargo": embargo, "trust": trust, "vocabulary": start.vocabulary.as_json()}
            self._connection.post_json("/v1/index", wanted)
            return
        if shown["k"] != start.k or self._index.vocabulary.as_json() != start.vocabulary.as_json():
            raise InputError(
                f"this server has an index already (k={shown['k']}, {shown['visible']} documents), with another start; "
                "add documents with: shoal index put"
            )

    def _make_first_groups(self, start: Start, digests: dict[str, bytes]) -> None:
        """The groups of the start whose documents are in none yet."""
        journal = self._index.journal
        placed = journal.placed_by_digest()
        members: dict[int, list[str]] = {}
        for name, group in start.group_of.items():
            document, representative = placed.get(digests[name], (None, None))
            if document is not None and representative is None:
                members.setdefault(group, []).append(document)
        # A group may be short of documents that the server refused.
        groups = [(members[group], start.pools[group]) for group in sorted(members) if len(members[group]) >= start.k]
        for first in range(0, len(groups), GROUPS_AT_ONCE):
            progress.step("grouping", first, len(groups))
            if not make_groups(self._connection, journal, groups[first : first + GROUPS_AT_ONCE]):
                raise InputError("documents of the first groups were deleted meanwhile; run the same command again")
        progress.step("grouping", len(groups), len(groups))


def _protected(source: DocumentSource, k: int) -> Start:
    """Groups made here, as a release has them; nothing of it stays."""
    with tempfile.TemporaryDirectory() as folder:
        made = protect(source, k, Path(folder) / "release", attack=False)
        return read_start(made.folder, made.private)
