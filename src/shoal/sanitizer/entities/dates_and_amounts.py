"""Dates, times and durations, sums of money, percentages, measures and ages, in the forms people write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.candidates import Candidate, Rule, matches

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
    r"|JANUARY|FEBRUARY|MARCH|APRIL|MAY|JUNE|JULY|AUGUST|SEPTEMBER|OCTOBER|NOVEMBER|DECEMBER)\b\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:1[0-9]|20)\d\d"
_S = r"[\s\u00a0]{1,3}"  # a line may break inside a date
_PART = r"(?:(?:(?:the|in|at|around|about)\s+)?(?:early|mid|late|beginning|middle|end)(?:\s+of)?[\s-]+)?"
_WORDS = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[\s-]\w+)?|hundred|several)"
)
_NUMBER = rf"(?:(?<![\d.,])\d(?:[,.]?\d){{0,15}}+|{_WORDS})"
_UNIT = r"(?:second|minute|hour|day|night|week|fortnight|month|year|decade|centur(?:y|ie))s?"

_FOREIGN_MONTH = (
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|janvier|février|mars|avril|mai|juin|"
    r"juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|"
    r"noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre)\b"
)
_SEASON = r"(?:(?:early|mid|late)[\s-])?(?:[Ss]pring|[Ss]ummer|[Aa]utumn|[Ww]inter)"

_DATES = tuple(
    Rule("DATE", form, 20, re.compile(pattern, re.IGNORECASE if form in ("duration", "clock", "century") else 0))
    for form, pattern in (
        (
            "day",
            rf"\b(?:Between\s)?{_DAY}(?:(?:{_S}(?:and|or|to|until){_S}|\s?[-–,/&]\s?){_DAY}){{0,4}}{_S}(?:of\s+)?{_MONTH},?{_S}{_YEAR}\b",
        ),
        ("day", rf"\b{_MONTH}{_S}{_DAY}(?:\s?[-–]\s?{_DAY})?,?{_S}{_YEAR}\b"),
        ("day", r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?\b"),
        ("day", r"(?<![\d./])\d{1,2}(?P<mark>[./-])\d{1,2}(?P=mark)(?:\d{4}|\d{2})(?![\d/]|[.-]\d)"),
        ("day", rf"\b(?:Between\s)?{_DAY}{_S}(?:of\s+)?{_MONTH}(?!\s*\d)"),
        ("day", rf"\b{_MONTH}{_S}{_DAY}(?!\d|,\d)"),
        (
            "month",
            rf"\b(?:Between\s)?{_PART}{_MONTH}(?:{_S}(?:and|or|to|until){_S}{_MONTH}|\s?[-–/,]\s?{_MONTH}){{0,4}},?{_S}(?:of\s+)?{_YEAR}\b",
        ),
        ("day", rf"\b\d{{1,2}}(?:\.|er|º)?{_S}(?:de{_S})?{_FOREIGN_MONTH}(?:{_S}(?:de{_S})?{_YEAR})?"),
        ("month", rf"\b{_FOREIGN_MONTH}{_S}(?:de{_S})?{_YEAR}\b"),
        ("month", rf"\b{_SEASON}(?:{_S}(?:and|or){_S}{_SEASON})?{_S}(?:of{_S})?{_YEAR}\b"),
        ("year", rf"\b(?:first|second|latter){_S}half{_S}of{_S}{_YEAR}\b"),
        ("year", rf"(?<![\w./:§-]){_PART}{_YEAR}(?:\s?[-–/]\s?(?:{_YEAR}|\d\d))?(?![\w/:]|[.,]\d|-\d|\s?%)"),
        ("decade", rf"\b{_PART}(?:{_YEAR}|['’]\d0)['’]?s\b"),
        ("century", rf"\b{_PART}(?:\d{{1,2}}(?:st|nd|rd|th)|\w+teenth|twentieth|twenty-first)[\s-]century\b"),
        ("clock", r"\b\d{1,2}[.:]\d{2}(?:[.:]\d{2})?\s?(?:[ap]\.?\s?m\b\.?|hours|hrs)"),
        ("clock", r"\b\d{1,2}\s?[ap]\.?m\b\.?"),
        ("clock", r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\b"),
        (
            "duration",
            rf"\b{_NUMBER}(?:\s+(?:and|or|to)\s+(?:a\s+)?(?:half|{_NUMBER}))?[\s-]+{_UNIT}\b['’]?"
            r"(?:\s+(?:later|ago|earlier|before))?",
        ),
        ("weekday", r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"),
    )
)
_HAS_MONTH = re.compile(rf"\b{_MONTH}")
_CODES = (
    "EUR|USD|GBP|CHF|SEK|NOK|DKK|ISK|PLN|PLZ|CZK|SKK|HUF|RON|ROL|BGN|BGL|HRK|RSD|MKD|ALL|BAM|TRY|TRL|YTL|RUB|RUR|UAH"
    "|MDL|GEL|AMD|AZN|LTL|LVL|EEK|SIT|CYP|MTL|ATS|DEM|FRF|FF|BEF|NLG|ITL|ESP|PTE|GRD|FIM|IEP|LUF|JPY|CNY|INR|AUD|CAD"
    "|NZD|ZAR|BRL|MXN|ILS|KRW|SGD|HKD|NGN|EGP|SAR|AED"
)
_NAMES = (
    r"(?:[A-Z][\w-]{1,30}\s+){0,2}(?:euros?|Euros?|dollars?|pounds?(?:\s+sterling)?|sterling|cents?|francs?|[Mm]arks?"
    r"|Deutsch\s?[Mm]arks?|lir[ae]s?|Liras?|zlotys?|[Zz]łotys?|kron(?:a|or|e|er)|korunas?|forints?|rou?bles?|hryvnias?"
    r"|[Ss]chillings?|guilders?|pesetas?|escudos?|drachmas?|lei|leva?|kunas?|dinars?|tolars?|litas|lats|yen|yuan|rupees?"
    r"|shekels?|pesos?|reais|rand|naira)"
)
_SUM = r"(?<![\d.,])\d(?:[.,  ]?\d){0,15}+"
_SCALE = r"(?:\s?(?:million|billion|thousand|m|bn|k)\b)?"
_ABOUT = r"(?:(?:approximately|approx\.|about|around|some|over|almost|nearly|at least|more than|less than)\s+)?"
_AMOUNT = rf"(?:{_SUM}){_SCALE}"
_COUNT = rf"{_NUMBER}(?:\s+(?:hundred|thousand|million)){{0,3}}"
_UNITS = (
    r"(?:km/h|mph|sq\.?\s?(?:m|km|ft)\b|square\s+(?:metres?|meters?|kilometres?|feet|miles?)|[cmk]?m[²2]?\b|kg|mg|ha\b|hectares?"
    r"|acres?|(?:kilo|centi|milli)?(?:metres?|meters?)|(?:kilo)?grams?|grammes?|tonnes?|tons?|litres?|liters?|feet|foot|miles?"
    r"|inches|pounds|kilos?|degrees|pages|hearings|occasions|counts|persons|people|children|sons|daughters|brothers"
    r"|sisters|siblings|employees|soldiers|inhabitants|plots|shares|copies|tablets|packages|times|votes|goals|points"
    r"|games|matches|caps|albums|songs|tracks|books|films|episodes|seats|medals|titles)"
)
_AMOUNTS = tuple(
    Rule(kind, form, rank, re.compile(pattern, 0 if kind == "MONEY" else re.IGNORECASE))
    for kind, form, rank, pattern in (
        ("MONEY", "sum", 15, rf"{_ABOUT}\b(?:{_CODES})\s?{_AMOUNT}"),
        ("MONEY", "sum", 15, rf"{_ABOUT}(?:US|CA|AU|NZ)?[$£€¥₺]\s?{_AMOUNT}"),
        ("MONEY", "sum", 15, rf"{_ABOUT}\b(?:{_AMOUNT}|{_COUNT})\s+(?:of\s+)?{_NAMES}\b(?:\s*\((?:{_CODES})\))?"),
        ("MONEY", "sum", 15, rf"\b{_AMOUNT}\s?(?:{_CODES}|[€£$])(?!\w)"),
        ("QUANTITY", "percent", 22, rf"{_ABOUT}\b(?:{_SUM})(?:\s?%|\s+per\s?cent\b|\s+percent\b)"),
        (
            "QUANTITY",
            "measure",
            22,
            rf"{_ABOUT}\b{_NUMBER}(?:\s+x\s+{_NUMBER})?\s?-?(?:[a-z]{{3,15}}\s+)?{_UNITS}(?!\w)",
        ),
        ("AGE", "age", 16, rf"\b{_NUMBER}[\s-]years?[\s-](?:old|of[\s-]age)\b"),
        ("AGE", "age", 16, rf"\b(?:aged?|age\s+of|at\s+the\s+age\s+of)\s+(?:{_NUMBER})(?:\s+(?:months|years))?\b"),
        (
            "AGE",
            "age",
            16,
            r"(?<=\bin\s)(?:his|her|their|my)\s+(?:(?:early|mid|late)[\s-])?(?:teens|twenties|thirties|(?:for|fif|six|seven|eigh|nine)ties)\b",
        ),
        ("AGE", "age", 16, r"\b(?:teenage[rd]?|(?:quadra|quinqua|sexa|septua|octo|nona)genarian|centenarian)\b"),
        ("AGE", "age", 16, rf"\b(?:born|died)\s+(?P<name>{_WORDS}\s+years\s+(?:ago|before|later))\b"),
        ("AGE", "age", 16, rf"\b{_NUMBER}\s?(?:yo|y/o|yrs?\s+old)\b"),
        ("AGE", "age", 16, r"\bturn(?:s|ed|ing)?\s+\d{1,3}\b(?!\s*(?:%|per))"),
        (
            "AGE",
            "age",
            16,
            r"(?:\bI\s*['’]?a?m|\bis|\bwas)\s+(?P<name>\d{1,3})(?=\s*(?:[.,;!?]|$|and\b|years))",
        ),
    )
)


def date_and_amount_candidates(text: str) -> Iterator[Candidate]:
    """Dates, times, durations, sums of money, percentages, measures and ages of a text."""
    return matches(text, (*_DATES, *_AMOUNTS))


def date_form(words: str) -> str:
    """The form of a date that a language model pointed out."""
    if not re.search(r"\d", words):
        return "month" if _HAS_MONTH.search(words) else "relative"
    return next((rule.form for rule in _DATES if rule.pattern.search(words)), "relative")
