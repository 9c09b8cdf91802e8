"""The verbs of an index, against a real server."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import text

import shoal
from shoal.errors import InputError
from shoal.index.client import Keys, Vocabulary
from tests.index.client.letters import BIRDS, BREAD, ENGINES, STARS, corpus, texts

START = {"bird": texts(BIRDS, 8), "engine": texts(ENGINES, 8)}


@pytest.fixture
def index(operator):
    operator.create(corpus(**START), k=3)
    return operator


def rows(folder):
    return shoal.load(folder).table.to_pylist()


def test_an_index_that_starts_with_a_release_publishes_what_the_release_does(operator, tmp_path):
    shoal.protect(corpus(**START), 3, tmp_path / "release")
    report = operator.create(corpus(**START), release=tmp_path / "release")
    assert (report.documents, report.uploaded) == (16, 16)
    operator.export(tmp_path / "out")
    assert rows(tmp_path / "out") == rows(tmp_path / "release")
    assert shoal.verify(tmp_path / "out", min_k=3)


def test_an_index_of_documents_alone_starts_with_the_groups_that_protect_makes(index, tmp_path):
    shoal.protect(corpus(**START), 3, tmp_path / "release")
    index.export(tmp_path / "out")
    assert rows(tmp_path / "out") == rows(tmp_path / "release")


def test_creating_again_changes_nothing_and_another_start_is_refused(index):
    assert index.create(corpus(**START), k=3).uploaded == 0
    assert index.status().documents == 16
    with pytest.raises(InputError, match="has an index already"):
        index.create(corpus(bread=texts(BREAD, 8)), k=3)


def test_a_release_must_be_one_of_the_documents(operator, tmp_path):
    shoal.protect(corpus(**START), 3, tmp_path / "release")
    with pytest.raises(InputError, match="lacks 8 documents of the release"):
        operator.create(corpus(bird=texts(BIRDS, 8)), release=tmp_path / "release")


def test_an_empty_index_shows_nothing_until_k_documents_are_there(operator, tmp_path):
    shoal.protect(corpus(**START), 3, tmp_path / "release")
    operator.create(release=tmp_path / "release")
    assert operator.put(corpus(bird=texts(BIRDS, 2))).waiting == 2
    assert operator.status().groups == 0
    with pytest.raises(InputError, match="fewer than k=3 documents"):
        operator.export(tmp_path / "out")
    assert operator.put(corpus(bird=texts(BIRDS, 3))).waiting == 0
    assert (operator.status().groups, operator.status().documents) == (1, 3)


def test_an_index_can_be_created_with_a_vocabulary_alone(operator):
    vocabulary = Vocabulary(np.array(sorted(BIRDS)), np.ones(8), {"min_df": 3, "stem": False})
    operator.create(vocabulary=vocabulary, k=3)
    operator.put(corpus(bird=texts(BIRDS, 3)))
    assert operator.search("feather")[0].words == ("feather",)


def test_a_hit_says_which_words_of_the_query_matched(index):
    hit = index.search("Herons with the feathers of a dragon", 1)[0]
    assert set(hit.words) == {"herons", "feathers"}


def test_a_word_that_no_vocabulary_has_is_found_by_readers_alone(index, new_client):
    index.put(corpus(note=["the heron of Zanzibar, inventory number 4711"]), wait=0)
    for query in ("zanzibar", "4711"):
        assert [(hit.name, hit.words) for hit in index.search(query)] == [("note-0", (query,))]
        assert new_client("stranger").search(query) == []


def test_deleted_documents_vanish_and_every_snapshot_on_the_way_verifies(index, tmp_path):
    chance = random.Random(0)
    left = {f"{subject}-{number}" for subject in START for number in range(8)}
    for round in range(13):
        gone = chance.choice(sorted(left))
        left.discard(gone)
        index.delete(gone)
        if round % 4 == 3:
            index.put(corpus(bread=texts(BREAD, round)), wait=0)
            left |= {f"bread-{number}" for number in range(round)}
        names = {hit.name for subject in (BIRDS, ENGINES, BREAD) for hit in index.search(" ".join(subject), 99)}
        assert names <= left
        if round % 2:
            continue
        index.export(tmp_path / "out", force=True)
        assert shoal.verify(tmp_path / "out", min_k=3)
        assert len(rows(tmp_path / "out")) == index.status().documents


def test_nobody_deletes_the_document_of_another(index, new_client):
    hit = index.search("heron", 1)[0]
    other = new_client("other")
    with pytest.raises(InputError, match="refuses"):
        other.delete(hit.document)
    assert index.search("heron", 1)[0].document == hit.document


def test_a_document_comes_back_as_it_was_and_only_its_recipients_can_read_it(index, new_client):
    friend, stranger = Keys.draw(), Keys.draw()
    writer = new_client("writer", keys=Keys.draw().shared_with([friend.public]))
    written = "Heron,\r\negret and reed; ünïcode\ttoo.\n"
    writer.put(corpus(note=[written]), wait=0)
    (document,) = {hit.document for hit in writer.search("heron egret reed", 99) if hit.name == "note-0"}
    assert writer.get("note-0") == writer.get(document) == written
    assert new_client("friend", keys=friend).get(document) == written
    with pytest.raises(InputError, match="not encrypted for your key") as refused:
        new_client("stranger", keys=stranger).get(document)
    assert "\n" not in str(refused.value)


def test_a_server_that_swaps_documents_is_found_out(index, server):
    first, second = index.search("heron", 2)
    with server.database.writing() as connection:
        swap = "UPDATE blobs SET content = (SELECT content FROM blobs WHERE document = :b) WHERE document = :a"
        connection.execute(text(swap), {"a": first.document, "b": second.document})
    with pytest.raises(InputError, match="another text"):
        index.get(first.document)


def test_a_representative_that_was_tampered_with_is_refused(index, new_client, server):
    with server.database.writing() as connection:
        counts = connection.execute(text("SELECT counts FROM representatives WHERE number = 0")).scalar_one()
        more = (int.from_bytes(counts[:8], "little") + 1).to_bytes(8, "little") + counts[8:]
        connection.execute(text("UPDATE representatives SET counts = :more WHERE number = 0"), {"more": more})
    with pytest.raises(InputError, match="do not match their names"):
        new_client("other").put(corpus(bird=texts(BIRDS, 9)))


def test_an_index_that_lowers_its_k_is_refused(index, new_client, server):
    with server.database.writing() as connection:
        connection.execute(text("UPDATE state SET k = 2"))
    with pytest.raises(InputError, match="the k of this index has changed"):
        new_client("operator").status()


def test_two_texts_of_one_name_are_told_apart_by_id(index):
    index.put(corpus(note=["heron and egret in the reed"]))
    index.put(corpus(note=["heron and egret in the marsh"]))
    with pytest.raises(InputError, match="2 texts have the name note-0; give an id") as refused:
        index.get("note-0")
    newest = str(refused.value).split()[-1]
    assert index.get(newest) == "heron and egret in the marsh"
    with pytest.raises(InputError, match="is unknown"):
        index.get("note-7")


def test_the_figures_of_an_index(index):
    index.put(corpus(star=[*texts(STARS, 1), "heron egret marsh reed nest comet"]))
    status = index.status()
    assert (status.k, status.documents, status.mine, status.put_here) == (3, 17, 18, 18)
    assert (status.waiting_here, status.overdue, status.unfinished) == (0, 0, 0)


def test_documents_that_wait_for_more_than_a_week_are_counted(operator):
    operator.create(vocabulary=Vocabulary(np.array(sorted(BIRDS)), np.ones(8), {"min_df": 3, "stem": False}), k=3)
    operator.put(corpus(bird=texts(BIRDS, 2)))
    before = operator.status()
    operator._index.journal._all("UPDATE waiting SET since = since - ?", 7.01 * 86_400)
    assert (before.waiting_here, before.overdue, operator.status().overdue) == (2, 0, 2)


def test_a_group_below_the_k_that_was_promised_is_refused(index):
    published = index._index.published
    smallest = min(published.groups().sizes.values())
    assert replace(published, k=smallest).groups().sizes
    with pytest.raises(InputError, match=f"shows a group of {smallest}, below k={smallest + 1}"):
        replace(published, k=smallest + 1).groups()


def test_what_is_asked_of_a_server_without_an_index_says_how_to_make_one(new_client):
    with pytest.raises(InputError, match="an operator makes one with: shoal index create"):
        new_client("writer").search("heron")


def test_files_of_one_name_in_two_folders_are_told_apart_by_their_folders(index, tmp_path):
    for folder in ("letters", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "3.txt").write_text(f"heron and egret of {folder}")
    (tmp_path / "more" / "4.txt").write_text("heron, egret and reed")
    assert index.put(tmp_path / "letters", wait=0).uploaded == 1
    assert index.put(tmp_path / "letters" / "3.txt", wait=0).known == 1
    report = index.put(tmp_path / "more", wait=0)
    assert (report.uploaded, report.changed) == (2, [])
    assert index.get("more/3.txt") == "heron and egret of more"
    assert index.get("4.txt") == "heron, egret and reed"
    with pytest.raises(InputError, match=r"letters/3\.txt is .*, more/3\.txt is "):
        index.get("3.txt")


def test_a_put_names_the_earlier_text_of_a_file_that_changed(index):
    index.put(corpus(note=["heron and egret in the reed"]))
    report = index.put(corpus(note=["heron and egret in the marsh"]))
    ((name, earlier),) = report.changed
    assert name == "note-0" and index.get(earlier) == "heron and egret in the reed"
