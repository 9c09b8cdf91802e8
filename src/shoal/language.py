"""The language of pages: English, or one that has a catalogue of translations in `locale` (gettext)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

ENGLISH = "en"
LANGUAGES = (ENGLISH, "de")
_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)

# A message of a template is what stands between two boundaries: an element, or a line or paragraph of text, with its
# expressions. So a translation has whole sentences, and may order and inflect as its language does.
_STATEMENT = r"\{%-? *(?:end)?(?:block|set|macro|call|filter|include|from|import|extends)\b.*?%\}"
_ALONE = r"^[ \t]*(?:\{%(?:(?!%\}).)*%\}[ \t]*)+$"
_IN_TAG = r"(?:\{\{.*?\}\}|\{%.*?%\}|[^>{]|\{)*"
_NO_TEXT = r"\{#.*?#\}|<(?P<raw>style|svg|script|pre)\b.*?</(?P=raw)>"
_HTML = rf"{_NO_TEXT}|</b>\n|</?(?!(?:b|i|a|em|code|strong)\b)[a-zA-Z!]{_IN_TAG}>|{_STATEMENT}|{_ALONE}"
_TEXT = rf"\{{#.*?#\}}|```.*?```|^ {{4}}.*?$|{_STATEMENT}|{_ALONE}|\n[ \t]*(?=\n)|^[ \t]*(?:- (?:\*\*)?|#+ )"
_EMPTY_BLOCK = r"\{% block \w+ %\}\{% endblock %\}"
_BOUNDARIES = {
    kind: re.compile(rf"(?P<inside>{_EMPTY_BLOCK})|{pattern}{more}", re.DOTALL | re.MULTILINE)
    for kind, pattern, more in ((".html", _HTML, ""), (".md", _TEXT, ""), (".txt", _TEXT, r"|\n"))
}
_ATTRIBUTE = re.compile(r'(?<= )(?:title|aria-label|alt|placeholder|data-say[\w-]*)="([^"]*)"')
_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_WORDS = re.compile(r"[^\W\d_]{2}|(?<=\}\})s\b")
_LITERAL = re.compile(r"""(?<!=)(["'])[^"'%.]*[a-z]{2}[^"'%]*\1""")


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Texts made inside are in this language."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken() -> str:
    """The language that is spoken now."""
    return _spoken.get()


def _(text: str) -> str:
    """The text in the language that is spoken."""
    return _catalogue(spoken()).gettext(text) if text else text


def N_(text: str) -> str:  # noqa: N802  as gettext calls it
    """A text that is translated later, where it is used."""
    return text


class Sayable(str):
    """A text in English that pages say in the language that is spoken."""

    form: str
    filled: dict[str, str | int]


def sayable(form: str, **filled: str | int) -> Sayable:
    """The form with what fills it; whole numbers get their thousands separated."""
    with speaking(ENGLISH):
        text = Sayable(_fill(form, filled))
    text.form, text.filled = form, filled
    return text


def say(text: Sayable) -> str:
    """The same in the language that is spoken."""
    return _fill(_(text.form), text.filled)


def _fill(form: str, filled: dict[str, str | int]) -> str:
    return form.format(
        **{
            name: in_figures(f"{one:,}") if isinstance(one, int) else say(one) if isinstance(one, Sayable) else one
            for name, one in filled.items()
        }
    )


def in_figures(text: str) -> str:
    """Digits with the signs between them that the language uses."""
    signs = _("1,234.5")
    return text.translate(str.maketrans(",.", signs[1] + signs[5]))


def fixed(value: float, form: str) -> str:
    """A figure in one of Python's formats, its signs as the language has them."""
    return in_figures(format(value, form)).replace("%", _("%"))


def translated(source: str, kind: str, translate: Callable[[str], str] = _) -> str:
    """A template's source with each of its messages translated; `kind` is .html, .md or .txt."""
    pieces, start = [], 0
    for boundary in _BOUNDARIES[kind].finditer(source):
        if boundary["inside"] is None:
            pieces += [_message(source[start : boundary.start()], translate), _attributes(boundary[0], translate)]
            start = boundary.end()
    return "".join([*pieces, _message(source[start:], translate)])


def _message(text: str, translate: Callable[[str], str]) -> str:
    core = text.strip()
    if not _has_words(re.sub(r'<[^>]*>|&\w+;|[\w-]+="[^"]*"(?=\{)', "", core)):
        return text
    return text.replace(core, translate(core))


def _attributes(boundary: str, translate: Callable[[str], str]) -> str:
    if not boundary.startswith("<"):
        return boundary
    return _ATTRIBUTE.sub(lambda found: found[0].replace(found[1], _message(found[1], translate)), boundary)


def _has_words(text: str) -> bool:
    without = _EXPRESSION.sub("{{}}", text)
    literals = any(_LITERAL.search(expression) for expression in re.findall(r"\{\{.*?\}\}", text, re.DOTALL))
    return literals or _WORDS.search(without) is not None


@cache
def _catalogue(language: str) -> NullTranslations:
    if language == ENGLISH:
        return NullTranslations()
    with (files("shoal") / "locale" / f"{language}.mo").open("rb") as file:
        return GNUTranslations(file)
