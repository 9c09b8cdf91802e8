"""Documents by their words, joined until labels are close to those of all."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from shoal import SphericalMicroaggregation, VectorSpace
from shoal.methods.pools import with_length
from shoal.promises import joining as diversity
from shoal.release.documents.by_words import ByWords
from shoal.release.documents.rows import DocumentRows
from shoal.release.documents.steps import join_groups
from shoal.request.options import GroupPromises


def test_documents_that_differ_in_what_tells_their_label_are_joined_with_like_ones(monkeypatch):
    """Sixty groups of two documents of three words; the label follows the first. Halves as they lie lose more."""
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 2)
    words = draw.random((60, 3))[groups]
    unit = words / np.linalg.norm(words, axis=1)[:, None]
    label = np.where(unit[:, 0] > np.median(unit[:, 0]), "a", "b")
    lengths = np.full(120, 3)
    rows = DocumentRows(with_length(sp.csr_matrix(unit), lengths), lengths, label, np.arange(120))

    def lost() -> float:
        joined = join_groups(ByWords(VectorSpace(), SphericalMicroaggregation(), 2), rows, groups, GroupPromises(t=0.1))
        sums = np.zeros((joined.max() + 1, 3))
        np.add.at(sums, joined, unit)
        return float(120 - np.linalg.norm(sums, axis=1).sum())

    with_places = lost()
    monkeypatch.setattr(diversity, "CLASSES", ())
    assert with_places < 0.9 * lost()
