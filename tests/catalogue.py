"""Every text that is translated, and the catalogues made anew of them: `python -m tests.catalogue`.

Messages come from templates (what stands between two tags, see `shoal.language`), from `_`, `N_` and `count` in Python,
and from the wordings that a certificate may hold.
"""

from __future__ import annotations

import ast
import io
import re
import re._parser as regex
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

import shoal
from shoal.language import ENGLISH, LANGUAGES, translated
from shoal.results.stated import TRANSLATED

PACKAGE = Path(shoal.__file__).parent
LOCALE = PACKAGE / "locale"
# What Babel writes of itself, of times and of people: every run would change it.
HEADER = re.compile(rb'(?m)^(?:"(?:Project|Report|POT|PO|Last|Language-Team|Generated).*\n)+')
MARKED = ("_", "N_", "sayable")
# Pages that have no translation yet.
ENGLISH_ONLY = re.compile(r"/((text|sketch)_assessment|exploration|space)\.html|\.txt\.jinja|/web/")


def messages() -> dict[str, list[str]]:
    """Every message, and the files that have it."""
    found: dict[str, list[str]] = {"1,234.5": ["language.py"]}
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix == ".jinja" and not ENGLISH_ONLY.search(path.as_posix()):
            texts = list(in_template(path.read_text(encoding="utf-8"), path.suffixes[-2]))
        elif path.suffix == ".py":
            texts = list(in_python(path.read_text(encoding="utf-8")))
        elif path.name == "stated.py":
            texts = []
        else:
            continue
        for text in texts:
            found.setdefault(text, []).append(path.relative_to(PACKAGE).as_posix())
    for form in TRANSLATED:
        for wording in worded_as(form):
            for part in wording.split(", "):
                if part:
                    found.setdefault(part, []).append("results/stated.py")
    return {text: list(dict.fromkeys(files)) for text, files in found.items()}


def in_template(source: str, kind: str) -> list[str]:
    """The messages of a template."""
    found: list[str] = []
    translated(source, kind, lambda message: found.append(message) or message)  # type: ignore[func-returns-value]
    return found


def in_python(source: str) -> Iterator[str]:
    """Texts that are marked, and nouns that are counted."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id in MARKED and node.args:
            yield from _constants(node.args[0])
        elif node.func.id == "count" and len(node.args) > 1:
            one = list(_constants(node.args[1]))
            yield from one
            yield from _constants(node.args[2]) if len(node.args) > 2 else (f"{noun}s" for noun in one)


def _constants(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be; those of a comparison or a subscript are none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)


def worded_as(form: str) -> list[str]:
    """All texts that an expression of the certificate's wordings matches, # for each number."""
    number = r"-?\d{1,15}(\.\d{1,15})?(e[+-]?\d{1,3})?"
    return _expanded(regex.parse(form.replace(number, "#").replace(r"\d+", "#")))


def _expanded(parsed: Any) -> list[str]:
    pieces: list[list[str]] = []
    for kind, value in parsed:
        match str(kind):
            case "LITERAL":
                pieces.append([chr(value)])
            case "BRANCH":
                pieces.append([text for branch in value[1] for text in _expanded(branch)])
            case "SUBPATTERN":
                pieces.append(_expanded(value[3]))
            case "MAX_REPEAT":
                pieces.append(["", *_expanded(value[2])])
            case "IN":
                pieces.append([chr(code) for _, code in value])
            case other:
                raise ValueError(f"{other} in a wording")
    return ["".join(texts) for texts in product(*pieces)]


def read(language: str) -> Catalog:
    """A catalogue as it is."""
    with (LOCALE / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


def renew(language: str) -> None:
    """Add messages that are new, take out those that are gone, and compile."""
    old = read(language)
    then = datetime(2026, 1, 1, tzinfo=UTC)  # the same texts give the same bytes
    catalogue = Catalog(
        language, header_comment=old.header_comment, creation_date=then, revision_date=then, fuzzy=False
    )
    for text, files in messages().items():
        before = old.get(text)
        catalogue.add(text, before.string if before else "", locations=[(file, None) for file in files])
    written = io.BytesIO()
    write_po(written, catalogue, width=120)
    (LOCALE / f"{language}.po").write_bytes(HEADER.sub(b"", written.getvalue()))
    with (LOCALE / f"{language}.mo").open("wb") as file:
        write_mo(file, catalogue)


if __name__ == "__main__":
    for name in LANGUAGES:
        if name != ENGLISH:
            renew(name)
