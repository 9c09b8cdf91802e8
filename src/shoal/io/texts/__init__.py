"""Texts for the sanitizer, from files that people write: text, Markdown, HTML, DOCX, PDF with a text layer, JSONL.
What does not survive as text is named, and so is every file that cannot be read.
"""

from __future__ import annotations

from shoal.io.texts.sources import READERS, SourceText, TextSource

__all__ = ["READERS", "SourceText", "TextSource"]
