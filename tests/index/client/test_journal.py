"""The journal: what was begun is finished, once, whatever happens between."""

from __future__ import annotations

import json
import stat
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.index.client.journal import Journal, PendingRequest, Upload, digest_of
from shoal.index.client.sources import SourceDocument

LETTER = digest_of("a.txt", "heron")
SENT = PendingRequest("key-1", "/v1/batches", "application/octet-stream", b"sealed")
COUNTS = sp.csr_matrix(np.array([[0, 2, 0, 1]]))
PUT = Upload(SourceDocument("a.txt", "heron"), LETTER, COUNTS)
WAITING = replace(PUT, waits=True)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "account" / "journal.sqlite")


def test_what_was_not_answered_is_there_again_byte_for_byte(journal, tmp_path):
    assert journal.begin_uploads("key-1", [WAITING], lambda _: SENT) == [WAITING]
    journal.close()
    again = Journal(tmp_path / "account" / "journal.sqlite")
    assert again.unanswered() == [SENT]
    again.uploaded(SENT, ["id-1"], [None])
    assert again.unanswered() == []
    ((document, _, counts),) = again.waiting(4)
    assert document == "id-1" and counts.toarray().tolist() == [[0, 2, 0, 1]]


def test_a_document_is_begun_once(journal):
    assert journal.begin_uploads("key-1", [PUT], lambda _: SENT) == [PUT]
    assert journal.begin_uploads("key-2", [PUT], lambda _: pytest.fail("nothing is left to send")) == []
    assert journal.unanswered() == [SENT]


def test_the_answers_to_a_batch_are_its_documents_in_their_order(journal):
    uploads = [Upload(SourceDocument(name, "heron"), digest_of(name, "heron"), COUNTS) for name in "cba"]
    assert journal.begin_uploads("key-1", uploads, lambda _: SENT) == uploads
    journal.uploaded(SENT, ["id-c", "id-b", "id-a"], [None, "group", None])
    assert [journal.name(f"id-{name}") for name in "abc"] == ["a", "b", "c"]
    assert not journal.in_no_group("id-b") and journal.in_no_group("id-a")


def test_what_was_refused_for_good_can_be_begun_again(journal):
    journal.begin_uploads("key-1", [WAITING], lambda _: SENT)
    journal.forget(SENT)
    assert LETTER not in journal and journal.figures() == {"stored": 0, "waiting": 0, "unfinished": 0}


def test_documents_of_a_group_wait_no_longer(journal):
    journal.begin_uploads("key-1", [WAITING], lambda _: SENT)
    journal.uploaded(SENT, ["id-1"], [None])
    made = PendingRequest(
        "key-2", "/v1/groups", "application/json", json.dumps({"groups": [{"documents": ["id-1"]}]}).encode()
    )
    journal.begin(made)
    journal.grouped(made, {"id-1": "name"})
    assert journal.figures() == {"stored": 1, "waiting": 0, "unfinished": 0}
    assert journal.id_and_group_by_digest() == {LETTER: ("id-1", "name")}


def test_the_same_text_under_another_name_is_another_document():
    assert len({digest_of("a", "b c"), digest_of("a b", " c"), digest_of("a ", "b c"), digest_of("b", "b c")}) == 4


def test_the_journal_is_its_owners_alone(journal, tmp_path):
    journal.begin_uploads("key-1", [PUT], lambda _: SENT)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "account").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "account").stat().st_mode) == 0o700


def test_a_journal_that_cannot_be_used_is_one_line(tmp_path):
    (tmp_path / "journal.sqlite").write_text("this is no database, and long enough to be taken for none" * 10)
    with pytest.raises(InputError, match="cannot be used"):
        Journal(tmp_path / "journal.sqlite")
