"""An index as a client has opened it: its promises, its vocabulary, and the folder that the client keeps about it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.index.client.connection import Connection, Refusal
from shoal.index.client.journal import Journal

if TYPE_CHECKING:
    from shoal.data.keys import Keys
    from shoal.index.client.published import Published, Vocabulary
    from shoal.index.client.records import Words
    from shoal.index.client.synced import RecordCache
    from shoal.terms.vector_space import VectorSpace

ID_BITS = 128
UNUSABLE = "the server's vocabulary cannot be used with this version of Shoal; update it"


@dataclass(frozen=True)
class OpenedIndex:
    """An index whose promises have not changed since this client first saw it."""

    connection: Connection
    id: str
    k: int
    embargo: float | None
    vocabulary_json: dict[str, Any]  # terms, weights and space
    journal: Journal
    folder: Path
    visible: int  # documents, when it was opened
    mine: int  # documents of this account, when it was opened
    may_group: bool  # as operators may

    # Loaded on first use: figures, reading and deleting need none of this, and numpy takes its time to load.
    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The terms of the index and their weights."""
        from shoal.index.client.published import Vocabulary

        return Vocabulary.from_json(self.vocabulary_json)

    @cached_property
    def space(self) -> VectorSpace:
        """The space in which texts and queries are counted."""
        return self.vocabulary.space()

    @cached_property
    def published(self) -> Published:
        """The groups and representatives of the index."""
        from shoal.index.client.published import Published

        pages = self.folder / f"pages-{_file_name(self.id)}"
        pages.mkdir(mode=0o700, exist_ok=True)
        return Published(self.connection, self.id, pages, self.vocabulary.weights, self.k)

    @cached_property
    def words(self) -> Words:
        """How words are read off texts and queries."""
        from shoal.index.client.records import Words

        return Words(self.vocabulary_json["space"])

    def records(self, keys: Keys) -> RecordCache:
        """The records that this machine keeps of the index."""
        from shoal.index.client.synced import RecordCache

        if "_records" not in self.__dict__:
            self.__dict__["_records"] = RecordCache(self.folder / f"records-{_file_name(self.id)}", keys)
        kept: RecordCache = self.__dict__["_records"]
        return kept


def describe_index(connection: Connection) -> dict[str, Any] | None:
    """The server's description of its index; None if it has none yet."""
    try:
        return connection.get_json("/v1/index")
    except Refusal as refusal:
        if refusal.status == 404:
            return None
        raise


def open_index(connection: Connection, folder: Path) -> OpenedIndex:
    """Open the index of a server, and check that it is the one that was seen before."""
    described = describe_index(connection)
    if described is None:
        raise InputError(f"{connection.server} has no index yet; an operator makes one with: shoal index create")
    try:
        promises = {name: str(described[name]) for name in ("id", "k", "vocabulary")}
        k, embargo = int(described["k"]), None if described["embargo"] is None else float(described["embargo"])
        visible, mine = int(described["visible"]), int(described["mine"]["documents"])
        may_group = described["mine"]["role"] == "operator"
    except (KeyError, TypeError, ValueError):
        raise InputError("the server's answer does not describe an index; is this the address of an index?") from None
    folder = folder / _file_name(connection.account)
    journal = Journal(folder / "journal.sqlite")
    _check_promises(connection, journal, promises)
    vocabulary = _read_vocabulary(connection, folder, promises["vocabulary"])
    return OpenedIndex(connection, promises["id"], k, embargo, vocabulary, journal, folder, visible, mine, may_group)


def _check_promises(connection: Connection, journal: Journal, promises: dict[str, str]) -> None:
    """An index keeps its k and its vocabulary. Another index, or one restored from a backup, has another id."""
    before = journal.promises()
    if before.get("id", promises["id"]) == promises["id"]:
        for name in ("k", "vocabulary"):
            if before.get(name, promises[name]) != promises[name]:
                raise InputError(f"the {name} of this index has changed, which must never happen; ask the operator")
    else:
        from shoal.index.client.search import settle

        settle(connection, journal)
        if before["vocabulary"] != promises["vocabulary"]:
            journal.change_terms()
    journal.keep_promises(promises)


def write_whole(file: Path, body: bytes) -> None:
    """Write a file that is whole or not there, even if two commands write it at once."""
    descriptor, unfinished = tempfile.mkstemp(dir=file.parent)
    with open(descriptor, "wb") as stream:
        stream.write(body)
    os.replace(unfinished, file)


def _read_vocabulary(connection: Connection, folder: Path, digest: str) -> dict[str, Any]:
    """The vocabulary that is named after its SHA-256. It never changes, so it is fetched once."""
    file = folder / f"vocabulary-{_file_name(digest)}.json"
    kept = file.exists()
    body = file.read_bytes() if kept else connection.get(f"/v1/vocabulary/{digest}")
    if hashlib.sha256(body).hexdigest() != digest:
        raise InputError("the server's vocabulary does not match its digest; ask the operator")
    try:
        content = json.loads(body)
        vocabulary = {name: kind(content[name]) for name, kind in (("terms", list), ("weights", list), ("space", dict))}
    except (ValueError, KeyError, TypeError):
        raise InputError(UNUSABLE) from None
    if not kept:
        write_whole(file, body)
    return vocabulary


def _file_name(name: str) -> str:
    """A safe name for a file, whatever the server sent."""
    return hashlib.blake2b(name.encode(), digest_size=12).hexdigest()


def fetch_hidden(index: OpenedIndex, document: str) -> bytes:
    """The ciphertext of a document, out of a bucket of at least k whose ids begin with the same bits.

    Ids are random, so a bucket says nothing about the subject of what was read. Buckets are nested: somebody who sees
    many of them being fetched over time is left with the smallest, which has k documents or more.
    """
    bits = bucket_bits(index.visible, index.k)
    while True:
        contents = _bucket(index, bits, int(document, 16) >> (ID_BITS - bits))
        if len(contents) >= index.k or bits == 0:
            break
        bits -= 1
    if document not in contents:
        raise InputError("the server has no such document, or you may not see it; was it deleted?")
    return contents[document]


def bucket_bits(visible: int, k: int) -> int:
    """The bits that the ids of a bucket have in common: it has 4k + 16 documents on average, up to twice as many.

    With half of it, an operator who compared the buckets of five documents of one search, which have a subject in
    common, named more than 1/k of them.
    """
    return max(visible // (4 * k + 16), 1).bit_length() - 1


def _bucket(index: OpenedIndex, bits: int, number: int) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    after = ""
    while True:
        line, _, rest = index.connection.get(f"/v1/buckets/{bits}/{number}?after={after}").partition(b"\n")
        try:
            page = [(str(document["id"]), int(document["bytes"])) for document in json.loads(line)["documents"]]
        except (ValueError, KeyError, TypeError):
            raise InputError("the server's answer is not that of an index; is this the address of an index?") from None
        if not page:
            return contents
        start = 0
        for after, length in page:
            contents[after] = rest[start : start + length]
            start += length
