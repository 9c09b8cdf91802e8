"""The text layer of a PDF file, a character at a time, so that each can be found on its page again.

Pages that are pictures are read by Tesseract, if it is installed.
"""

from __future__ import annotations

import io
import math
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError, MissingExtra

PAGE_END = "\n\f"
HYPHENS = {0x02, 0xFFFE}  # how pdfium marks a hyphen at the end of a line
LEAST = 4  # characters of a page that has a text layer
MOST_UNREADABLE = 0.05  # of the characters of a page; bullets often are
NO_LETTERS = {"Cc", "Cn", "Co", "Cs"}  # what stands for no letter: control, unassigned, private use, surrogate
MOST_PAGES = 5000
OCR = "tesseract"
OCR_DOTS_PER_INCH, OCR_MOST_PIXELS = 300, 40_000_000
OCR_SECONDS = 300  # for a page


@dataclass(frozen=True)
class PageText:
    """The text of a page, and for each of its characters the number that pdfium gives it; -1 for those we add."""

    text: str
    characters: tuple[int, ...]
    unreadable: int  # how many of them stand for no letter that anybody could know


@contextmanager
def opened_pdf(content: bytes, name: str) -> Iterator[Any]:
    """The document, closed afterwards."""
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtra("sanitize", "reading PDF") from None
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as problem:
        if "password" in str(problem).lower() or "security" in str(problem).lower():
            raise InputError(f"{name} is encrypted; save it without a password, and give that file") from None
        raise InputError(f"{name} is a damaged PDF file; open it in a viewer and print it to a new PDF") from None
    try:
        yield document
    finally:
        document.close()


def page_texts(document: Any) -> Iterator[PageText]:
    """The text of each page, in order; the text of the document is their sum."""
    from pypdfium2 import raw

    for number in range(len(document)):
        page = document[number]
        layer = page.get_textpage()
        text: list[str] = []
        characters: list[int] = []
        unreadable = 0
        for index in range(layer.count_chars()):
            code = raw.FPDFText_GetUnicode(layer, index)
            if code == 0x0D:  # before each line feed
                continue
            text.append("-" if code in HYPHENS else chr(code) if 0 < code < 0xD800 or code > 0xDFFF else "\ufffd")
            characters.append(index)
            unreadable += _is_unreadable(text[-1]) or raw.FPDFText_HasUnicodeMapError(layer, index) == 1
        layer.close()
        page.close()
        text += PAGE_END
        yield PageText("".join(text), (*characters, *(-1 for _ in PAGE_END)), unreadable)


def pdf_text(content: bytes, name: str) -> tuple[str, bool]:
    """The text of all pages, and whether any was recognised from a picture. A page that cannot be read is refused."""
    with opened_pdf(content, name) as document:
        if len(document) > MOST_PAGES:
            raise InputError(f"{name} has {len(document):,} pages, at most {MOST_PAGES:,} are read; split it")
        texts = []
        recognised = False
        for number, page in enumerate(page_texts(document), start=1):
            problem = _problem(page, document, number - 1)
            text = _recognised(document, number - 1) if problem else page.text
            if text is None:
                raise InputError(
                    f"{name}: page {number} of {len(document)} {problem}; install Tesseract (Debian: tesseract-ocr), "
                    "recognise its text (OCR) in another program, or remove the page"
                )
            recognised = recognised or bool(problem)
            texts.append(text)
    return "".join(texts), recognised


def _recognised(document: Any, number: int) -> str | None:
    """What Tesseract reads on the picture of a page; None if it is not installed, or fails."""
    if shutil.which(OCR) is None:
        return None
    page = document[number]
    width, height = page.get_size()
    scale = min(OCR_DOTS_PER_INCH / 72, math.sqrt(OCR_MOST_PIXELS / (width * height)))
    picture = io.BytesIO()
    page.render(scale=scale, grayscale=True).to_pil().save(picture, "PNG")
    page.close()
    try:
        run = subprocess.run(
            [OCR, "stdin", "stdout"], input=picture.getvalue(), capture_output=True, timeout=OCR_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.decode("utf-8", "replace").replace("\f", "") + PAGE_END


def _problem(page: PageText, document: Any, number: int) -> str:
    """Why the text of a page is not what it shows; "" if it may be."""
    letters = len("".join(page.text.split()))
    if letters < LEAST and _has_drawings(document, number):
        return "is a picture without a text layer"
    if page.unreadable >= LEAST and page.unreadable > MOST_UNREADABLE * letters:
        return f"shows letters that its text layer does not have ({page.unreadable:,} characters are unreadable)"
    return ""


def _is_unreadable(character: str) -> bool:
    return character == "\ufffd" or (unicodedata.category(character) in NO_LETTERS and not character.isspace())


def _has_drawings(document: Any, number: int) -> bool:
    """Pictures, or lines and areas: letters may be drawn with these."""
    from pypdfium2 import raw

    drawn = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)
    page = document[number]
    has_drawings = any(True for _ in page.get_objects(filter=drawn, max_depth=5))
    page.close()
    return has_drawings
