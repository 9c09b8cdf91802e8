"""When two spellings are the same name."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["CAPITALISED", "GENERATIONS", "INITIAL", "PARTICLES", "TITLE", "folded", "name_key", "name_words"]

# A capital, then letters, hyphens and apostrophes: O'Neil, Taylor-Sabori, McNamara, İşeri. Taken whole or not at all
# (possessive), and of bounded length: patterns built of it stay linear on any text.
CAPITALISED = r"[^\W\d_a-zß-öø-ÿ](?:[^\W\d_]|[-‑–'’](?=[^\W\d_])(?![sS]\b)){1,40}+"
INITIAL = r"[^\W\d_a-zß-öø-ÿ]\.(?:-[^\W\d_a-zß-öø-ÿ]\.)?"
PARTICLES = (
    r"(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|ten|ter|zu|bin|ben|ibn|al|el|af|av|e|y|und|en|"
    r"[Dd]e[\s]?la|van der|von der|v\.)"
)
TITLE = (
    r"(?:M(?:r|rs|s|essrs|me|lle|aster|iss|adam|adame|onsieur|ister)|MR|MRS|MS|Drs?|DR|Prof(?:essor)?s?|Sir|Dame|Lord|Lady|Judge|"
    r"Justice|Herr|Frau|Don|Doña|Father|Fr|Rev(?:erend)?|Sister|Brother|Bishop|Rabbi|Imam|Sheikh|Hon|"
    r"Gen(?:eral)?s?|Col(?:onel)?s?|Lt|Lieutenant|Capt(?:ain)?|Maj(?:or)?|Sgt|Sergeant|Cpl|Corporal|Adm(?:iral)?s?|Commander|"
    r"Amb(?:assador)?s?|Sen(?:ator)?s?|Rep|Congressman|Congresswoman|Governor|Gov|Secretary|Minister|President|Premier|"
    r"Chancellor|Chairman|Marshal|Prince|Princess|King|Queen|Counsellor|Consul|Vice President|Prime Minister|Officer|"
    r"Inspector|Detective|Constable|Agent|Nurse|Attorney|Deputy|Under Secretary|Assistant Secretary)\b\.?"
)
GENERATIONS = frozenset({"jr", "sr", "ii", "iii", "iv"})
_AFTER_COMMA = GENERATIONS | {"esq", "phd", "md", "qc", "kc", "mp"}
_TITLED = re.compile(rf"(?:{TITLE}\s+)+")
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-‑'’][^\W\d_]+)*\.?")
_POSSESSIVE = re.compile(r"['’]s?$")
_TRANSLATED = str.maketrans({"ı": "i", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ß": "ss", "đ": "d", "‑": "-", "–": "-"})


@lru_cache(maxsize=65_536)
def folded(text: str) -> str:
    """Without accents and case: İzmir, Izmir and IZMIR are one spelling."""
    parts = unicodedata.normalize("NFKD", text.translate(_TRANSLATED))
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """What all spellings of a name share: no article, title, possessive, accents, case; one space between words."""
    name = _TITLED.sub("", name.strip(), count=1) if _TITLED.match(name.strip()) else name.strip()
    words = re.findall(r"[^\W_]+", folded(_POSSESSIVE.sub("", name)))
    return " ".join(words[1:] if words and words[0] in ("the", "a", "an") else words)


def name_words(name: str) -> list[str]:
    """The words of a person's name, without titles, the surname last.

    >>> name_words("Dr Anna Smith"), name_words("SMITH, John"), name_words("Smith, Jr.")
    (['Anna', 'Smith'], ['John', 'SMITH'], ['Smith', 'Jr.'])
    """
    surname, comma, given = _POSSESSIVE.sub("", name).partition(",")
    words = [_NAME_WORD.findall(_TITLED.sub("", part.strip())) for part in (surname, given)]
    turned = comma and words[1] and folded(words[1][0]).rstrip(".") not in _AFTER_COMMA
    return words[1] + words[0] if turned else words[0] + words[1]
