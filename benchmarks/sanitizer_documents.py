"""Made-up documents of unlike kinds, with what identifies somebody marked: {d:direct}, {q:quasi}.

Mentions with one number, {d1:Ann Lee} and {d1:Ann}, are one entity's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("unlike_documents")
SETS = ("first", "second", "third")
MARK = re.compile(r"\{([dq])(\d*):([^{}]*)\}")
TYPES = {"d": "DIRECT", "q": "QUASI"}


def marked(name: str) -> list[dict[str, Any]]:
    """The documents of one set, in the form of the Text Anonymization Benchmark."""
    return [document(path) for path in sorted((FOLDER / name).glob("*.txt"))]


def document(path: Path) -> dict[str, Any]:
    source, text, at, mentions = path.read_text("utf-8"), "", 0, []
    for mark in MARK.finditer(source):
        text += source[at : mark.start()]
        kind, number, words = mark.groups()
        mentions.append(
            {
                "start": len(text),
                "end": len(text) + len(words),
                "type": kind,
                "identifier_type": TYPES[kind],
                "entity_id": kind + number if number else kind + ":" + words.casefold(),
            }
        )
        text, at = text + words, mark.end()
    return {"id": path.stem, "text": text + source[at:], "mentions": mentions}
