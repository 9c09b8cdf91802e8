"""Search before and after: do the same queries still find the same documents?

The same queries are put to a search engine of the original texts and to one of the sanitized texts. Utility queries
ask for what readers look for: what they lose is information. Risk queries ask for what was to be hidden: what they lose
is risk. Each figure is compared with what it was, and the changes are weighed together:

    (2 F + C - N + TR - PR - 2 NMI) / 8        in per cent

Source: Nettleton and Abril, "Document sanitization: measuring search engine information loss and risk of disclosure
for the Wikileaks cables", PSD 2012; again in chapter 3 of Abril's thesis (Universitat Autònoma de Barcelona).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.metrics import normalized_mutual_info_score

from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.results.searches import QueryChange, SearchChange, SearchFigures
from shoal.terms.search_engine import SearchEngine, knee

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Query:
    """Words to ask for, and the documents that are truly relevant; None: those that are relevant before."""

    name: str
    words: str
    relevant: frozenset[int] | None = None  # rows


def compare_searches(
    before: SearchEngine,
    after: SearchEngine,
    queries: Sequence[Query],
    *,
    threshold: float | None = None,
    random_documents: Sequence[int] = (),
) -> SearchChange | None:
    """Put the queries to both engines, whose documents are in the same order; None if no query finds anything.

    Parameters
    ----------
    threshold : float, optional
        Least relevance of a relevant document. Default: for each query the knee of the relevances before.
    random_documents : rows
        A random set, as a benchmark: those not truly relevant to a query should not become so.

    Examples
    --------
    >>> from shoal.terms.search_engine import SearchEngine
    >>> texts = ["arms for the rebels", "arms for the army", "a visit to the museum", "the harvest of wheat"]
    >>> before, after = SearchEngine().fit(texts), SearchEngine().fit(["[...] for the rebels", *texts[1:]])
    >>> change = compare_searches(before, after, [Query("weapons", "arms")])
    >>> change.queries[0].after.recall, round(change.mean, 2)
    (0.5, -37.24)
    """
    if threshold is not None and not 0.0 < threshold <= 1.0:
        raise InputError(f"relevance={threshold!r} is no cosine; give a number above 0 and at most 1")
    words = [query.words for query in queries]
    changes, empty = [], []
    for query, scores_before, scores_after in zip(
        queries, before.relevance(words), after.relevance(words), strict=True
    ):
        least = knee(scores_before) if threshold is None else threshold
        relevant = (
            _mask(query.relevant, len(scores_before))
            if query.relevant is not None
            else (scores_before > 0.0) & (scores_before >= least)
        )
        if not relevant.any() or not scores_before.any():
            empty.append(query.name)
            continue
        random = _mask(random_documents, len(scores_before)) & ~relevant
        figures = [search_figures(scores, least, relevant, random) for scores in (scores_before, scores_after)]
        answers = [(scores > 0.0) & (scores >= least) for scores in (scores_before, scores_after)]
        nmi = float(normalized_mutual_info_score(*answers))
        changes.append(QueryChange(query.name, query.words, least, int(relevant.sum()), figures[0], figures[1], nmi))
    if not changes:
        return None
    return SearchChange(tuple(changes), tuple(empty), *_mean([change.changes.total for change in changes]))


def search_figures(relevance: Floats, threshold: float, relevant: Mask, random: Mask) -> SearchFigures:
    """Judge an answer; shares of nothing are 0."""
    returned = relevance > 0.0
    above = returned & (relevance >= threshold)
    right, wrong, total = int((above & relevant).sum()), int((above & ~relevant).sum()), int(relevant.sum())
    retrieved = right + wrong
    return SearchFigures(
        precision=_share(right, retrieved),
        recall=_share(right, total),
        f=_share(2 * right, retrieved + total),  # 2 P R / (P + R)
        coverage=_share(int((returned & relevant).sum()), total),
        novelty=_share(wrong, total + wrong),
        average_relevance=float(relevance[above].mean()) if retrieved else 0.0,
        returned=int(returned.sum()),
        random=_share(int((above & random).sum()), retrieved),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _mask(rows: Sequence[int] | frozenset[int], n_rows: int) -> Mask:
    mask = np.zeros(n_rows, dtype=np.bool_)
    mask[list(rows)] = True
    return mask


def _mean(totals: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The mean with its interval by Student's t, which a single query does not have."""
    mean = float(np.mean(totals))
    if len(totals) < 2:
        return mean, None, None
    half = float(student.ppf(0.975, len(totals) - 1) * np.std(totals, ddof=1) / np.sqrt(len(totals)))
    return mean, mean - half, mean + half
