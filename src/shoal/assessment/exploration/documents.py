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
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.assessment.exploration.trials import TrialSetup
from shoal.attacks.documents import DocumentLinkage
from shoal.attacks.rates import sample_rows
from shoal.attacks.sketches.records import SketchedRecords, SketchLinkage
from shoal.data.corpus import Corpus
from shoal.data.inputs import DocumentSource
from shoal.data.roles import Roles
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.methods.pools import pooled_weights
from shoal.methods.semantic import SemanticMicroaggregation
from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch, Sketches, SketchKey
from shoal.methods.sketches.sketches import dot_products
from shoal.methods.spherical import SphericalMicroaggregation
from shoal.release.documents.methods import method_of, space_steps
from shoal.release.documents.sketches import CrowdSketches, RecordSketchSteps
from shoal.release.documents.steps import NOTHING, DocumentSteps
from shoal.results.exploration import Outcome, Trial
from shoal.terms.vector_space import VectorSpace
from shoal.utility.vector_space import order_kept
from shoal.version import __version__

KS = (2, 3, 5, 7, 10, 15, 20, 30, 50)
SOME_KS = (3, 5, 10, 20)
COMPONENTS = 512
DELTAS_OF_TEXTS, DELTAS_OF_BASKETS = (0.005, 0.01, 0.02), (0.2, 0.5, 1.0)
COMPARED = 1_000  # documents whose pairs are compared
KEY = SketchKey.from_seed(0)  # it protects nothing: no sketch leaves the process


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
        trials = document_trials(len(self.names), self.of_items, self.setup.ontology is not None)
        return [trial for trial in trials if trial.k is None or trial.k >= self.setup.least]

    def more_trials(self, outcomes: list[Outcome], best: Outcome | None) -> list[Trial]:
        return []

    def try_out(self, trial: Trial) -> Outcome | None:
        try:
            with warnings.catch_warnings():
                # Remarks about the documents are made when they are protected.
                warnings.simplefilter("ignore", UserWarning)
                return self._tried(trial)
        except InputError:  # this way is not possible: no term is left of so few documents, or no sketch
            return None

    def fingerprint(self) -> str:
        settings = __version__, self.of_items, self.setup.refine, str(self.setup.ontology)
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
        alone = isinstance(method, DeltaSketch | KVarianceSketch)
        return self._sketched_alone(trial, method, source) if alone else self._pooled(trial, method, source)

    def _pooled(self, trial: Trial, method: Any, source: DocumentSource) -> Outcome:
        """What is published are the weights of pools, or their sketches."""
        grouping = method.method if isinstance(method, CrowdSketch) else method
        k = trial.k or 2
        space = VectorSpace(items=self.of_items, **space_steps(grouping, k, self.of_items))
        steps = DocumentSteps(method_of(grouping, space, k))
        records = steps.read(source)
        groups, rows, fitted = steps.group(records), records.rows, records.method
        documents, totals = steps.pooled(steps.represent(groups, records), groups, records)
        weights, terms = pooled_weights(documents.pools, totals.frequency, totals.n_rows), totals.vocabulary.names
        loss = fitted.loss(documents, weights, totals).above(len(rows) * NOTHING)
        lost = {"information lost": 100.0 * loss.information_loss}  # as the certificate of a release states it
        known = _in_vocabulary(rows.vectors(), fitted.space.terms_, terms)
        if not isinstance(method, CrowdSketch):
            linked = DocumentLinkage().run(known, weights, groups).rate
            order = self._order_lost(rows.names, lambda chosen: _apart(weights[groups[chosen]]))
            return _outcome(trial, order, linked, documents.rank[groups], lost)
        form = CrowdSketches(method.set_params(key=KEY))
        documents = form.arranged(documents, weights, totals.vocabulary)
        _, sketches = form.sample(documents, np.arange(len(rows)), weights, totals.vocabulary)
        sketched = SketchedRecords(known, sketches.values, sketches.offsets, weights, groups)
        linked = SketchLinkage().with_key(sketched, KEY.signs(terms.tolist(), sketched.width)).rate
        order = self._order_lost(rows.names, lambda chosen: _estimated(sketches[chosen]))
        return _outcome(trial, order, linked, documents.rank[groups], lost)

    def _sketched_alone(self, trial: Trial, method: Any, source: DocumentSource) -> Outcome:
        space = VectorSpace(items=self.of_items, **space_steps(method, trial.k or 2, self.of_items))
        steps = RecordSketchSteps(space, method.set_params(key=KEY), trial.k or 2)
        corpus, rows = records = steps.read(source)
        masked = steps.represent(None, records)
        publication = steps.publish(masked, None, records)
        sketches, terms = publication.sketches.take(publication.rank), corpus.space.terms_.tolist()
        sketched = SketchedRecords.each_its_own(sp.csr_matrix(masked.X), sketches.values, sketches.offsets)
        of_record = masked.lengths if isinstance(method, DeltaSketch) else None
        linked = SketchLinkage().with_key(sketched, KEY.signs(terms, sketched.width), of_record)
        order = self._order_lost(rows.names[masked.kept], lambda chosen: _estimated(sketches[chosen]))
        return _outcome(trial, order, linked.rate, publication.rank, {})

    def _order_lost(self, names: NDArray[Any], distances: Callable[[Ints], Floats]) -> float:
        """In per cent, of the compared documents that were not left out; `distances` are those of released rows."""
        row_of = {name: row for row, name in enumerate(names.tolist())}
        there = [row for row, name in enumerate(self.compared) if name in row_of]
        rows = np.array([row_of[self.compared[row]] for row in there], dtype=np.int64)
        pairs = np.triu_indices(len(rows), 1)
        kept = order_kept(_apart(self.reference[there])[pairs], distances(rows)[pairs]) if len(rows) > 2 else None
        return 0.0 if kept is None else round(200.0 * (1.0 - kept), 1)


def document_trials(n_documents: int, of_items: bool, in_meaning: bool) -> list[Trial]:
    """Ways to protect documents. By meaning only where asked for: it takes its time."""
    trials = [Trial("mdav", k=k) for k in KS]
    trials += [Trial("crowd-sketch", k=k, components=COMPONENTS) for k in SOME_KS]
    trials += [Trial("semantic", k=k) for k in SOME_KS if in_meaning and not of_items]
    trials += [Trial("delta-sketch", delta=delta) for delta in (DELTAS_OF_BASKETS if of_items else DELTAS_OF_TEXTS)]
    trials += [Trial("k-variance-sketch", k=k) for k in SOME_KS]
    return [trial for trial in trials if trial.k is None or trial.k <= n_documents]


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
    names, contents = tuple(document.id for document in documents), tuple(document.content for document in documents)
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
    shared = [(row, column_of[term]) for row, term in enumerate(terms.tolist()) if term in column_of]
    term_rows, columns = np.array(shared, dtype=np.int64).reshape(-1, 2).T
    chosen = sp.csr_matrix((np.ones(len(term_rows)), (term_rows, columns)), shape=(len(terms), len(names)))
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


def _outcome(trial: Trial, order_lost: float, linked: float, released: Ints, more: dict[str, float]) -> Outcome:
    smallest = int(np.bincount(released).min())
    return Outcome(trial, order_lost, 100.0 * linked, smallest, {"OL": order_lost, "RL": 100.0 * linked} | more)
