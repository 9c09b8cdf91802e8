"""Money, percentages, measures and ages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.dates import NUMBER

__all__ = ["amount_candidates"]

_CODES = (
    "EUR|USD|GBP|CHF|SEK|NOK|DKK|ISK|PLN|PLZ|CZK|SKK|HUF|RON|ROL|BGN|BGL|HRK|RSD|MKD|ALL|BAM|TRY|TRL|YTL|RUB|RUR|UAH"
    "|MDL|GEL|AMD|AZN|LTL|LVL|EEK|SIT|CYP|MTL|ATS|DEM|FRF|FF|BEF|NLG|ITL|ESP|PTE|GRD|FIM|IEP|LUF|JPY|CNY|INR|AUD|CAD"
    "|NZD|ZAR|BRL|MXN|ILS|KRW|SGD|HKD|NGN|EGP|SAR|AED"
)
_NAMES = (
    r"(?:[A-Z][\w-]+\s+){0,2}(?:euros?|Euros?|dollars?|pounds?(?:\s+sterling)?|sterling|cents?|francs?|[Mm]arks?"
    r"|Deutsch\s?[Mm]arks?|lir[ae]s?|Liras?|zlotys?|[Zz]łotys?|kron(?:a|or|e|er)|korunas?|forints?|rou?bles?|hryvnias?"
    r"|[Ss]chillings?|guilders?|pesetas?|escudos?|drachmas?|lei|leva?|kunas?|dinars?|tolars?|litas|lats|yen|yuan|rupees?"
    r"|shekels?|pesos?|reais|rand|naira)"
)
_SUM = r"\d[\d.,  ]*\d|\d"
_SCALE = r"(?:\s?(?:million|billion|thousand|m|bn|k)\b)?"
_ABOUT = r"(?:(?:approximately|approx\.|about|around|some|over|almost|nearly|at least|more than|less than)\s+)?"
_AMOUNT = rf"(?:{_SUM}){_SCALE}"
_MONEY = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_ABOUT}\b(?:{_CODES})\s?{_AMOUNT}",
        rf"{_ABOUT}(?:US|CA|AU|NZ)?[$£€¥₺]\s?{_AMOUNT}",
        rf"{_ABOUT}\b(?:{_AMOUNT}|{NUMBER}(?:\s+(?:hundred|thousand|million))*)\s+(?:of\s+)?{_NAMES}\b"
        rf"(?:\s*\((?:{_CODES})\))?",
        rf"\b{_AMOUNT}\s?(?:{_CODES}|[€£$])(?!\w)",
    )
)
_UNITS = (
    r"(?:km/h|mph|sq\.?\s?(?:m|km|ft)\b|square\s+(?:metres?|meters?|kilometres?|feet|miles?)|[cmk]?m[²2]?\b|kg|mg|ha\b|hectares?"
    r"|acres?|(?:kilo|centi|milli)?(?:metres?|meters?)|(?:kilo)?grams?|grammes?|tonnes?|tons?|litres?|liters?|feet|foot|miles?"
    r"|inches|pounds|kilos?|degrees|pages|hearings|occasions|counts|persons|people|children|sons|daughters|brothers"
    r"|sisters|siblings|employees|soldiers|inhabitants|plots|shares|copies|tablets|packages|times|votes|goals|points"
    r"|games|matches|caps|albums|songs|tracks|books|films|episodes|seats|medals|titles)"
)
_QUANTITIES = (
    ("percent", re.compile(rf"{_ABOUT}\b(?:{_SUM})(?:\s?%|\s+per\s?cent\b|\s+percent\b)", re.IGNORECASE)),
    ("measure", re.compile(rf"{_ABOUT}\b{NUMBER}(?:\s+x\s+{NUMBER})?\s?-?(?:other\s+)?{_UNITS}(?!\w)", re.IGNORECASE)),
)
_AGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{NUMBER}[\s-]years?[\s-](?:old|of[\s-]age)\b",
        rf"\b(?:aged?|age\s+of|at\s+the\s+age\s+of)\s+(?:{NUMBER})(?:\s+(?:months|years))?\b",
        rf"\b{NUMBER}\s?(?:yo|y/o|yrs?\s+old)\b",
        r"\bturn(?:s|ed|ing)?\s+\d{1,3}\b(?!\s*(?:%|per))",
        r"(?:\bI\s*['’]?a?m|\bis|\bwas)\s+(\d{1,3})(?=\s*(?:[.,;!?]|$|and\b|years))",
    )
)


def amount_candidates(text: str) -> Iterator[Candidate]:
    """Sums of money, percentages, measures and ages of a text."""
    for pattern in _MONEY:
        for match in pattern.finditer(text):
            yield Candidate(match.start(), match.end(), "MONEY", "sum", 15)
    for form, pattern in _QUANTITIES:
        for match in pattern.finditer(text):
            yield Candidate(match.start(), match.end(), "QUANTITY", form, 22)
    for pattern in _AGES:
        for match in pattern.finditer(text):
            group = 1 if match.lastindex else 0
            yield Candidate(match.start(group), match.end(group), "AGE", "age", 16)
