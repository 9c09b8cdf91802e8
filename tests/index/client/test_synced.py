"""Searching at home: records that are fetched once, kept sealed, and show the server nothing."""

from __future__ import annotations

import os

import numpy as np
import pytest

from shoal.errors import InputError
from shoal.index.client import Keys, SearchFilter
from shoal.index.client.records import About, Record, Words, padded_length
from shoal.index.client.synced import Ranking, RecordCache, Segment, count_rows
from tests.index.client.letters import BIRDS, ENGINES, corpus, texts
from tests.index.client.proxy import proxy_to

START = {"bird": texts(BIRDS, 8), "engine": texts(ENGINES, 8)}
DIGEST = bytes(32)


@pytest.fixture
def index(operator):
    operator.create(corpus(**START), k=3)
    return operator


def record(name: str, *words: str) -> Record:
    return Record(About(name), DIGEST, dict.fromkeys(words, 1))


def id_of(number: int) -> str:
    return f"{number:02x}" * 16


def test_a_sync_fetches_changes_alone_and_finds_what_others_share(index, new_client):
    friend = new_client("friend", "reader")
    writer = new_client("writer", keys=Keys.draw().shared_with([friend._keys.public]))
    writer.put(corpus(note=["the heron of Zanzibar", "an egret"]), wait=0)
    report = friend.sync()
    assert (report.fetched, report.readable) == (18, 2)  # 16 that the operator alone can read
    assert [(hit.name, hit.words) for hit in friend.search("zanzibar")] == [("note-0", ("zanzibar",))]
    writer.put(corpus(later=["a heron in Cairo"]), wait=0)
    writer.delete("note-1")
    report = friend.sync()
    assert (report.fetched, report.readable) == (2, 2)
    assert friend.sync().fetched == 0
    assert friend.search("egret") == []


def test_a_search_after_a_sync_shows_the_server_the_number_of_the_last_change_alone(index, new_client, server):
    index.sync()
    with proxy_to(server.address) as proxy:
        client = new_client("operator", address=proxy.address)
        assert client.search("heron")
    lines = [line.split()[1] for line, _ in proxy.requests]
    assert lines == ["/v1/index", "/v1/records?after=32"]  # stored, and placed


def test_an_interrupted_sync_goes_on_with_the_next_page(index, monkeypatch):
    monkeypatch.setattr("shoal.index.server.documents.MOST", 6)
    get, asked = index._connection.get, []

    def lost_after_two_pages(path):
        asked.append(path)
        if len([path for path in asked if "records" in path]) == 3:
            raise InputError("no server answers")
        return get(path)

    monkeypatch.setattr(index._connection, "get", lost_after_two_pages)
    with pytest.raises(InputError, match="no server answers"):
        index.sync()
    assert index.sync().fetched == 4
    assert asked[-2:] == ["/v1/records?after=28", "/v1/records?after=32"]


def test_a_document_is_fetched_with_k_or_more_and_by_itself_only_on_request(index, new_client, server):
    index.put(corpus(more=[f"heron {number}" for number in range(200)]), wait=0)
    with proxy_to(server.address) as proxy:
        client = new_client("operator", address=proxy.address)
        assert client.get("more-3") == "heron 3"
        buckets = [line.split()[1] for line, _ in proxy.requests if "bucket" in line]
        assert client.get("more-3", alone=True) == "heron 3"
    bits, number = map(int, buckets[0].partition("?")[0].split("/")[3:])
    beside = [name for name in range(200) if int(client.id_of(f"more-{name}"), 16) >> (128 - bits) == number]
    assert bits > 0 and len(beside) >= 3 and 3 in beside
    assert [line for line, _ in proxy.requests if "/v1/documents/" in line] != []


def test_a_search_can_be_limited_to_days_folders_and_labels(index, tmp_path):
    for folder, day in (("letters", 86_400 * 365), ("more", 86_400 * 800)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(f"heron and egret, {folder}")
        os.utime(tmp_path / folder / "a.txt", (day, day))  # 1971-01-01 and 1972-03-11
        index.put(tmp_path / folder, wait=0)
    rows = "id,text,kind,day\n1,a heron in the marsh,note,1980-05-06\n2,a heron in the reed,memo,1981-01-02\n"
    (tmp_path / "rows.csv").write_text(rows)
    index.put(tmp_path / "rows.csv", wait=0, text_column="text", label_column="kind", date_column="day")

    def names(**allowed):
        return {hit.name for hit in index.search("heron", 40, allowed=SearchFilter(**allowed))}

    assert names(folder="letters") == {"letters/a.txt"}
    assert names(since="1972-01-01", until="1980") == {"more/a.txt", "1"}
    assert names(label="memo") == {"2"}
    assert names(until="1971-01-01") == {"letters/a.txt"}


def test_a_record_is_padded_and_opens_for_its_readers_alone():
    keys, stranger = Keys.draw(), Keys.draw()
    short, longer = record("a", "heron"), record("b", *(f"word{number}" for number in range(20)))
    assert len(keys.decrypt(short.sealed(keys))) == len(keys.decrypt(longer.sealed(keys))) == 256
    assert Record.opened(longer.sealed(keys), keys) == longer
    assert Record.opened(short.sealed(keys), stranger) is None
    assert Record.opened(keys.encrypt(DIGEST + b"nonsense"), keys) is None
    assert [padded_length(length) for length in (0, 256, 257, 384, 385, 513, 769)] == [
        256,
        256,
        384,
        384,
        512,
        768,
        1024,
    ]


def test_words_are_letters_and_digits_by_their_stems():
    words = Words({"language": "english"})
    assert words.counts("Herons, a heron & file 4711/b") == {"heron": 2, "a": 1, "file": 1, "4711": 1, "b": 1}
    assert words.of_query("Herons HERON") == {"heron": ("herons", "heron")}


def test_the_rarer_word_of_a_query_counts_more_and_equals_keep_their_order():
    """Of 3 documents all have "a" (idf 1) and one has "b" (idf ln 2 + 1 = 1.69)."""
    column_of: dict[str, int] = {}
    ranking = Ranking.of_all(count_rows([{"a": 1}, {"a": 1, "b": 1}, {"a": 1}], column_of), column_of)
    first, second, third = ranking.best(["b", "a", "unknown"], 10)
    assert (first.row, first.stems, first.similarity) == (1, ("b", "a"), pytest.approx(1.0))
    assert (second.row, third.row) == (0, 2)
    assert second.similarity == pytest.approx(1 / np.hypot(1, 1 + np.log(2)))
    assert [match.row for match in ranking.best(["a"], 1, np.array([False, False, True]))] == [2]


def test_the_newest_record_of_a_document_counts_however_files_are_joined(tmp_path):
    cache = RecordCache(tmp_path / "records", Keys.draw())
    pages = [
        [(id_of(1), record("one", "heron")), (id_of(2), record("two", "egret"))],
        [(id_of(3), record("three", "reed"))],
        [(id_of(1), None), (id_of(2), record("two", "marsh"))],
        [(id_of(4), record("four", "heron", "reed"))],
    ]
    for number, page in enumerate(pages):
        cache.add(page, number, number + 1)
        kept = cache.all()
    assert cache.after == 4
    assert sorted(kept.about_row(row).name for row in range(len(kept))) == ["four", "three", "two"]
    assert [kept.id(match.row) for match in kept.ranking.best(["heron"], 9)] == [id_of(4)]
    assert kept.ranking.best(["egret"], 9) == []


def test_files_of_records_open_with_their_own_key_alone(tmp_path):
    keys = Keys.draw()
    RecordCache(tmp_path, keys).add([(id_of(1), record("secret name", "heron"))], 0, 1)
    (file,) = tmp_path.iterdir()
    assert b"heron" not in file.read_bytes() and file.stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="sealed with another key"):
        RecordCache(tmp_path, Keys.draw()).all()


def test_a_segment_is_as_it_was_after_packing():
    segment = Segment.of([(id_of(1), record("a\nname", "heron", "reed")), (id_of(2), None)])
    again = Segment.unpacked(segment.packed())
    assert (again.about, again.words, again.gone.tolist()) == (segment.about, ["heron", "reed"], [False, True])
    assert (again.counts != segment.counts).nnz == 0
