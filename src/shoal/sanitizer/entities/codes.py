"""Numbers and codes: of cases, accounts, cards, telephones; addresses of mail, machines and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.sanitizer.entities.candidates import Candidate, Rule, matches

_CODE = r"[A-Z]{0,4}[\s-]?\d\w{0,20}+(?:[./:–-](?=\w{0,20}\d)\w{1,20}+){0,5}"
_RULES = tuple(
    Rule(kind, form, rank, re.compile(pattern))
    for kind, form, rank, pattern in (
        # Ours alone: to check an address, Presidio fetches a list of domains from the network.
        ("EMAIL", "email", 1, r"(?<![\w+%-])[\w+%-][\w.+%!#$&'’*/=?^`{|}~-]{0,254}+@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
        # "ann [dot] lee (at) example.org"
        ("EMAIL", "email", 1, r"(?i)(?<![\w.])[\w.+-]{1,64}(?:\s?[\[(]\s?(?:dot|at)\s?[\])]\s?[\w.-]{1,64}){1,8}"),
        ("ID", "handle", 6, r"(?<![\w@./])@[A-Za-z_][\w.]{2,40}"),
        (
            "ID",
            "handle",
            6,
            r"(?i)\b(?:skype|user\s?(?:name|id)|login|handle|insta(?:gram)?|twitter|telegram|snapchat|wechat)"
            r"(?:\s+(?:is|id|name))?\s?[:=]\s?(?-i:(?P<name>\S{3,60}))",
        ),
        # Lines of base64, or of uuencode: whatever they say, nobody can review it.
        ("ID", "encoded", 0, r"(?m)^[ \t>]*[A-Za-z\d+/]{60,76}(?:\r?\n[ \t>]*[A-Za-z\d+/]{4,76}={0,2})*+"),
        ("ID", "encoded", 0, r"(?m)^begin \d{3} \S+\r?\n(?:[!-`]{1,61}\r?\n){1,100000}+`?\r?\n?end"),
        ("ACCOUNT", "iban", 3, r"(?i)\b[A-Z]{2}\d{2}(?:\s?[A-Z\d]{4}){2,7}\s?[A-Z\d]{1,4}\b(?<=\d\w\w\w\w)"),
        (
            "PHONE",
            "phone",
            4,
            r"(?<!\w)\+\d{1,3}[\s.-]?(?:\(\d{1,4}\)[\s.-]?)?\d{1,4}(?:[\s.-]?\d{2,4}){2,4}(?:x\d+)?(?!\w)",
        ),
        (
            "PHONE",
            "phone",
            4,
            r"(?<![\w.-])(?:\+?1[ .-])?(?:\(\d{3}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}(?:[ ,]{0,2}(?:x|"
            r"ext\.?)[ ]?\d{1,6})?(?![\w-])",
        ),
        # Numbers after a word for them, whatever their form.
        (
            "PHONE",
            "phone",
            5,
            r"(?i)\b(?:tele)?(?:phone|tel|fax|mobile|cell|call|dial|ring)\b(?:\s(?:number|no\.?|me|on|at|us))*[\s.:]{1,4}"
            r"(?P<name>[+(]?\d[\d ()./-]{4,24}\d(?:[ ,]{0,2}(?:x|ext\.?)[ ]?\d{1,6})?)(?![\w-])",
        ),
        # Bang paths, message ids, hosts by their endings, and paths with the name of a user.
        ("EMAIL", "email", 1, r"(?<![\w!])(?:[\w.-]{2,63}!){1,12}[\w.%-]{1,63}(?!\w)"),
        ("EMAIL", "email", 1, r"(?<![\w<])[\w.+%-]{1,64}%[\w.-]{1,63}@[\w-]{1,63}(?!\w)"),
        (
            "ID",
            "handle",
            3,
            r"(?:(?<!\w)/(?:home|Users|u|usr/people)/|\b[A-Z]:\\(?:Users|Documents and Settings)\\|"
            r"(?<![\w/.])~)(?P<name>[\w.-]{2,40})",
        ),
        ("URL", "url", 2, r"\b(?:https?://|www\.)[^\s<>\"')\]]{1,2000}"),
        # Without a scheme only lower-case names with a well-known ending: "Mr.Castro" is no page.
        (
            "URL",
            "url",
            6,
            r"(?<![\w@.-])(?:[a-z\d-]{1,63}\.){1,5}(?:com|org|net|edu|gov|info|io|eu|[a-z]{2})\b(?:/[^\s<>\"')\]]{0,2000})?",
        ),
        ("CASE", "application", 8, r"(?<![\w/.])\d{1,6}/\d{2,4}(?![\w/]|[.-]\d)"),
        (
            "CASE",
            "number",
            9,
            rf"(?<=[Nn]o\.\s){_CODE}(?:\s+of\s+block\s+\w\b)?|(?<=[Nn]os\.\s){_CODE}|(?<=[Nn]r\.\s){_CODE}",
        ),
        (
            "CASE",
            "number",
            9,
            rf"(?<=\b[Nn]umber\s)[A-Z]?\d[\w/.-]{{0,20}}\d|(?<=\b[Rr]ef\.\s){_CODE}|(?<=\b[Ff]ile\s){_CODE}",
        ),
        ("ID", "mixed", 9, r"(?<![\w-])(?=[A-Z\d-]{0,20}\d[A-Z\d-]{0,20}\d)[A-Z]{1,4}-?\d[A-Z\d-]{0,30}\b"),
        # CD/MH/4471902, 2021-00457-PD: capitals and at least four digits, with slashes or hyphens.
        (
            "ID",
            "mixed",
            9,
            r"(?<![\w/.-])(?=[A-Z\d/-]{0,40}[A-Z])(?=(?:[A-Z/-]{0,20}\d){4})[A-Z\d]{1,12}(?:[/-][A-Z\d]{1,12}){1,5}(?![\w/])",
        ),
        # 7XKR219, and the British numbers of national insurance.
        ("ID", "mixed", 19, r"(?<![\w-])(?=[A-Z\d]{0,20}[A-Z])(?=(?:[A-Z]{0,10}\d){3})[A-Z\d]{6,20}(?![\w-])"),
        ("ID", "ssn", 5, r"\b[A-Z]{2}(?:\s?\d{2}){3}\s?[A-D]\b"),
        ("ID", "digits", 30, r"(?<![\w.,/-])\d(?:[\d-]|(?<=\d)[ .](?=\d{2,4}\b)){4,30}\d(?![\w/]|[.,]\d)"),
        ("ID", "slashes", 25, r"(?<![\w/.])\d{1,12}(?:[/.:]\d{1,12}){1,3}[A-Z\d]{0,3}(?![\w/]|[.:]\d)"),
    )
)
# Kind and form of what each of Presidio's recognizers finds.
_PRESIDIO = {
    "CreditCardRecognizer": ("ACCOUNT", "card"),
    "IbanRecognizer": ("ACCOUNT", "iban"),
    "CryptoRecognizer": ("ACCOUNT", "wallet"),
    "UsBankRecognizer": ("ACCOUNT", "bank"),
    "UsSsnRecognizer": ("ID", "ssn"),
    "UsItinRecognizer": ("ID", "itin"),
    "UsPassportRecognizer": ("ID", "passport"),
    "UsLicenseRecognizer": ("ID", "licence"),
    "NhsRecognizer": ("ID", "nhs"),
    "MedicalLicenseRecognizer": ("ID", "licence"),
    "MacAddressRecognizer": ("ID", "mac"),
    "UuidRecognizer": ("ID", "uuid"),
    "IpRecognizer": ("URL", "ip"),
    "PhoneRecognizer": ("PHONE", "phone"),
}
_LONGEST = 2000
_HAS_CODES = re.compile(r"\d{2}|@|\w\.\w")
_WEAK = 0.3  # scores of Presidio's patterns without any check of their digits: any eight may be a passport
_WEAK_RANK = 35  # below what our rules find
_PHONE_RANK = 21  # after dates: 03.05.1961 is a date before it is a French telephone


def code_candidates(text: str) -> Iterator[Candidate]:
    """Codes and numbers of a text, by our patterns and by Presidio's recognizers."""
    yield from matches(text, _RULES)
    for offset, stretch in _stretches(text):
        for candidate in _recognised(stretch):
            yield candidate._replace(start=candidate.start + offset, end=candidate.end + offset)


def _stretches(text: str) -> Iterator[tuple[int, str]]:
    """Stretches of a text that have codes, each short: a few patterns take the square of the length."""
    start = 0
    while start < len(text):
        end = min(len(text), start + _LONGEST)
        if end < len(text):
            breaks = (text.rfind(mark, start, end) + 1 for mark in ("\n", ". ", " "))
            end = next((position for position in breaks if position > start + _LONGEST // 4), end)
        stretch = text[start:end]
        if _HAS_CODES.search(stretch):
            yield start, stretch
        start = end


def _recognised(text: str) -> Iterator[Candidate]:
    """Codes that Presidio's recognizers find."""
    for recognizer, kind, form in _recognizers():
        for hit in recognizer.analyze(text, recognizer.supported_entities, None):
            rank = _WEAK_RANK if hit.score <= _WEAK else _PHONE_RANK if kind == "PHONE" else 5
            yield Candidate(hit.start, hit.end, kind, form, rank)


@cache
def _recognizers() -> tuple[tuple[Any, str, str], ...]:
    """Presidio's pattern recognizers, which need no language model, each with the kind and form of what it finds."""
    try:
        from presidio_analyzer import predefined_recognizers as presidio
    except ImportError:
        raise MissingExtra("sanitize", "finding entities") from None
    missing = [name for name in _PRESIDIO if not hasattr(presidio, name)]
    if missing:  # codes of a kind would be left in the clear, and nobody would know
        raise InputError(f"presidio-analyzer has no {', '.join(missing)}; install version 2.2.366 of it")
    return tuple((getattr(presidio, name)(), *sort) for name, sort in _PRESIDIO.items())
