"""Documents or baskets to be explored: grouped, pooled or sketched as a release would, and attacked by linking.

Loss has one measure for vectors, concepts and sketches: how often, of two pairs of documents, the nearer one is no
longer the nearer (0: never, 100: as by chance). Risk is the share of documents whose released row is found by an
attacker who has all the originals, and of sketches the key as well.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.exploration.trials import TrialSetup
from shoal.io import Corpus, Roles
from shoal.microaggregation import SemanticMicroaggregation, SphericalMicroaggregation
from shoal.microaggregation.blocks.executors import SerialExecutor
from shoal.microaggregation.words.pooling import pooled_weights, without_length
from shoal.protection.documents import document_protection
from shoal.protection.documents.pools import with_space
from shoal.protection.sketches import DECIMALS, record_sketches
from shoal.release.documents.collection import PooledDocuments, loss_of_parts, pool_documents, read_documents
from shoal.release.sketches.crowd_part import sketched
from shoal.release.sources import DocumentSource
from shoal.results.exploration import Outcome, Trial
from shoal.results.promised import NOTHING_MORE
from shoal.risk.rates import sample_rows
from shoal.risk.sketches import SketchedRecords, SketchLinkage
from shoal.risk.texts.linkage import DocumentLinkage
from shoal.sketch import CrowdSketch, DeltaSketch, KVarianceSketch, Sketches, SketchKey
from shoal.sketch.estimates import dot_products
from shoal.sketch.sketches import SketchedRows
from shoal.utility.order import order_kept
from shoal.vectors import VectorSpace

__all__ = ["ExploredDocuments", "document_method_of", "document_trials", "open_documents"]

KS = (2, 3, 5, 7, 10, 15, 20, 30, 50)
SOME_KS = (3, 5, 10, 20)
COMPONENTS = 512
DELTAS_OF_TEXTS, DELTAS_OF_BASKETS = (0.005, 0.01, 0.02), (0.2, 0.5, 1.0)
COMPARED = 1_000  # documents whose pairs are compared
KEY = SketchKey.from_seed(0)  # it protects nothing: no sketch leaves the process

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExploredDocuments:
    """All documents in memory, and the vectors of some of them, whose distances are compared."""

    names: tuple[str, ...]
    contents: tuple[Any, ...]  # texts, or counts of items
    of_items: bool
    columns: dict[str, str | None]  # text_column, id_column, label_column
    setup: TrialSetup
    compared: tuple[str, ...]  # the names of these
    reference: sp.csr_matrix  # and their rows of unit length

    roles: Roles | None = None  # documents have none

    @property
    def kind(self) -> str:
        return "documents"

    def __len__(self) -> int:
        return len(self.names)

    def trials(self) -> list[Trial]:
        return document_trials(len(self.names), self.of_items, self.setup.ontology is not None)

    def try_out(self, trial: Trial) -> Outcome | None:
        try:
            with warnings.catch_warnings():
                # What is remarkable in the documents is said when they are protected.
                warnings.simplefilter("ignore", UserWarning)
                return self._tried(trial)
        except InputError:  # this way is not possible: no term is left of so few documents, or no sketch
            return None

    def protect_with(self, trial: Trial) -> dict[str, Any]:
        given = {"method": document_method_of(trial, self.setup), **self.columns}
        return given if trial.k is None else given | {"k": trial.k}

    def fingerprint(self) -> str:
        settings = version("shoal"), self.of_items, self.setup.refine, str(self.setup.ontology)
        digest = hashlib.sha256(repr(settings).encode())
        for name, content in zip(self.names, self.contents, strict=True):
            digest.update(repr((name, content if isinstance(content, str) else sorted(content.items()))).encode())
        return digest.hexdigest()

    def sample(self, rows: Ints) -> ExploredDocuments:
        """These documents only."""
        names, contents = (tuple(side[row] for row in rows.tolist()) for side in (self.names, self.contents))
        return replace(self, names=names, contents=contents, **_reference(names, contents, self.of_items))

    def _tried(self, trial: Trial) -> Outcome:
        method = document_method_of(trial, self.setup)
        make = Corpus.from_baskets if self.of_items else Corpus.from_texts
        corpus = make(self.contents, ids=self.names)
        source = DocumentSource((corpus,), dict.fromkeys(self.columns), True, of_items=self.of_items)
        if isinstance(method, DeltaSketch | KVarianceSketch):
            return self._sketched_alone(trial, method, source)
        groups = method.method if isinstance(method, CrowdSketch) else method
        protection = document_protection(groups, None, trial.k or 2, self.of_items)
        pooled = pool_documents(source, trial.k or 2, protection, NOTHING_MORE, False, SerialExecutor())
        if isinstance(method, CrowdSketch):
            return self._sketched_crowds(trial, method, pooled)
        return self._pooled(trial, pooled)

    def _pooled(self, trial: Trial, pooled: PooledDocuments) -> Outcome:
        """What is published are the weights of pools."""
        part, collected = pooled.parts[0], pooled.collected
        block = part.pooled.block
        weights = pooled_weights(part.pools, collected.frequency, collected.n_rows)
        known = _in_vocabulary(without_length(block.X), pooled.protection.space.terms_, collected.vocabulary.names)
        linked = DocumentLinkage().run(known, weights, block.groups)
        order = self._order_lost(block.carried["name"], lambda rows: _apart(weights[block.groups[rows]]))
        return _outcome(trial, order, linked.rate, part.rank[block.groups], _lost(pooled, weights))

    def _sketched_crowds(self, trial: Trial, method: CrowdSketch, pooled: PooledDocuments) -> Outcome:
        part = sketched(pooled.parts[0], pooled.collected, KEY, method.components)
        block, terms = part.arranged.pooled.block, pooled.collected.vocabulary.names
        all_rows = part.different.take(part.place)
        known = _in_vocabulary(without_length(block.X), pooled.protection.space.terms_, terms)
        records = SketchedRecords(known, all_rows.values, all_rows.offsets, part.weights, block.groups)
        linked = SketchLinkage().with_key(records, KEY.signs(terms.tolist(), records.width))
        order = self._order_lost(block.carried["name"], lambda rows: _estimated(all_rows[rows]))
        return _outcome(trial, order, linked.rate, part.place, _lost(pooled, part.weights))

    def _sketched_alone(self, trial: Trial, method: Any, source: DocumentSource) -> Outcome:
        protection = record_sketches(method, None, trial.k or 2, self.of_items)
        read = read_documents(source, protection, SerialExecutor())
        protection = with_space(protection, read.space)
        block, terms = read.rows[0], read.space.terms_.tolist()
        X = protection.rows(block)
        lengths = protection.method.components_of(X)
        kept = np.flatnonzero(lengths)
        if not len(kept):
            raise InputError(protection.refusal)
        different, place = SketchedRows(X[kept], KEY.hashed(terms), KEY, lengths[kept], DECIMALS).sorted()
        rows = different.take(place)
        records = SketchedRecords.each_its_own(sp.csr_matrix(X[kept]), rows.values, rows.offsets)
        of_record = lengths[kept] if isinstance(method, DeltaSketch) else None
        linked = SketchLinkage().with_key(records, KEY.signs(terms, records.width), of_record)
        order = self._order_lost(block.carried["name"][kept], lambda chosen: _estimated(rows[chosen]))
        return _outcome(trial, order, linked.rate, place, {})

    def _order_lost(self, names: NDArray[Any], distances: Callable[[Ints], Floats]) -> float:
        """In per cent, of the compared documents that were not left out; `distances` are those of released rows."""
        row_of = {name: row for row, name in enumerate(names.tolist())}
        there = [place for place, name in enumerate(self.compared) if name in row_of]
        rows = np.array([row_of[self.compared[place]] for place in there], dtype=np.int64)
        pairs = np.triu_indices(len(rows), 1)
        kept = order_kept(_apart(self.reference[there])[pairs], distances(rows)[pairs]) if len(rows) > 2 else None
        return 0.0 if kept is None else round(200.0 * (1.0 - kept), 1)


def document_trials(n_documents: int, of_items: bool, in_meaning: bool) -> list[Trial]:
    """Ways to protect documents. By meaning only where asked for: it takes its time."""
    found = [Trial("mdav", k=k) for k in KS]
    found += [Trial("crowd-sketch", k=k, components=COMPONENTS) for k in SOME_KS]
    found += [Trial("semantic", k=k) for k in SOME_KS if in_meaning and not of_items]
    found += [Trial("delta-sketch", delta=delta) for delta in (DELTAS_OF_BASKETS if of_items else DELTAS_OF_TEXTS)]
    found += [Trial("k-variance-sketch", k=k) for k in SOME_KS]
    return [trial for trial in found if trial.k is None or trial.k <= n_documents]


def document_method_of(trial: Trial, setup: TrialSetup) -> Any:
    """The estimator that does it."""
    if trial.method == "semantic":
        return SemanticMicroaggregation(ontology=setup.ontology)
    if trial.method == "delta-sketch":
        return DeltaSketch(trial.delta or 1.0)
    if trial.method == "k-variance-sketch":
        return KVarianceSketch()
    groups = SphericalMicroaggregation(refine=setup.refine)
    return groups if trial.method == "mdav" else CrowdSketch(method=groups, components=trial.components or COMPONENTS)


def open_documents(source: DocumentSource, setup: TrialSetup) -> ExploredDocuments:
    """Read all documents."""
    if not source.whole or not isinstance(source.parts[0], Corpus):
        raise InputError("an exploration reads one collection, and these are parts; give one of them, as a sample")
    documents = list(source.parts[0])
    names, contents = tuple(one.id for one in documents), tuple(one.content for one in documents)
    if len(names) < 2:
        raise InputError(f"an exploration needs at least 2 documents, got {len(names)}; add documents")
    return ExploredDocuments(
        names, contents, source.of_items, source.columns, setup, **_reference(names, contents, source.of_items)
    )


def _reference(names: tuple[str, ...], contents: tuple[Any, ...], of_items: bool) -> dict[str, Any]:
    """The documents whose pairs are compared, and their vectors with every term that two documents share."""
    rows = sample_rows(len(names), COMPARED, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        X = sp.csr_matrix(VectorSpace(min_df=min(2, len(names)), items=of_items).fit_transform(contents))[rows]
    filled = np.flatnonzero(np.diff(X.indptr))
    return {"compared": tuple(names[row] for row in rows[filled].tolist()), "reference": X[filled]}


def _in_vocabulary(X: sp.csr_matrix, terms: NDArray[Any], names: NDArray[Any]) -> sp.csr_matrix:
    """The documents with a column for each released term; concepts that no document has are empty."""
    column_of = {name: column for column, name in enumerate(names.tolist())}
    shared = [(place, column_of[term]) for place, term in enumerate(terms.tolist()) if term in column_of]
    places, columns = np.array(shared, dtype=np.int64).reshape(-1, 2).T
    chosen = sp.csr_matrix((np.ones(len(places)), (places, columns)), shape=(len(terms), len(names)))
    return sp.csr_matrix(X @ chosen)


def _apart(rows: sp.csr_matrix) -> Floats:
    distances: Floats = 1.0 - (rows @ rows.T).toarray()
    return distances


def _estimated(sketches: Sketches) -> Floats:
    """1 - the cosine of every two, by estimates."""
    products = dot_products(sketches, sketches)
    lengths = np.sqrt(np.maximum(np.diag(products), np.finfo(np.float64).tiny))
    distances: Floats = 1.0 - products / lengths / lengths[:, None]
    return distances


def _lost(pooled: PooledDocuments, weights: sp.csr_matrix) -> dict[str, float]:
    """The share of information lost, as the certificate of a release states it."""
    collected = pooled.collected
    losses = pooled.protection.losses(pooled.parts[0].pooled, weights, collected.vocabulary, collected.centre)
    return {"information lost": 100.0 * loss_of_parts(losses[:1], collected.n_rows).information_loss}


def _outcome(trial: Trial, order_lost: float, linked: float, released: Ints, more: dict[str, float]) -> Outcome:
    smallest = int(np.bincount(released).min())
    return Outcome(trial, order_lost, 100.0 * linked, smallest, {"OL": order_lost, "RL": 100.0 * linked} | more)
