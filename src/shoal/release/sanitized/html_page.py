"""A sanitized document as a page: the text, with a bar in every place that was masked. All bars are of one height,
and as wide as what they say, so that their size tells nothing about what was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["html_page"]

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta charset="utf-8">
<title>Sanitized document</title>
<style>
body{margin:2rem auto;max-width:46rem;padding:0 1rem;font:1rem/1.55 Georgia,serif;color:#111;background:#fff}
div{white-space:pre-wrap;overflow-wrap:anywhere}
b{background:#000;color:#fff;font:600 .85em/1.3 Arial,sans-serif;padding:.1em .4em;border-radius:2px}
</style>
</head>
<body>
<div>"""  # noqa: E501
TAIL = "</div>\n</body>\n</html>\n"


def html_page(text: str, places: Sequence[tuple[int, int]]) -> str:
    """The page of a masked text; `places` are where something stands for what was masked.

    >>> html_page("Pers1 left.", [(0, 5)]).partition("<div>")[2][:25]
    '<b>Pers1</b> left.</div>\\n'
    """
    parts, shown_until = [HEAD], 0
    for start, end in places:
        parts += [escape(text[shown_until:start], quote=False), "<b>", escape(text[start:end], quote=False), "</b>"]
        shown_until = end
    return "".join([*parts, escape(text[shown_until:], quote=False), TAIL])
