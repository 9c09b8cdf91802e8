"""Take the crowd apart: members of every group from the published rows alone."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import scipy.sparse as sp

from shoal.attacks.rates import check_count, sample_rows
from shoal.attacks.unmixing.decoding import Decoded, basis, decoded, refitted, strongest
from shoal.attacks.unmixing.published import Guesses, Precision, Published, precision_of
from shoal.attacks.unmixing.scales import Frequencies, PublishedRow, coincidences
from shoal.attacks.unmixing.sums import column_sums, split_sums
from shoal.kernels import Ints

HALF = 0.5  # of the groups
COARSE = 0.05  # weights that may be off by more show no scales


class Unmixing:
    """Recover the members of every group of a release of documents.

    The attacker has the release and nothing else: rows of weights, how many documents share each, the number of all
    documents and the parameters that the certificate states. They know how Shoal computes weights. A row that is a mean
    of unit rows holds idf_t · sum_i tf_it · q_i, with whole numbers df and tf and one number q_i for each member. The
    attacker divides every weight by each idf its term may have, and looks for quotients that coincide: those of terms
    that one member alone has once. The groups vote on every df; then each quotient is written as a whole-number sum of
    the members' scales, the likeliest that its precision allows. Where all weights have one scale, the row holds column
    sums: those show no member, and the attacker parts them by which terms the other groups have together.

    Parameters
    ----------
    groups : int, the most that are attacked, drawn at random
    random_state : int

    Examples
    --------
    See docs/methods/unmixing.md.
    """

    def __init__(self, groups: int = 300, random_state: int = 0) -> None:
        self.groups = groups
        self.random_state = random_state

    def run(self, published: Published) -> Guesses:
        """Up to as many guesses per group as it has members."""
        tried = sample_rows(published.rows.shape[0], check_count(self.groups, "groups"), self.random_state)
        rows = [_row(published, group) for group in tried.tolist()]
        frequencies = Frequencies.of(published)
        precision = rows[0].precision if rows else Precision()
        fine = [row for row in rows if len(row.terms) and np.median(row.slack / row.weights) < COARSE]
        sums: list[Ints | None]
        if published.pooled:
            form, sums = "pooled counts", [row.weights.astype(np.int64) for row in rows]
        elif len(fine) < HALF * len(rows):
            form, sums = f"weights {precision}, too coarse for scales", [None] * len(rows)
        else:
            _vote(fine, frequencies)
            frequencies.widest = published.n_documents
            _vote(fine, frequencies)
            form, sums = "column sums", [column_sums(row, frequencies) for row in rows]
            if np.mean([whole is not None for whole in sums]) < HALF:
                read = _agreed(rows, [_read(row, frequencies) for row in rows], frequencies)
                members = [decoded_row.counts.T for decoded_row in read]
                return _guesses(published, tried, rows, members, f"means of unit rows, {precision}")
        parts = split_sums(published, rows, sums, frequencies, self.random_state)
        return _guesses(published, tried, rows, parts, form)


def _row(published: Published, group: int) -> PublishedRow:
    terms, weights = published.row(group)
    precision = precision_of(weights)
    return PublishedRow(terms, weights, precision.slack(weights), int(published.sizes[group]), precision)


def _vote(rows: list[PublishedRow], frequencies: Frequencies) -> None:
    """Terms whose quotients coincide say what their df is."""
    votes: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        for coincidence in coincidences(row, frequencies):
            for term, frequency in zip(coincidence.terms.tolist(), coincidence.frequencies.tolist(), strict=True):
                votes[int(row.terms[term])][frequency] += coincidence.bits
    frequencies.settle(votes)


def _read(row: PublishedRow, frequencies: Frequencies) -> Decoded:
    """The scales of a row and the counts that follow."""
    shared = coincidences(row, frequencies)
    scales = np.array([coincidence.value for coincidence in shared])
    tolerance = 1.5 * float(np.median(row.slack / row.weights)) if len(row.weights) else 0.0
    if not row.precision.exact:
        scales = strongest(scales, np.array([coincidence.bits for coincidence in shared]), row.size, tolerance)
        return refitted(row, scales, frequencies)
    known = frequencies.settled[row.terms]
    values = np.sort(row.weights[known > 0] / frequencies.idf(known[known > 0]))
    distinct = values[np.diff(values, prepend=-1.0) > 3 * tolerance * values]
    return decoded(row, basis(scales, distinct, row.size, tolerance), frequencies, tries=1)


def _agreed(rows: list[PublishedRow], read: list[Decoded], frequencies: Frequencies) -> list[Decoded]:
    """Terms whose df no coincidence settled take the one that most groups' counts have."""
    votes: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row, counts in zip(rows, read, strict=True):
        for term in np.flatnonzero(counts.solved & (frequencies.settled[row.terms] == 0)).tolist():
            votes[int(row.terms[term])][int(counts.frequencies[term])] += 1.0
    frequencies.settle(votes)
    return [
        decoded(row, counts.scales, frequencies) if row.precision.exact else refitted(row, counts.scales, frequencies)
        for row, counts in zip(rows, read, strict=True)
    ]


def _guesses(published: Published, tried: Ints, rows: list[PublishedRow], parts: list[Ints], form: str) -> Guesses:
    blocks, groups = [], []
    for group, row, counts in zip(tried.tolist(), rows, parts, strict=True):
        guessed = counts[counts.sum(axis=1) > 0][: row.size]
        member, member_terms = np.nonzero(guessed)
        shape = (len(guessed), published.rows.shape[1])
        blocks.append(sp.csr_matrix((guessed[member, member_terms], (member, row.terms[member_terms])), shape=shape))
        groups.append(np.full(len(guessed), group))
    width = published.rows.shape[1]
    counts = sp.csr_matrix(sp.vstack(blocks)) if blocks else sp.csr_matrix((0, width))
    return Guesses(counts, np.concatenate([np.empty(0, np.int64), *groups]), tried, form)
