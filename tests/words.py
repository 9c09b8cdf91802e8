"""Counts the words of the documentation: `python -m tests.words` lists the pages, the longest first.

A word has a letter. Blocks of code do not count, nor does what is generated: tables of figures and of options.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"<!-- options of .*?<!-- end of options -->", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TARGET = re.compile(r"\]\([^)]*\)")
WORD = re.compile(r"[^\W\d_][\w'’-]*")
GENERATED = ("benchmarks.md", "papers.md")


def words_of(page: Path) -> int:
    """Words that a reader of a page reads."""
    text = TARGET.sub("]", COMMENT.sub("", OPTIONS.sub("", CODE.sub("", page.read_text(encoding="utf-8")))))
    if page.name in GENERATED:
        text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    return len(WORD.findall(text))


def counted() -> dict[str, int]:
    """The words of every page."""
    return {page.relative_to(DOCS).as_posix(): words_of(page) for page in sorted(DOCS.rglob("*.md"))}


if __name__ == "__main__":
    pages = counted()
    for name, words in sorted(pages.items(), key=lambda page: -page[1]):
        sys.stdout.write(f"{words:6,}  {name}\n")
    sys.stdout.write(f"{sum(pages.values()):6,}  in {len(pages)} pages\n")
