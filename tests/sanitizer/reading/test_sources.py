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
from tests.sanitizer.reading.files import odt_of, pdf_of


@pytest.fixture(autouse=True)
def without_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.sanitizer.reading.pdf.OCR", "not-installed")


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
        ("<title>T</title><p>Ann<svg><title>Bob</title></svg>", "Ann\n"),
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


def test_an_odt_gives_headers_paragraphs_notes_tables_and_footers(tmp_path: Path) -> None:
    body = (
        "<text:tracked-changes><text:p>Bob</text:p></text:tracked-changes>"
        '<text:p>Dear<text:s text:c="2"/><text:span>Ann</text:span>,<text:line-break/>come<office:annotation>'
        "<text:p>Cy</text:p></office:annotation>.<text:note><text:note-body><text:p>Lee</text:p></text:note-body>"
        "</text:note></text:p><table:table><table:table-row><table:table-cell><text:p>born</text:p></table:table-cell>"
        "<table:table-cell><text:p>1970</text:p></table:table-cell></table:table-row></table:table>"
    )
    (tmp_path / "a.odt").write_bytes(odt_of(body, header="Clinic", footer="Page"))
    assert only(tmp_path / "a.odt").text == "Clinic\nDear  Ann,\ncome.Lee\n\nborn\t1970\nPage\n"


def test_an_rtf_gives_its_letters_in_their_code_page(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(
        rb"{\rtf1\ansi\ansicpg1250{\fonttbl{\f0 Arial;}}{\info{\author Bob}}Lech Wa\'b3\'easa\par N\u250\'fa\u241?ez}"
    )
    assert only(tmp_path / "a.rtf").text.split() == ["Lech", "Wałęsa", "Núñez"]


MAIL = b"""Received: from host [10.0.0.1]
From: =?utf-8?B?QW5uIE7DusOxZXo=?= <ann@example.org>
To: Bob
Subject: =?iso-8859-1?Q?Caf=E9?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: multipart/alternative; boundary=y

--y
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

RGVhciBCb2IsIGNhbGwgQ3kgUmF5Lg==
--y
Content-Type: text/html

<p>Dear Bob</p>
--y--
--x
Content-Type: text/html; charset=windows-1252
Content-Transfer-Encoding: quoted-printable

<p>Caf=E9 <b>Dora</b></p>
--x
Content-Type: message/rfc822

From: Eve
Subject: old

Hello.
--x
Content-Type: application/pdf
Content-Disposition: attachment; filename="cv-lee.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--x--
"""


@pytest.mark.parametrize("name", ["a.eml", "a.txt", "17", "17."])
def test_a_mail_gives_its_headers_its_parts_decoded_and_the_names_of_attachments(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(MAIL)
    text = only(tmp_path / name)
    assert text.text == (
        "From: Ann Núñez <ann@example.org>\nTo: Bob\nSubject: Café\n\nDear Bob, call Cy Ray.\nCafé Dora\n"
        "From: Eve\nSubject: old\n\nHello.\n[Attachment: cv-lee.pdf]\n"
    )
    assert "attachments" in text.lost


def test_a_text_that_begins_like_a_mail_and_needs_no_decoding_comes_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("From: Ann\nSubject: x\nLines: 2\n\nHello\n")
    assert only(tmp_path / "a.txt").text == "From: Ann\nSubject: x\nLines: 2\n\nHello\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_is_read_in_the_encoding_it_has(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_bytes("“Núñez” – café, naïve\n".encode(encoding))
    assert only(tmp_path / "a.txt").text == "“Núñez” – café, naïve\n"


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
        ("a.txt", b"Lech Wa\xb3\xeasa", "not text in UTF-8"),  # Windows-1250
        ("a.txt", "Привет, Юрий".encode("cp1251"), "not text in UTF-8"),
        ("a.exe", b"MZ\x90\x00", "of no known kind"),
        ("a.doc", b"Ann Smith", "of no known kind"),
        ("a.xml", b"<a>Ann&#32;Smith</a>", "of no known kind"),
        ("README", b"Ann Smith", "of no known kind"),
        ("a.rtf", b"Ann Smith", "a damaged RTF"),
        ("a.odt", b"PK\x03\x04 nothing", "a damaged or encrypted ODT"),
        ("a.odt", odt_of("", doctype="<!DOCTYPE x>"), "a damaged or encrypted ODT"),
        ("a.eml", b"From: a@b.org\nContent-Transfer-Encoding: base64\n\n!!!! ???? 1", "a damaged mail"),
        ("a.eml", b"From: a@b.org\nContent-Type: text/plain; charset=utf-8\n\n\xe9t\xe9", "a damaged mail"),
        ("a.eml", b"From: a@b.org\n\none\n\nFrom c@d.org Mon May 3 1999\nTo: e\n\ntwo", "several mails"),
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


def test_a_page_that_is_a_picture_is_read_by_tesseract_and_released_as_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\n[ $(head -c 4 | tail -c 3) = PNG ] && cat > /dev/null && printf 'Ann Smith\\n\\f'\n")
    program.chmod(0o700)
    monkeypatch.setattr("shoal.sanitizer.reading.pdf.OCR", str(program))
    (tmp_path / "a.pdf").write_bytes(pdf_of([["First page"], []], picture=True))
    text = only(tmp_path / "a.pdf")
    assert "Ann Smith\n" in text.text
    assert text.pdf is None
    assert "read by Tesseract" in text.lost
    program.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(InputError, match="is a picture without a text layer; install Tesseract"):
        only(tmp_path / "a.pdf")


def test_columns_are_for_records_only(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(InputError, match="has no columns"):
        list(TextSource(tmp_path / "a.txt", text_column="body"))
