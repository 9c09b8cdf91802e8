"""What a column is, by its content and its name: the kind, a role that would suit it, and the reasons in words.

The role is a proposal: only the owner knows what others may know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.columns import NUMBER, all_match, any_match, is_gap, is_text, plain
from shoal.data.kinds.dates import FORMS, PLAIN_DIGITS, fitting_forms
from shoal.data.roles import Kind, Role

__all__ = ["FEW_VALUES", "Recognised", "SAYS_WHOSE", "is_text", "plain_values", "recognise", "suggested_role"]

FEW_VALUES = 12  # different whole numbers of which a mean may mean nothing
_LEADING_ZERO = r"^\s*[+-]?0\d+\s*$"
_WHOLE = r"^\s*[+-]?\d+\s*$"
_EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_DATED = (
    r"^\s*(\d{4}[-./]\d{1,2}([-./]\d{1,2})?|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,2}[./]\d{4})"
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?\s*$"
)
_DATED_OTHERWISE = (  # 31/12/99, 31 Dec 1999, December 31, 1999
    r"^\s*(\d{1,2}[-./ ]\d{1,2}[-./ ]\d{2}|\d{1,2}[-. ]+\pL{3,9}[-. ,]+\d{2,4}|\pL{3,9}\.? \d{1,2},? \d{4})\s*$"
)
_AMOUNT = (  # 12 %, $1,200, 1.234,50 €, 1,200
    r"^\s*([€$£¥]\s*[+-]?[\d.,' ]*\d|[+-]?\d[\d.,' ]*\s*([€$£¥%]|EUR|USD|GBP|CHF)|[+-]?\d{1,3}(,\d{3})*(\.\d+)?)\s*$"
)
_YES_NO = {"yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "oui", "non", "si", "sí", "sì", "j"}
_WORDS = re.compile(r"[a-z]+|\d+")
_CODE_NAMES = {"zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "fips", "icd", "iban", "cp"}
_YEAR_NAMES = {"year", "yr", "yob", "birthyear", "birthyr", "jahr", "geburtsjahr", "annee", "ano"}
SAYS_WHOSE = {"id", "ids", "uuid", "guid", "ssn", "pid", "hhid", "mrn", "passport"}
_ID_NAMES = SAYS_WHOSE | {"key", "nr", "no", "number"}
_SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("none", "primary", "secondary", "tertiary"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("small", "medium", "large"),
    ("never", "former", "current"),
    ("low", "middle", "high"),
    ("junior", "mid", "senior"),
)
_COMPACT = "%Y%m%d"
_WRITTEN = tuple(form for form in FORMS if form not in PLAIN_DIGITS)
_NAMES_PEOPLE = {
    *("name", "surname", "firstname", "lastname", "forename", "email", "mail", "phone", "telephone", "mobile", "fax"),
    *("tel", "telefon", "mobil", "handy"),
    *("ssn", "passport", "iban", "address", "street", "uuid", "guid", "mrn", "url", "ip", "account", "plate"),
}
_KNOWN_ELSEWHERE = {
    *("age", "sex", "gender", "birth", "born", "birthday", "birthdate", "dob", "yob", "zip", "zipcode", "postcode"),
    *("postal", "plz", "city", "town", "county", "region", "state", "country", "nationality", "race", "ethnicity"),
    *("marital", "status", "education", "edu", "job", "occupation", "profession", "work", "workclass", "height"),
    *("household", "family", "relationship", "hours", "language", "date", "year", "admission", "discharge", "district"),
}
_WANTED = {
    *("diagnosis", "disease", "illness", "condition", "icd", "treatment", "drug", "medication", "test", "result"),
    *("income", "salary", "wage", "pay", "debt", "credit", "score", "religion", "party", "vote", "crime", "offence"),
    *("hiv", "cancer", "pregnant", "disability", "capital", "wealth", "charge", "cost", "costs"),
}


@dataclass(frozen=True)
class Recognised:
    """A kind and why; of ordered labels their order, where it is known."""

    kind: Kind
    reason: str
    order: tuple[str, ...] = ()
    certain: bool = True  # if not, `protect` asks the owner to confirm it


def plain_values(column: Any) -> pa.Array:
    """The different values that are there, dictionaries as their values."""
    values = plain(column).unique()
    if is_text(values.type):
        values = values.cast(pa.large_string())
        return values.filter(pc.invert(is_gap(values)))
    return values.drop_null()


def words_of(name: str) -> set[str]:
    """The words that a column's name is made of: birthYear and birth_year are birth and year."""
    return set(_WORDS.findall(re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))


def recognise(name: str, column: Any) -> Recognised:
    """The kind of a column (all of it or a sample), as `protect` takes it unless it is given."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _of_dictionary(column)
    if pa.types.is_boolean(kind):
        return Recognised(Kind.YES_NO, "holds true and false")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Recognised(Kind.DATE, f"is stored as {kind}")
    if pa.types.is_nested(kind):
        return Recognised(Kind.LABEL, "holds lists or records, which no release of a table has")
    values = plain_values(column)
    if not len(values):
        return Recognised(Kind.LABEL, "holds no value")
    n_given = len(column) - column.null_count
    if pa.types.is_integer(kind):
        return _of_wholes(name, values, n_given)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64(), safe=False).to_numpy()
        finite = numbers[np.isfinite(numbers)]
        if len(finite) and np.all(finite == np.rint(finite)) and np.abs(finite).max() < 2**53:
            return _of_wholes(name, pa.array(finite.astype(np.int64)), n_given)
        return Recognised(Kind.NUMBER, "holds numbers with decimals")
    if is_text(kind):
        return _of_text(name, values, n_given)
    return Recognised(Kind.LABEL, f"is stored as {kind}")


def _of_dictionary(column: Any) -> Recognised:
    values = column.type.value_type
    if column.type.ordered:
        chunk = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        return Recognised(Kind.ORDERED, "is an ordered categorical", tuple(map(str, chunk.dictionary.to_pylist())))
    if is_text(values):
        return Recognised(Kind.LABEL, "is a categorical: its values are categories")
    return Recognised(Kind.CODE, "is a categorical: its numbers are names of categories")


def _of_wholes(name: str, values: pa.Array, n_given: int) -> Recognised:
    words = words_of(name)
    if words & _CODE_NAMES:
        return Recognised(Kind.CODE, "is called like a code: such digits are names, not amounts")
    lowest, highest = int(pc.min(values).as_py()), int(pc.max(values).as_py())
    if words & _YEAR_NAMES and lowest >= 1000 and highest <= 2999:
        return Recognised(Kind.DATE, "holds years")
    of_our_time = lowest >= 1800_01_01 and highest <= 2199_12_31
    if of_our_time and len(values) > 1 and fitting_forms(values.cast(pa.int64()).cast(pa.large_string()), [_COMPACT]):
        return Recognised(Kind.DATE, f"holds dates written as {_COMPACT}")
    counting = n_given >= 100 and highest - lowest == n_given - 1
    unique = len(values) == n_given >= 20
    if unique and (words & _ID_NAMES or counting):
        return Recognised(Kind.IDENTIFIER, "a different whole number for every record")
    if len(values) <= FEW_VALUES:
        return Recognised(Kind.WHOLE, _of_few(len(values)))
    if words & SAYS_WHOSE:
        return Recognised(Kind.CODE, "is called like an identifier: such digits are names, not amounts")
    if unique:
        reason = "holds a different whole number for every record: if it names the record, drop it"
        return Recognised(Kind.WHOLE, reason)
    return Recognised(Kind.WHOLE, "holds whole numbers")


def _of_few(different: int) -> str:
    if different == 1:
        return "holds one whole number, the same for every record"
    return f"holds only {different} different whole numbers: if they are names, say so (code)"


def _of_text(name: str, values: pa.Array, n_given: int) -> Recognised:
    if all_match(values, NUMBER):
        return _of_digits(name, values, n_given)
    folded = {value.strip().lower() for value in values.to_pylist()} if len(values) <= 20 else set()
    if len(folded) in (1, 2) and folded <= _YES_NO:
        return Recognised(Kind.YES_NO, "holds yes and no, in whatever words")
    if _half(values, _DATED):
        forms = fitting_forms(values, _WRITTEN)
        reason = f"holds dates written as {forms[0].spelling}" if forms else "holds dates, but not all in one form"
        return Recognised(Kind.DATE, reason)
    if all_match(values, _DATED_OTHERWISE):
        return Recognised(Kind.DATE, "holds dates in a form that is not read: write them like 1980-12-31")
    if all_match(values, _AMOUNT):
        reason = "holds numbers with signs such as % or $, or commas between thousands: write plain ones"
        return Recognised(Kind.NUMBER, reason, certain=False)
    if _half(values, NUMBER):
        astray = len(values) - int(pc.sum(pc.match_substring_regex(values, NUMBER)).as_py())
        several = "value is none" if astray == 1 else "different values are none"
        return Recognised(Kind.LABEL, f"holds numbers, but {astray} {several}: correct that, or say what they are")
    if n_given >= 20 and all_match(values, _EMAIL):
        return Recognised(Kind.IDENTIFIER, "holds addresses of people")
    n_words = float(pc.mean(pc.count_substring(values, " ")).as_py()) + 1.0
    if n_words > 4.0 and len(values) > 0.5 * n_given:
        return Recognised(Kind.TEXT, f"holds sentences, {n_words:.0f} words on average, few of them alike")
    if n_given >= 20 and len(values) > 0.9 * n_given:
        return Recognised(Kind.IDENTIFIER, "nearly every record has a text of its own")
    for scale in _SCALES:
        if len(folded) > 2 and folded <= set(scale):
            spelt = {value.strip().lower(): value for value in values.to_pylist()}
            order = tuple(spelt[value] for value in scale if value in folded)
            return Recognised(Kind.ORDERED, "holds the steps of a scale", order)
    if _half(values, r"\d") and not any_match(values, NUMBER) and 2 * len(values) <= n_given:
        return Recognised(Kind.CODE, "holds digits among its letters, and each value several times", certain=False)
    if 2 * len(values) > n_given >= 20:
        return Recognised(Kind.LABEL, "holds texts, most of them for one or two records")
    return Recognised(Kind.LABEL, "holds words, each of them for several records")


def _of_digits(name: str, values: pa.Array, n_given: int) -> Recognised:
    """Digits that were kept as text: leading zeros, long numbers, or a column that is text by its type."""
    unique = len(values) == n_given >= 20
    if len(values) > 1 and fitting_forms(values, [_COMPACT]) and all_match(values, r"^\s*(1[89]|2[01])"):
        return Recognised(Kind.DATE, f"holds dates written as {_COMPACT}")
    if any_match(values, _LEADING_ZERO):
        if unique:
            return Recognised(Kind.IDENTIFIER, "a different string of digits for every record")
        return Recognised(Kind.CODE, "holds digits with leading zeros: names, not amounts")
    if not all_match(values, _WHOLE):
        return Recognised(Kind.NUMBER, "holds numbers with decimals, stored as text")
    if unique:
        return Recognised(Kind.IDENTIFIER, "a different string of digits for every record")
    several = 2 * len(values) <= n_given
    return Recognised(Kind.CODE, "holds digits that are stored as text: names, not amounts", certain=several)


def _half(values: pa.Array, pattern: str) -> bool:
    return 2 * (pc.sum(pc.match_substring_regex(values, pattern)).as_py() or 0) >= len(values)


def suggested_role(name: str, kind: Kind, distinct: int, rows: int) -> tuple[Role, str]:
    """The role and the reason in words."""
    words = words_of(name)
    if words & _NAMES_PEOPLE and kind not in (Kind.YES_NO, Kind.NUMBER):
        return Role.IDENTIFIER, "by its name it points at a person: it is dropped"
    if kind is Kind.IDENTIFIER:
        return Role.IDENTIFIER, "one value per record points at the record: it is dropped"
    if kind is Kind.CODE and words & SAYS_WHOSE:
        return Role.IDENTIFIER, "by its name it says whose a record is: dropped; protect --person counts by it"
    if kind is Kind.TEXT:
        return Role.IDENTIFIER, "text can hold names and cannot be averaged: dropped"
    if distinct == 0:
        return Role.IDENTIFIER, "it holds nothing: dropped"
    if words & _WANTED:
        return Role.CONFIDENTIAL, "by its name it is what an intruder wants to learn: released, and watched"
    if words & _KNOWN_ELSEWHERE:
        return Role.QUASI, "by its name others may know it of a person: it is protected"
    if distinct == 1:
        return Role.INSENSITIVE, "the same value for every record tells nobody apart"
    if kind is Kind.DATE:
        return Role.QUASI, "others often know when something happened: it is protected"
    return Role.QUASI, "nothing says that others cannot know it: protected unless you know better"
