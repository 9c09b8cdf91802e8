"""The text layer of a PDF file, a character at a time, so that each can be found on its page again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError, MissingExtra

__all__ = ["PageText", "opened_pdf", "page_texts", "pdf_text"]

LOST = "layout, pictures, forms, annotations and properties of the file"
PAGE_END = "\n\f"
HYPHENS = {0x02, 0xFFFE}  # how pdfium marks a hyphen at the end of a line
LEAST = 4  # characters of a page that has a text layer
MOST_PAGES = 5000


@dataclass(frozen=True)
class PageText:
    """The text of a page, and for each of its characters the number that pdfium gives it; -1 for those we add."""

    text: str
    characters: tuple[int, ...]


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
        raise InputError(f"{name} is not a sound PDF file; open it in a viewer and print it to a new PDF") from None
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
        for place in range(layer.count_chars()):
            code = raw.FPDFText_GetUnicode(layer, place)
            if code == 0x0D:  # before each line feed
                continue
            text.append("-" if code in HYPHENS else chr(code) if 0 < code < 0xD800 or code > 0xDFFF else "\ufffd")
            characters.append(place)
        layer.close()
        page.close()
        text += PAGE_END
        yield PageText("".join(text), (*characters, *(-1 for _ in PAGE_END)))


def pdf_text(content: bytes, name: str) -> tuple[str, str]:
    """The text, and what is lost. A page that is a picture only is refused: nobody could tell what it shows."""
    with opened_pdf(content, name) as document:
        if len(document) > MOST_PAGES:
            raise InputError(f"{name} has {len(document):,} pages, at most {MOST_PAGES:,} are read; split it")
        texts = []
        for number, page in enumerate(page_texts(document), start=1):
            if len(page.text.strip()) < LEAST and _has_pictures(document, number - 1):
                raise InputError(
                    f"{name}: page {number} of {len(document)} is a picture without a text layer; "
                    "recognise its text (OCR) first, or remove the page"
                )
            texts.append(page.text)
    return "".join(texts), LOST


def _has_pictures(document: Any, number: int) -> bool:
    from pypdfium2 import raw

    page = document[number]
    found = any(True for _ in page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,), max_depth=5))
    page.close()
    return found
