"""Certificates, pages and folders that are not those of a release."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.release.releases import certificate_of, reseal
from tests.verification.hostile.cases import Change, Hostile, edit, rewrite

CERTIFICATE, FORM = "certificate", "not as its format has it"
PATH = "certificate.json"


def added(*path: Any, value: Any = "Ann") -> Change:
    """A key more, somewhere in the certificate."""

    def change(release: Path) -> None:
        content = place = certificate_of(release)
        for key in path:
            place = place[key]
        place["who"] = value
        reseal(release, content, rehash=False)

    return change


def removed(*path: Any) -> Change:
    def change(release: Path) -> None:
        content = place = certificate_of(release)
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        reseal(release, content, rehash=False)

    return change


def certificate(change: Callable[[bytes], bytes]) -> Change:
    """Other bytes, sealed or not: nobody could have sealed them."""
    return rewrite(PATH, change)


def page(old: str, new: str, count: int = 1) -> Change:
    return rewrite("report.html", lambda data: data.replace(old.encode(), new.encode(), count))


def in_body(more: str) -> Change:
    return page("<body>", f"<body>{more}")


def made(name: str, make: Callable[[Path], Any]) -> Change:
    return lambda release: make(release / name)


def linked(release: Path) -> None:
    target = release.parent / "elsewhere.md"
    (release / "README.md").rename(target)
    (release / "README.md").symlink_to(target)


PAGE = "page"
CERTIFICATE_CHANGES = [
    Hostile("a key more", "documents", added(), CERTIFICATE, "who must be absent"),
    Hostile("a promise that is not known", "documents", added("promises"), CERTIFICATE, "promises.who must be absent"),
    Hostile("a promise of anonymity more", "table.csv", added("promises", "anonymity"), CERTIFICATE, FORM),
    Hostile("a key more on a column", "table.csv", added("promises", "columns", 0), CERTIFICATE, FORM),
    Hostile("a key more on a confidential column", "table.csv", added("promises", "diversity", "columns", 0), CERTIFICATE, FORM),
    Hostile("a figure more", "documents", added("stated"), CERTIFICATE, FORM),
    Hostile("a version more", "documents", added("versions"), CERTIFICATE, FORM),
    Hostile("a key more on a file", "documents", added("files", "README.md"), CERTIFICATE, FORM),
    Hostile("a key less", "documents", removed("versions"), CERTIFICATE, "versions must be there"),
    Hostile("a promise less", "documents", removed("promises", "diversity"), CERTIFICATE, FORM),
    Hostile("true for 1", "table.csv", edit("promises", "diversity", "columns", 0, "single_valued_groups", to=False), CERTIFICATE, "whole number"),
    Hostile("a crowd with a fraction", "documents", edit("promises", "anonymity", "k", to=3.0), CERTIFICATE, "whole number"),
    Hostile("a crowd of one", "documents", edit("promises", "anonymity", "k", to=1), CERTIFICATE, "at least 2"),
    Hostile("a crowd in words", "documents", edit("promises", "anonymity", "k", to="3"), CERTIFICATE, "whole number"),
    Hostile("whole rows, as a number", "documents", edit("promises", "anonymity", "whole_rows", to=1), CERTIFICATE, "true or false"),
    Hostile("a number that no double has", "documents", edit("promises", "rows", to=10**40), CERTIFICATE, "whole number"),
    Hostile("a huge figure", "documents", edit("stated", "sse", to=10**400), CERTIFICATE, "a number"),
    Hostile("a role that is not known", "table.csv", edit("promises", "columns", 2, "role", to="public"), CERTIFICATE, "'quasi' or"),
    Hostile("a kind that is not known", "documents", edit("kind", to="pictures"), CERTIFICATE, "'documents' or 'sanitized' or 'sketches' or 'table'"),
    Hostile("a format that is not known", "documents", edit("format", to="shoal-certificate/9"), CERTIFICATE, "this version of Shoal reads"),
    Hostile("a format that is no text", "documents", edit("format", to=["shoal-certificate/3"]), CERTIFICATE, "this version of Shoal reads"),
    Hostile("two columns of one name", "table.csv", edit("promises", "columns", 2, "name", to="age"), CERTIFICATE, "different names"),
    Hostile("a digest in capitals", "documents", edit("files", "README.md", "sha256", to="A" * 64), CERTIFICATE, "SHA-256"),
    Hostile("parameters nested deep", "documents", edit("stated", "parameters", "who", to=[[[[[[["Ann"]]]]]]]), CERTIFICATE, FORM),
    Hostile("a key twice", "documents", certificate(lambda raw: raw.replace(b'  "kind"', b'  "kind": "documents",\n  "kind"')), CERTIFICATE, "not written as"),
    Hostile("a figure that is no number", "documents", certificate(lambda raw: raw.replace(b'"rows": 8', b'"rows": NaN')), CERTIFICATE, "not the JSON"),
    Hostile("an infinite figure", "documents", certificate(lambda raw: raw.replace(b'"rows": 8', b'"rows": 1e999')), CERTIFICATE, "not the JSON"),
    Hostile("another indentation", "documents", certificate(lambda raw: raw.replace(b"  ", b" ")), CERTIFICATE, "not written as"),
    Hostile("keys out of order", "documents", certificate(lambda raw: b'{\n  "kind": "documents",' + raw[1:].replace(b'  "kind": "documents",\n', b"")), CERTIFICATE, "not written as"),
    Hostile("space after the certificate", "documents", certificate(lambda raw: raw + b" \n"), CERTIFICATE, "not written as"),
    Hostile("half a character", "documents", certificate(lambda raw: raw.replace(b'"kind": "documents"', b'"kind": "\\ud800"')), CERTIFICATE, "not the JSON"),
    Hostile("lists in lists", "documents", certificate(lambda raw: b"[" * 200_000), CERTIFICATE, "not the JSON"),
    Hostile("a certificate of five megabytes", "documents", certificate(lambda raw: raw + b" " * 5_000_000), "size", "larger than"),
    Hostile("a script", "documents", in_body("<script>alert(1)</script>"), PAGE),
    Hostile("a script in capitals", "documents", in_body("<SCRIPT >alert(1)</SCRIPT>"), PAGE),
    Hostile("a script in a picture", "documents", in_body("<svg><script>alert(1)</script></svg>"), PAGE),
    Hostile("a script when loaded", "documents", page("<body>", '<body onload="alert(1)">'), PAGE),
    Hostile("a script in an address", "documents", in_body('<a href="javascript:alert(1)">report</a>'), PAGE),
    Hostile("an address elsewhere", "documents", in_body('<a href="https://example.org/">report</a>'), PAGE),
    Hostile("a picture from elsewhere", "documents", in_body('<img src="https://example.org/a.png">'), PAGE),
    Hostile("a frame", "documents", in_body('<iframe src="a.html"></iframe>'), PAGE),
    Hostile("a form", "documents", in_body('<form action="https://example.org/"><input name="who"></form>'), PAGE),
    Hostile("a page that goes elsewhere", "documents", page("<title>", '<meta http-equiv="refresh" content="0;url=https://example.org/"><title>'), PAGE),
    Hostile("a base elsewhere", "documents", page("<title>", '<base href="https://example.org/"><title>'), PAGE),
    Hostile("a style from elsewhere", "documents", page("<title>", '<link rel="stylesheet" href="a.css"><title>'), PAGE),
    Hostile("a style that imports", "documents", page("<style>", "<style>@import 'https://example.org/a.css';"), PAGE),
    Hostile("a style that fetches", "documents", page("<style>", "<style>body { background: URL (a.png) }"), PAGE),
    Hostile("a style that fetches, on a tag", "documents", in_body('<p style="background:url(a.png)">report</p>'), PAGE),
    Hostile("a style that fetches, in disguise", "documents", in_body('<p style="background:&#117;rl(a.png)">report</p>'), PAGE),
    Hostile("a comment in the page", "documents", in_body("<!-- Ann has the flu -->"), PAGE),
    Hostile("an attribute without quotes", "documents", in_body("<p title=Ann>report</p>"), PAGE),
    Hostile("no policy", "documents", page("Content-Security-Policy", "Content-Language"), PAGE),
    Hostile("a weaker policy", "documents", page("default-src 'none'", "default-src *"), PAGE),
    Hostile("a policy after something else", "documents", page("<head>\n", '<head>\n<meta charset="utf-8">\n'), PAGE),
    Hostile("a report of no text", "documents", rewrite("report.html", lambda data: data + b"\xff"), PAGE),
    Hostile("a report too large", "documents", rewrite("report.html", lambda data: data + b" " * 5_000_000), PAGE),
    Hostile("a README of no text", "table.csv", rewrite("README.md", lambda data: b"\xff\xfe" + data), PAGE),
    Hostile("a README too large", "table.csv", rewrite("README.md", lambda data: data * 2_000), PAGE),
    Hostile("a file more", "documents", made("names.txt", lambda path: path.write_bytes(b"Ann")), "files", "not part of the release"),
    Hostile("a hidden file in the parts", "table in parts", made("table/.names", lambda path: path.write_bytes(b"Ann")), "files", "not part of the release"),
    Hostile("a number that is missing among the parts", "table in parts", made("table/part-00000.parquet", lambda path: path.rename(path.with_name("part-00009.parquet"))), "files", "missing"),
    Hostile("a link", "documents", linked, "files", "plain file"),
    Hostile("a pipe", "documents", made("README.md", lambda path: (path.unlink(), os.mkfifo(path))), "files"),
]  # fmt: skip
