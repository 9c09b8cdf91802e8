"""The terms of a policy in a text, by stem, plural, hyphenation and small misspellings; blocks where they stand close.

A term is compared by the stems of its words, written as one: "counter-intelligence", "counter intelligence" and
"counterintelligence" are the same, and "weapons systems" is "weapon system". A misspelling has a letter too many, too
few, another, or two in the wrong order. Two words that differ by so little have a form in common once a letter is left
out of each (Garbe's SymSpell): comparing takes a few lookups per word, however many words are known. Hits near each
other are a cluster; a cluster is widened to the sentences or paragraphs it is in, and proposed for removal.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from shoal.errors import InputError
from shoal.results.sanitizing import Block, Hit
from shoal.sanitizer.policies.words import Stems, TextWords, are_forms_of_one_word, join_overlapping, plain, units_of
from shoal.terms.language import stop_words
from shoal.terms.lexicon import lexicon

SHORTEST = 6  # letters of a word that may be misspelt: shorter ones are too near each other
LONGEST = 30  # letters: what is longer is no word
LONG = 12  # letters from which on two errors are allowed
MOST_WORDS = 10  # of a term in a text
LONGEST_SYMBOL = 3  # letters: Pu
SHORTEST_NAME = 7  # letters of a word with a capital that may be misspelt: most are names
HYPHENS = "-\u2010\u2011"
SHORTEST_PART = 3  # letters of a part, where a word is written as two ("war ship")


@dataclass(frozen=True)
class Term:
    """A word or several, the concept of the policy they stand for, and its topic."""

    text: str
    concept: str
    topic: str


class Misspellings:
    """Known words, to be found by what is nearly them. The first letter must be right: errors there are rare."""

    def __init__(self, words: Iterable[str]) -> None:
        self._known: dict[str, list[str]] = {}
        for word in sorted({word for word in words if SHORTEST <= len(word) <= LONGEST and word.isalpha()}):
            for form in _shortened(word):
                self._known.setdefault(form, []).append(word)

    def meant_by(self, word: str) -> str | None:
        """The nearest of the known words, the first in the alphabet of equally near ones; None if none is near.

        >>> Misspellings(["missile", "missive"]).meant_by("misslie")
        'missile'
        """
        if not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
            return None
        near = {known for form in _shortened(word) for known in self._known.get(form, ()) if known[0] == word[0]}
        graded = [(edits_between(word, known), known) for known in near]
        edits, known = min(graded, default=(LONG, ""))
        return known if edits <= _allowed(min(len(word), len(known))) else None


def _allowed(length: int) -> int:
    return 2 if length >= LONG else 1


def _shortened(word: str) -> Iterator[str]:
    """The word, and the word without any letter, or any two, but the first, which is right."""
    yield word
    for n_missing in range(1, _allowed(len(word)) + 1):
        for dropped in combinations(range(1, len(word)), n_missing):
            yield "".join(letter for index, letter in enumerate(word) if index not in dropped)


def edits_between(first: str, second: str) -> int:
    """The fewest insertions, deletions, substitutions and swaps of neighbours from a word to another.

    No letter is edited twice ("optimal string alignment").
    """
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            edits = min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                edits = min(edits, before[column - 2] + 1)
            current.append(edits)
        before, above = above, current
    return above[-1]


class TermFinder:
    """Finds terms; made once and used for many texts.

    >>> finder = TermFinder([Term("nerve gas", "poison gas", "h"), Term("submarine", "ship", "a")])
    >>> [(hit.start, hit.end, hit.term) for hit in finder.find("Nerve-gases on a subamrine.")]
    [(0, 11, 'nerve gas'), (17, 26, 'submarine')]
    """

    def __init__(self, terms: Iterable[Term], ignore: Iterable[str] = ()) -> None:
        self._stems = Stems()
        self._ignored = {" ".join(map(plain, TextWords(words).written)) for words in ignore}
        self._stop_words = stop_words("english")
        self._terms: dict[str, list[_TermSpelling]] = {}
        parts: dict[str, None] = {}
        first_stems: set[str] = set()
        for term in terms:
            spelling = _TermSpelling(term, self._stems)
            if not spelling.parts:  # nothing but marks
                continue
            parts |= dict.fromkeys(spelling.parts)
            stems = self._stems.of(spelling.parts)
            first_stems.add(stems[0])
            for key in dict.fromkeys(("".join(stems), *self._stems.of(["".join(spelling.parts)]))):
                self._terms.setdefault(key, []).append(spelling)
        self._beginnings = {key[:length] for key in self._terms for length in range(1, len(key) + 1)}
        self._first_stems = first_stems
        self._known_stems = set(self._stems.of(parts))
        self._misspellings = Misspellings(parts)

    def find(self, text: str) -> list[Hit]:
        """All hits in the order of the text; of those that overlap, the first and longest."""
        words = TextWords(text)
        forms = self._forms_of(set(words.written))
        possible = {word for word, form in forms.items() if self._may_begin_a_term(word, form)}
        hits: list[Hit] = []
        next_free = 0
        for index, word in enumerate(words.written):
            if word in possible and index >= next_free:
                term, n_words = self._longest_at(words, index, forms)
                if term is not None:
                    next_free = index + n_words
                    end = words.ends[next_free - 1]
                    hits.append(Hit(words.start(index), end, term.text, term.concept, term.topic))
        return hits

    def _forms_of(self, spellings: set[str]) -> dict[str, _Form]:
        """The forms of all words of a text; a misspelt word has those of the word that was meant."""
        ordered = sorted(spellings)
        plain_words = [self._stems.singular(plain(word)) for word in ordered]
        forms = dict(zip(ordered, map(_Form, plain_words, self._stems.of(plain_words)), strict=True))
        for word, (written, stem) in forms.items():
            shortest = SHORTEST_NAME if word[0].isupper() else 0
            if stem not in self._known_stems and len(word) >= shortest and not self._is_a_word(written):
                meant = self._misspellings.meant_by(written) or self._misspellings.meant_by(written.removesuffix("s"))
                if meant is not None:
                    forms[word] = _Form(meant, self._stems.of([meant])[0])
        return forms

    def _is_a_word(self, written: str) -> bool:
        """Whether the word is one of its own, and no misspelling of another."""
        return written in lexicon() or written in self._stop_words or written.removesuffix("es") in lexicon()

    def _may_begin_a_term(self, word: str, form: _Form) -> bool:
        """Stop words begin none, unless it is written so; the A of A.B.M. is no stop word."""
        if form.stem in self._first_stems:
            return True
        return form.stem in self._beginnings and (word.isupper() or form.plain not in self._stop_words)

    def _longest_at(self, words: TextWords, first: int, forms: dict[str, _Form]) -> tuple[Term | None, int]:
        """The longest term that begins with a word, and how many words of the text it has."""
        joined, longest, n_words = "", None, 0
        for index in range(first, min(first + MOST_WORDS, len(words.written))):
            if index > first and not words.are_joined(index - 1):
                break
            joined += forms[words.written[index]].stem
            for spelling in self._terms.get(joined, ()):
                if self._fits(words, slice(first, index + 1), spelling, forms):
                    longest, n_words = spelling.term, index + 1 - first
                    break
            if joined not in self._beginnings:
                break
        return longest, n_words

    def _fits(self, words: TextWords, chosen: slice, spelling: _TermSpelling, forms: dict[str, _Form]) -> bool:
        """Whether what is written is a form of the term, with its capitals and not to be ignored."""
        written = words.written[chosen]
        if not spelling.agrees(written) or " ".join(map(plain, written)) in self._ignored:
            return False
        parts = [forms[word].plain for word in written]
        if len(parts) == len(spelling.parts):
            return all(map(are_forms_of_one_word, spelling.parts, parts))
        gaps = words.gaps[chosen][:-1]
        if spelling.is_abbreviation:
            return not any(map(str.isspace, gaps))
        if not all(gap.isspace() or gap in HYPHENS for gap in gaps):
            return False
        if any(map(str.isspace, gaps)) and any(len(p) < SHORTEST_PART or p in self._stop_words for p in parts):
            return False  # "arm our people" has no armour
        return are_forms_of_one_word("".join(spelling.parts), "".join(parts))


class _Form(NamedTuple):
    """A word as it is compared."""

    plain: str
    stem: str


class _TermSpelling:
    """A term with its words, and the capitals that a text must have as well."""

    def __init__(self, term: Term, stems: Stems) -> None:
        self.term = term
        self.parts = [stems.singular(plain(word)) for word in TextWords(term.text).written]
        self._letters = "".join(filter(str.isalnum, term.text))
        self._is_name = self._letters[:1].isupper()
        # CIA, SAM, Pu: as they are, and in the plural
        self.is_abbreviation = self._is_name and (self._letters.isupper() or len(self._letters) <= LONGEST_SYMBOL)

    def agrees(self, written: list[str]) -> bool:
        """SAM is no Sam, and Jay no jay."""
        if self.is_abbreviation:
            return "".join(written) in (self._letters, f"{self._letters}s")
        return not self._is_name or written[0][0].isupper()


REACH = 150  # characters between two hits of a cluster at most: about 25 words
FEWEST = 2  # hits of a cluster at least


def propose_blocks(
    text: str, hits: Sequence[Hit], unit: str = "sentence", reach: int = REACH, fewest: int = FEWEST
) -> tuple[Block, ...]:
    """Blocks that do not overlap, the densest first: hits per word, the earlier one of equally dense ones first.

    >>> text = "It rained. The submarine fired a missile. We had lunch."
    >>> hits = [Hit(15, 24, "submarine", "ship", "a"), Hit(33, 40, "missile", "weapon", "a")]
    >>> [(text[block.start : block.end], round(block.density, 2)) for block in propose_blocks(text, hits)]
    [('The submarine fired a missile.', 0.4)]
    """
    if reach < 0 or fewest < 1:
        raise InputError(f"reach={reach} and fewest={fewest} give no blocks; give at least 0 and 1")
    units = units_of(text, unit)
    ordered = sorted(hits, key=lambda hit: (hit.start, hit.end))
    clusters = [cluster for cluster in _clusters(ordered, reach) if len(cluster) >= fewest]
    stretches = join_overlapping(_widened(cluster, units) for cluster in clusters)
    starts = [hit.start for hit in ordered]
    blocks = []
    for start, end in stretches:
        inside = tuple(ordered[bisect_left(starts, start) : bisect_left(starts, end)])
        blocks.append(Block(start, end, inside, len(inside) / len(TextWords(text[start:end]).written)))
    return tuple(sorted(blocks, key=lambda block: (-block.density, block.start)))


def _clusters(hits: Sequence[Hit], reach: int) -> Iterator[list[Hit]]:
    """Hits in runs; from each to the next it is not farther than the reach."""
    cluster: list[Hit] = []
    end = 0
    for hit in hits:
        if cluster and hit.start - end > reach:
            yield cluster
            cluster = []
        cluster.append(hit)
        end = max(end, hit.end)
    if cluster:
        yield cluster


def _widened(cluster: Sequence[Hit], units: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """From the beginning of the unit with the first hit to the end of the unit with the last."""
    start, end = cluster[0].start, max(hit.end for hit in cluster)
    first = units[max(bisect_right(units, start, key=lambda unit: unit[0]) - 1, 0)][0]
    last = units[max(bisect_right(units, end - 1, key=lambda unit: unit[0]) - 1, 0)][1]
    return min(first, start), max(last, end)
