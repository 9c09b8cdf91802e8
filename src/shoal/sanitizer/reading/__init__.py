"""Texts for the sanitizer, from files that people write: text, HTML, mail, RTF, ODT, DOCX, PDF, JSONL.
What does not survive as text is named, and so is every file that cannot be read.
"""
