"""Documents: every kind of input, what is skipped and why, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.data.corpus import Corpus, Document, looks_like_documents
from shoal.data.records import Skipped
from shoal.errors import InputError

Write = Callable[[str, bytes | str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return write


def refusal(corpus: Corpus) -> str:
    with pytest.raises(InputError) as caught:
        list(corpus)
    message = str(caught.value)
    assert "\n" not in message
    return message


# Folders


def test_a_folder_is_read_recursively_in_the_order_of_relative_paths(write: Write, tmp_path: Path) -> None:
    write("b.txt", "second")
    write("a/z.md", "first")
    write(".hidden", "no")
    write(".git/config", "no")
    assert list(Corpus(tmp_path)) == [Document("a/z.md", "first"), Document("b.txt", "second")]


def test_a_folder_can_be_read_again_with_the_same_result(write: Write, tmp_path: Path) -> None:
    write("a.txt", "one")
    write("b.txt", "")
    corpus = Corpus(tmp_path)
    assert list(corpus) == list(corpus)
    assert corpus.skipped == (Skipped("b.txt", "empty"),)


def test_an_iteration_left_halfway_leaves_nothing_in_the_report_of_the_next(write: Write, tmp_path: Path) -> None:
    write("a.txt", " ")
    write("b.txt", "text")
    corpus = Corpus(tmp_path)
    next(iter(corpus))
    list(corpus)
    assert len(corpus.skipped) == 1


def test_files_that_are_no_text_are_skipped_by_name_and_reason(write: Write, tmp_path: Path) -> None:
    write("a.txt", "fine")
    write("b.bin", b"PK\x03\x04\x00\x00")
    write("c.txt", b"caf\xe9")
    write("d.txt", "  \n\t")
    write("e.txt", "")
    write("f.txt.gz", gzip.compress(b"some text " * 50)[:-12])
    write("g.txt.gz", b"not gzip")
    os.mkfifo(tmp_path / "h.pipe")
    (tmp_path / "i.txt").symlink_to(tmp_path / "nowhere")
    corpus = Corpus(tmp_path)
    assert [document.id for document in corpus] == ["a.txt"]
    assert corpus.skipped == (
        Skipped("b.bin", "binary, not text"),
        Skipped("c.txt", "not UTF-8 text"),
        Skipped("d.txt", "empty"),
        Skipped("e.txt", "empty"),
        Skipped("f.txt.gz", "broken gzip"),
        Skipped("g.txt.gz", "broken gzip"),
        Skipped("h.pipe", "not a regular file"),
        Skipped("i.txt", "cannot be read"),
    )


def test_utf8_and_utf16_marks_and_gzip_are_understood(write: Write, tmp_path: Path) -> None:
    write("a.txt", "\ufeffcafé")
    write("b.txt", "café".encode("utf-16"))
    write("c.txt.gz", gzip.compress("café".encode()))
    assert [document.text for document in Corpus(tmp_path)] == ["café"] * 3


def test_the_label_of_a_text_file_is_its_sub_folder(write: Write, tmp_path: Path) -> None:
    write("pos/1.txt", "good")
    write("neg/old/2.txt", "bad")
    corpus = Corpus(tmp_path, label_column="folder")
    assert [document.label for document in corpus] == ["neg/old", "pos"]
    write("3.txt", "neither")
    assert "1 document without label (first: 3.txt)" in refusal(corpus)


def test_columns_of_a_folder_of_texts_are_refused(write: Write, tmp_path: Path) -> None:
    write("a.txt", "text")
    assert "label column 'folder' instead of topic" in refusal(Corpus(tmp_path, label_column="topic"))
    assert "has no columns" in refusal(Corpus(tmp_path, text_column="body"))


def test_a_folder_of_parquet_parts_is_one_collection_and_spark_markers_are_reported(tmp_path: Path) -> None:
    for part in (0, 1):
        pq.write_table(pa.table({"text": [f"text {part}", None]}), tmp_path / f"part-{part}.parquet")
    (tmp_path / "_SUCCESS").touch()
    corpus = Corpus(tmp_path)
    assert [document.id for document in corpus] == ["part-0.parquet:1", "part-1.parquet:1"]
    assert Skipped("part-1.parquet row 2", "no text") in corpus.skipped
    assert Skipped("_SUCCESS", "not parquet") in corpus.skipped


def test_a_folder_of_jsonl_is_one_collection_in_which_ids_must_be_unique(write: Write, tmp_path: Path) -> None:
    write("1.jsonl", '{"id": "a", "text": "one"}\n')
    write("2.jsonl", '{"id": "b", "text": "two"}\n')
    assert [document.id for document in Corpus(tmp_path)] == ["a", "b"]
    write("3.jsonl", '{"id": "a", "text": "three"}\n')
    assert "1 id given more than once (first: 1.jsonl line 1)" in refusal(Corpus(tmp_path))


def test_empty_folders_missing_paths_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "empty").mkdir()
    assert "is an empty folder" in refusal(Corpus(tmp_path / "empty"))
    assert "does not exist" in refusal(Corpus(tmp_path / "nowhere.csv"))
    assert "not a regular file" in refusal(Corpus(tmp_path / "pipe.jsonl"))
    assert "not a regular file" in refusal(Corpus("/dev/zero"))
    assert "cannot be read" in refusal(Corpus("a\0b.csv"))
    assert "cannot be read" in refusal(Corpus("a" * 5000 + ".csv"))
    assert "not a regular file" in refusal(Corpus(tmp_path))  # a folder of JSONL that is only a pipe


def test_a_folder_named_like_a_csv_file_is_read_as_a_folder(write: Write, tmp_path: Path) -> None:
    write("x.csv/a.txt", "text")
    assert [document.id for document in Corpus(tmp_path / "x.csv")] == ["a.txt"]


def test_a_single_text_file_and_unknown_kinds_are_refused_with_the_kinds_that_work(write: Write) -> None:
    assert "is a single text file; give a folder" in refusal(Corpus(write("a.txt", "text")))
    assert "is a single text file; give a folder" in refusal(Corpus(write("a.txt.gz", "text")))
    assert ".parquet, .jsonl or .dat" in refusal(Corpus(write("a.xlsx", "text")))
    assert "one JSON object per line" in refusal(Corpus(write("a.json", "[]")))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission_are_skipped_in_a_folder_and_refused_alone(write: Write, tmp_path: Path) -> None:
    write("a.txt", "text")
    write("b.jsonl", "{}").chmod(0)
    corpus = Corpus(tmp_path)
    list(corpus)
    assert corpus.skipped == (Skipped("b.jsonl", "no permission to read it"),)
    assert "no permission" in refusal(Corpus(tmp_path / "b.jsonl"))


def test_a_file_name_that_is_not_utf8_is_skipped_and_shown_in_printable_form(write: Write, tmp_path: Path) -> None:
    write("a.txt", "text")
    with open(os.fsencode(tmp_path) + b"/\xff.txt", "wb") as file:
        file.write(b"text")
    corpus = Corpus(tmp_path)
    list(corpus)
    assert corpus.skipped == (Skipped("\\udcff.txt", "name is not UTF-8"),)


# JSONL


def test_jsonl_takes_text_id_and_label_from_their_fields(write: Write) -> None:
    path = write("a.jsonl", '{"id": 7, "text": "one", "topic": "x"}\n\n{"id": "b", "text": "two", "topic": 2}\n')
    assert list(Corpus(path)) == [Document("7", "one"), Document("b", "two")]
    assert [document.label for document in Corpus(path, label_column="topic")] == ["x", "2"]


def test_jsonl_without_ids_is_numbered_by_line(write: Write) -> None:
    path = write("a.ndjson.gz", gzip.compress(b'{"body": "one"}\n\n{"body": "two"}'))
    assert list(Corpus(path, text_column="body")) == [Document("1", "one"), Document("3", "two")]


def test_jsonl_lines_that_are_no_documents_are_skipped_by_line_and_reason(write: Write) -> None:
    lines = [
        b'{"text": "fine"}',
        b'{"text": "caf\xe9"}',
        b'{"text": ',
        b'["text"]',
        b'{"text": 5}',
        b'{"other": "x"}',
        b'{"text": null}',
        b'{"text": " "}',
        b'{"text": "half \\ud800"}',
        b'{"text": "nul \\u0000"}',
        b"[" * 100_000,
        b'{"text": ' + b"9" * 5000 + b"}",
    ]
    corpus = Corpus(write("a.jsonl", b"\n".join(lines)))
    assert [document.id for document in corpus] == ["1"]
    assert [(fault.name, fault.reason) for fault in corpus.skipped] == [
        ("line 2", "not UTF-8 text"),
        ("line 3", "not JSON"),
        ("line 4", "not a JSON object"),
        ("line 5", "text is not a string"),
        ("line 6", "no text"),
        ("line 7", "no text"),
        ("line 8", "empty"),
        ("line 9", "not UTF-8 text"),
        ("line 10", "binary, not text"),
        ("line 11", "not JSON"),
        ("line 12", "not JSON"),
    ]


def test_a_field_no_line_has_is_an_error_with_a_suggestion(write: Write) -> None:
    path = write("a.jsonl", '{"texts": "one", "id": "1"}\n')
    assert "has no column text, only: texts, id; did you mean texts?" in refusal(Corpus(path))
    assert "has no column key" in refusal(Corpus(path, text_column="texts", id_column="key"))
    assert "has no column topic" in refusal(Corpus(path, text_column="texts", label_column="topic"))


def test_missing_labels_and_missing_ids_are_counted(write: Write) -> None:
    rows = [{"id": "a", "text": "one", "topic": "x"}, {"id": "b", "text": "two"}, {"text": "three", "topic": ""}]
    path = write("a.jsonl", "\n".join(map(json.dumps, rows)))
    assert "1 document without id (first: line 3)" in refusal(Corpus(path))
    path = write("b.jsonl", "\n".join(map(json.dumps, rows[:2])))
    assert "1 document without label (first: line 2)" in refusal(Corpus(path, label_column="topic"))


def test_ids_given_more_than_once_are_counted_and_the_remedy_depends_on_who_chose_the_column(write: Write) -> None:
    path = write("a.jsonl", "".join(f'{{"id": "{name}", "key": "k", "text": "t"}}\n' for name in "abcbaa"))
    assert "2 ids given more than once (first: line 1)" in refusal(Corpus(path))
    assert "id_column" in refusal(Corpus(path))
    assert "leave out the id column" in refusal(Corpus(path, id_column="key"))


def test_jsonl_in_utf16_is_read_and_a_broken_one_refused(write: Write) -> None:
    content = '{"text": "café"}\n'.encode("utf-16")
    assert [document.text for document in Corpus(write("a.jsonl", content))] == ["café"]
    assert "broken encoding" in refusal(Corpus(write("b.jsonl", content + b"\x00")))


def test_an_input_in_which_every_line_is_skipped_says_so_with_the_reason(write: Write) -> None:
    assert "2 skipped, 2 of them with the reason 'not JSON' (first: line 1)" in refusal(
        Corpus(write("a.jsonl", "x\ny"))
    )
    assert "has no documents" in refusal(Corpus(write("b.jsonl", "")))


# CSV


def test_csv_takes_the_text_column_with_quoted_line_breaks_and_large_fields(write: Write) -> None:
    large = "word " * 100_000
    path = write("a.csv", f'\ufeffid,text,n\nx,"one, ""two""\nthree",1\ny,{large},2\n')
    assert list(Corpus(path)) == [Document("x", 'one, "two"\nthree'), Document("y", large)]


@pytest.mark.parametrize(
    ("name", "content"), [("a.tsv", "text\tn\none\t1\n"), ("a.csv", "text;n\none;1\n"), ("b.csv", "text\tn\none\t1\n")]
)
def test_tabs_and_semicolons_are_recognised(write: Write, name: str, content: str) -> None:
    assert list(Corpus(write(name, content))) == [Document("1", "one")]


def test_csv_of_one_column_may_hold_semicolons_in_its_rows(write: Write) -> None:
    assert list(Corpus(write("a.csv", "text\none; two\n"))) == [Document("1", "one; two")]


def test_csv_rows_that_are_no_documents_are_skipped_by_row_and_reason(write: Write) -> None:
    rows = [
        b"a,text,b",
        b"1,fine,2",
        b"1,short",
        b"1,too,long,3",
        b"1,caf\xe9,2",
        b'1,"x"y,2',
        b"1,,2",
        b"1,\0,2",
        b"",
        b"1,ok,",
    ]
    corpus = Corpus(write("a.csv", b"\n".join(rows)))
    assert [document.id for document in corpus] == ["1", "8"]
    assert [(fault.name, fault.reason) for fault in corpus.skipped] == [
        ("row 2", "has 2 fields where the header has 3"),
        ("row 3", "has 4 fields where the header has 3"),
        ("row 4", "not UTF-8 text"),
        ("row 5", "quotes do not fit"),
        ("row 6", "empty"),
        ("row 7", "binary, not text"),
    ]


def test_a_quote_that_never_closes_is_an_error_because_it_swallows_all_rows_after_it(write: Write) -> None:
    assert "a quote opened in row 2 never closes" in refusal(Corpus(write("a.csv", 'text\none\n"two\nthree\n')))
    assert "a quote opened in the header never closes" in refusal(Corpus(write("b.csv", '"text\none\n')))


def test_bad_csv_files_are_refused(write: Write) -> None:
    assert "is empty" in refusal(Corpus(write("a.csv", "")))
    assert "is empty" in refusal(Corpus(write("b.csv", "\n\n")))
    assert "has no documents" in refusal(Corpus(write("c.csv", "text,id\n")))
    assert "has no column text, only: id, txt; did you mean txt?" in refusal(Corpus(write("d.csv", "id,txt\n1,x\n")))
    assert "2 columns named text" in refusal(Corpus(write("e.csv", "text,text\n1,x\n")))
    assert "is binary" in refusal(Corpus(write("f.csv", b"\x1f\x8b\0\0\0text")))
    assert "header is not UTF-8" in refusal(Corpus(write("g.csv", b"text,\xff\n1,2\n")))
    assert "header line of a million" in refusal(Corpus(write("h.csv", b"x" * 2_000_000)))
    assert "truncated gzip" in refusal(
        Corpus(write("i.csv.gz", gzip.compress(b"text\n" + os.urandom(9999).hex().encode())[:-99]))
    )
    assert "not a sound gzip" in refusal(Corpus(write("j.csv.gz", "text\none\n")))


# Parquet


def test_parquet_is_read_by_the_columns_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"key": [10, 11], "body": pa.array(["one", "two"]).dictionary_encode(), "y": [0.5, 1.5]})
    pq.write_table(table, path)
    corpus = Corpus(path, text_column="body", id_column="key", label_column="y")
    assert list(corpus) == [Document("10", "one", "0.5"), Document("11", "two", "1.5")]


def test_parquet_of_several_batches_keeps_row_numbers_and_reports_broken_text(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts: list[bytes | None] = [b"text"] * 1000
    texts[600], texts[700], texts[800] = None, b"caf\xe9", b"  "
    pq.write_table(pa.table({"text": pa.array(texts, pa.binary())}), path)
    corpus = Corpus(path)
    assert len(list(corpus)) == 997
    assert corpus.skipped == (
        Skipped("row 601", "no text"),
        Skipped("row 701", "not UTF-8 text"),
        Skipped("row 801", "empty"),
    )


def test_missing_labels_of_parquet_are_counted_also_as_nan(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", "b", "c"], "y": [1.0, float("nan"), None]}), path)
    assert "2 documents without label (first: row 2)" in refusal(Corpus(path, label_column="y"))


def test_bad_parquet_files_are_refused(write: Write, tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [1, 2], "many": [["a"], ["b"]], "t": ["a", "b"]}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    assert "column text is int64, not text" in refusal(Corpus(tmp_path / "a.parquet"))
    assert "cannot name a document" in refusal(Corpus(tmp_path / "a.parquet", text_column="t", id_column="many"))
    assert "has no column txt" in refusal(Corpus(tmp_path / "a.parquet", text_column="txt"))
    assert "cannot be read" in refusal(Corpus(write("b.parquet", whole[:-9])))
    assert "cannot be read" in refusal(Corpus(write("c.parquet", "")))


# Texts in memory


def test_texts_in_memory_take_ids_and_labels() -> None:
    corpus = Corpus.from_texts(["one", "two"], ids=["a", 7], labels=[True, "x"])
    assert list(corpus) == list(corpus) == [Document("a", "one", "True"), Document("7", "two", "x")]


def test_texts_of_an_iterator_can_be_read_twice() -> None:
    corpus = Corpus.from_texts(text for text in ("one", "two"))
    assert [document.id for document in corpus] == [document.id for document in corpus] == ["1", "2"]


def test_wrong_texts_in_memory_are_refused() -> None:
    with pytest.raises(InputError, match="one string"):
        Corpus.from_texts("one")
    with pytest.raises(InputError, match="1 texts, 2 ids and 1 labels"):
        Corpus.from_texts(["one"], ids=["a", "b"])
    assert "has no documents" in refusal(Corpus.from_texts([]))
    assert "1 id given more than once" in refusal(Corpus.from_texts(["x", "y"], ids=["a", "a"]))
    assert "1 document without label" in refusal(Corpus.from_texts(["x", "y"], labels=["a", None]))


# Documents or a table


def test_documents_are_told_from_tables_by_content(write: Write, tmp_path: Path) -> None:
    assert looks_like_documents(write("a.jsonl", "{}"))
    assert looks_like_documents(write("a.csv", "id,text\n"))
    assert looks_like_documents(write("a.txt", "x"))
    assert not looks_like_documents(write("b.csv", "age,zip\n1,2\n"))
    assert looks_like_documents(tmp_path / "b.csv", text_column="age")
    pq.write_table(pa.table({"age": [1]}), tmp_path / "p.parquet")
    assert not looks_like_documents(tmp_path / "p.parquet")
    assert looks_like_documents(tmp_path)
    write("tables/1.csv", "age,zip\n1,2\n")
    assert not looks_like_documents(tmp_path / "tables")
    for path in (tmp_path / "nowhere", write("c.ods", "x"), write("d.parquet", "x")):
        with pytest.raises(InputError):
            looks_like_documents(path)
