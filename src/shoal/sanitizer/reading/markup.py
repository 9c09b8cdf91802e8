"""The text of HTML pages and DOCX files, as a reader sees it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from shoal.errors import InputError, MissingExtra

UNSEEN_TAGS = {"script", "style", "template", "noscript", "head"}
OF_HEAD = UNSEEN_TAGS | {"base", "basefont", "bgsound", "link", "meta", "noframes", "title"}
BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption"),
    *("figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p"),
    *("pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul"),
}


def html_text(page: str) -> str:
    """A line for each block.

    >>> html_text("<h1>Letter</h1><p>Dear <b>Ann</b>,<script>x</script><br>come.")
    'Letter\\nDear Ann,\\ncome.\\n'
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    lines = "".join(reader.pieces).split("\n")
    kept = (re.sub(r"[ \t\r\f]+", " ", line).strip() for line in lines)
    return "\n".join(line for line in kept if line) + "\n"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen: list[str] = []  # open tags whose content is not shown

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._begin(tag)
        if tag in UNSEEN_TAGS or (tag == "title" and self._unseen):
            self._unseen.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._begin(tag)

    def _begin(self, tag: str) -> None:
        """The tags of head and body may be left out: what cannot stand in a head ends it."""
        if tag == "body" or (tag not in OF_HEAD and self._unseen == ["head"]):
            self._unseen.clear()
        if tag in BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unseen:
            while self._unseen.pop() != tag:
                pass
        if tag in BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._unseen == ["head"] and data.strip():
            self._unseen.clear()
        if not self._unseen:
            self.pieces.append(data.replace("\n", " "))


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
        document = docx.Document(io.BytesIO(content))
        return "".join((*_margins(document, HEADERS), _text(document.element.body), *_margins(document, FOOTERS)))
    except Exception:  # a broken archive, broken XML, a part that is missing: each library below has errors of its own
        raise InputError(f"{name} is a damaged DOCX file; open it in a word processor and save it again") from None


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
