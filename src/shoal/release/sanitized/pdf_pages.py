"""True redaction of PDF pages: each is drawn as a picture, and what is masked is painted over in the picture.

Nothing lies under a bar, for there is nothing but the picture. Pictures of the original are painted over as well,
unless the owner keeps them: nobody has read what they show. Annotations and forms are not drawn.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.io.texts.pdf import PageText, opened_pdf, page_texts
from shoal.release.sanitized.image_pdf import PagePicture, image_pdf

__all__ = ["BARS", "redacted_pdf"]

BARS = ("words", "lines")
DOTS_PER_INCH = 150
MOST_PIXELS = 40_000_000  # of a page
MARGIN = 2  # pixels around a bar
BLACK, WHITE = 0, 255

Box = tuple[int, int, int, int]  # left, top, right, bottom in pixels


def redacted_pdf(
    content: bytes, places: Sequence[tuple[int, int, str]], name: str, bars: str, keep_pictures: bool
) -> bytes:
    """The file with bars over these places of its text (start, end, what the bar says)."""
    with opened_pdf(content, name) as document:
        pages = []
        begins = 0
        for number, text in enumerate(page_texts(document)):
            on_page = [
                (max(start - begins, 0), min(end - begins, len(text.text)), label)
                for start, end, label in places
                if start < begins + len(text.text) and end > begins
            ]
            begins += len(text.text)
            pages.append(_picture(document[number], text, on_page, name, bars, keep_pictures))
    redacted = image_pdf(pages)
    check_no_text(redacted, name)
    return redacted


def check_no_text(content: bytes, name: str) -> None:
    """Extract the text again: there must be none."""
    with opened_pdf(content, name) as document:
        for number in range(len(document)):
            page = document[number]
            layer = page.get_textpage()
            if layer.count_chars():
                raise InputError(f"{name} still has text after redaction; use --format text")
            layer.close()
            page.close()


def _picture(
    page: Any, text: PageText, places: Sequence[tuple[int, int, str]], name: str, bars: str, keep_pictures: bool
) -> PagePicture:
    try:
        from PIL import ImageDraw
    except ImportError:
        raise MissingExtra("sanitize", "redacting PDF") from None
    width, height = page.get_size()
    scale = DOTS_PER_INCH / 72
    if width * height * scale * scale > MOST_PIXELS:
        raise InputError(
            f"{name} has a page of {width:.0f} by {height:.0f} points, too large to draw; use --format text"
        )
    bitmap = page.render(scale=scale, grayscale=True, draw_annots=False, may_draw_forms=False, rev_byteorder=False)
    picture = bitmap.to_pil().convert("L")
    on_paper = _OnPaper(page, *picture.size)
    layer = page.get_textpage()
    pen = ImageDraw.Draw(picture)
    if not keep_pictures:
        for box in on_paper.pictures():
            pen.rectangle(box, fill=BLACK)
    for start, end, label in places:
        for row, box in enumerate(_rows(layer, text, start, end, on_paper, name)):
            left, right = (0, picture.width) if bars == "lines" else (box[0], box[2])
            bar = (left - MARGIN, box[1] - MARGIN, right + MARGIN, box[3] + MARGIN)
            pen.rectangle(bar, fill=BLACK)
            if row == 0 and bars == "words":
                _write_label(pen, bar, label.strip())
    layer.close()
    page.close()
    return PagePicture(picture.width, picture.height, picture.tobytes(), (max(round(width), 1), max(round(height), 1)))


def _rows(layer: Any, text: PageText, start: int, end: int, on_paper: _OnPaper, name: str) -> Iterator[Box]:
    """A box for each line of text that the stretch goes through."""
    rows: list[Box] = []
    for place in range(start, end):
        character = text.characters[place]
        if character < 0 or text.text[place].isspace():
            continue
        box = on_paper.box(layer.get_charbox(character, loose=True))
        if box[0] >= box[2] and box[1] >= box[3]:
            raise InputError(f"{name}: a masked character cannot be located on its page; use --format text or html")
        if rows and box[1] < rows[-1][3] and box[3] > rows[-1][1]:  # beside the one before
            last = rows[-1]
            rows[-1] = min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3])
        else:
            rows.append(box)
    yield from rows


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
