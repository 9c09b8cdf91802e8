"""Texts from files of every kind, and one clear line for each that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from shoal.errors import InputError
from shoal.sanitizer.reading.sources import SourceText, TextSource
from tests.sanitizer.reading.files import pdf_of


def texts_of(path: Path, **columns: str) -> dict[str, str]:
    return {text.id: text.text for text in TextSource(path, **columns)}


def only(path: Path) -> SourceText:
    (text,) = TextSource(path)
    return text


def test_text_comes_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("# Ann\r\n\tNúñez \n".encode())
    assert only(tmp_path / "a.md") == SourceText("a.md", "# Ann\r\n\tNúñez \n")


def test_a_page_gives_what_a_reader_sees(tmp_path: Path) -> None:
    page = (
        "<head><title>x</title><style>p{}</style></head><body><p>Dear&nbsp;<b>Ann</b></p><!-- Bob --><p title='Cy'>Bye"
    )
    (tmp_path / "a.html").write_text(page)
    text = only(tmp_path / "a.html")
    assert text.text == "Dear\xa0Ann\nBye\n"
    assert "comments" in text.lost


def test_a_docx_gives_headers_paragraphs_tables_and_footers(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Dear Ann,")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "born", "1970"
    document.sections[0].header.paragraphs[0].text = "Clinic"
    document.sections[0].footer.paragraphs[0].text = "Page"
    document.save(str(tmp_path / "a.docx"))
    text = only(tmp_path / "a.docx")
    assert text.text == "Clinic\nDear Ann,\nborn\t1970\nPage\n"
    assert "footnotes" in text.lost


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<html><head><title>T</title><meta charset=utf-8><p>Ann</p>", "Ann\n"),  # neither </head> nor <body>
        ("<head><title>T</title><style>p{}</style>Ann <b>Lee</b>", "Ann Lee\n"),
        ("<head><script>x</script><b>Ann</b>", "Ann\n"),
        ("<head><noscript><p>No</p></noscript><br/>Ann", "Ann\n"),
        ("<title>T</title><p>Ann", "T\nAnn\n"),
    ],
)
def test_a_head_ends_where_something_else_begins(tmp_path: Path, page: str, text: str) -> None:
    (tmp_path / "a.html").write_text(page)
    assert only(tmp_path / "a.html").text == text


def word(content: str) -> Any:
    """An element of a DOCX file."""
    compatibility = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    return parse_xml(content.replace(">", f" {nsdecls('w')} {compatibility}>", 1))


def test_a_docx_gives_what_is_wrapped_in_controls_insertions_and_text_boxes(tmp_path: Path) -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    document = docx.Document()
    body = document.element.body
    paragraph = document.add_paragraph("Dear ")
    paragraph._p.append(word(f"<w:sdt><w:sdtContent>{run.format('Ann')}</w:sdtContent></w:sdt>"))
    paragraph._p.append(word(f"<w:ins w:id='1' w:author='a'>{run.format(' Lee')}</w:ins>"))
    paragraph._p.append(word("<w:del w:id='2' w:author='a'><w:r><w:delText>Bob</w:delText></w:r></w:del>"))
    paragraph._p.append(word(f"<w:moveFrom w:id='3' w:author='a'>{run.format('Bob')}</w:moveFrom>"))
    control = f"<w:sdt><w:sdtContent><w:p>{run.format('signed Cy')}</w:p></w:sdtContent></w:sdt>"
    body.insert(1, word(control))
    box = f"<w:txbxContent><w:p>{run.format('Dora')}</w:p></w:txbxContent>"
    choice = f"<mc:Choice Requires='wps'>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    body.insert(
        2, word(f"<w:p>{run.format('Box:')}<w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r></w:p>")
    )
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "born"
    table.rows[0]._tr.append(
        word(f"<w:sdt><w:sdtContent><w:tc><w:p>{run.format('1970')}</w:p></w:tc></w:sdtContent></w:sdt>")
    )
    document.save(str(tmp_path / "a.docx"))
    assert only(tmp_path / "a.docx").text == "Dear Ann Lee\nsigned Cy\nBox:\nDora\n\nborn\t\t1970\n"


def test_a_docx_gives_the_headers_of_first_and_even_pages(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Letter")
    section = document.sections[0]
    section.first_page_header.paragraphs[0].text = "Ann"
    section.even_page_header.paragraphs[0].text = "Bob"
    section.even_page_footer.paragraphs[0].text = "Cy"
    document.save(str(tmp_path / "a.docx"))
    assert only(tmp_path / "a.docx").text == "Ann\nBob\nLetter\nCy\n"


def test_a_pdf_gives_its_text_layer_page_by_page(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_of([["Ann Smith met", "Bob Ray."], ["The end"]]))
    text = only(tmp_path / "a.pdf")
    assert text.text == "Ann Smith met\nBob Ray.\n\fThe end\n\f"
    assert text.pdf == tmp_path / "a.pdf"


def test_a_pdf_with_lines_and_a_map_of_its_characters_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_of([["Ann Smith"]], drawn="100 100 m 200 200 l S ", first_code="0020"))
    assert only(tmp_path / "a.pdf").text == "Ann Smith\n\f"


def test_a_folder_gives_all_it_can_and_names_the_rest(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("one")
    (tmp_path / "b.docx").write_bytes(b"PK\x03\x04")
    (tmp_path / "c.bin").write_bytes(b"\x00\x01\xff")
    (tmp_path / "d.txt").write_text("")
    (tmp_path / "e.pdf").write_bytes(pdf_of([[]], picture=True))
    source = TextSource(tmp_path)
    assert [text.id for text in source] == ["sub/a.txt"]
    assert [skipped.name for skipped in source.skipped] == ["b.docx", "c.bin", "d.txt", "e.pdf"]
    assert source.skipped[-1].reason.startswith("page 1 of 1 is a picture")


def test_records_of_jsonl_are_documents(tmp_path: Path) -> None:
    lines = [{"id": "x", "text": "one"}, {"id": "y", "text": "two"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert texts_of(tmp_path / "a.jsonl") == {"x": "one", "y": "two"}


def encrypted_pdf() -> bytes:
    """A PDF whose trailer says that a password is needed; no reader gets further than that."""
    plain = pdf_of([["secret"]])
    keys = "<" + "41" * 32 + ">"
    encrypt = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O {keys} /U {keys} /P -4 >> /ID [<{'42' * 16}> <{'42' * 16}>] "
    return plain.replace(b"/Root 1 0 R ", b"/Root 1 0 R " + encrypt.encode())


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.pdf", encrypted_pdf(), "is encrypted"),
        ("a.pdf", pdf_of([["Ann"], []], picture=True), "page 1 of 2 is a picture|page 2 of 2 is a picture"),
        ("a.pdf", pdf_of([["Ann Smith"]], first_code="E020"), "page 1 of 1 shows letters that its text layer"),
        ("a.pdf", pdf_of([["p 1"]], drawn="100 100 m 200 200 l S "), "page 1 of 1 is a picture"),
        ("a.pdf", b"%PDF-1.7 nothing", "a damaged PDF"),
        ("a.pdf", b"", "a damaged PDF"),
        ("a.docx", b"PK\x03\x04 nothing", "a damaged DOCX"),
        ("a.docx", b"plain", "a damaged DOCX"),
        ("a.txt", b"\x00\x01\x02", "not text in UTF-8"),
        ("a.txt", b"\xff\xfe\xfa", "not text in UTF-8"),
        ("a.txt", b"\xe9t\xe9", "not text in UTF-8"),
        ("a.exe", b"MZ\x90\x00", "not text in UTF-8"),
        ("a.txt", b"word " * 10_000_001, "has 50,000,005 characters, a document may have 5,000,000"),
        ("a.html", b"<script>x</script>", "contains no text"),
        ("a.txt", b" \n", "contains no text"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path, name: str, content: bytes, line: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=line) as problem:
        list(TextSource(tmp_path / name))
    assert "\n" not in str(problem.value)


def test_columns_are_for_records_only(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(InputError, match="has no columns"):
        list(TextSource(tmp_path / "a.txt", text_column="body"))
