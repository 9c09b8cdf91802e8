"""Documents to a release of sketches of single records, by delta or by k-variance: no crowd is promised."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.bundle.folders import MAPPING
from shoal.bundle.formulas import formulas_in
from shoal.errors import InputError
from shoal.microaggregation.blocks.executors import Schedule
from shoal.protection.distances import NOT_PUBLISHED, SAMPLE, estimated_distances, spread_out
from shoal.protection.documents.pools import with_space
from shoal.protection.groups import FEW, codes_of
from shoal.protection.sketches import DECIMALS, RecordSketches
from shoal.release.documents.collection import left_out_files, read_documents, withheld, words_left_out
from shoal.release.draft import Draft
from shoal.release.part_facts import crowd_figures, facts_of, write_mapping_part
from shoal.release.sketches.files import SKETCH, WHOLE, described, files_of, write_sketches
from shoal.release.sources import DocumentSource
from shoal.results.promised import NOTHING_MORE
from shoal.results.summary import Distances, SketchFigures, Summary
from shoal.sketch.key import key_of
from shoal.sketch.sketches import SketchedRows

__all__ = ["draft_record_sketches"]


def draft_record_sketches(
    source: DocumentSource, protection: RecordSketches, folders: tuple[Path, Path], schedule: Schedule
) -> Draft:
    """Write the sketches into the folders (private, release); the draft has the rest."""
    method = protection.method
    key = key_of(method.key, method.random_state)
    read = read_documents(source, protection, schedule)
    protection = with_space(protection, read.space)
    (block,) = schedule.gather(read.rows)
    X = protection.rows(block)
    lengths = method.components_of(X)
    kept = np.flatnonzero(lengths)
    if not len(kept):
        raise InputError(protection.refusal)
    read.left_out.extend((str(name), protection.reason) for name in block.carried["name"][lengths == 0])
    X, lengths, names, labels = X[kept], lengths[kept], block.carried["name"][kept], block.carried["label"][kept]

    hashed = key.hashed(read.space.terms_.tolist())
    different, place = SketchedRows(X, hashed, key, lengths, DECIMALS).sorted()
    order = np.lexsort((codes_of(labels), place))
    confidential = {} if source.label is None else {source.label: labels[order]}
    digests = write_sketches(folders[1] / WHOLE, different, place[order], int(lengths.max()), confidential)
    write_mapping_part(names[order], place[order], str(folders[0] / MAPPING))

    n_rows = len(order)
    figures = SketchFigures(
        form=protection.form,
        lengths=tuple(sorted(Counter(lengths.tolist()).items())),
        condition=protection.condition,
        words_read=read.space.words_read_,
        words_left_out=words_left_out(read.space),
        record="basket" if source.of_items else "document",
    )
    summary = Summary(
        k=1,
        method=protection.name,
        promises_k=False,
        rows=n_rows,
        **crowd_figures([facts_of(digests, place[order], confidential)], source.confidential, NOTHING_MORE),
        loss=None,
        distances=_distances(X, different, place, order) if n_rows >= FEW else NOT_PUBLISHED,
        withheld=withheld(read.left_out),
        attacked=False,
        figures=figures,
        files=files_of(figures.record, source.label, whole=True),
    )
    return Draft(
        summary=summary,
        columns=described(source.confidential),
        shared_columns=((SKETCH,),),
        parameters=protection.parameters(),
        files={},
        private_files={"sketch.key": key.write, **left_out_files(read)},
        formulas=formulas_in(pa.table({name: pa.array(values, pa.string()) for name, values in confidential.items()})),
    )


def _distances(
    X: sp.csr_matrix, different: SketchedRows, place: NDArray[np.int64], order: NDArray[np.int64]
) -> Distances:
    """Of documents spread evenly over the release."""
    rows = order[spread_out(len(order), SAMPLE)]
    return estimated_distances(X[rows], different.take(place[rows]), len(order))
