"""Texts for the sanitizer, from files that people write: text, Markdown, HTML, DOCX, PDF with a text layer, JSONL.
What does not survive as text is named, and so is every file that cannot be read.
"""
