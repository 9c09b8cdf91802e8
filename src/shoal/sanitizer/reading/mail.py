"""The text of mails and HTML pages, as a reader sees it.

Of a mail the headers that people read, every part of the body decoded, and the names of attachments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from html.parser import HTMLParser
from typing import Any

from shoal.errors import InputError

HEADERS = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Organization", "Subject", "Keywords", "Comments")
MOST_PARTS = 1000
_HEADER_LINE = re.compile(rb"(?:From .*\r?\n)?(?:[!-9;-~]{1,80}:.*\r?\n(?:[ \t].*\r?\n)*){2,}\r?\n")
_NAMED = re.compile(rb"(?mi)^(?:from|to|date|subject|message-id|received|return-path|path|newsgroups):")
_ENCODED = re.compile(
    rb"(?mi)^(?:content-transfer-encoding:\s*(?:base64|quoted-printable)|content-type:\s*(?:multipart/|text/html)|.*=\?[\w-]+\?[bq]\?)"
)
_NEXT_MAIL = re.compile(rb"\n\r?\nFrom \S+@?\S* .*\d{4}\r?\n[!-9;-~]+:")


def looks_like_mail(content: bytes, *, encoded: bool = False) -> bool:
    """Whether a file begins with the headers of a mail; with `encoded`, of one whose text must be decoded."""
    headers = _HEADER_LINE.match(content.lstrip()[:100_000])
    if headers is None or len(set(map(bytes.lower, _NAMED.findall(headers[0])))) < 2:
        return False
    return not encoded or _ENCODED.search(content) is not None


def mail_text(content: bytes, name: str) -> str:
    """A mail that cannot be decoded is refused: nobody could tell what it says."""
    if _NEXT_MAIL.search(content):
        raise InputError(f"{name} holds several mails; save each in a file of its own")
    try:
        mail = message_from_bytes(content.lstrip(), _class=EmailMessage, policy=policy.default)
        return "".join(_lines_of(mail))
    except Exception:  # the parser of headers has errors of its own
        raise InputError(f"{name} is a damaged mail; open it in a mail program and save it again") from None


def _lines_of(mail: MIMEPart[Any, Any]) -> Iterator[str]:
    for header in HEADERS:
        for value in mail.get_all(header, ()):
            yield f"{header}: {' '.join(str(value).split())}\n"
    yield "\n"
    yield from _body(mail, [0])


def _body(part: MIMEPart[Any, Any], seen: list[int]) -> Iterator[str]:
    """The parts that a reader sees, the plain one of alternatives; attachments by name."""
    seen[0] += 1
    if seen[0] > MOST_PARTS:
        raise ValueError("too many parts")
    kind = part.get_content_type()
    if part.is_attachment() or not (part.is_multipart() or part.get_content_maintype() == "text"):
        yield f"[Attachment: {part.get_filename() or kind}]\n"
    elif kind == "message/rfc822":
        for forwarded in part.iter_parts():
            yield from _lines_of(forwarded)
    elif kind == "multipart/alternative":
        shown = part.get_body(("plain", "html"))
        if shown is None:
            raise ValueError("no text among the alternatives")
        yield from _body(shown, seen)
    elif part.is_multipart():
        for inner in part.iter_parts():
            yield from _body(inner, seen)
    else:
        text = part.get_content(errors="strict")
        if part.defects:
            raise ValueError("cannot be decoded")
        yield html_text(text) if kind == "text/html" else text.rstrip("\r\n") + "\n"


UNSEEN_TAGS = {"script", "style", "template", "noscript", "head", "title"}
OF_HEAD = UNSEEN_TAGS | {"base", "basefont", "bgsound", "link", "meta", "noframes"}
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
        if tag in UNSEEN_TAGS:
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
