"""Every sentence that the pages of a release and `protect` on the terminal can print, and what backs it."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import tomllib
from collections.abc import Callable
from dataclasses import fields
from html import unescape
from pathlib import Path

import pytest

from shoal import pages, verification
from shoal.pages import words
from shoal.request.options import GroupPromises
from shoal.results.assessment import Board, TableAssessment
from shoal.results.audit import Audit
from shoal.results.sanitizing import SanitizedSummary
from shoal.results.summary import DocumentFigures, SketchFigures, Summary, TableFigures
from shoal.results.survey import SurveyUtility

TEMPLATES = Path(inspect.getfile(pages)).parent / "templates"
TABLE = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))
PROTECT = importlib.import_module("shoal.cli.protect")  # the package has a command by that name
FUNCTIONS = {f.__name__: f for f in (words.guarantee, words.aside, words.value_promises, PROTECT._notes)}
FOR_THE_OWNER = re.compile(r"\w*assessment|audit|exploration|inspection|leak_card|leaks|space")  # of no release
FEWEST_WORDS = 3  # shorter texts are names of sections, columns and figures
# What backs a sentence that states no property of the release at hand.
WITHOUT_COUNT = {"explains a word", "method", "warning", "how to", "page"}
# What backs the others: a field of a summary, an audit or an assessment, or a promise that `verify` recounts.
RESULTS = (Summary, DocumentFigures, SketchFigures, TableFigures, GroupPromises, SanitizedSummary)
RESULTS += (Board, Audit, TableAssessment, SurveyUtility)
FIELDS = {field.name for result in RESULTS for field in fields(result)}
CLAIMS = {
    f"verify: {claim}"
    for path in Path(inspect.getfile(verification)).parent.glob("*.py")
    for claim in re.findall(r'(?:Claim\(|Refused\()\s*"([^"]+)"', path.read_text(encoding="utf-8"))
}


def in_template(name: str) -> set[str]:
    """Sentences of a template: an expression is "…", a slash stands between alternatives."""
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    if "{% extends" in text:  # its blocks stand in different places of the page
        text = re.sub(r"\{% (end)?block[^%\n]*%\}", "\n\n", text)
    text = re.sub(r"\{% set (checkable|stated) %\}", "\n\n", text)
    text = re.sub(r"\{\{ (checkable|stated) \}\}", " ", text)
    text = re.sub(r"(?m)^[ \t]*\{%[^%\n]*%\}[ \t]*$", "\n\n" if name.endswith(".md.jinja") else " ", text)
    text = re.sub(r"\{% (else|elif)[^%\n]*%\}", " / ", text)
    text = re.sub(r"\{%.*?%\}", " ", text, flags=re.DOTALL)
    text = re.sub(r"\{\{.*?\}\}", "…", text, flags=re.DOTALL)
    if name.endswith(".md.jinja"):
        text = re.sub(r"```.*?```|(?m:^ {4}[^\n]*$)", "", text, flags=re.DOTALL)
        paragraphs = re.split(r"\n\s*\n|\n(?=- |#)", text)
    elif name.endswith(".txt.jinja"):
        paragraphs = text.split("\n")
    else:
        text = re.sub(r"<(style|svg|pre)\b.*?</\1>", "", text, flags=re.DOTALL)
        text = re.sub(r'<[^>]*(?:title|aria-label)="([^"]*)"[^>]*>', r"\n\n\1\n\n", text)
        text = re.sub(r"</b>\n|</?(?!b\b|i\b|code\b)[a-zA-Z!][^>]*>", "\n\n", text)
        paragraphs = unescape(re.sub(r"<[^>]*>", "", text)).split("\n\n")
    return sentences_of(paragraphs)


def in_function(function: Callable[..., object]) -> set[str]:
    """Sentences that a function builds: each of its texts, its docstring apart."""
    (definition,) = ast.parse(inspect.getsource(function)).body
    assert isinstance(definition, ast.FunctionDef)
    nodes = [node for statement in definition.body[1:] for node in ast.walk(statement)]
    formatted = [node.values for node in nodes if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for parts in formatted for part in parts}
    texts = [
        "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts) for parts in formatted
    ]
    texts += [str(node.value) for node in nodes if isinstance(node, ast.Constant) and id(node) not in inside]
    return sentences_of([re.sub(r"\{\w+\}", "…", text) for text in texts])


def sentences_of(paragraphs: list[str]) -> set[str]:
    found = set()
    for paragraph in paragraphs:
        line = re.sub(r"\s+(?=[,.;:)])", "", " ".join(paragraph.split()))
        for sentence in re.split(r"(?<=[.?!])\*{0,2} (?=[A-Z…“/`])", line):
            text = sentence.strip(" /#-*")
            if len(re.findall(r"[A-Za-z]+", text)) >= FEWEST_WORDS:
                found.add(text)
    return found


def test_the_table_has_every_page_of_a_release() -> None:
    templates = {path.name for path in TEMPLATES.glob("*.jinja") if not FOR_THE_OWNER.match(path.name)}
    assert set(TABLE) == templates | set(FUNCTIONS)


@pytest.mark.parametrize("source", TABLE)
def test_every_sentence_of_a_release_is_backed(source: str) -> None:
    printed = in_function(FUNCTIONS[source]) if source in FUNCTIONS else in_template(source)
    backed = TABLE[source]
    assert printed == set(backed), f"without backing: {printed - set(backed)}; not printed: {set(backed) - printed}"
    facts = {fact for backing in backed.values() for fact in backing.split(", ")}
    assert facts <= WITHOUT_COUNT | FIELDS | CLAIMS, f"no fields or claims: {facts - WITHOUT_COUNT - FIELDS - CLAIMS}"
