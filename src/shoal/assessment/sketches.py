"""A release of sketches judged against its originals, beside other kinds of sketches of the same records."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.documents import stated_space
from shoal.assessment.originals import vectors_in_order
from shoal.attacks.rates import rate_of, sample_rows
from shoal.attacks.sketches.records import SketchedRecords, SketchLinkage
from shoal.attacks.sketches.recovery import KeyHolder, KnownRecords
from shoal.data.files import shown
from shoal.errors import InputError
from shoal.kernels import Ints
from shoal.methods.pools import THOUSAND, members_with, pooled_counts, pooled_weights, unit_rows
from shoal.methods.sketches import (
    CrowdSketch,
    DeltaSketch,
    KVarianceSketch,
    Sketches,
    SketchKey,
    cosine,
    squared_length,
)
from shoal.methods.sketches.sketches import dot_products, sketch_rows
from shoal.release.load import Release, kind_of_release, load
from shoal.release.private_mapping import private_folder, read_mapping, rows_of_parts
from shoal.request.judging_options import AssessOptions
from shoal.results.assessment import SketchAssessment
from shoal.results.attacks import Rate, SketchAttacks, SketchUtility
from shoal.terms.vector_space import VectorSpace, at_unit_length

ATTACKED = 1_000  # records, drawn at random
COMPONENTS = 512  # of sketches to compare with
DELTA_OF_BASKETS, DELTA_OF_TEXTS = 0.2, 0.01
PAIRS = 20_000
SEARCHED = 300  # records whose neighbours are looked for
AMONG = 5_000  # records they are looked for among
NEAREST = 10
COMPARED = 5_000  # records that other kinds of sketches are made of, to compare with
K = 5  # of these, where the release has none
CHECKED = 1_000  # records whose sketches are made again to see whether key and originals are the right ones
ALIKE = 0.9  # least cosine of a sketch made again with the released one, and least share of sketches that have it


@dataclass(frozen=True, eq=False)
class NamedCounts:
    """Records as counts of terms, and as the rows that are sketched when each is sketched by itself."""

    counts: sp.csr_matrix
    rows: sp.csr_matrix  # the counts themselves, or weights of length 1
    terms: list[str]
    of_items: bool  # baskets, not texts

    def some(self, rows: Ints) -> NamedCounts:
        """These records only."""
        return replace(self, counts=sp.csr_matrix(self.counts[rows]), rows=sp.csr_matrix(self.rows[rows]))


@dataclass(frozen=True, eq=False)
class NamedSketches:
    """Sketches to attack, by name."""

    kind: str
    setting: str
    sketched: SketchedRecords
    lengths: Ints | None = None  # components of each sketch, where anyone can compute them from the record


def attack_sketches(attacked: NamedSketches, terms: list[str], key: SketchKey, random_state: int = 0) -> SketchAttacks:
    """All attacks: by the key, by known records, and for the sketch of a record."""
    sketched = attacked.sketched
    signs = key.signs(terms, sketched.width)
    holder, linkage = KeyHolder(ATTACKED, random_state), SketchLinkage(ATTACKED, random_state)
    known = KnownRecords(attacked=ATTACKED, random_state=random_state)
    return SketchAttacks(
        kind=attacked.kind,
        setting=attacked.setting,
        records=len(sketched.filled),
        withheld=int(np.sum(sketched.lengths == 0)),
        components=int(np.median(sketched.lengths[sketched.filled])),
        with_key=holder.run(sketched, signs),
        knowing_records=known.run(sketched, signs),
        linked_with_key=linkage.with_key(sketched, signs, attacked.lengths),
        linked_without_key=linkage.without_key(sketched, attacked.lengths),
        utility=sketch_utility(
            sketched.records[sketched.filled],
            Sketches(sketched.values, sketched.offsets)[sketched.filled],
            random_state,
        ),
        openly=holder.openly(sketched) if sketched.pooled else None,
    )


def all_kinds(
    records: NamedCounts, k: int, key: SketchKey, random_state: int = 0, without: str | None = None
) -> tuple[SketchAttacks, ...]:
    """Plain, delta, k-variance and crowd sketches of the same records, each attacked; `without` names one to omit.

    Kinds that cannot be made of these records are left out: few of them make no crowd, short ones no delta sketch.
    """
    makers = {
        "plain sketches": _plain,
        "delta sketches": _delta,
        "k-variance sketches": _k_variance,
        "crowd sketches": _crowd,
    }
    attacks = []
    for step, (kind, make) in enumerate(makers.items()):
        progress.step("attacking other sketches", step, len(makers))
        if kind != without:
            with suppress(InputError):
                attacks.append(attack_sketches(make(records, k, key), records.terms, key, random_state))
    progress.step("attacking other sketches", len(makers), len(makers))
    return tuple(attacks)


def crowds_of(
    counts: sp.csr_matrix, groups: Ints, sketches: Sketches, least: int = 1, weighted: bool = False
) -> SketchedRecords:
    """Records in groups, whose sums were sketched, without items that fewer than `least` records have.

    `weighted`: with sums times the rarity of an item, as computed from them.
    """
    inside = np.flatnonzero(groups >= 0)
    common = np.bincount(counts.indices, minlength=counts.shape[1]) >= least
    pools = pooled_counts(sp.csr_matrix(counts[inside] @ sp.diags_array(common.astype(np.float64))), groups[inside])
    pools.eliminate_zeros()
    frequency = members_with(pools, np.bincount(groups[inside])) if weighted else None
    rarity = np.ones(pools.shape[1])
    if frequency is not None:
        rarity[frequency > 0] = np.log(THOUSAND * len(inside) / frequency[frequency > 0])
    records = sp.csr_matrix(counts.astype(np.float64) @ sp.diags_array(rarity))
    pool_weights = pooled_weights(pools, frequency, len(inside))
    return SketchedRecords(records, sketches.values, sketches.offsets, pool_weights, groups, rarity)


def _each(rows: sp.csr_matrix, sketches: Sketches) -> SketchedRecords:
    return SketchedRecords.each_its_own(rows, sketches.values, sketches.offsets)


def _plain(records: NamedCounts, k: int, key: SketchKey) -> NamedSketches:
    lengths = np.full(records.rows.shape[0], COMPONENTS)
    sketches = sketch_rows(records.rows, records.terms, key, lengths)
    return NamedSketches("plain sketches", "no protection", _each(records.rows, sketches))


def _delta(records: NamedCounts, k: int, key: SketchKey) -> NamedSketches:
    delta = DELTA_OF_BASKETS if records.of_items else DELTA_OF_TEXTS
    sketches = DeltaSketch(delta, terms=records.terms, key=key).fit_transform(records.rows)
    return NamedSketches("delta sketches", f"delta={delta:g}", _each(records.rows, sketches), sketches.lengths)


def _k_variance(records: NamedCounts, k: int, key: SketchKey) -> NamedSketches:
    sketches = KVarianceSketch(k, terms=records.terms, key=key).fit_transform(records.rows)
    return NamedSketches("k-variance sketches", f"k={k}", _each(records.rows, sketches))


def _crowd(records: NamedCounts, k: int, key: SketchKey) -> NamedSketches:
    model = CrowdSketch(k, components=COMPONENTS, terms=records.terms, key=key).fit(records.counts)
    return NamedSketches("crowd sketches", f"k={k}", crowds_of(records.counts, model.groups_, model.sketches_, least=k))


def sketch_utility(rows: sp.csr_matrix, sketches: Sketches, random_state: int = 0) -> SketchUtility:
    """Row i of `rows` was sketched as sketch i, or together with others; no sketch is empty."""
    unit = sp.csr_matrix(at_unit_length(rows))
    random = np.random.default_rng(random_state)
    first, second = random.integers(0, len(sketches), (2, PAIRS))
    first, second = first[first != second], second[first != second]
    true = np.asarray(unit[first].multiply(unit[second]).sum(axis=1)).ravel()
    estimated = cosine(sketches[first], sketches[second]).value
    spread = bool(len(true)) and true.std() > 0 and estimated.std() > 0
    return SketchUtility(
        correlation=float(np.corrcoef(true, estimated)[0, 1]) if spread else None,
        error=float(np.mean(np.abs(true - estimated))) if len(true) else 0.0,
        pairs=len(true),
        neighbours=_neighbours(unit, sketches, random_state),
    )


def _neighbours(unit: sp.csr_matrix, sketches: Sketches, random_state: int) -> Rate:
    among = sample_rows(len(sketches), AMONG, random_state)
    searched = sample_rows(len(among), SEARCHED, random_state)
    count = max(min(NEAREST, len(among) - 1), 1)
    chosen = sketches[among]
    true = (unit[among[searched]] @ unit[among].T).toarray()
    scale = np.sqrt(np.maximum(squared_length(chosen).value, 1e-12))
    estimated = dot_products(chosen[searched], chosen) / scale
    before, after = _nearest(true, searched, count), _nearest(estimated, searched, count)
    kept = [len(np.intersect1d(before[row], after[row])) / count for row in range(len(searched))]
    return rate_of("nearest records kept", np.array(kept), count / max(len(among) - 1, 1))


def _nearest(products: NDArray[np.float64], own: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The rows with the largest products, ties to the lower row; a record is no neighbour of its own."""
    products = products.copy()
    products[np.arange(len(own)), own] = -np.inf
    return np.argsort(-products, axis=1, kind="stable")[:, :count]


def is_sketches(protected: Any) -> bool:
    """Whether this is a release of sketches."""
    return isinstance(protected, str | os.PathLike) and kind_of_release(protected) == "sketches"


def assess_sketches(
    original: Any, protected: Any, options: AssessOptions, columns: dict[str, str | None]
) -> SketchAssessment:
    """Put sketches and records side by side, attack, and estimate."""
    folder = Path(protected)
    release, beside, random_state = load(folder), private_folder(folder, options.private), options.random_state
    assert release.sketches is not None
    key = _key(beside)
    stated = release.certificate["stated"]["parameters"]
    space = stated_space(release, options.ontology)
    records = _in_order(original, folder, len(release.sketches), beside, space, columns)
    attacked = _attacked(release, records, space)
    if not options.aligned:
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
            "give the private folder with {option}",
            "private",
        )
    return SketchKey.read(file)


def _in_order(
    original: Any, folder: Path, n_rows: int, private: Path, space: VectorSpace, columns: dict[str, str | None]
) -> NamedCounts:
    """The records in the order of their sketches, made as the certificate says."""
    mapping = read_mapping(private, rows_of_parts(folder, "sketches") or [n_rows])
    counts = sp.csr_matrix(vectors_in_order(original, columns, mapping, space)[1], dtype=np.float64)
    counts.sort_indices()
    rows = counts if space.items else unit_rows(counts, space.idf_)[0]
    return NamedCounts(counts, rows, space.terms_.tolist(), of_items=space.items)


def _attacked(release: Release, records: NamedCounts, space: VectorSpace) -> NamedSketches:
    sketches, parameters = release.sketches, release.certificate["stated"]["parameters"]["sketch"]
    assert sketches is not None
    if "components" in parameters:
        weighted = space.weighting == "tf-idf"
        crowds = crowds_of(records.counts, _group_of_row(sketches), sketches, weighted=weighted)
        return NamedSketches("crowd sketches", f"k={release.certificate['promises']['anonymity']['k']}", crowds)
    each = SketchedRecords.each_its_own(records.rows, sketches.values, sketches.offsets)
    if "delta" not in parameters:
        return NamedSketches("k-variance sketches", f"k={parameters['k']}", each)
    # Who knows a record and delta knows the length of its sketch.
    method = DeltaSketch(parameters["delta"], max_components=parameters["max_components"])
    return NamedSketches("delta sketches", f"delta={method.delta:g}", each, method.components_of(records.rows))


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
            "its order if records have no ids, and the private folder of the release; or say {option} if all is right",
            "aligned",
        )


def _alike(made: NDArray[np.float64], released: NDArray[np.float64]) -> bool:
    lengths = float(np.linalg.norm(made) * np.linalg.norm(released))
    return bool(made @ released >= ALIKE * lengths)
