"""How sanitizing changes what a search engine finds, and whether it finds the originals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.results.assessment import as_data
from shoal.results.attacks import Rate
from shoal.results.notebook import RATES, html_table, rate_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SearchFigures:
    """The answer to one query in one collection, judged by the documents that are truly relevant."""

    precision: float  # P: of the documents above the threshold, those truly relevant
    recall: float  # R: of the truly relevant, those above the threshold
    f: float  # F: harmonic mean of the two
    coverage: float  # C: of the truly relevant, those returned at any rank
    novelty: float  # N: others above the threshold / (truly relevant + those)
    average_relevance: float  # AR: of the documents above the threshold
    returned: int  # TR: documents with a relevance above 0
    random: float  # PR: of the documents above the threshold, those of a random set


@dataclass(frozen=True)
class Changes:
    """How the figures of a query changed, each in per cent of what it was; from 0, in points."""

    precision: float
    recall: float
    f: float
    coverage: float
    novelty: float
    average_relevance: float
    returned: float
    random: float
    nmi: float  # what is missing to the same answer: 100 · (1 - NMI)

    @property
    def total(self) -> float:
        """IL of a utility query, or change of risk of a risk query; negative: less is found, -75: nothing is."""
        weighed = 2 * self.f + self.coverage - self.novelty + self.returned - self.random - 2 * self.nmi
        return weighed / 8


@dataclass(frozen=True)
class QueryChange:
    """One query, asked before and after."""

    name: str
    words: str
    threshold: float  # least relevance of a relevant document, in both collections
    relevant: int  # documents that are truly relevant
    before: SearchFigures
    after: SearchFigures
    nmi: float  # normalised mutual information of the two answers: 1 the same, 0 unrelated

    @property
    def changes(self) -> Changes:
        """Each figure's change."""
        names = [name for name in Changes.__dataclass_fields__ if name != "nmi"]
        changed = {name: _percentage(getattr(self.before, name), getattr(self.after, name)) for name in names}
        return Changes(**changed, nmi=100.0 * (1.0 - self.nmi))


@dataclass(frozen=True)
class SearchChange:
    """What several queries find after sanitizing, compared with before."""

    queries: tuple[QueryChange, ...]  # those that found something before
    empty: tuple[str, ...]  # names of the others
    mean: float  # of the queries' totals, in per cent
    low: float | None  # 95 % interval of the mean over queries of this kind; None of a single query
    high: float | None

    def rows(self, kind: str) -> list[dict[str, Any]]:
        """A line per query: its figures before, after, and what changed."""
        return [
            {"kind": kind, "query": q.name, "words": q.words, "threshold": q.threshold, "relevant": q.relevant}
            | {f"{name}_before": value for name, value in vars(q.before).items()}
            | {f"{name}_after": value for name, value in vars(q.after).items()}
            | {"nmi": q.nmi, "change": q.changes.total}
            for q in self.queries
        ]


@dataclass(frozen=True)
class Searched:
    """A search for the originals of sanitized texts with some or all of the words that are left."""

    words: int | None  # of each text, the heaviest; None: all
    first: Rate  # originals that come first
    ten: Rate  # originals among the first ten
    median_rank: float
    median_low: float  # 95 % interval of the median
    median_high: float


@dataclass(frozen=True)
class Reidentification:
    """Sanitized texts searched for in a background collection that has their originals."""

    documents: int  # that were searched for
    background: int  # documents that were searched
    searches: tuple[Searched, ...]  # with few words, then with more, the last with all
    named: Rate  # originals named with confidence; the control: others named for a text whose original is not there
    random_rank: float  # median rank that guessing gives
    ranks: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)  # with all words, in order

    @property
    def with_all_words(self) -> Searched:
        """The search with everything that is left."""
        return self.searches[-1]


@dataclass(frozen=True)
class TextAssessment:
    """Sanitized texts judged against their originals: what searches lose, and whether the originals can be found."""

    rows: int
    how: str  # how the texts were put side by side
    words_left: float  # share of the words of the originals that are still there
    utility: SearchChange | None  # None: no query finds anything
    risk: SearchChange | None
    policy: str  # whose topics the risk queries are
    attack: Reidentification
    unsanitized: Reidentification  # the same search with the originals' words
    smallest_group: int  # fewest sanitized texts that are equal
    unique: int
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = field(default=(), repr=False)  # of the texts

    def data(self) -> dict[str, Any]:
        """All of it as JSON has it, ranks of single documents aside."""
        data: dict[str, Any] = as_data(self)
        del data["names"]
        for attack in ("attack", "unsanitized"):
            del data[attack]["ranks"]
        for kind in ("utility", "risk"):
            change: SearchChange | None = getattr(self, kind)
            for query, entry in zip(change.queries, data[kind]["queries"], strict=True) if change else ():
                entry["changes"] = as_data(query.changes) | {"total": query.changes.total}
        return data

    def _repr_html_(self) -> str:
        sentence = f"{self.rows:,} texts; {self.words_left:.1%} of their words are left."
        rates = (self.attack.with_all_words.first, self.unsanitized.with_all_words.first)
        rows = [(name, *row[1:]) for name, row in zip(("sanitized", "not sanitized"), rate_rows(rates), strict=True)]
        return html_table(sentence, ("Originals that come first", *RATES[1:]), rows)

    def found(self) -> list[dict[str, Any]]:
        """A line per text that was searched for: the place of its original, and its chance to be named."""
        ranks, chances, rows = self.attack.ranks, self.attack.named.chances, self.attack.named.targets
        assert ranks is not None
        assert chances is not None
        assert rows is not None
        lines = zip(rows.tolist(), ranks.tolist(), chances.tolist(), strict=True)
        return [{"document": self.names[row], "rank": rank, "named": chance} for row, rank, chance in lines]

    def table(self) -> list[dict[str, Any]]:
        """A line per query."""
        kinds = (("utility", self.utility), ("risk", self.risk))
        return [row for kind, change in kinds if change is not None for row in change.rows(kind)]


def _percentage(before: float, after: float) -> float:
    """The change in per cent of what it was; from 0, in points, as a share that was 0 has no relative change."""
    return 100.0 * (after - before) / before if before else 100.0 * after
