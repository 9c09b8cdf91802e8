"""report.html and README.md: what they say is the owner's word; that they run and fetch nothing is checked.

A page is read by a grammar much smaller than that of HTML: tags and attributes of a list, and whatever does not fit is
refused. A browser therefore finds in it what was found here.
"""

from __future__ import annotations

import re

from shoal.verification.release_files import Refused, ReleaseFolder

PAGE = "page"
PAGES = {"report.html": 4_000_000, "README.md": 1_000_000}  # and the bytes that each may have
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
HEAD = '<!DOCTYPE html>\n<html lang="en">\n<head>\n'
FIRST = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'

TAGS = re.compile(
    "a|article|aside|b|blockquote|body|br|caption|code|col|colgroup|dd|details|div|dl|dt|em|figcaption|figure|footer|"
    "h[1-5]|head|header|hr|html|i|kbd|li|main|mark|meta|nav|ol|p|pre|q|s|samp|section|small|span|strong|sub|summary|"
    "sup|table|tbody|td|tfoot|th|thead|time|title|tr|u|ul|var|wbr|"
    "circle|clippath|defs|desc|ellipse|g|line|lineargradient|marker|path|pattern|polygon|polyline|radialgradient|rect|"
    "stop|svg|symbol|text|tspan|use"
)
FETCHING = re.compile("on.*|action|background|data|formaction|from|ping|poster|src|srcdoc|srcset|to|values")
TOKEN = re.compile(
    r"""(?P<text>[^<]+)
    |<(?P<tag>[A-Za-z][A-Za-z0-9]*)(?P<attributes>(?:\s++[A-Za-z_][-\w.]*+(?:="[^"<>]*+")?+)*+)\s*+/?>
    |</[A-Za-z][A-Za-z0-9]*>""",
    re.VERBOSE,
)
ATTRIBUTE = re.compile(r'([A-Za-z_][-\w.]*)(?:="([^"<>]*)")?')
STYLE = re.compile(r"<style>([^<]*)</style>")
META = ("charset", "name", "content")
WORDS = ("alt", "aria-label", "class", "content", "title")  # attributes that no reader follows
STYLE_FETCHES = re.compile(r"@import|@font-face|url\s*\(|image-set|expression|\\", re.IGNORECASE)
ADDRESS = re.compile(r"url\s*\((?!#)|[a-z]+script\s*:|data\s*:|//|&|\\", re.IGNORECASE)


def check_pages(release: ReleaseFolder) -> None:
    """Refuse a page that could run or fetch something, and a text that is none."""
    for name, largest in PAGES.items():
        if name not in release:
            continue
        raw = release.read(name, largest)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("page", "is not text in UTF-8", name) from None
        if name == "report.html" and (problem := _problem(text)):
            raise Refused("page", problem, name)


def _problem(page: str) -> str | None:
    if not page.startswith(HEAD + FIRST):
        return "does not begin with its content security policy"
    page = page[len(HEAD) + len(FIRST) :]
    if any(STYLE_FETCHES.search(style) for style in STYLE.findall(page)):
        return "has a style that may fetch something"
    page = STYLE.sub("", page)
    at = 0
    while at < len(page):
        token = TOKEN.match(page, at)
        if token is None:
            return "has a tag that a report does not have"
        if token["tag"] and (problem := _of_tag(token["tag"].lower(), token["attributes"])):
            return problem
        at = token.end()
    return None


def _of_tag(tag: str, attributes: str) -> str | None:
    if not TAGS.fullmatch(tag):
        return f"has a tag that a report does not have: {tag[:20]}"
    for name, value in ATTRIBUTE.findall(attributes):
        name = name.lower()
        if FETCHING.fullmatch(name) or (tag == "meta" and name not in META):
            return f"has an attribute that may run or fetch something: {name[:20]}"
        if name in ("href", "xlink:href") and not value.startswith("#"):
            return "has an address that leads elsewhere"
        if name not in WORDS and ADDRESS.search(value):
            return f"has an attribute that may run or fetch something: {name[:20]}"
    return None
