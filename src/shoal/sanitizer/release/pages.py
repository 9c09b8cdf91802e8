"""Sanitized documents as pages with bars: HTML, DOCX, and PDF pages drawn as pictures.

HTML and DOCX are made of the masked text alone. All bars are of one height, and as wide as what they say: their size
reveals nothing about what was there. Of a PDF each page is drawn as a picture, and what is masked is painted over in
the picture. Nothing lies under a bar, for there is nothing but the picture. Pictures of the original are painted over
as well, unless the owner keeps them: nobody has read what they show. Annotations and forms are not drawn.
"""

from __future__ import annotations

import ctypes
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import pairwise
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.sanitizer.reading.pdf import PageText, opened_pdf, page_texts

HEAD, TAIL = files(__package__).joinpath("page.html").read_text(encoding="utf-8").split("{}")
BARS = ("words", "lines")
DOTS_PER_INCH = 150
MOST_PIXELS = 40_000_000  # of a page
MARGIN = 2  # pixels around a bar
BLACK, WHITE = 0, 255

Box = tuple[int, int, int, int]  # left, top, right, bottom in pixels
Bar = tuple[int, int, str]  # start and end in a text, and what the bar says


def html_page(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The page of a masked text; `spans` are the pseudonyms in it.

    >>> html_page("Pers1 left.", [(0, 5)]).partition("<div>")[2][:25]
    '<b>Pers1</b> left.</div>\\n'
    """
    parts, shown_until = [HEAD], 0
    for start, end in spans:
        parts += [escape(text[shown_until:start], quote=False), "<b>", escape(text[start:end], quote=False), "</b>"]
        shown_until = end
    return "".join([*parts, escape(text[shown_until:], quote=False), TAIL])


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
DOCX_PARTS = {
    "[Content_Types].xml": f'{XML}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    "_rels/.rels": f'{XML}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>',
    "word/document.xml": f'{XML}<w:document xmlns:w="{WORD}"><w:body><w:p>%s</w:p></w:body></w:document>',
}
LETTERS, LETTERS_END = '<w:t xml:space="preserve">', "</w:t></w:r>"
TAB, PARAGRAPH = "</w:t><w:tab/>" + LETTERS, "</w:p><w:p>"
BLACKENED = '<w:rPr><w:color w:val="FFFFFF"/><w:highlight w:val="black"/></w:rPr>'
NOT_IN_XML = re.compile("[\x0b\x0c\x1b\ufffe\uffff]")


def docx_page(text: str, spans: Sequence[tuple[int, int]]) -> bytes:
    """The masked text as DOCX, a paragraph per line; `spans` are the pseudonyms in it."""
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    runs = []
    for number, (start, end) in enumerate(pairwise(bounds)):
        begins = f"<w:r>{BLACKENED if number % 2 else ''}{LETTERS}"
        shown = escape(NOT_IN_XML.sub(" ", text[start:end]), quote=False).replace("\t", TAB)
        lines = re.split("\r\n?|\n", shown)
        runs.append(begins + (LETTERS_END + PARAGRAPH + begins).join(lines) + LETTERS_END)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, part in DOCX_PARTS.items():
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.create_system = 3
            archive.writestr(entry, part.replace("%s", "".join(runs)).encode())
    return packed.getvalue()


@dataclass(frozen=True)
class PdfBars:
    """How pages are redacted: bars over words or over whole lines, and whether pictures stay."""

    over: str = "words"
    keep_pictures: bool = False


def redacted_pdf(content: bytes, bars: Sequence[Bar], name: str, pdf_bars: PdfBars = PdfBars()) -> bytes:
    """The file with bars over these places of its text."""
    with opened_pdf(content, name) as document:
        pages = []
        begins = 0
        for number, text in enumerate(page_texts(document)):
            on_page = [
                (max(start - begins, 0), min(end - begins, len(text.text)), label)
                for start, end, label in bars
                if start < begins + len(text.text) and end > begins
            ]
            begins += len(text.text)
            pages.append(_picture(document[number], text, on_page, name, pdf_bars))
    return image_pdf(pages)


def _picture(page: Any, text: PageText, bars: Sequence[Bar], name: str, pdf_bars: PdfBars) -> PagePicture:
    try:
        from PIL import ImageDraw
    except ImportError:
        raise MissingExtra("sanitize", "redacting PDF") from None
    width, height = page.get_size()
    scale = DOTS_PER_INCH / 72
    if width * height * scale * scale > MOST_PIXELS:
        size = f"{width:.0f} by {height:.0f} points"
        raise InputError(f"{name} has a page of {size}, too large to draw; release texts or HTML instead")
    bitmap = page.render(scale=scale, grayscale=True, draw_annots=False, may_draw_forms=False, rev_byteorder=False)
    picture = bitmap.to_pil().convert("L")
    on_paper = _OnPaper(page, *picture.size)
    layer = page.get_textpage()
    pen = ImageDraw.Draw(picture)
    if not pdf_bars.keep_pictures:
        for box in on_paper.pictures():
            pen.rectangle(box, fill=BLACK)
    for start, end, label in bars:
        for row, box in enumerate(_rows(layer, text, start, end, on_paper, name)):
            left, right = (0, picture.width) if pdf_bars.over == "lines" else (box[0], box[2])
            bar = (left - MARGIN, box[1] - MARGIN, right + MARGIN, box[3] + MARGIN)
            pen.rectangle(bar, fill=BLACK)
            if row == 0 and pdf_bars.over == "words":
                _write_label(pen, bar, label.strip())
    layer.close()
    page.close()
    return PagePicture(picture.width, picture.height, picture.tobytes(), (max(round(width), 1), max(round(height), 1)))


def _rows(layer: Any, text: PageText, start: int, end: int, on_paper: _OnPaper, name: str) -> list[Box]:
    """A box for each line of text that the stretch goes through."""
    rows: list[Box] = []
    for index in range(start, end):
        character = text.characters[index]
        if character < 0 or text.text[index].isspace():
            continue
        box = on_paper.box(layer.get_charbox(character, loose=True))
        if box[0] >= box[2] and box[1] >= box[3]:
            raise InputError(f"{name}: a masked character has no place on its page; release texts or HTML instead")
        if rows and box[1] < rows[-1][3] and box[3] > rows[-1][1]:  # beside the one before
            last = rows[-1]
            rows[-1] = min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3])
        else:
            rows.append(box)
    return rows


def _write_label(pen: Any, bar: Box, label: str) -> None:
    """What the bar stands for, where there is room for it."""
    size = min(bar[3] - bar[1] - 2 * MARGIN, 24)
    if size >= 8:
        from PIL import ImageFont

        font = ImageFont.load_default(size)
        if pen.textlength(label, font=font) <= bar[2] - bar[0] - 2 * MARGIN and label.isascii():
            pen.text((bar[0] + MARGIN, bar[1] + MARGIN), label, fill=WHITE, font=font)


class _OnPaper:
    """Places of a page in pixels, however the page is turned or cropped."""

    def __init__(self, page: Any, width: int, height: int) -> None:
        self._page = page
        self._size = width, height

    def box(self, bounds: tuple[float, float, float, float]) -> Box:
        """Of left, bottom, right and top in the page's own units."""
        left, bottom, right, top = bounds
        x, y = zip(self._pixel(left, bottom), self._pixel(right, top), strict=True)
        return min(x), min(y), max(x), max(y)

    def pictures(self) -> Iterator[Box]:
        """Every picture, and every group of objects that has one in it."""
        from pypdfium2 import raw

        pictures = {raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING}
        nested = any(
            thing.level > 0 for thing in self._page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,), max_depth=10)
        )
        for thing in self._page.get_objects(max_depth=1):
            if thing.type in pictures or (nested and thing.type == raw.FPDF_PAGEOBJ_FORM):
                yield self.box(thing.get_bounds())

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        from pypdfium2 import raw

        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(self._page, 0, 0, *self._size, 0, x, y, across, down)
        return across.value, down.value


@dataclass(frozen=True)
class PagePicture:
    """A page in shades of grey."""

    width: int  # pixels
    height: int
    grey: bytes  # a byte per pixel, from the top left
    points: tuple[int, int]  # width and height of the paper, in points


def image_pdf(pages: Sequence[PagePicture]) -> bytes:
    """A PDF file of pictures and nothing else: no text, no metadata, no time, no name of a program.

    Verification reads this form and no other.
    """
    kids = " ".join(f"{3 + 3 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
    ]
    for number, page in enumerate(pages):
        first = 3 + 3 * number
        width, height = page.points
        drawing = f"q {width} 0 0 {height} 0 0 cm /Page Do Q".encode()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] "
            f"/Resources << /XObject << /Page {first + 2} 0 R >> >> /Contents {first + 1} 0 R >>".encode()
        )
        objects.append(_stream("", drawing))
        form = (
            f"/Type /XObject /Subtype /Image /Width {page.width} /Height {page.height} /ColorSpace /DeviceGray "
            "/BitsPerComponent 8 /Filter /FlateDecode "
        )
        objects.append(_stream(form, zlib.compress(page.grey, 9)))
    return _file(objects)


def _stream(form: str, content: bytes) -> bytes:
    return f"<< {form}/Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def _file(objects: Sequence[bytes]) -> bytes:
    parts, offsets = [b"%PDF-1.4\n"], []
    length = len(parts[0])
    for number, content in enumerate(objects, start=1):
        offsets.append(length)
        parts.append(f"{number} 0 obj\n".encode() + content + b"\nendobj\n")
        length += len(parts[-1])
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    parts.append(
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{length}\n%%EOF\n".encode()
    )
    return b"".join(parts)
