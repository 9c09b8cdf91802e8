"""What protection cost, and what a protected version is still good for, beside what the original gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.language import sayable


@dataclass(frozen=True)
class Loss:
    """Within-group error, between-group error, and the share of information lost."""

    sse: float
    ssa: float

    def __add__(self, other: Loss) -> Loss:
        return Loss(self.sse + other.sse, self.ssa + other.ssa)

    def above(self, nothing: float) -> Loss:
        """The loss, errors up to `nothing` taken for none."""
        return Loss(*(error if error > nothing else 0.0 for error in (self.sse, self.ssa)))

    @property
    def information_loss(self) -> float:
        """SSE / (SSE + SSA): 0 nothing was lost, 1 all records became one."""
        total = self.sse + self.ssa
        return self.sse / total if total > 0 else 0.0


@dataclass(frozen=True)
class ColumnLoss:
    """How far one column moved, relative to itself."""

    column: str
    values: float
    mean: float
    variance: float


@dataclass(frozen=True)
class PairLoss:
    """What became of the covariance and the correlation of two columns."""

    one: str
    other: str
    covariance: float  # relative change
    correlation: float  # relative change
    before: float  # the correlation in the original
    after: float


@dataclass(frozen=True)
class ProbabilisticLoss:
    """PIL: how surely each statistic is seen to have changed; 0 not at all, 1 beyond doubt."""

    means: float
    variances: float
    covariances: float
    correlations: float
    quantiles: float

    @property
    def mean(self) -> float:
        return (self.means + self.variances + self.covariances + self.correlations + self.quantiles) / 5


@dataclass(frozen=True)
class TableLoss:
    """What masking cost a numeric table: mean relative changes (IL1 to IL5), PIL, and the squared error."""

    values: float  # IL1
    means: float  # IL2
    covariances: float  # IL3
    variances: float  # IL4
    correlations: float  # IL5
    by_scale: int  # relative changes whose denominator was zero, and the scale of the attribute was taken
    probabilistic: ProbabilisticLoss
    squared: Loss
    columns: tuple[ColumnLoss, ...] = field(repr=False)
    pairs: tuple[PairLoss, ...] = field(repr=False)

    @property
    def mean_change(self) -> float:
        """IL, in per cent: the mean of IL1 to IL5. It has no upper bound."""
        return 100.0 * (self.values + self.means + self.covariances + self.variances + self.correlations) / 5


@dataclass(frozen=True)
class LabelColumnLoss:
    """How far the labels of one column moved."""

    column: str
    values: float  # mean distance of a label to its replacement, 0 to 1
    table: float  # half the sum of differences of the shares of all labels


@dataclass(frozen=True)
class LabelLoss:
    """What masking cost columns of labels: values, tables of one and of two columns, and the squared error."""

    values: float
    one_way: float
    two_way: float
    squared: Loss  # L is its share of information lost
    columns: tuple[LabelColumnLoss, ...] = field(repr=False)

    @property
    def mean_change(self) -> float:
        """IL of labels, in per cent: the mean of the three."""
        return 100.0 * (self.values + self.one_way + self.two_way) / 3


@dataclass(frozen=True)
class QueryAgreement:
    """How alike the answers to one query are from the original and the protected space."""

    kind: str  # which terms are asked for, e.g. "most frequent terms"
    terms: int  # in the query
    best: int  # documents in an answer, at most
    f1: float  # expected, ties broken at random
    ceiling: float  # of the original with itself, ties broken anew: below 1 where its last documents tie
    baseline: float  # of an answer drawn at random


@dataclass(frozen=True)
class ClassifierScore:
    """How well a classifier does, by what it was trained on and what it was tested on."""

    classifier: str
    train: str  # "original" or "protected"
    test: str
    jaccard: float
    accuracy: float
    macro_f1: float


@dataclass(frozen=True)
class ClusterAgreement:
    """How alike the clusters of the original and the protected space are."""

    clusters: int
    ari: float  # adjusted Rand index: 1 the same partition, 0 as alike as by chance
    ceiling: float  # of the original with itself, clustered from other starts


@dataclass(frozen=True)
class SpaceProfile:
    """A vector space in a few figures."""

    terms_per_document: float
    mean_weight: float  # of the terms that a document has, scaled to unit length
    distances: tuple[float, ...]  # share of pairs of documents at each tenth of the cosine distance


@dataclass(frozen=True)
class SpaceUtility:
    """What a protected vector space is still good for, beside what the original gives."""

    documents: int
    terms: int
    loss: Loss
    original: SpaceProfile
    protected: SpaceProfile
    pairs: int  # of documents whose distance was taken
    sampled: bool  # whether these are a sample
    order_kept: float | None  # of two pairs, how often the nearer one stays the nearer; 0.5 is chance
    queries: tuple[QueryAgreement, ...] = field(repr=False)
    classifiers: tuple[ClassifierScore, ...] = field(repr=False)  # none without labels
    clusters: tuple[ClusterAgreement, ...] = field(repr=False)

    @property
    def query_f1(self) -> float:
        """Mean over all queries."""
        return sum(query.f1 for query in self.queries) / len(self.queries)

    @property
    def ari(self) -> float | None:
        """Mean over the numbers of clusters; None for a space too small to cluster."""
        return sum(agreement.ari for agreement in self.clusters) / len(self.clusters) if self.clusters else None

    def rows(self) -> list[dict[str, str | float]]:
        """All figures as a table: what is measured, of what, what the original gives and what the protected space."""
        one, other = self.original, self.protected
        table = [
            ("information loss", "SSE / (SSE + SSA)", 0.0, self.loss.information_loss),
            ("terms per document", "mean", one.terms_per_document, other.terms_per_document),
            ("weight", "mean", one.mean_weight, other.mean_weight),
        ]
        table += [
            ("share of distances", f"from {tenth / 10:.1f}", before, after)
            for tenth, (before, after) in enumerate(zip(one.distances, other.distances, strict=True))
        ]
        if self.order_kept is not None:
            table.append(("nearer pair still the nearer", "two pairs of documents", 1.0, self.order_kept))
        table += [
            ("query F1", f"{query.kind}, {query.terms} of them, best {query.best}", query.ceiling, query.f1)
            for query in self.queries
        ]
        baseline = {score.classifier: score for score in self.classifiers if score.train == score.test == "original"}
        for score in self.classifiers:
            best, about = baseline[score.classifier], f"trained on {score.train}, tested on {score.test}"
            if score is not best:
                table += [
                    (f"{score.classifier}: Jaccard index", about, best.jaccard, score.jaccard),
                    (f"{score.classifier}: accuracy", about, best.accuracy, score.accuracy),
                    (f"{score.classifier}: macro F1", about, best.macro_f1, score.macro_f1),
                ]
        table += [
            ("adjusted Rand index", f"{agreement.clusters} clusters", agreement.ceiling, agreement.ari)
            for agreement in self.clusters
        ]
        names = "measure", "of", "original", "protected"
        return [dict(zip(names, line, strict=True)) for line in table]


@dataclass(frozen=True)
class ModelScore:
    """A model tested on held-out originals, by what it was trained on."""

    task: str  # "regression" or "classification"
    model: str
    measure: str  # "R2" or "accuracy": more is better
    original: float  # trained on originals
    protected: float  # trained on protected rows
    baseline: float  # of the best constant guess


@dataclass(frozen=True)
class ModelUtility:
    """What a protected table is worth for learning one of its attributes from the others."""

    target: str
    folds: int
    records: int  # trained and tested on
    known: tuple[str, ...]  # the attributes it was learned from
    scores: tuple[ModelScore, ...]
    taken_together: int = 0  # rare labels that were made one class

    @property
    def learnable(self) -> bool:
        """Whether any model does better than a constant guess when it has the originals."""
        return any(score.original > score.baseline + 0.02 for score in self.scores)

    def predicted(self, score: ModelScore) -> str:
        """What a score is about, in words: a number is learned as such, and as a class."""
        is_number = any(other.task == "regression" for other in self.scores)
        if is_number and score.task == "classification":
            return sayable("{column} above its median", column=self.target)
        return self.target

    def rows(self) -> list[dict[str, str | float]]:
        """All figures as a table."""
        return [{"target": self.predicted(score), **vars(score)} for score in self.scores]


@dataclass(frozen=True)
class Distribution:
    """How often values of a column occur before and after, as shares: numbers between edges, labels by their names."""

    column: str
    edges: tuple[float, ...]  # of numbers
    labels: tuple[str, ...]  # the most frequent, and the others as one
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def moved(self) -> float:
        """The share of records that would have to move for both to be the same."""
        return sum(abs(before - after) for before, after in zip(self.before, self.after, strict=True)) / 2
