"""Putting documents: interrupted, resumed, refused, held back; each is stored once."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from shoal.errors import InputError
from shoal.index.client.client import IndexClient
from shoal.index.client.demo import local_server
from shoal.index.client.put import Put
from shoal.index.client.sources import SourceDocument, documents_of, open_documents
from shoal.index.server.backup import back_up, restore_from
from shoal.index.server.database import Database
from tests.index.client.letters import BIRDS, BREAD, ENGINES, STARS, corpus, texts
from tests.index.client.proxy import proxy_to

START = {"bird": texts(BIRDS, 8), "engine": texts(ENGINES, 8), "star": texts(STARS, 8)}
MORE = [f"{letter} {number}" for number, letter in enumerate(texts(BIRDS, 24))]  # names apart, no two alike


@pytest.fixture
def index(operator):
    operator.create(corpus(**START), k=3)
    return operator


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("shoal.index.client.connection.PAUSE", 0.0)


@pytest.fixture
def one_by_one(monkeypatch):
    """Requests of one document each."""
    monkeypatch.setattr("shoal.index.client.put.BATCH", 1)


def stored(server, account="writer"):
    """How many documents an account has on the server."""
    with server.database.reading() as connection:
        ours = "SELECT count(*) FROM documents WHERE owner = (SELECT id FROM accounts WHERE name = :name)"
        return connection.execute(text(ours), {"name": account}).scalar_one()


@pytest.mark.parametrize("answers", [0, 1, 7, 20])
def test_a_put_whose_answers_are_lost_goes_on_and_stores_each_document_once(
    index, new_client, server, impatient, one_by_one, answers
):
    with proxy_to(server.address) as proxy:
        proxy.answers_left = answers
        with pytest.raises(InputError, match="no server answers"):
            new_client("writer", address=proxy.address).put(corpus(more=MORE), wait=0)
        sent = sum(line.startswith("POST") for line, _ in proxy.requests)
        assert answers < stored(server) <= sent  # the server has more than the client knows of
    report = new_client("writer").put(corpus(more=MORE), wait=0)
    assert (report.documents, report.refused) == (24, [])
    assert stored(server) == 24
    assert new_client("writer").put(corpus(more=MORE), wait=0).known == 24


def test_an_interrupted_put_goes_on(index, new_client, server):
    def interrupted():
        for number, document in enumerate(documents_of(open_documents(corpus(more=MORE)))):
            if number == 11:
                raise KeyboardInterrupt
            yield document

    client = new_client("writer")
    with pytest.raises(KeyboardInterrupt):
        put_of(client).run(interrupted(), 24)
    client.close()
    assert new_client("writer").put(corpus(more=MORE)).documents == 24
    assert stored(server) == 24


def put_of(client: IndexClient) -> Put:
    return Put(client._index, client._keys, None)


def test_a_text_that_changed_is_a_new_document(index, new_client, server):
    client = new_client("writer")
    client.put(corpus(note=["heron egret marsh reed"]))
    assert client.put(corpus(note=["heron egret marsh nest"])).uploaded == 1
    assert stored(server) == 2


def test_a_group_that_was_retired_meanwhile_is_chosen_anew(index, new_client, server):
    """The client has seen the star group, which goes before its document arrives."""

    def documents():
        for number in range(8):
            index.delete(f"star-{number}")
        yield SourceDocument("star", " ".join(STARS))

    client = new_client("writer")
    report = put_of(client).run(documents(), 1)
    assert (report.uploaded, report.refused) == (1, [])
    assert stored(server) == 1
    assert client.get("star") == " ".join(STARS)


def test_a_document_like_no_group_waits_until_k_are_alike(index, new_client, server):
    for number in range(8):
        index.delete(f"star-{number}")
    client = new_client("writer")
    starry = texts(STARS, 6)
    assert client.put(corpus(star=starry[:2])).waiting == 2
    assert index.search("comet") == []  # nobody else sees them
    assert {hit.name for hit in client.search("comet")} == {"star-0", "star-1"}
    assert client.get("star-0") == starry[0]
    assert client.put(corpus(star=starry)).waiting == 0
    assert {hit.name for hit in client.search("comet galaxy", 20)} == {f"star-{number}" for number in range(6)}
    assert client.status().waiting_here == 0
    assert client._index.journal.waiting(len(client._index.space.terms_)) == []


def test_nothing_waits_where_the_wait_is_over(index, new_client):
    for number in range(8):
        index.delete(f"star-{number}")
    client = new_client("writer")
    assert client.put(corpus(star=texts(STARS, 1)), wait=0).waiting == 0
    assert client.put(corpus(star=texts(STARS, 2))).waiting == 1
    assert client.put(corpus(star=texts(STARS, 2)), wait=1e-9).waiting == 0
    assert client.status().documents == 16 + 2


def test_a_deleted_document_waits_no_longer(index, new_client):
    for number in range(8):
        index.delete(f"star-{number}")
    client = new_client("writer")
    client.put(corpus(star=texts(STARS, 2)))
    client.delete("star-0")
    assert client.status().waiting_here == 1
    assert client.put(corpus(star=texts(STARS, 1))).uploaded == 1


def test_a_document_without_a_word_of_the_vocabulary_is_stored_and_not_found(index, new_client):
    client = new_client("writer")
    report = client.put(corpus(bread=texts(BREAD, 1)))
    assert (report.uploaded, report.without_terms, report.waiting) == (1, 1, 0)
    assert client.get("bread-0") == texts(BREAD, 1)[0]


def test_a_document_that_is_too_large_is_named_and_the_others_are_stored(index, new_client, server):
    large = "heron " * 3_000_000
    report = new_client("writer").put(corpus(note=["heron egret marsh", large, "egret reed nest"]), wait=0)
    assert [name for name, _ in report.refused] == ["note-1"]
    assert stored(server) == 2


def test_a_reader_cannot_put(index, new_client):
    with pytest.raises(InputError, match="refuses"):
        new_client("reader", "reader").put(corpus(note=["heron egret marsh"]))


def test_after_a_restored_backup_what_is_missing_is_put_again(index, new_client, server, tmp_path):
    new_client("writer").put(corpus(more=MORE[:20]), wait=0)
    back_up(server.database, tmp_path / "backup", force=False)
    new_client("writer").put(corpus(more=MORE), wait=0)
    restored = Database(str(tmp_path / "restored.db"))
    restored.create_tables()
    restore_from(restored, tmp_path / "backup")
    restored.close()
    with local_server(tmp_path / "restored.db") as second:
        report = new_client("writer", address=second.address).put(corpus(more=MORE), wait=0)
        assert (report.known, report.uploaded) == (20, 4)
        assert stored(second) == 24


@pytest.fixture
def starless(index):
    """The index without a group that a text about stars is like."""
    for number in range(8):
        index.delete(f"star-{number}")
    return index


def waiting_of(client: IndexClient) -> list[str]:
    return [document for document, _, _ in client._index.journal.waiting(len(client._index.space.terms_))]


def join_any_group(client: IndexClient, document: str) -> None:
    """Behind the journal's back."""
    name = client._index.published.groups().representatives.names[0]
    client._connection.post_json(f"/v1/documents/{document}/group", {"representative": name})


def test_a_document_that_joined_a_group_from_another_machine_stops_no_put(starless, new_client):
    client = new_client("writer")
    client.put(corpus(star=texts(STARS, 1)))
    join_any_group(client, *waiting_of(client))
    assert client.put(corpus(note=["heron egret marsh reed"]), wait=1e-9).uploaded == 1
    assert client.status().waiting_here == 0


def test_a_waiting_document_that_was_deleted_from_another_machine_stops_no_put(starless, new_client, server):
    client = new_client("writer")
    client.put(corpus(star=texts(STARS, 2)))
    client._connection.delete(f"/v1/documents/{waiting_of(client)[0]}")
    assert client.put(corpus(moon=texts(STARS, 1))).waiting == 2  # they would be a group with the one that is gone
    assert client.put(corpus(moon=texts(STARS, 2))).waiting == 0
    assert {hit.name for hit in client.search("comet galaxy", 20)} == {"star-1", "moon-0", "moon-1"}


def test_the_answer_to_a_join_that_was_lost_is_asked_for_again(starless, new_client, server, impatient):
    client = new_client("writer")
    client.put(corpus(star=texts(STARS, 1)))
    with proxy_to(server.address) as proxy:
        put = put_of(new_client("writer", address=proxy.address))
        proxy.counted, proxy.answers_left = b" 200 ", 0
        with pytest.raises(InputError, match="no server answers"):
            put.place_waiting(0)
    assert client.status().unfinished == 1
    assert client.put(corpus(note=["heron egret"])).waiting == 0
    assert client.status().unfinished == 0


def test_a_waiting_document_joins_another_group_when_the_nearest_is_retired_meanwhile(starless, new_client):
    client = new_client("writer")
    client.put(corpus(note=["comet orbit heron egret telescope galaxy"]))
    assert client.status().waiting_here == 1
    put = put_of(client)  # it has seen the birds, which go
    for number in range(8):
        starless.delete(f"bird-{number}")
    put.place_waiting(0)
    assert waiting_of(client) == []
    assert client.status().documents == 8 + 1


def test_what_a_restored_backup_has_in_no_group_joins_one_at_the_next_put(starless, new_client, server, tmp_path):
    new_client("writer").put(corpus(star=texts(STARS, 1)))
    back_up(server.database, tmp_path / "backup", force=False)
    new_client("writer").put(corpus(star=texts(STARS, 1)), wait=1e-9)  # it joins a group
    restored = Database(str(tmp_path / "restored.db"))
    restored.create_tables()
    restore_from(restored, tmp_path / "backup")
    restored.close()
    with local_server(tmp_path / "restored.db") as second:
        client = new_client("writer", address=second.address)
        assert client.put(corpus(star=texts(STARS, 1))).waiting == 1
        assert client.put(corpus(star=texts(STARS, 1)), wait=1e-9).waiting == 0
        assert client.status().documents == 16 + 1
        assert stored(second) == 1


def test_a_failure_behind_which_the_document_was_stored_uploads_nothing_twice(index, new_client, server, one_by_one):
    with proxy_to(server.address) as proxy:
        proxy.answers_left, proxy.instead = 5, b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        with pytest.raises(InputError, match="500"):
            new_client("writer", address=proxy.address).put(corpus(more=MORE), wait=0)
    assert new_client("writer").put(corpus(more=MORE), wait=0).refused == []
    assert stored(server) == 24


def test_a_batch_with_a_document_at_fault_is_sent_again_one_by_one(index, new_client, server):
    """Two large documents fit no request together, and each of them fits one."""
    large = ["heron egret " * 400_000, "reed marsh " * 400_000, "heron " * 3_000_000]
    report = new_client("writer").put(corpus(note=large), wait=0)
    assert ([name for name, _ in report.refused], stored(server)) == (["note-2"], 2)


def test_of_two_puts_with_one_journal_none_advises_to_delete_the_only_copy(index, new_client, server):
    """While the first put reads its source, the second one stores the same text."""
    first, second = new_client("writer"), new_client("writer")
    put = put_of(first)
    counted = put._counted

    def while_the_other_puts(texts):
        second.put(corpus(note=["heron egret reed"]), wait=0)
        return counted(texts)

    put._counted = while_the_other_puts
    report = put.run(iter([SourceDocument("note-0", "heron egret reed")]), 1)
    assert (report.changed, report.known, stored(server)) == ([], 1, 1)


def test_a_second_machine_knows_names_and_uploads_nothing_again(index, new_client, server, tmp_path):
    first = new_client("writer")
    first.put(corpus(more=MORE), wait=0)
    second = IndexClient(server.address, first._connection._token, first._keys, folder=tmp_path / "second machine")
    with second:
        assert second.get("more-3") == MORE[3]
        assert second.put(corpus(more=MORE), wait=0).known == 24
        assert second.name_of(second.id_of("more-7")) == "more-7"
    assert stored(server) == 24
