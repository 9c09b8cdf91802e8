"""The text of a DOCX file: headers, paragraphs, tables row by row, footers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from shoal.errors import InputError, MissingExtra

__all__ = ["docx_text"]

LOST = "layout, pictures, text boxes, footnotes, comments, tracked changes and properties of the file"


def docx_text(content: bytes, name: str) -> tuple[str, str]:
    """The text, and what is lost."""
    try:
        import docx
    except ImportError:
        raise MissingExtra("sanitize", "reading DOCX") from None
    try:
        document = docx.Document(io.BytesIO(content))
        lines = list(_lines(document))
    except Exception:  # a broken archive, broken XML, a part that is missing: each library below has errors of its own
        raise InputError(f"{name} is not a sound DOCX file; open it in a word processor and save it again") from None
    return "\n".join(lines) + "\n", LOST


def _lines(document: Any) -> Iterator[str]:
    """Headers and footers are often the same in all sections: each is read once."""
    for part in ("header", "footer"):
        seen: set[str] = set()
        if part == "footer":
            yield from _content(document)
        for section in document.sections:
            text = "\n".join(_content(getattr(section, part)))
            if text.strip() and text not in seen:
                seen.add(text)
                yield text


def _content(container: Any) -> Iterator[str]:
    for block in container.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                cells = {id(cell._tc): cell for cell in row.cells}  # a merged cell is there once for each place
                yield "\t".join("\n".join(_content(cell)) for cell in cells.values())
        else:
            yield block.text
