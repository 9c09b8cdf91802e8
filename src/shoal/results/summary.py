"""What a release's report says, and what a file says of its columns besides values, as plain data.

Everything in a summary is handed out with the release, so it holds aggregates only: never a word that was
withheld, an extreme value, a name or a path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shoal.language import ENGLISH
from shoal.request.options import GroupPromises
from shoal.results.attacks import Rate
from shoal.results.claims import NOTHING_MORE, Closeness, Crowd, Diversity, Withheld

Code = float | str


@dataclass(frozen=True)
class ColumnDictionary:
    """A column of a statistics package. Where every value has a label, the column holds labels in place of codes."""

    label: str = ""  # of the column
    values: tuple[tuple[Code, str], ...] = ()  # codes and their labels
    missing: tuple[tuple[Code, Code], ...] = ()  # codes that stand for a missing value, from the first to the last
    letters: bool = False  # missing values .a to .z are among the numbers, which are text therefore
    category: bool = False  # the column holds labels, not codes
    measure: str = ""  # nominal, ordinal or scale


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def in_words(self) -> str:
        """As a note says it."""
        between = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}.get(self.delimiter, self.delimiter)
        comma = ", decimal commas" if self.decimal == "," else ""
        return f"{self.encoding}, {between} between cells{comma}"


IN_WORDS = {
    "mdav": "microaggregation (MDAV)",
    "ranking": "microaggregation of each column on its own",
    "z-scores": "microaggregation along the sum of z-scores",
    "principal-component": "microaggregation along the first principal component",
    "rank-swap": "rank swapping",
    "noise": "added noise",
    "correlated-noise": "added noise that keeps correlations",
    "mixed": "microaggregation (MDAV) of numbers and labels together",
    "common-values": "groups made for common values",
    "sa-mdav": "semantic adaptive microaggregation (SA-MDAV)",
}


@dataclass(frozen=True)
class Distances:
    """Share of record pairs at each distance, in equal bins, before and after protection."""

    edges: tuple[float, ...]  # bins + 1 edges
    before: tuple[float, ...]  # shares that sum to 1
    after: tuple[float, ...]
    pairs: int  # pairs looked at
    sampled: bool  # a sample of the records, not all
    order_kept: float | None = None  # of two pairs, how often the nearer one stays the nearer; 0.5 is chance


@dataclass(frozen=True)
class StatedLoss:
    """The information loss as far as it is published: as it was measured, or between two tenths and why."""

    low: float
    high: float  # equal to low when the loss is published as it was measured
    sse: float | None = None  # None: not published
    ssa: float | None = None
    reason: str | None = None  # why it is not published as it was measured


@dataclass(frozen=True)
class TermUse:
    """A term that survived: in how many released documents, with what mean weight there."""

    term: str
    documents: int
    weight: float


@dataclass(frozen=True)
class WordsLeftOut:
    """How many different words, and how many occurrences of them, one step left out."""

    step: str  # e.g. "stop words", "not in WordNet", "in fewer than 5 documents"
    words: int
    occurrences: int


@dataclass(frozen=True)
class ColumnChange:
    """What protection did to one numeric column; figures are None where one or few records would decide them.

    Spread is the standard deviation, extreme values drawn in (see `extremes`).
    """

    name: str
    median: float | None  # of the released column
    spread_before: float | None
    spread_after: float | None
    loss: float | None  # share of this column's variance that was lost, 0 to 1
    step: float | None = None  # published means are multiples of it; None: they were not rounded
    withheld: str | None = None  # why the figures are not published
    unit: str | None = None  # what spread and step count, such as days; None for plain numbers
    median_in_words: str | None = None  # the median as the release writes it, where that is no plain number


@dataclass(frozen=True)
class CellShares:
    """What is released of a protected column, as shares of its cells."""

    name: str
    true: float  # as the original was
    coarser: float  # a band, set, class or concept that the original is in
    changed: float  # another value
    blank: float  # nothing, where there was a value


@dataclass(frozen=True)
class TextColumn:
    """How to read a column of a text file: 007 is text, and so is a column that has it."""

    name: str
    type: str  # string, int64 or double
    missing: tuple[str, ...] = ()  # how a column of numbers writes that a value is missing


@dataclass(frozen=True)
class Concept:
    """A line of a column's tree of concepts."""

    label: str
    level: int  # 0 at the top of the tree
    before: int | None  # records that meant exactly this, to multiples of k; None: there were some, but fewer than k
    after: int  # records of the release that say this


@dataclass(frozen=True)
class Generalisation:
    """What protection did to one column of labels, as a tree: a concept's own come below it."""

    name: str
    concepts: tuple[Concept, ...]
    unnamed: int  # records whose value is not in the tree, since fewer than k had it; to multiples of k
    loss: float | None  # mean distance between a record's label and what replaced it, 0 to 1; None: not published
    category: bool = False  # plain categories: the most frequent value stands for a group


@dataclass(frozen=True)
class DocumentFigures:
    """What only a release of documents has to say."""

    kind: ClassVar[str] = "documents"

    form: str  # what is published of a group, as the certificate names it
    loss_of_means: float | None  # what exact means of the same groups would have lost, 0 to 1
    terms: tuple[TermUse, ...]  # the most used
    vocabulary: int  # number of different terms released
    stemmed: bool  # terms are stems, not words
    in_meaning: bool  # terms are words and concepts above them, distances are those of meaning
    words_read: int  # word occurrences in the input
    words_left_out: tuple[WordsLeftOut, ...]
    record: str = "document"  # what one record is called; the words of a "basket" are its items


@dataclass(frozen=True)
class SketchFigures:
    """What only a release of sketches has to say. It names no term, and not how many there are."""

    kind: ClassVar[str] = "sketches"

    form: str  # what a sketch is made of, as the certificate names it
    lengths: tuple[tuple[int, int], ...]  # (components, how many sketches), rising
    words_read: int
    words_left_out: tuple[WordsLeftOut, ...]
    condition: str | None = None  # what single records meet, which only the owner can know; None for a crowd
    record: str = "document"

    @property
    def usual_length(self) -> int:
        """Half of the sketches have fewer components, or as many; half have more, or as many."""
        half = sum(many for _, many in self.lengths) / 2
        seen = 0
        for length, many in self.lengths:
            seen += many
            if seen >= half:
                return length
        return 0

    @property
    def standard_error(self) -> float:
        """Of the cosine of two records that have little in common, by sketches of the usual length."""
        return 1.0 / math.sqrt(self.usual_length)


@dataclass(frozen=True)
class WeightFigures:
    """How the sampling weights of a release were made: sums over all records, which none decides."""

    column: str
    constant: bool  # within every crowd, before the release
    calibrated: tuple[str, ...]  # columns whose weighted totals hold; none: means of crowds
    step: float  # to multiples of which weights are rounded
    total_change: float  # of the sum of all weights, relative
    largest_adjustment: float | None  # of a crowd's mean weight by calibration, relative


@dataclass(frozen=True)
class TableFigures:
    """What only a release of a table has to say."""

    kind: ClassVar[str] = "table"
    record: ClassVar[str] = "record"

    columns: tuple[ColumnChange, ...] = ()  # quasi-identifiers that are numbers
    treated: tuple[tuple[str, str], ...] = ()  # columns that are kept, generalised or blanked
    cells: tuple[CellShares, ...] = ()  # of each quasi-identifier, rounded; empty: not published
    generalisations: tuple[Generalisation, ...] = ()  # quasi-identifiers that are labels
    coarsened: tuple[tuple[str, int], ...] = ()  # columns aggregated once more, and the least of a class there
    linked: float | None = None  # chance to link a record with its original by equal labels (RL), if all are labels
    recoded: tuple[tuple[str, str], ...] = ()  # columns made coarser before anything was counted, and the rule
    insensitive: tuple[str, ...] = ()  # columns released as they are, that the owner called harmless
    allowed: tuple[str, ...] = ()  # of them and of the confidential columns, those that single records out
    dropped_columns: int = 0  # identifiers and columns without a role
    text_columns: tuple[TextColumn, ...] = ()  # all released columns, in order, if they are in a text file
    above_optimum: float | None = None  # SSE is at most this share above the least possible, if that is known
    medians_of: tuple[str, ...] = ()  # ordered labels
    weights: WeightFigures | None = None
    gaps: tuple[tuple[str, int], ...] = ()  # columns in which a gap stands for some groups, and records of these


@dataclass(frozen=True)
class Summary:
    """One release in figures."""

    k: int  # 1 when no crowd is promised
    method: str  # in words, e.g. "spherical MDAV"
    promises_k: bool  # False for methods that mask without groups over all quasi-identifiers
    rows: int  # records released
    smallest_group: int  # fewest rows that share a value of the columns protected together
    group_sizes: tuple[tuple[int, int], ...]  # groups of identical records: (size, how many), rising size
    loss: StatedLoss | None  # None: no record was replaced by another
    distances: Distances
    withheld: tuple[Withheld, ...]
    diversity: tuple[Diversity, ...]
    figures: DocumentFigures | SketchFigures | TableFigures
    attacks: tuple[Rate, ...] = ()  # what an intruder finds
    attacked: bool = True  # False: the owner left the attacks out
    closeness: tuple[Closeness, ...] = ()  # of each confidential column, where promised
    likeness: tuple[tuple[str, float], ...] = ()  # by confidential column, the largest gain of a value, where promised
    files: tuple[tuple[str, str], ...] = ()  # (file name, what it is), for the reader
    promised: GroupPromises = NOTHING_MORE  # of every group, beside k
    visible: tuple[tuple[str, str, int], ...] = ()  # columns, values that keep their share, and rows that show each
    crowds: tuple[Crowd, ...] = ()  # groups by their records, people and largest own k
    language: str = ENGLISH  # of the pages
