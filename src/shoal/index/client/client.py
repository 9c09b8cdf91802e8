"""IndexClient: the verbs of an index, for Python and the command line."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import progress
from shoal.data.files import counted, shown
from shoal.data.keys import Keys
from shoal.data.private_files import state_folder
from shoal.errors import InputError
from shoal.index.client.connection import Connection, Refusal
from shoal.index.client.journal import digest_of
from shoal.index.client.opened import OpenedIndex, describe_index, open_index
from shoal.index.client.results import DAY, WAIT, IndexStatus, PutReport, SearchHit

# Imported where they are needed: what reads, counts and ranks documents. It takes seconds to load.
if TYPE_CHECKING:
    from shoal.data.inputs import Source
    from shoal.index.client.published import Vocabulary
    from shoal.index.client.sources import Start

DOCUMENT_ID = re.compile("[0-9a-f]{32}")
GROUPS_AT_ONCE = 200


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
    """

    def __init__(
        self, server: str, token: str, keys: Keys | None = None, *, folder: str | os.PathLike[str] | None = None
    ) -> None:
        self._connection = Connection(server, token)
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
        trust: bool = False,
        text_column: str | None = None,
        id_column: str | None = None,
    ) -> PutReport:
        """Create the index of a server, with an operator's token. Call it again if it was interrupted.

        With a `source` the index starts with these documents: in the groups of a `release` that was made of them, with
        its private mapping, or in groups made here. Without, it is empty and gets the vocabulary of a release, or the
        given one.
        """
        from shoal.index.client.put import Put, resume
        from shoal.index.client.sources import documents_of, folder_of, open_documents, read_start, start_of_documents

        if vocabulary is not None and (source is not None or release is not None):
            raise InputError("a vocabulary is for an empty index; leave out the release and the documents")
        if source is None:
            if release is not None:
                start = read_start(release, None, with_documents=False)
                k, vocabulary = start.k, start.vocabulary
            if vocabulary is None:
                raise InputError("there is nothing to start with; give documents, a release of them, or both")
            self._create(k, vocabulary, embargo, trust)
            return PutReport()
        keys, documents = self._needed_keys(), open_documents(source, text_column, id_column)
        start = start_of_documents(documents, k) if release is None else read_start(release, private)
        folder = folder_of(documents)
        digests = {name: digest_of(folder + name, text) for name, text in documents_of(documents)}
        missing = sum(name not in digests for name in start.group_of)
        if missing:
            raise InputError(
                f"the source lacks {counted(missing, 'document')} of the release; give what it was made of"
            )
        self._create(start.k, start.vocabulary, embargo, trust)
        resume(self._index)
        put = Put(self._index, keys, None, store_only=True)
        report = put.run(((folder + name, text) for name, text in documents_of(documents)), len(digests))
        self._make_first_groups(start, digests)
        return report

    def put(
        self,
        source: Source,
        *,
        wait: float = WAIT,
        thin: bool = False,
        text_column: str | None = None,
        id_column: str | None = None,
    ) -> PutReport:
        """Encrypt and store documents, each in the group of its nearest representative. Those put before are skipped.

        A document that fits no group waits here until k similar ones have come. Only a put places waiting documents:
        the first one after `wait` days places them in the nearest groups; 0: none waits. If `thin`, the server chooses
        the groups, and sees the vectors.
        """
        from shoal.index.client.put import Put, resume
        from shoal.index.client.sources import documents_of, folder_of, open_documents

        keys, documents, index = self._needed_keys(), open_documents(source, text_column, id_column), self._index
        total = sum(1 for _ in documents_of(documents))  # before anything is sent: the source may be unreadable
        resume(index)
        put = Put(index, keys, index.embargo if wait > 0 else None, thin)
        put.place_waiting(wait)
        folder = folder_of(documents)
        return put.run(((folder + name, text) for name, text in documents_of(documents)), total)

    def get(self, document: str) -> str:
        """Fetch and decrypt a document, by its id or by the name it was put under."""
        keys, number = self._needed_keys(), self.id_of(document)
        text = keys.decrypt(self._connection.get(f"/v1/documents/{number}")).decode("utf-8", "replace")
        if not self._index.journal.is_text(number, text):
            raise InputError("the server sent another text than the one that was put; ask the operator")
        return text

    def delete(self, document: str) -> None:
        """Delete a document of your own, by its id or by the name it was put under."""
        number = self.id_of(document)
        self._index.expire_groups()
        try:
            self._connection.delete(f"/v1/documents/{number}")
        except Refusal as refusal:
            if refusal.status == 404:
                self._index.journal.deleted(number)
            raise
        self._index.journal.deleted(number)

    def search(self, query: str, limit: int = 10, *, thin: bool = False) -> list[SearchHit]:
        """The documents that are most similar to a query. If `thin`, the server ranks, and sees the query."""
        from shoal.index.client.search import search

        if limit < 1:
            raise InputError(f"limit={limit} must be at least 1")
        index = self._index
        return [replace(hit, name=index.journal.name(hit.document)) for hit in search(index, query, limit, thin)]

    def export(self, out: str | os.PathLike[str], *, force: bool = False) -> dict[str, Any]:
        """Write the visible groups as a release that anyone can verify; returns its certificate."""
        from shoal.release.documents.snapshot import PublishedGroups, release_of_groups

        index = self._index
        pools, sizes = index.published.groups().pools_and_sizes()
        if not len(sizes):
            raise InputError(f"fewer than k={index.k} documents are in groups, so nothing may be published; put more")
        waiting = int(self._connection.get_json("/v1/index")["waiting"])
        return release_of_groups(PublishedGroups(index.k, pools, sizes, waiting, index.space), Path(out), force)

    def status(self) -> IndexStatus:
        """The index in figures."""
        index = self._index
        on_server, here = self._connection.get_json("/v1/index"), index.journal.figures()
        return IndexStatus(
            k=index.k,
            embargo=index.embargo,
            trust=bool(on_server["trust"]),
            version=int(on_server["version"]),
            groups=int(on_server["groups"]),
            documents=int(on_server["visible"]),
            terms=len(index.vocabulary_json["terms"]),
            waiting=int(on_server["waiting"]),
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
        known = journal.named(document) or journal.named_in_any_folder(document)
        if len(known) > 1:
            names = ", ".join(f"{shown(name)} is {number}" for number, name in known[-5:])
            raise InputError(f"{len(known)} texts have the name {shown(document)}; give an id (newest last): {names}")
        if not known and not DOCUMENT_ID.fullmatch(document):
            raise InputError(
                f"{shown(document)} is unknown here: it was deleted, or put from another machine; give an id"
            )
        return known[0][0] if known else document

    def name_of(self, document: str) -> str | None:
        """The name that a document was put under; None if it was put from another machine."""
        return self._index.journal.name(self.id_of(document))

    @cached_property
    def _index(self) -> OpenedIndex:
        return open_index(self._connection, self._folder)

    def _needed_keys(self) -> Keys:
        if self._keys is None:
            raise InputError("documents are encrypted, and there is no key; make one with: shoal index keys --new")
        return self._keys

    def _create(self, k: int, vocabulary: Vocabulary, embargo: float | None, trust: bool) -> None:
        """Create the index, unless it was created with the same start before."""
        before = describe_index(self._connection)
        if before is None:
            body = {"k": k, "embargo": embargo, "trust": trust, "vocabulary": vocabulary.as_json()}
            self._connection.post_json("/v1/index", body)
        elif before["k"] != k or self._index.vocabulary.as_json() != vocabulary.as_json():
            raise InputError(
                f"this server has an index already (k={before['k']}, {before['visible']} documents), with another "
                "start; add documents with: shoal index put"
            )

    def _make_first_groups(self, start: Start, digests: dict[str, bytes]) -> None:
        """Make the groups of the start whose documents are in none yet."""
        from shoal.index.client.put import make_groups

        uploaded = self._index.journal.id_and_group_by_digest()
        members: dict[int, list[str]] = {}
        for name, group in start.group_of.items():
            document, representative = uploaded.get(digests[name], (None, None))
            if document is not None and representative is None:
                members.setdefault(group, []).append(document)
        # A group lacks documents that the server refused.
        groups = [(members[group], start.pools[group]) for group in sorted(members) if len(members[group]) >= start.k]
        for first in range(0, len(groups), GROUPS_AT_ONCE):
            progress.step("grouping", first, len(groups))
            if not make_groups(self._index, groups[first : first + GROUPS_AT_ONCE]):
                raise InputError("documents of the first groups were deleted meanwhile; run the same command again")
        progress.step("grouping", len(groups), len(groups))
