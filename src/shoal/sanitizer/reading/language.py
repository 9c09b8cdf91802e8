"""The language of a text, by its script and the words that every text of a language is full of."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from shoal.terms.lexicon import word_set

NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "pl": "Polish",
    "sv": "Swedish",
    "da": "Danish",
    "nb": "Norwegian",
    "fi": "Finnish",
    "tr": "Turkish",
    "ro": "Romanian",
    "cs": "Czech",
    "hu": "Hungarian",
    "ca": "Catalan",
}
_WORDS = {
    "en": word_set(
        "the of and to in is was that for it with as his he on be at by this had not are but from or have an"
    ),
    "de": word_set(
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden"
    ),
    "fr": word_set(
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec"
    ),
    "es": word_set("de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya fue"),
    "it": word_set("di e il la che in un a per è una sono con non del si da al le dei nel della alla come ma più gli"),
    "pt": word_set("de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu"),
    "nl": word_set(
        "de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit door naar"
    ),
    "pl": word_set("w i na z do się nie że to jest o jak po co tak za od jego przez ale był dla oraz ze jako przy"),
    "sv": word_set("och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så"),
    "da": word_set("og i at det er en til af på der for den med som ikke de har et han var sig fra jeg om men efter"),
    "nb": word_set("og i det er en på til som av for at med den ikke de har et han var seg fra jeg om men etter ble"),
    "fi": word_set("ja on ei se että oli hän joka mutta ovat kun myös niin hänen ole sen tai mukaan jo vain kuin"),
    "tr": word_set("ve bir bu da de için ile olarak olan çok daha gibi ise en sonra kadar ne ya her o ama var değil"),
    "ro": word_set("de și în a la cu o pe care nu din un să că este au mai pentru prin sau se al fost ce dar lui"),
    "cs": word_set("a v se na je že s z do to o i jako za by pro ve po který jsou od ale jeho byl při které aby"),
    "hu": word_set("a az és hogy nem is egy ez meg csak volt de mint már el még ezt van azt ha sem vagy fel"),
    "ca": word_set("de la i el que a en els les del per un amb una no és al es va dels seu com més són han"),
}
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST = 12  # words that say which language a text is in
_LEAST = 0.12  # share of the words that must be those of a language
_DIFFERENT = 4  # words that the language expected does not have
_CLEARER = 1.5  # times as many as of the language expected


def foreign_language(text: str, expected: str) -> str | None:
    """What a text is written in if that is clearly not the language expected; None otherwise.

    >>> foreign_language("Der Patient ist im Jahr 1961 in Graz geboren und wird von der Klinik betreut.", "en")
    'German'
    """
    words = [word.lower() for word in _WORD.findall(text)]
    letters = Counter(_script(letter) for letter in "".join(words)[:20_000])
    if letters and letters["LATIN"] * 2 < letters.total():
        return f"the {letters.most_common(1)[0][0].title()} script"
    if len(words) < _FEWEST or expected not in _WORDS:
        return None
    counts = Counter(words)
    own = {code: [word for word in known if counts[word] and len(word) > 1] for code, known in _WORDS.items()}
    shares = {code: sum(counts[word] for word in known) / len(words) for code, known in own.items()}
    best = max(shares, key=lambda code: shares[code])
    different = set(own[best]) - _WORDS[expected]
    clear = len(different) >= _DIFFERENT and shares[best] >= max(_LEAST, _CLEARER * shares[expected])
    return NAMES[best] if clear and best != expected else None


def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "UNKNOWN").split()[0]
