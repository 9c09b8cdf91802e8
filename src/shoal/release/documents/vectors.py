"""Documents released as vectors: terms, counts and weights of their group as Parquet, weights as a SciPy matrix too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.release.documents.methods import DocumentMethod
from shoal.release.documents.records import FittedCorpus
from shoal.release.documents.rows import CorpusTotals, DocumentFacts, Ints, ReleasedDocuments, Vocabulary
from shoal.release.figures import FEW
from shoal.release.folders import Content
from shoal.release.writing import Draft
from shoal.results.summary import DocumentFigures, Summary, TermUse
from shoal.terms.vector_space import VectorSpace

WHOLE = "vectors.parquet"
TERM_COLUMNS = {"terms": "list of text", "counts": "list of whole numbers", "weights": "list of numbers"}
ROWS_AT_ONCE = 20_000  # rows written to Parquet at a time, so that memory stays bounded
TERMS_SHOWN = 30


class Vectors:
    """Every document is released as the pool of its group, and the weights that follow from it."""

    kind = "documents"
    whole = WHOLE

    def arranged(
        self, documents: ReleasedDocuments, weights: sp.csr_matrix, vocabulary: Vocabulary
    ) -> ReleasedDocuments:
        """The documents in the order of what is released of them."""
        return documents

    def first_row(self, documents: ReleasedDocuments) -> tuple[Any, ...]:
        """What the first document is released as."""
        first = documents.order[0]
        pool = documents.pools[documents.groups[first]]
        return pool.indices.tolist(), pool.data.tolist(), documents.rows.labels[first]

    def compared_by(self, method: DocumentMethod) -> DocumentMethod:
        """What compares documents before and after."""
        return method

    def write(self, documents: ReleasedDocuments, weights: sp.csr_matrix, totals: CorpusTotals, path: Path) -> None:
        """Write one row per document."""
        groups, names = documents.groups[documents.order], totals.vocabulary.names
        write_vectors(path, groups, documents.pools, weights, names, documents.confidential(totals.label))

    def draft(
        self,
        corpus: FittedCorpus,
        method: DocumentMethod,
        names: NDArray[Any],
        facts: DocumentFacts,
        stated: dict[str, Any],
        matrix: tuple[sp.csr_matrix, Ints] | None,
    ) -> Draft:
        """What the files beside the rows hold; `stated` is the part of the summary that all forms have."""
        source, space = corpus.source, corpus.space
        figures = DocumentFigures(
            form=form_of(space),
            loss_of_means=round(facts.loss_of_means.information_loss, 4) if corpus.n_rows >= FEW else None,
            terms=most_used(facts.weight, facts.documents, names),
            vocabulary=len(names),
            stemmed=space.stem and not space.items,
            in_meaning=method.in_meaning,
            words_read=space.words_read_,
            words_left_out=corpus.words_left_out(),
            record=corpus.record,
        )
        files = files_of_release(source.whole, source.label)
        return Draft(
            summary=Summary(**stated, method=method.name, figures=figures, files=files),
            columns=described(source.label),
            shared_columns=(tuple(TERM_COLUMNS),),
            parameters=method.parameters(),
            files=files_beside(names, matrix),
            private_files=corpus.private_files(),
            formulas=facts.formulas,
        )


def described(label: str | None) -> tuple[dict[str, str], ...]:
    """Name, role and type of each released column."""
    columns = [{"name": name, "role": "quasi", "type": kind} for name, kind in TERM_COLUMNS.items()]
    confidential = [] if label is None else [{"name": label, "role": "confidential", "type": "text"}]
    return (*columns, *confidential)


def form_of(space: VectorSpace) -> str:
    """How a certificate names what is published of a group."""
    return f"pooled counts, {space.weighting}"


def most_used(weight: NDArray[Any], documents: NDArray[Any], names: NDArray[Any]) -> tuple[TermUse, ...]:
    """The terms with the most weight over all released documents; `documents` is how many have each."""
    heaviest = np.lexsort((names, -weight))[:TERMS_SHOWN]
    return tuple(
        TermUse(str(names[term]), int(documents[term]), round(float(weight[term] / documents[term]), 6))
        for term in heaviest
    )


def files_of_release(whole: bool, label: str | None) -> tuple[tuple[str, str], ...]:
    """The files of a release, in one piece or in parts, and what they are, for the reader."""
    rows = "one row per document: terms, how often the documents of its group have each of them, and weights"
    rows += ", its label" if label else ""
    if whole:
        matrix = ("vectors.npz", "the same weights as a SciPy CSR matrix")
        return ((WHOLE, rows), matrix, ("terms.txt", "the matrix's columns: one term per line"))
    return (("vectors", f"folder of parts, {rows}"), ("terms.txt", "every term of the release, one per line"))


def files_beside(names: NDArray[Any], matrix: tuple[sp.csr_matrix, Ints] | None) -> dict[str, Content]:
    """The terms, one per line; and in one piece the weights of all rows, from those of groups and the group of each."""
    files: dict[str, Content] = {"terms.txt": "".join(f"{name}\n" for name in names.tolist())}
    if matrix is not None:
        weights, group_of_row = matrix
        files["vectors.npz"] = lambda path: sp.save_npz(path, sp.csr_array(weights[group_of_row]))
    return files


def write_vectors(
    path: Path,
    groups: Ints,
    pools: sp.csr_matrix,
    weights: sp.csr_matrix,
    names: NDArray[Any],
    confidential: Mapping[str, NDArray[Any]],
) -> None:
    """One row per document: terms, counts and weights of its group, and its own labels."""
    fields = [("terms", pa.list_(pa.string())), ("counts", pa.list_(pa.int64())), ("weights", pa.list_(pa.float64()))]
    schema = pa.schema(fields + [(name, pa.string()) for name in confidential])
    terms = pa.array(names.tolist(), pa.string())
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(groups), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            counts, weighted = (rows[groups[part]] for rows in (pools, weights))
            ends = pa.array(counts.indptr, pa.int32())
            lists = terms.take(pa.array(counts.indices)), pa.array(counts.data), pa.array(weighted.data)
            columns: list[Any] = [pa.ListArray.from_arrays(ends, values) for values in lists]
            columns += [pa.array(values[part].tolist(), pa.string()) for values in confidential.values()]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
