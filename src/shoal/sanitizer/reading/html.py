"""The text of HTML pages, as a reader sees it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

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
