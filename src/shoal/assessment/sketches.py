"""A release of sketches judged against its originals: what attackers find, and what can still be estimated."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.assessment.documents import DocumentOptions
from shoal.assessment.originals import named_contents
from shoal.assessment.sketch_attacks import Attacked, NamedCounts, all_kinds, attack_sketches, crowds_of
from shoal.bundle.load import Release, kind_of_release, load
from shoal.bundle.private_mapping import private_folder, read_mapping, rows_of_parts
from shoal.errors import InputError
from shoal.io.files import counted, shown
from shoal.microaggregation.words.pooling import unit_rows
from shoal.results.sketch_attacks import SketchAssessment
from shoal.risk.rates import sample_rows
from shoal.risk.sketches import SketchedRecords
from shoal.sketch import Sketches, SketchKey
from shoal.sketch.delta import DeltaSketch
from shoal.sketch.sketches import sketch_rows
from shoal.vectors import VectorSpace

__all__ = ["assess_sketches", "is_sketches"]

COMPARED = 5_000  # records that other kinds of sketches are made of, to compare with
K = 5  # of these, where the release has none
CHECKED = 1_000  # records whose sketches are made again to see whether key and originals are the right ones
ALIKE = 0.9  # least cosine of a sketch made again with the released one, and least share of sketches that have it


def is_sketches(protected: Any) -> bool:
    """Whether this is a release of sketches."""
    return isinstance(protected, str | os.PathLike) and kind_of_release(protected) == "sketches"


def assess_sketches(
    original: Any, protected: Any, options: DocumentOptions, private: Any, aligned: bool, random_state: int
) -> SketchAssessment:
    """Put sketches and records side by side, attack, and estimate."""
    folder = Path(protected)
    release, beside = load(folder), private_folder(folder, private)
    assert release.sketches is not None
    key = _key(beside)
    stated = release.certificate["stated"]["parameters"]
    space = VectorSpace(**stated["vector_space"])
    records = _in_order(original, folder, len(release.sketches), beside, space, options)
    attacked = _attacked(release, records, space)
    if not aligned:
        _check_related(attacked.sketched, records.terms, key, random_state)
    groups = Counter(_group_of_row(release.sketches).tolist()).values()
    chosen = sample_rows(len(release.sketches), COMPARED, random_state)
    k = stated["sketch"].get("k") or release.certificate["promises"]["anonymity"]["k"] or K
    return SketchAssessment(
        rows=len(release.sketches),
        how="by the private mapping",
        record="basket" if space.items else "document",
        smallest_group=min(groups),
        unique=sum(size == 1 for size in groups),
        release=attack_sketches(attacked, records.terms, key, random_state),
        others=all_kinds(records.some(chosen), max(int(k), 2), key, random_state, without=attacked.kind),
    )


def _key(private: Path) -> SketchKey:
    file = private / "sketch.key"
    if not file.is_file():
        raise InputError(
            f"{shown(file)} is not there, and only with the key can sketches be attacked as an insider would; "
            "give the private folder with --private"
        )
    return SketchKey.read(file)


def _in_order(
    original: Any, folder: Path, n_rows: int, private: Path, space: VectorSpace, options: DocumentOptions
) -> NamedCounts:
    """The records in the order of their sketches, made as the certificate says."""
    mapping = read_mapping(private, rows_of_parts(folder, "sketches") or [n_rows])
    names: list[str] = []
    with warnings.catch_warnings():
        # What is remarkable in the originals was said when they were protected.
        warnings.simplefilter("ignore", UserWarning)
        counted_originals = space.count(named_contents(original, asdict(options), names, mapping.in_parts))
        space.fit_counted(counted_originals)
    place = {name: row for row, name in enumerate(names)}
    ids = mapping.names.to_pylist()
    unknown = sum(name not in place for name in ids)
    if unknown:
        raise InputError(
            f"{counted(unknown, 'record')} of the release not among the originals; give the collection that was "
            "protected, and its --id-column"
        )
    counts = sp.csr_matrix(space.count_rows(counted_originals)[[place[name] for name in ids]], dtype=np.float64)
    counts.sort_indices()
    rows = counts if space.items else unit_rows(counts, space.idf_)[0]
    return NamedCounts(counts, rows, space.terms_.tolist(), of_items=space.items)


def _attacked(release: Release, records: NamedCounts, space: VectorSpace) -> Attacked:
    sketches, parameters = release.sketches, release.certificate["stated"]["parameters"]["sketch"]
    assert sketches is not None
    if "components" in parameters:
        weighted = space.weighting == "tf-idf"
        crowds = crowds_of(records.counts, _group_of_row(sketches), sketches, weighted=weighted)
        return Attacked("crowd sketches", f"k={release.certificate['promises']['anonymity']['k']}", crowds)
    each = SketchedRecords.each_its_own(records.rows, sketches.values, sketches.offsets)
    if "delta" not in parameters:
        return Attacked("k-variance sketches", f"k={parameters['k']}", each)
    # Who knows a record and delta knows the length of its sketch.
    method = DeltaSketch(parameters["delta"], max_components=parameters["max_components"])
    return Attacked("delta sketches", f"delta={method.delta:g}", each, method.components_of(records.rows))


def _group_of_row(sketches: Sketches) -> NDArray[np.int64]:
    """Records with the same sketch have the same number."""
    digests = [hashlib.blake2b(sketches[row].tobytes(), digest_size=16).digest() for row in range(len(sketches))]
    return np.unique(digests, return_inverse=True)[1].astype(np.int64)


def _check_related(sketched: SketchedRecords, terms: Sequence[str], key: SketchKey, random_state: int) -> None:
    """Refuse originals or a key that do not give the released sketches again, in the order of the originals."""
    rows = sketched.filled[sample_rows(len(sketched.filled), CHECKED, random_state)]
    released = Sketches(sketched.values, sketched.offsets)[rows]
    made = sketch_rows(sketched.pools[sketched.group_of_row[rows]], terms, key, released.lengths)
    same = sum(_alike(made[row], released[row]) for row in range(len(rows)))
    if same < ALIKE * len(rows):
        raise InputError(
            "the sketches are not those of these records under this key: give the collection that was protected, in "
            "its order if records have no ids, and the private folder of the release; or say --aligned if all is right"
        )


def _alike(made: NDArray[np.float64], released: NDArray[np.float64]) -> bool:
    lengths = float(np.linalg.norm(made) * np.linalg.norm(released))
    return bool(made @ released >= ALIKE * lengths)
