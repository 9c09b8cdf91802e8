"""Documents released as crowd sketches: the sketch of their group's pool instead of the pool."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.methods.pools import without_length
from shoal.methods.sketches import CrowdSketch, Sketches
from shoal.methods.sketches.key import key_of
from shoal.methods.sketches.sketches import SketchedRows
from shoal.release.documents.methods import DocumentMethod
from shoal.release.documents.records import FittedCorpus
from shoal.release.documents.rows import CorpusTotals, DocumentFacts, Ints, ReleasedDocuments, Vocabulary, codes_of
from shoal.release.publishing.figures import SAMPLE, estimated_distances
from shoal.release.sketches.records import DECIMALS, WHOLE, draft_of_sketches, write_sketches
from shoal.release.writing import Draft
from shoal.results.summary import Distances


class CrowdSketches:
    """Every document is released as the sketch of its group's pool, which only the key can read."""

    kind = "sketches"
    whole = WHOLE
    most_shown = SAMPLE

    def __init__(self, method: CrowdSketch) -> None:
        self.components = method.components
        self.key = key_of(method.key, method.random_state)

    def arranged(
        self, documents: ReleasedDocuments, weights: sp.csr_matrix, vocabulary: Vocabulary
    ) -> ReleasedDocuments:
        """The documents in the order of their sketches.

        What is sketched are the weights that a release of vectors would publish: functions of the pools alone.
        """
        lengths = np.full(weights.shape[0], self.components)
        hashed = self.key.hashed(vocabulary.names.tolist())
        sketches, rank = SketchedRows(weights, hashed, self.key, lengths, DECIMALS).sorted()
        order = np.lexsort((codes_of(documents.rows.labels), rank[documents.groups]))
        return replace(documents, rank=rank, order=order, sketches=sketches)

    def first_row(self, documents: ReleasedDocuments) -> tuple[Any, ...]:
        """What the first document is released as."""
        return _taken(documents, documents.order[:1])[0].tolist(), documents.rows.labels[documents.order[0]]

    def compared_by(self, method: DocumentMethod) -> CrowdSketches:
        """What compares documents before and after."""
        return self

    def sample(
        self, documents: ReleasedDocuments, chosen: Ints, weights: sp.csr_matrix, vocabulary: Vocabulary
    ) -> tuple[sp.csr_matrix, Sketches]:
        """Some documents before and after, for `distances`."""
        return without_length(documents.rows.X[chosen]), _taken(documents, chosen)

    def distances(self, samples: Sequence[Any], n_rows: int) -> Distances:
        """Distances between the sampled documents before and after."""
        before, after = zip(*samples, strict=True)
        return estimated_distances(sp.csr_matrix(sp.vstack(before, format="csr")), Sketches.joined(after), n_rows)

    def write(self, documents: ReleasedDocuments, weights: sp.csr_matrix, totals: CorpusTotals, path: Path) -> None:
        """Write one row per document."""
        assert documents.sketches is not None
        rank = documents.rank[documents.groups[documents.order]]
        write_sketches(path, documents.sketches, rank, documents.confidential(totals.label))

    def draft(
        self,
        corpus: FittedCorpus,
        method: DocumentMethod,
        names: NDArray[Any],
        facts: DocumentFacts,
        stated: dict[str, Any],
        matrix: Any,
    ) -> Draft:
        """What the files beside the rows hold; `stated` is the part of the summary that all forms have."""
        warn_of_many_components(self.components, len(names))
        stated |= {"method": f"{method.name}, sketched"}
        parameters = method.parameters() | {"sketch": {"components": self.components}}
        parameters["microaggregation"].pop("random_state", None)  # whoever gave one may have made the key of it
        lengths = {self.components: corpus.n_rows}
        return draft_of_sketches(
            corpus, ("crowd sketches", None), lengths, stated, parameters, self.key, facts.formulas
        )


def _taken(documents: ReleasedDocuments, chosen: Ints) -> Sketches:
    """The sketches of some documents."""
    assert documents.sketches is not None
    return documents.sketches.take(documents.rank[documents.groups[chosen]])


def warn_of_many_components(components: int, n_terms: int) -> None:
    """Sketches have the rank of what was sketched; far beyond it, signs can be solved for without the key."""
    if components > n_terms:
        warnings.warn(
            f"components={components} for {n_terms} terms: the sketches show how many terms there are, and with many "
            f"more components the sums of groups can be solved for without the key; use at most {n_terms}",
            stacklevel=4,
        )
