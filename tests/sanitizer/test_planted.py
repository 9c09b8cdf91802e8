"""A secret planted in every place that a format has is nowhere in the release, nor in what its files unpack to."""

from __future__ import annotations

import base64
import io
import zipfile
import zlib
from collections.abc import Callable
from email.message import EmailMessage
from itertools import product
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from shoal.sanitizer.propose import Proposing, propose
from tests.sanitizer.reading.files import odt_of, pdf_of
from tests.sanitizer.sanitized_releases import released, secrets_of

BEGINNINGS = ("Quar", "Vors", "Thren", "Brel", "Dunst", "Morv", "Penth", "Trelg", "Kesk", "Halv")
ENDINGS = ("wick", "stad", "mere", "gath", "combe", "ayle")


class Plants:
    """A surname for each place; `person` is what people write, `name` the surname alone."""

    def __init__(self) -> None:
        self._free = iter("".join(parts) for parts in product(BEGINNINGS, ENDINGS))
        self.planted: dict[str, str] = {}  # place by surname

    def name(self, place: str) -> str:
        surname = next(self._free)
        self.planted[surname] = place
        return surname

    def person(self, place: str) -> str:
        return f"Mr Tobias {self.name(place)}"


def mail(plant: Plants) -> bytes:
    message = EmailMessage()
    message["From"] = f"{plant.person('from')} <{plant.name('address').lower()}@example.org>"
    message["To"], message["Cc"] = f"Ann <{plant.name('to').lower()}@example.org>", plant.person("cc")
    message["Subject"] = f"Visit of {plant.person('subject')}"
    message["X-Mailer"] = plant.name("header of transport")
    message["Message-ID"] = f"<{plant.name('message id')}@example.org>"
    message["Received"] = f"from {plant.name('received')}.example.org"
    message.set_content(f"We met {plant.person('plain text')} there.\n\n> {plant.person('quoted reply')} wrote this.\n")
    message.add_alternative(f"<p>{plant.person('other version')}</p><!-- {plant.name('comment')} -->", subtype="html")
    message.add_attachment(b"%PDF-", "application", "pdf", filename=f"letter {plant.name('attachment')}.pdf")
    message.add_attachment(f"{plant.name('attached text')}\n", filename=f"{plant.name('name of attached text')}.txt")
    message.add_attachment(b"BEGIN:VCALENDAR", "text", "calendar", filename=f"{plant.name('bare name of a file')}.ics")
    message["Organization"] = plant.name("organization")
    forwarded = EmailMessage()
    forwarded["From"], forwarded["Subject"] = plant.person("forwarded from"), "old"
    forwarded.set_content(f"Then {plant.person('forwarded text')} left.\n", cte="quoted-printable")
    message.add_attachment(forwarded)
    return message.as_bytes()


def encoded_mail(plant: Plants) -> bytes:
    body = base64.encodebytes(f"Yesterday {plant.person('base64')} came to see us.\n".encode())
    subject = base64.b64encode(f"About {plant.person('encoded subject')}".encode()).decode()
    head = f"From: ann@example.org\nSubject: =?utf-8?B?{subject}?=\nMIME-Version: 1.0\n"
    return head.encode() + b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" + body


def word(plant: Plants) -> bytes:
    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author = plant.name("title"), plant.name("author")
    properties.comments, properties.last_modified_by = plant.name("remarks"), plant.name("last author")
    document.add_paragraph(f"The patient is {plant.person('paragraph')}.")
    section = document.sections[0]
    section.header.paragraphs[0].text = f"Case of {plant.person('header')}"
    section.footer.paragraphs[0].text = f"Signed by {plant.person('footer')}"
    document.add_table(1, 1).cell(0, 0).text = plant.person("cell")
    author, inserted = plant.name("author of a change"), plant.person("inserted")
    for content in (
        f"<w:r><w:rPr><w:vanish/></w:rPr><w:t>and {plant.person('hidden text')}</w:t></w:r>",
        f"<w:ins w:id='1' w:author='{author}'><w:r><w:t>{inserted}</w:t></w:r></w:ins>",
        f"<w:del w:id='2'><w:r><w:delText>{plant.person('deleted')}</w:delText></w:r></w:del>",
        f"<w:bookmarkStart w:id='3' w:name='{plant.name('bookmark')}'/>",
        f"<w:r><w:instrText>HYPERLINK {plant.name('field')}</w:instrText></w:r>",
        f"<w:sdt><w:sdtPr><w:alias w:val='{plant.name('control')}'/></w:sdtPr></w:sdt>",
        f"<w:r><w:drawing><wp:docPr id='4' name='p' descr='{plant.name('alt text')}'/></w:drawing></w:r>",
    ):
        document.element.body.insert(0, parse_xml(f"<w:p {nsdecls('w', 'wp')}>{content}</w:p>"))
    stored = io.BytesIO()
    document.save(stored)
    with zipfile.ZipFile(stored, "a") as archive:
        for part in ("comments", "footnotes", "endnotes"):
            archive.writestr(f"word/{part}.xml", f"<w:t>{plant.person(part)}</w:t>")
        archive.writestr(f"word/embeddings/{plant.name('name of an embedded file')}.bin", plant.name("embedded"))
    return stored.getvalue()


def open_document(plant: Plants) -> bytes:
    body = (
        f"<text:tracked-changes><text:p>{plant.person('change')}</text:p></text:tracked-changes>"
        f"<text:p>Dear {plant.person('paragraph')},<office:annotation><text:p>{plant.person('annotation')}</text:p>"
        f"</office:annotation> come.<text:note><text:note-body><text:p>See {plant.person('note')}.</text:p>"
        "</text:note-body></text:note></text:p>"
        f"<table:table><table:table-row><table:table-cell><text:p>{plant.person('cell')}</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    content = odt_of(body, header=plant.person("header"), footer=plant.person("footer"))
    stored = io.BytesIO(content)
    with zipfile.ZipFile(stored, "a") as archive:
        archive.writestr("meta.xml", f"<meta>{plant.name('metadata')}</meta>")
    return stored.getvalue()


def rich_text(plant: Plants) -> bytes:
    coded = "".join(f"\\'{byte:02x}" for byte in plant.name("coded letters").encode())
    return (
        f"{{\\rtf1\\ansi{{\\info{{\\title {plant.name('title')}}}{{\\author {plant.name('author')}}}}}"
        f"{{\\header {plant.person('header')}}}{{\\*\\comment {plant.name('comment')}}}"
        f"We met {plant.person('paragraph')}.\\par {{\\v and {plant.person('hidden text')}}}\\par "
        f"Then Mr Tobias {coded} came.\\par"
        f"{{\\footnote See {plant.person('footnote')}.}} The end.}}"
    ).encode()


def page(plant: Plants) -> bytes:
    return (
        f"<html><head><title>{plant.name('title')}</title><meta name=author content='{plant.name('meta')}'>"
        f"<script>var a = '{plant.name('script')}'</script><style>/* {plant.name('style')} */</style></head>"
        f"<body data-owner='{plant.name('attribute')}'><!-- {plant.name('comment')} -->"
        f"<p>We met {plant.person('paragraph')}.</p><p style='display:none'>and {plant.person('hidden text')}.</p>"
        f"<img alt='{plant.name('alt text')}' src='{plant.name('source')}.png'><a href='/{plant.name('link')}'>here</a>"
        f"<input value='{plant.name('value')}'><textarea>Then {plant.person('area of text')} came.</textarea>"
        f"<noscript>{plant.name('noscript')}</noscript><template>{plant.name('template')}</template>"
        f"<svg><title>{plant.name('title of a picture')}</title></svg></body></html>"
    ).encode()


def markdown(plant: Plants) -> bytes:
    address = "https://example.org/people"
    return (
        f"---\nauthor: Tobias {plant.name('front matter')}\n---\n\n# Visit of {plant.person('heading')}\n\n"
        f"![{plant.person('alt text')}]({address}/{plant.name('source')}.png)\n\n"
        f"See [this]({address}/{plant.name('link')}).\n\n"
        f"<!-- ask {plant.person('comment')} -->\n\n| name | age |\n|---|---|\n| Tobias {plant.name('cell')} | 41 |\n\n"
        f"- met {plant.person('item')}[^1]\n\n[^1]: Told by {plant.person('footnote')}.\n"
    ).encode()


def printed(plant: Plants) -> bytes:
    file = pdf_of([[f"We met {plant.person('line')} there.", f"Then {plant.person('second line')} left us."]])
    return file.replace(b"Ann Smith", plant.name("author").encode())


def table(plant: Plants) -> bytes:
    rows = f'"We met {plant.person("text")},\nthen {plant.person("second line")} left.",{plant.name("other column")}\n'
    return f"note,owner\n{rows}".encode()


FORMATS: dict[str, Callable[[Plants], bytes]] = {
    "visit.eml": mail,
    "coded.eml": encoded_mail,
    "visit.docx": word,
    "visit.odt": open_document,
    "visit.rtf": rich_text,
    "visit.html": page,
    "visit.md": markdown,
    "visit.pdf": printed,
    "visit.csv": table,
}


def parts_of(content: bytes) -> list[bytes]:
    """A file, and what it unpacks to: members of an archive, streams of a PDF."""
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [content, *(name.encode() + archive.read(name) for name in archive.namelist())]
    streams = content.split(b"stream\n")[1:] if content.startswith(b"%PDF") else []
    return [content, *(zlib.decompressobj().decompress(stream) for stream in streams if stream.startswith(b"x"))]


@pytest.mark.parametrize("name", FORMATS)
def test_no_secret_that_a_format_can_hold_is_in_the_release(tmp_path: Path, name: str) -> None:
    plant = Plants()
    source = tmp_path / name
    source.write_bytes(FORMATS[name](plant))
    columns = {"text_column": "note"} if name.endswith(".csv") else {}
    work = propose(source, tmp_path / "work", Proposing(policy="none", scope="collection"), **columns).work
    form = "pdf" if name.endswith(".pdf") else "html"
    made = released(work, tmp_path / "out", form=form, accept_rest=0.15)
    contents = [part for path in made.folder.rglob("*") if path.is_file() for part in parts_of(path.read_bytes())]
    left = {
        place
        for surname, place in plant.planted.items()
        for part in contents
        if surname.lower().encode() in part.lower()
    }
    assert not left, sorted(left)
    assert secrets_of(made).strings  # what could be read was masked, not only dropped
