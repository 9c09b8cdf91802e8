"""Dates and ages made coarser: a day becomes its year, a year its decade, an age ten years."""

from __future__ import annotations

import re

__all__ = ["coarser_age", "coarser_date"]

OLDEST = 90  # from here on, ages are few and identify

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})[a-z]*\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_AGE = re.compile(r"(?:aged? )?(?:an? )?(?:\d+)(?:[ -]?(?:years?|yrs?)(?:[ -]olds?)?)?", re.IGNORECASE)
_DECADE = re.compile(r"(?<!\d)(1[5-9]|20)(\d)0['’]?s\b")


def coarser_date(date: str) -> str | None:
    """The date with less of it; None when no year can be read from it.

    >>> coarser_date("3 May 2009"), coarser_date("May 2009"), coarser_date("2009"), coarser_date("the 1980s")
    ('a day in 2009', '2009', 'the 2000s', 'the 20th century')
    """
    decade = _DECADE.search(date)
    if decade is not None:
        return f"the {int(decade[1]) + 1}{'st' if decade[1] == '20' else 'th'} century"
    years = list(dict.fromkeys(_YEAR.findall(date)))
    if len(years) != 1:
        return None
    numbers = _NUMBER.findall(_YEAR.sub("", date))
    months = _MONTH.findall(date)
    if len(numbers) > 2 or (numbers and not months and len(numbers) != 2):
        return None  # a time, a period or something else
    if numbers:
        return f"a day in {years[0]}"
    return years[0] if months else f"the {years[0][:3]}0s"


def coarser_age(age: str) -> str | None:
    """The age with its number replaced by ten years; None when it is not a number of years and nothing else.

    >>> coarser_age("43 years old"), coarser_age("aged 7"), coarser_age("95")
    ('40 to 49 years old', 'aged 0 to 9', '90 or more')
    """
    if not _AGE.fullmatch(age):  # what else it says would stay
        return None
    decade = int(_NUMBER.findall(age)[0]) // 10 * 10
    return _NUMBER.sub("90 or more" if decade >= OLDEST else f"{decade} to {decade + 9}", age)
