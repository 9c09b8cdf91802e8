"""The files of a release of sketches: a list of numbers per record, and its labels. No term is in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.methods.sketches import SketchKey
from shoal.methods.sketches.sketches import SketchedRows
from shoal.release.documents.records import FittedCorpus
from shoal.release.writing import Draft
from shoal.results.summary import SketchFigures, Summary

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
