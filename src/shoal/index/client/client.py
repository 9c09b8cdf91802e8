"""IndexClient: the verbs of an index, for Python and the command line."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import progress
from shoal.data.files import counted, shown
from shoal.data.keys import Keys
from shoal.data.private_files import state_folder
from shoal.errors import InputError
from shoal.index.client.connection import Connection, Refusal
from shoal.index.client.journal import DAY, WAIT, digest_of
from shoal.index.client.opened import OpenedIndex, describe_index, fetch_hidden, open_index

# Imported where they are needed: what reads, counts and ranks documents. It takes seconds to load.
if TYPE_CHECKING:
    from shoal.data.inputs import Source
    from shoal.index.client.published import Vocabulary
    from shoal.index.client.put import PutReport
    from shoal.index.client.search import SearchFilter, SearchHit, SyncReport
    from shoal.index.client.sources import Start

DOCUMENT_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class IndexStatus:
    """An index in figures, and what this machine keeps of it."""

    k: int
    embargo: float | None
    version: int
    groups: int
    documents: int  # visible
    terms: int
    mine: int  # documents of this account
    put_here: int  # of those, known here by name
    waiting_here: int  # held back on this machine
    overdue: int  # of those, for longer than WAIT: the next put places them in the nearest groups
    unfinished: int  # requests of a put that was interrupted


class IndexClient:
    """An index on a server. Texts and queries are read, encrypted, counted and ranked here.

    Parameters
    ----------
    server : str
        Address, such as http://127.0.0.1:8750. Other machines are reached by https only.
    token : str
    keys : Keys or None
        To encrypt and decrypt documents with.
    folder : path or None
        Where the journal and the copy of what the index publishes are kept. None: SHOAL_STATE, or the user's folder.
    ca : path or None
        Certificates of the authority that the server's comes from. None: SSL_CERT_FILE, or the system's.
    """

    def __init__(
        self,
        server: str,
        token: str,
        keys: Keys | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        self._connection = Connection(server, token, None if ca is None else Path(ca))
        self._keys = keys
        self._folder = state_folder() if folder is None else Path(folder)

    def __enter__(self) -> IndexClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and the journal."""
        self._connection.close()
        if "_index" in self.__dict__:
            self._index.journal.close()

    def has_index(self) -> bool:
        """Whether the server, which must accept this token, has an index yet."""
        return describe_index(self._connection) is not None

    def create(
        self,
        source: Source | None = None,
        *,
        k: int = 5,
        release: str | os.PathLike[str] | None = None,
        private: str | os.PathLike[str] | None = None,
        vocabulary: Vocabulary | None = None,
        embargo: float | None = 0.45,
        text_column: str | None = None,
        id_column: str | None = None,
    ) -> PutReport:
        """Create the index of a server, with an operator's token. Call it again if it was interrupted.

        With a `source` the index starts with these documents: in the groups of a `release` that was made of them, with
        its private mapping, or in groups made here. Without, it is empty and gets the vocabulary of a release, or the
        given one.
        """
        from shoal.index.client.put import Put, PutReport, resume
        from shoal.index.client.sources import documents_of, folder_of, open_documents, read_start, start_of_documents

        if vocabulary is not None and (source is not None or release is not None):
            raise InputError("a vocabulary is for an empty index; leave out the release and the documents")
        if source is None:
            if release is not None:
                start = read_start(release, None, with_documents=False)
                k, vocabulary = start.k, start.vocabulary
            if vocabulary is None:
                raise InputError("there is nothing to start with; give documents, a release of them, or both")
            self._create(k, vocabulary, embargo)
            return PutReport()
        keys, documents = self._needed_keys(), open_documents(source, text_column, id_column)
        start = start_of_documents(documents, k) if release is None else read_start(release, private)
        folder = folder_of(documents)
        named = ((document.name, document.text) for document in documents_of(documents))
        digests = {name.removeprefix(folder): digest_of(name, text) for name, text in named}
        missing = sum(name not in digests for name in start.group_of)
        if missing:
            raise InputError(
                f"the source lacks {counted(missing, 'document')} of the release; give what it was made of"
            )
        self._create(start.k, start.vocabulary, embargo)
        resume(self._index)
        put = Put(self._index, keys, None, store_only=True)
        report = put.run(documents_of(documents), len(digests))
        self._make_first_groups(start, digests)
        return report

    def put(
        self,
        source: Source,
        *,
        wait: float = WAIT,
        text_column: str | None = None,
        id_column: str | None = None,
        label_column: str | None = None,
        date_column: str | None = None,
    ) -> PutReport:
        """Encrypt and store documents, each in the group of its nearest representative. Those put before are skipped.

        A document that fits no group waits here until k similar ones have come. Only a put places waiting documents:
        the first one after `wait` days places them in the nearest groups; 0: none waits.
        """
        from shoal.index.client.put import Put, resume
        from shoal.index.client.sources import documents_of, open_documents

        keys, index = self._needed_keys(), self._index
        documents = open_documents(source, text_column, id_column, label_column, date_column)
        total = sum(1 for _ in documents_of(documents))  # before anything is sent: the source may be unreadable
        resume(index)
        self._know_own()
        put = Put(index, keys, index.embargo if wait > 0 else None)
        put.place_waiting(wait)
        return put.run(documents_of(documents), total)

    def sync(self, *, again: bool = False) -> SyncReport:
        """Fetch the sealed records of all documents that changed, as every search does first.

        The records are kept on this machine, sealed with this user's key. `again` fetches all of them.
        """
        from shoal.index.client.search import sync

        return sync(self._index, self._needed_keys(), again=again)

    def get(self, document: str, *, alone: bool = False) -> str:
        """Fetch and decrypt a document, by its id or by the name it was put under.

        It is fetched with all others whose ids begin with the same bits, k or more, so that the server does not see
        which was wanted; `alone`: by itself.
        """
        keys, number = self._needed_keys(), self.id_of(document)
        content = self._connection.get(f"/v1/documents/{number}") if alone else fetch_hidden(self._index, number)
        text = keys.decrypt(content).decode("utf-8", "replace")
        if not self._index.journal.is_text(number, text):
            raise InputError("the server sent another text than the one that was put; ask the operator")
        return text

    def delete(self, document: str) -> None:
        """Delete a document of your own, by its id or by the name it was put under."""
        number = self.id_of(document)
        try:
            self._connection.delete(f"/v1/documents/{number}")
        except Refusal as refusal:
            if refusal.status == 404:
                self._index.journal.deleted(number)
            raise
        self._index.journal.deleted(number)

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        allowed: SearchFilter | None = None,
    ) -> list[SearchHit]:
        """The documents that are most similar to a query, by their own words.

        The search is at home: it syncs first, and the server learns nothing of the query.
        """
        from shoal.index.client import search

        if limit < 1:
            raise InputError(f"limit={limit} must be at least 1")
        keys, index = self._needed_keys(), self._index
        search.sync(index, keys)
        hits = search.search_at_home(index, keys, query, limit, allowed or search.SearchFilter())
        return [replace(hit, name=index.journal.name(hit.document) or hit.name) for hit in hits]

    def export(self, out: str | os.PathLike[str], *, force: bool = False) -> dict[str, Any]:
        """Write the visible groups as a release that anyone can verify; returns its certificate."""
        from shoal.release.documents.snapshot import PublishedGroups, release_of_groups

        index = self._index
        pools, sizes = index.published.groups().pools_and_sizes()
        if not len(sizes):
            raise InputError(f"fewer than k={index.k} documents are in groups, so nothing may be published; put more")
        return release_of_groups(PublishedGroups(index.k, pools, sizes, index.space), Path(out), force)

    def status(self) -> IndexStatus:
        """The index in figures."""
        index = self._index
        on_server, here = self._connection.get_json("/v1/index"), index.journal.figures()
        return IndexStatus(
            k=index.k,
            embargo=index.embargo,
            version=int(on_server["version"]),
            groups=int(on_server["groups"]),
            documents=int(on_server["visible"]),
            terms=len(index.vocabulary_json["terms"]),
            mine=int(on_server["mine"]["documents"]),
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
        known = journal.named(document)
        if not known and not DOCUMENT_ID.fullmatch(document) and self._know_own():
            known = journal.named(document)
        if len(known) > 1:
            names = ", ".join(f"{shown(name)} is {number}" for number, name in known[-5:])
            raise InputError(f"{len(known)} texts have the name {shown(document)}; give an id (newest last): {names}")
        if not known and not DOCUMENT_ID.fullmatch(document):
            raise InputError(f"{shown(document)} is unknown: it was deleted, or another account put it; give an id")
        return known[0][0] if known else document

    def name_of(self, document: str) -> str | None:
        """The name that a document was put under; None if it was put from another machine."""
        return self._index.journal.name(self.id_of(document))

    @cached_property
    def _index(self) -> OpenedIndex:
        return open_index(self._connection, self._folder)

    def _know_own(self) -> bool:
        """Take over what other machines of this account put, if they put anything."""
        index = self._index
        if self._keys is None or index.mine <= index.journal.figures()["stored"]:
            return False
        from shoal.index.client.search import adopt_own

        adopt_own(index, self._keys)
        return True

    def _needed_keys(self) -> Keys:
        if self._keys is None:
            raise InputError("documents are encrypted, and there is no key; make one with: shoal index keys --new")
        return self._keys

    def _create(self, k: int, vocabulary: Vocabulary, embargo: float | None) -> None:
        """Create the index, unless it was created with the same start before."""
        before = describe_index(self._connection)
        if before is None:
            body = {"k": k, "embargo": embargo, "vocabulary": vocabulary.as_json()}
            self._connection.post_json("/v1/index", body)
        elif before["k"] != k or self._index.vocabulary.as_json() != vocabulary.as_json():
            raise InputError(
                f"this server has an index already (k={before['k']}, {before['visible']} documents), with another "
                "start; add documents with: shoal index put"
            )

    def _make_first_groups(self, start: Start, digests: dict[str, bytes]) -> None:
        """Make the groups of the start whose documents are in none yet."""
        from shoal.index.client.put import TERMS_AT_ONCE, in_parts, make_groups

        uploaded = self._index.journal.id_and_group_by_digest()
        members: dict[int, list[str]] = {}
        for name, group in start.group_of.items():
            document, representative = uploaded.get(digests[name], (None, None))
            if document is not None and representative is None:
                members.setdefault(group, []).append(document)
        # A group lacks documents that the server refused.
        groups = [(members[group], start.pools[group]) for group in sorted(members) if len(members[group]) >= start.k]
        done = 0
        for part in in_parts(groups, lambda group: int(group[1].nnz), TERMS_AT_ONCE):
            progress.step("grouping", done, len(groups))
            if not make_groups(self._index, part):
                raise InputError("documents of the first groups were deleted meanwhile; run the same command again")
            done += len(part)
        progress.step("grouping", len(groups), len(groups))
