"""Documents released as sketches: of single records, by delta or k-variance and without a crowd, or of their pools."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.data.inputs import DocumentSource
from shoal.errors import InputError
from shoal.methods.pools import unit_rows, without_length
from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch, Sketches, SketchKey
from shoal.methods.sketches.key import key_of
from shoal.methods.sketches.sketches import SketchedRows
from shoal.promises.values import crowd_figures, facts_of
from shoal.release.documents.methods import DocumentMethod
from shoal.release.documents.records import FittedCorpus, read_documents
from shoal.release.documents.rows import (
    CorpusTotals,
    DocumentFacts,
    DocumentRows,
    Ints,
    ReleasedDocuments,
    Vocabulary,
    codes_of,
)
from shoal.release.figures import FEW, NOT_PUBLISHED, SAMPLE, estimated_distances, spread_out
from shoal.release.folders import MAPPING
from shoal.release.writing import Draft, formulas_in, write_mapping_part
from shoal.results.claims import NOTHING_MORE
from shoal.results.summary import Distances, SketchFigures, Summary
from shoal.terms.vector_space import VectorSpace

SKETCH = "sketch"
WHOLE = "sketches.parquet"
# Of a published number. Texts and pools have length 1, and so about have their numbers: more digits would estimate
# nothing better, but 53 bits in each of many numbers are enough to reveal which terms were added up.
DECIMALS = 3
MOST_ROWS = 20_000  # written at a time, so that memory stays bounded
MOST_NUMBERS = 4_000_000


def rows_at_once(longest: int) -> int:
    """Rows of a row group, if the longest sketch has so many numbers."""
    return max(min(MOST_ROWS, MOST_NUMBERS // longest), 1)


def write_sketches(
    path: Path, different: SketchedRows, rank: NDArray[np.int64], confidential: Mapping[str, NDArray[Any]]
) -> None:
    """One row per record: its sketch and its labels. `rank`, which rises, is that of its sketch among the different."""
    schema = pa.schema([(SKETCH, pa.list_(pa.float64()))] + [(name, pa.string()) for name in confidential])
    at_once = rows_at_once(int(different.lengths.max()))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(rank), at_once):
            part = slice(start, start + at_once)
            first, last = int(rank[part][0]), int(rank[part][-1])
            sketches = different.take(np.arange(first, last + 1))[rank[part] - first]
            columns: list[Any] = [pa.ListArray.from_arrays(sketches.offsets.astype(np.int32), sketches.values)]
            columns += [pa.array(values[part].tolist(), pa.string()) for values in confidential.values()]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def draft_of_sketches(
    corpus: FittedCorpus,
    form: tuple[str, str | None],
    lengths: Mapping[int, int],
    stated: dict[str, Any],
    parameters: dict[str, Any],
    key: SketchKey,
    formulas: Mapping[str, int],
) -> Draft:
    """What the files beside the sketches hold.

    `form` is what they are, and what single records meet; `lengths` has how many sketches have so many components;
    `stated` is the rest of the summary.
    """
    source = corpus.source
    figures = SketchFigures(
        form=form[0],
        condition=form[1],
        lengths=tuple(sorted(lengths.items())),
        words_read=corpus.space.words_read_,
        words_left_out=corpus.words_left_out(),
        record=corpus.record,
    )
    rows = f"one row per {corpus.record}: its sketch, a list of numbers" + (", and its label" if source.label else "")
    files = (WHOLE, rows) if source.whole else ("sketches", f"folder of parts, {rows}")
    labels = ({"name": name, "role": "confidential", "type": "text"} for name in filter(None, [source.label]))
    return Draft(
        summary=Summary(**stated, figures=figures, files=(files,)),
        columns=({"name": SKETCH, "role": "quasi", "type": "list of numbers"}, *labels),
        shared_columns=((SKETCH,),),
        parameters=parameters,
        files={},
        private_files={"sketch.key": key.write, **corpus.private_files()},
        formulas=formulas,
    )


Records = tuple[FittedCorpus, DocumentRows]


@dataclass(frozen=True)
class SketchableRows:
    """What is sketched of the records that can be."""

    X: sp.csr_matrix
    lengths: Ints  # components of each sketch
    kept: Ints  # which of the records they are


@dataclass(frozen=True)
class RecordPublication:
    """The sketches that will be released, and their order."""

    masked: SketchableRows
    sketches: SketchedRows  # those that differ, sorted by their numbers
    rank: Ints  # of each record's sketch among them
    order: Ints  # of the records


class RecordSketchSteps:
    """The seven steps for sketches of records, each on its own: as published by Aggarwal and Yu."""

    def __init__(self, space: VectorSpace, method: DeltaSketch | KVarianceSketch, k: int) -> None:
        method = clone(method)
        if isinstance(method, KVarianceSketch):
            method.set_params(k=k)
        method.check()
        self.space = space
        self.method = method
        self.key = key_of(method.key, method.random_state)
        if isinstance(method, DeltaSketch):
            self.name = "delta sketches"
            self.condition = f"every attribute of a record is estimated with a variance of at least {method.delta:g}"
            self._bound, self._remedy = f"delta={method.delta:g}", "lower delta"
        else:
            self.name = "k-variance sketches"
            self.condition = (
                f"products of a record with its {method.k} nearest neighbours are estimated too coarsely to tell them "
                "apart"
            )
            self._bound, self._remedy = f"k={method.k}", "lower k"

    def read(self, source: DocumentSource) -> Records:
        """The records that have terms, as rows of a space fitted to them."""
        return read_documents(source, self.space)

    def group(self, records: Records) -> None:
        """Every record stays alone."""

    def join(self, groups: None, records: Records) -> None:
        """Nothing is promised."""

    def represent(self, groups: None, records: Records) -> SketchableRows:
        """What is sketched, the counts of baskets as they are and texts as rows of length 1; and in what length."""
        corpus, rows = records
        counts = rows.counts(corpus.space.idf_)
        X = counts.astype(np.float64) if corpus.space.items else unit_rows(counts, corpus.space.idf_)[0]
        lengths = self.method.components_of(X)
        kept = np.flatnonzero(lengths)
        if not len(kept):
            raise InputError(f"{self._bound}: no record can meet it with even one component; {self._remedy}")
        return SketchableRows(X[kept], lengths[kept], kept)

    def publish(self, masked: SketchableRows, groups: None, records: Records) -> RecordPublication:
        """The sketches, sorted, in the order in which they will be released."""
        corpus, rows = records
        hashed = self.key.hashed(corpus.space.terms_.tolist())
        sketches, rank = SketchedRows(masked.X, hashed, self.key, masked.lengths, DECIMALS).sorted()
        order = np.lexsort((codes_of(rows.labels[masked.kept]), rank))
        return RecordPublication(masked, sketches, rank, order)

    def attack(self, publication: RecordPublication, records: Records) -> None:
        """Only an assessment attacks them."""

    def write(
        self, publication: RecordPublication, findings: None, records: Records, folders: tuple[Path, Path]
    ) -> Draft:
        """Write the sketches into the folders (private, release); the draft has the rest."""
        corpus, rows = records
        masked, sketches, order = publication.masked, publication.sketches, publication.order
        label, n_rows, rank = corpus.source.label, len(order), publication.rank[order]
        confidential = {} if label is None else {label: rows.labels[masked.kept][order]}
        write_sketches(folders[1] / WHOLE, sketches, rank, confidential)
        write_mapping_part(rows.names[masked.kept][order], rank, str(folders[0] / MAPPING))
        distances = NOT_PUBLISHED
        if n_rows >= FEW:
            shown = spread_out(n_rows, SAMPLE)
            distances = estimated_distances(masked.X[order[shown]], sketches.take(rank[shown]), n_rows)
        withheld = np.delete(rows.names, masked.kept)
        left_out = [*corpus.left_out, *((str(name), f"no component meets {self._bound}") for name in withheld)]
        corpus = replace(corpus, left_out=left_out)
        stated = {
            "k": 1,
            "method": self.name,
            "promises_k": False,
            "rows": n_rows,
            **crowd_figures(facts_of(rank, confidential), NOTHING_MORE),
            "loss": None,
            "distances": distances,
            "withheld": corpus.withheld(),
            "attacked": False,
        }
        form, lengths = (self.name, self.condition), Counter(masked.lengths.tolist())
        formulas = formulas_in(pa.table({name: pa.array(values, pa.string()) for name, values in confidential.items()}))
        return draft_of_sketches(corpus, form, lengths, stated, self.parameters(), self.key, formulas)

    def parameters(self) -> dict[str, Any]:
        """Parameters of the space and of the method, without the key and the seed it may be made from."""
        known = self.method.get_params()
        stated = {name: known[name] for name in ("delta", "k", "max_components", "blocks") if name in known}
        return {"vector_space": self.space.used_params(), "sketch": stated}


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
