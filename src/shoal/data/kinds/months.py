"""The names of months in English, German, French and Spanish, long and short, as dates are written with them."""

from __future__ import annotations

import unicodedata

_LONG = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
_SHORT = {
    "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "en, Sept": "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec",
    "de": "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "de, Mrz": "Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
}
TABLES = tuple(tuple(names.split()) for names in (*_LONG.values(), *_SHORT.values()))


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.strip().rstrip(".").replace("ae", "a")).encode("ascii", "ignore")
    return plain.decode().lower()


NUMBER_OF = {_folded(name): number for table in TABLES for number, name in enumerate(table, 1)}


def month_number(name: str) -> int:
    """1 to 12; 0 for a word that names no month.

    >>> month_number("März"), month_number("Dec."), month_number("août"), month_number("ward")
    (3, 12, 8, 0)
    """
    return NUMBER_OF.get(_folded(name), 0)


def spelt_like(names: list[str]) -> tuple[str, ...] | None:
    """The twelve names of the language and length in which these are written, in their case and with their points.

    >>> spelt_like(["MAR", "OCT"])[11]
    'DEC'
    """
    folded = {_folded(name) for name in names}
    table = next((table for table in TABLES if folded <= {_folded(name) for name in table}), None)
    if table is None or not names:
        return None
    point = "." if all(name.endswith(".") for name in names) else ""
    case = str.upper if all(name.isupper() for name in names) else str.lower if names[0].islower() else str.title
    return tuple(case(name) + point for name in table)
