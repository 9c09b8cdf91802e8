"""The text of a DOCX file: headers, paragraphs, tables row by row, footers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from shoal.errors import InputError, MissingExtra

__all__ = ["docx_text"]

LOST = "layout, pictures, charts, footnotes, comments, deleted text, embedded files and properties of the file"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
LETTERS = {f"{WORD}t", "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"}
MARKS = {f"{WORD}tab": "\t", f"{WORD}ptab": "\t", f"{WORD}br": "\n", f"{WORD}cr": "\n", f"{WORD}noBreakHyphen": "-"}
UNSEEN = {
    *(f"{WORD}{name}" for name in ("pPr", "rPr", "sdtPr", "tblPr", "trPr", "tcPr", "sectPr", "del", "moveFrom")),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",  # the same once more, for old programs
}
HEADERS = ("header", "first_page_header", "even_page_header")
FOOTERS = ("footer", "first_page_footer", "even_page_footer")


def docx_text(content: bytes, name: str) -> tuple[str, str]:
    """The text, and what is lost."""
    try:
        import docx
    except ImportError:
        raise MissingExtra("sanitize", "reading DOCX") from None
    try:
        document = docx.Document(io.BytesIO(content))
        text = "".join((*_margins(document, HEADERS), _text(document.element.body), *_margins(document, FOOTERS)))
    except Exception:  # a broken archive, broken XML, a part that is missing: each library below has errors of its own
        raise InputError(f"{name} is not a sound DOCX file; open it in a word processor and save it again") from None
    return text, LOST


def _margins(document: Any, parts: tuple[str, ...]) -> Iterator[str]:
    """Headers and footers are often the same in all sections: each is read once."""
    texts = (_text(getattr(section, part)._element) for section in document.sections for part in parts)
    yield from dict.fromkeys(text for text in texts if text.strip())


def _text(element: Any) -> str:
    """All that stands below an element, whatever it is wrapped in: content controls, links, insertions, text boxes.

    Paragraphs and rows end their lines, tabs are between cells.
    """
    if element.tag in UNSEEN:
        return ""
    if element.tag in LETTERS:
        return element.text or ""
    text = MARKS.get(element.tag, "") + "".join(map(_text, element))
    if element.tag == f"{WORD}p":
        return text + "\n"
    if element.tag == f"{WORD}tc":
        return text.removesuffix("\n") + "\t"
    if element.tag == f"{WORD}tr":
        return text.removesuffix("\t") + "\n"
    if element.tag == f"{WORD}txbxContent":  # within a paragraph
        return "\n" + text
    return text
