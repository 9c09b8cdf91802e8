"""The files of a sanitized release: text, a page or DOCX that shows that text with bars, pages that are pictures."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from shoal.verification.release_files import Refused, ReleaseFolder

LARGEST_TEXT = 50_000_000  # bytes
LARGEST_PICTURES = 2_000_000_000
MOST_PIXELS = 60_000_000
NAME = re.compile(r"documents/(document-\d{4,7})\.(txt|html|docx|pdf)")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta charset="utf-8">
<title>Sanitized document</title>
<style>
body{{margin:2rem auto;max-width:46rem;padding:0 1rem;font:1rem/1.55 Georgia,serif;color:#111;background:#fff}}
div{{white-space:pre-wrap;overflow-wrap:anywhere}}
b{{background:#000;color:#fff;font:600 .85em/1.3 Arial,sans-serif;padding:.1em .4em;border-radius:2px}}
</style>
</head>
<body>
<div>"""
TAIL = "</div>\n</body>\n</html>\n"

PDF_HEAD = re.compile(
    rb"%PDF-1\.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    rb"2 0 obj\n<< /Type /Pages /Kids \[([0-9 R]*)\] /Count (\d{1,5}) >>\nendobj\n"
)
PAGE = re.compile(
    rb"(\d+) 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox \[0 0 (\d{1,5}) (\d{1,5})\] "
    rb"/Resources << /XObject << /Page (\d+) 0 R >> >> /Contents (\d+) 0 R >>\nendobj\n"
)
DRAWING = re.compile(rb"(\d+) 0 obj\n<< /Length (\d+) >>\nstream\n(q [0-9 ]+ cm /Page Do Q)\nendstream\nendobj\n")
PICTURE = re.compile(
    rb"(\d+) 0 obj\n<< /Type /XObject /Subtype /Image /Width (\d{1,5}) /Height (\d{1,5}) /ColorSpace /DeviceGray "
    rb"/BitsPerComponent 8 /Filter /FlateDecode /Length (\d+) >>\nstream\n"
)
PICTURE_END = b"\nendstream\nendobj\n"


def document_name(file: str) -> tuple[str, str] | None:
    """Name and suffix of a document's file; None for any other."""
    match = NAME.fullmatch(file)
    return (match[1], match[2]) if match else None


def read_text(release: ReleaseFolder, file: str) -> str:
    """A text in UTF-8, of a size that can be read."""
    try:
        return release.read(file, LARGEST_TEXT).decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("document", "is not text in UTF-8", file) from None


class ReleasedTexts(Mapping[str, str]):
    """The texts of a release by the names of their documents, each read when it is asked for."""

    def __init__(self, release: ReleaseFolder, names: Iterable[str]) -> None:
        self._release = release
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            raise KeyError(name)
        return read_text(self._release, f"documents/{name}.txt")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def check_page(release: ReleaseFolder, file: str, text: str) -> None:
    """Refuse a page that shows, or hides, anything but the text."""
    page = read_text(release, file)
    if not page.startswith(HEAD) or not page.endswith(TAIL):
        raise Refused("page", "is not a page that Shoal writes", file)
    if re.sub("<b>([^<]+)</b>", r"\1", page[len(HEAD) : len(page) - len(TAIL)]) != escape(text, quote=False):
        raise Refused("page", "does not show the text of its document and nothing else", file)


TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" \
ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" \
ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
RELATIONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" \
Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" \
Target="word/document.xml"/></Relationships>"""
DOCUMENT = (
    """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p>""",
    """</w:p></w:body>\
</w:document>""",
)
LINE = r'<w:t xml:space="preserve">[^<\t\n\r]*(?:</w:t><w:tab/><w:t xml:space="preserve">[^<\t\n\r]*)*</w:t></w:r>'
PLAIN = f"<w:r>{LINE}(?:</w:p><w:p><w:r>{LINE})*"
BAR = f'<w:r><w:rPr><w:color w:val="FFFFFF"/><w:highlight w:val="black"/></w:rPr>{LINE}'
RUNS = re.compile(f"{PLAIN}(?:{BAR}(?:</w:p><w:p>{BAR})*{PLAIN})*")
EMPTY = BAR.replace(r"[^<\t\n\r]*", "")


def check_docx(release: ReleaseFolder, file: str, text: str) -> None:
    """Refuse a DOCX that has anything but the text: no other part, property, style or byte."""
    content, (head, tail) = release.read(file, LARGEST_TEXT), DOCUMENT
    # Its parts are not compressed, so that no reader of archives is needed.
    start, end = content.find(head.encode()) + len(head), content.rfind(tail.encode())
    body = content[start:end].decode(errors="replace")
    parts = {"[Content_Types].xml": TYPES, "_rels/.rels": RELATIONS, "word/document.xml": head + body + tail}
    if content != _packed(parts) or not RUNS.fullmatch(body) or re.search(EMPTY, body):
        raise Refused("page", "is not a DOCX file that Shoal writes", file)
    shown = re.sub("<[^>]*>", "", body.replace("</w:p><w:p>", "\n").replace("<w:tab/>", "\t"))
    # XML cannot hold these characters, and has one end of a line.
    expected = re.sub("[\x0b\x0c\x1b\ufffe\uffff]", " ", text).replace("\r\n", "\n").replace("\r", "\n")
    if shown != escape(expected, quote=False):
        raise Refused("page", "does not show the text of its document and nothing else", file)


def _packed(parts: Mapping[str, str]) -> bytes:
    """An archive of these parts that says nothing of when, where and by what it was made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, part in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3
            archive.writestr(entry, part.encode())
    return packed.getvalue()


def check_pictures(release: ReleaseFolder, file: str) -> int:
    """Refuse a PDF that has anything but one picture per page; how many pages it has."""
    return len(_pictures(release, file))


def repacked_pictures(release: ReleaseFolder, file: str) -> bytes:
    """The same pages, their pictures packed anew."""
    pictures = _pictures(release, file)
    kids = b" ".join(b"%d 0 R" % (3 + 3 * number) for number in range(len(pictures)))
    written = b"%%PDF-1.4\n%s2 0 obj\n<< /Type /Pages /Kids [%s] /Count %d >>\nendobj\n"
    written %= (b"1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n", kids, len(pictures))
    starts = [written.index(b"1 0 obj"), written.index(b"2 0 obj")]
    for page, drawing, picture, grey in pictures:
        packed = zlib.compress(grey, 9)
        header = picture[: picture.rindex(b"/Length")] + b"/Length %d >>\nstream\n" % len(packed)
        for part in (page, drawing, header + packed + PICTURE_END):
            starts.append(len(written))
            written += part
    return written + _table(starts, len(written))


def _pictures(release: ReleaseFolder, file: str) -> list[tuple[bytes, bytes, bytes, bytes]]:
    """Of each page: what says that it is one, how its picture is drawn, the picture's header, and its pixels."""
    content = release.read(file, LARGEST_PICTURES)
    try:
        return list(_pages_of(content))
    except (ValueError, zlib.error):
        raise Refused("pages", "are not pictures alone: there is more in the file", file) from None


def _pages_of(content: bytes) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    head = _match(PDF_HEAD, content, 0)
    pages = int(head[2])
    kids = b" ".join(b"%d 0 R" % (3 + 3 * number) for number in range(pages))
    if head[1] != kids:
        raise ValueError("kids")
    starts = [content.index(b"1 0 obj"), content.index(b"2 0 obj")]
    position = head.end()
    for number in range(pages):
        first = 3 + 3 * number
        page = _match(PAGE, content, position)
        drawing = _match(DRAWING, content, page.end())
        picture = _match(PICTURE, content, drawing.end())
        numbers = [int(page[1]), int(drawing[1]), int(picture[1]), int(page[5]), int(page[4])]
        drawn = b"q %s 0 0 %s 0 0 cm /Page Do Q" % (page[2], page[3])
        if numbers != [first, first + 1, first + 2, first + 1, first + 2] or drawing[3] != drawn:
            raise ValueError("page")
        if int(drawing[2]) != len(drawn):
            raise ValueError("length")
        end = picture.end() + int(picture[4])
        grey = _pixels(content[picture.end() : end], int(picture[2]) * int(picture[3]))
        if content[end : end + len(PICTURE_END)] != PICTURE_END:
            raise ValueError("end")
        starts += [page.start(), drawing.start(), picture.start()]
        position = end + len(PICTURE_END)
        yield page[0], drawing[0], picture[0], grey
    if content[position:] != _table(starts, position):
        raise ValueError("table")


def _match(form: re.Pattern[bytes], content: bytes, position: int) -> re.Match[bytes]:
    match = form.match(content, position)
    if match is None:
        raise ValueError("form")
    return match


def _pixels(packed: bytes, pixels: int) -> bytes:
    """As many as the picture has, and nothing after them."""
    if not 0 < pixels <= MOST_PIXELS:
        raise ValueError("pixels")
    unpacking = zlib.decompressobj()
    grey = unpacking.decompress(packed, pixels + 1)
    if len(grey) != pixels or not unpacking.eof or unpacking.unused_data or unpacking.unconsumed_tail:
        raise ValueError("pixels")
    return grey


def _table(starts: list[int], end: int) -> bytes:
    rows = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(starts) + 1
    return b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        size,
        rows,
        size,
        end,
    )
