"""Numbers and codes: of cases, accounts, cards, telephones; addresses of mail, machines and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from shoal.errors import MissingExtra
from shoal.sanitizer.entities.candidates import Candidate

__all__ = ["code_candidates"]

_CODE = r"[A-Z]{0,4}[\s-]?\d[\w]*(?:[./:–-]\w*\d\w*)*"
_PATTERNS = tuple(
    (kind, form, rank, re.compile(pattern))
    for kind, form, rank, pattern in (
        ("EMAIL", "email", 1, r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+"),
        ("ACCOUNT", "iban", 3, r"(?i)\b[A-Z]{2}\d{2}(?:\s?[A-Z\d]{4}){2,7}\s?[A-Z\d]{1,4}\b(?<=\d\w\w\w\w)"),
        (
            "PHONE",
            "phone",
            4,
            r"(?<!\w)\+\d{1,3}[\s.-]?(?:\(\d{1,4}\)[\s.-]?)?\d{1,4}(?:[\s.-]?\d{2,4}){2,4}(?:x\d+)?(?!\w)",
        ),
        ("URL", "url", 2, r"\b(?:https?://|www\.)[^\s<>\"')\]]+"),
        ("CASE", "application", 8, r"(?<![\w/.])\d{1,6}/\d{2,4}(?![\w/]|\.\d)"),
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
            rf"(?<=\b[Nn]umber\s)[A-Z]?\d[\w/.-]*\d|(?<=\b[Rr]ef\.\s){_CODE}|(?<=\b[Ff]ile\s){_CODE}",
        ),
        ("ID", "mixed", 9, r"(?<![\w-])(?=[A-Z\d-]*\d[A-Z\d-]*\d)[A-Z]{1,4}-?\d[A-Z\d-]*\b"),
        ("ID", "digits", 30, r"(?<![\w.,/-])\d(?:[\d-]|(?<=\d)[ .](?=\d{2,4}\b)){4,}\d(?![\w/]|[.,]\d)"),
        ("ID", "slashes", 25, r"(?<![\w/.])\d+(?:[/.:]\d+){1,3}[A-Z\d]{0,3}(?![\w/]|[.:]\d)"),
    )
)
# Presidio's kinds as ours; weak patterns (any eight digits may be a passport) stay below what our rules find.
_PRESIDIO = {
    "CREDIT_CARD": ("ACCOUNT", "card"),
    "IBAN_CODE": ("ACCOUNT", "iban"),
    "CRYPTO": ("ACCOUNT", "wallet"),
    "US_BANK_NUMBER": ("ACCOUNT", "bank"),
    "US_SSN": ("ID", "ssn"),
    "US_ITIN": ("ID", "itin"),
    "US_PASSPORT": ("ID", "passport"),
    "US_DRIVER_LICENSE": ("ID", "licence"),
    "UK_NHS": ("ID", "nhs"),
    "MEDICAL_LICENSE": ("ID", "licence"),
    "MAC_ADDRESS": ("ID", "mac"),
    "UUID": ("ID", "uuid"),
    "IP_ADDRESS": ("URL", "ip"),
    "EMAIL_ADDRESS": ("EMAIL", "email"),
    "URL": ("URL", "url"),
    "PHONE_NUMBER": ("PHONE", "phone"),
}
_WEAK = 0.3  # scores of Presidio's patterns without any check of their digits
_WEAK_RANK = 35
_PHONE_RANK = 21  # after dates: 03.05.1961 is a date before it is a French telephone


def code_candidates(text: str) -> Iterator[Candidate]:
    """Codes and numbers of a text, by our patterns and by Presidio's recognizers."""
    for kind, form, rank, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield Candidate(match.start(), match.end(), kind, form, rank)
    if not re.search(r"\d{2}|@|\w\.\w", text):
        return
    for recognizer in _recognizers():
        for hit in recognizer.analyze(text, recognizer.supported_entities, None):
            kind, form = _PRESIDIO[hit.entity_type]
            if kind == "URL" and text[hit.end : hit.end + 1].isalnum():
                continue  # "Mr.Ca" of "Mr.Castro"
            rank = _WEAK_RANK if hit.score <= _WEAK else _PHONE_RANK if kind == "PHONE" else 5
            yield Candidate(hit.start, hit.end, kind, form, rank)


@cache
def _recognizers() -> tuple[Any, ...]:
    """Presidio's pattern recognizers, which need no language model."""
    try:
        from presidio_analyzer import predefined_recognizers as presidio
    except ImportError:
        raise MissingExtra("sanitize", "finding entities") from None
    names = (
        "CreditCardRecognizer",
        "IbanRecognizer",
        "CryptoRecognizer",
        "UsBankRecognizer",
        "UsSsnRecognizer",
        "UsItinRecognizer",
        "UsPassportRecognizer",
        "UsLicenseRecognizer",
        "NhsRecognizer",
        "MedicalLicenseRecognizer",
        "MacAddressRecognizer",
        "UuidRecognizer",
        "IpRecognizer",
        "EmailRecognizer",
        "UrlRecognizer",
        "PhoneRecognizer",
    )
    return tuple(getattr(presidio, name)() for name in names if hasattr(presidio, name))
