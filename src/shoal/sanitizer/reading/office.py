"""The text of DOCX, ODT and RTF files, as a reader sees it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from shoal.errors import InputError, MissingExtra

LARGEST_UNPACKED = 500_000_000  # bytes of an archive; a small file may unpack to anything
LARGEST_PART = 100_000_000  # bytes of the XML that is read


def _checked_archive(content: bytes) -> zipfile.ZipFile:
    """The archive, whose sizes are known before anything is unpacked."""
    archive = zipfile.ZipFile(io.BytesIO(content))
    if sum(part.file_size for part in archive.infolist()) > LARGEST_UNPACKED:
        raise ValueError("too large")
    return archive


WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
LETTERS = {f"{WORD}t", "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"}
MARKS = {f"{WORD}tab": "\t", f"{WORD}ptab": "\t", f"{WORD}br": "\n", f"{WORD}cr": "\n", f"{WORD}noBreakHyphen": "-"}
UNSEEN_ELEMENTS = {
    *(f"{WORD}{name}" for name in ("pPr", "rPr", "sdtPr", "tblPr", "trPr", "tcPr", "sectPr", "del", "moveFrom")),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",  # the same once more, for old programs
}
HEADERS = ("header", "first_page_header", "even_page_header")
FOOTERS = ("footer", "first_page_footer", "even_page_footer")


def docx_text(content: bytes, name: str) -> str:
    """Headers, paragraphs, tables row by row, footers."""
    try:
        import docx
    except ImportError:
        raise MissingExtra("sanitize", "reading DOCX") from None
    try:
        _checked_archive(content)
        document = docx.Document(io.BytesIO(content))
        return "".join((*_margins(document, HEADERS), _text(document.element.body), *_margins(document, FOOTERS)))
    except Exception:  # a broken archive, broken XML, a part that is missing: each library below has errors of its own
        raise _damaged(name, "DOCX") from None


def _damaged(name: str, kind: str) -> InputError:
    return InputError(f"{name} is a damaged {kind} file; open it in a word processor and save it again")


def _margins(document: Any, parts: tuple[str, ...]) -> Iterator[str]:
    """Headers and footers are often the same in all sections: each is read once."""
    texts = (_text(getattr(section, part)._element) for section in document.sections for part in parts)
    yield from dict.fromkeys(text for text in texts if text.strip())


def _text(element: Any) -> str:
    """All that stands below an element, whatever it is wrapped in: content controls, links, insertions, text boxes.

    Paragraphs and rows end their lines, tabs are between cells.
    """
    if element.tag in UNSEEN_ELEMENTS:
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


_OPEN = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _TABLE, _OFFICE = _OPEN % "text", _OPEN % "table", _OPEN % "office"
_UNSEEN_IN_ODT = {f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_OFFICE}scripts"}
_ENDS_LINE = {f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table-row", f"{_TEXT}line-break"}
_MOST_BLANKS = 1000  # that one element may stand for


def odt_text(content: bytes, name: str) -> str:
    """Headers, paragraphs, notes and tables row by row, footers."""
    try:
        with _checked_archive(content) as archive:
            body, styles = _xml(archive, "content.xml"), _xml(archive, "styles.xml")
        margins = {
            part: "".join(map(_odt_text, styles.iter(f"{_OPEN % 'style'}{part}"))) for part in ("header", "footer")
        }
        return margins["header"] + _odt_text(body) + margins["footer"]
    except Exception:  # as for DOCX
        raise InputError(f"{name} is a damaged or encrypted ODT file; save it again without a password") from None


def _xml(archive: zipfile.ZipFile, part: str) -> ElementTree.Element:
    """A part of the archive; entities, which could grow without bound, are refused with their DOCTYPE."""
    if archive.getinfo(part).file_size > LARGEST_PART:
        raise ValueError("too large")
    content = archive.read(part)
    if b"<!DOCTYPE" in content:
        raise ValueError("DOCTYPE")
    return ElementTree.fromstring(content)


def _odt_text(element: ElementTree.Element) -> str:
    if element.tag in _UNSEEN_IN_ODT:
        return ""
    text = element.text or "" if element.tag.startswith(_TEXT) else ""
    if element.tag == f"{_TEXT}s":
        text = " " * min(int(element.get(f"{_TEXT}c", "1")), _MOST_BLANKS)
    elif element.tag == f"{_TEXT}tab":
        text = "\t"
    for child in element:
        text += _odt_text(child) + (child.tail or "" if element.tag.startswith(_TEXT) else "")
    if element.tag == f"{_TABLE}table-cell":
        return text.removesuffix("\n") + "\t"
    if element.tag == f"{_TABLE}table-row":
        text = text.removesuffix("\t")
    return text + "\n" if element.tag in _ENDS_LINE else text


def rtf_text(content: bytes, name: str) -> str:
    """Paragraphs and tables."""
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise MissingExtra("sanitize", "reading RTF") from None
    if not content.lstrip().startswith(b"{\\rtf"):
        raise _damaged(name, "RTF")
    try:
        return str(rtf_to_text(content.decode("latin-1"), errors="strict"))
    except Exception:  # an unknown code page, an odd byte
        raise _damaged(name, "RTF") from None
