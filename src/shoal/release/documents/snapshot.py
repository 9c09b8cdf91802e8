"""A release made of pools alone: what can be seen of an index whose documents are encrypted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.methods.pools import members_with, pooled_weights, rank_of_pools
from shoal.release.documents.vectors import (
    TERM_COLUMNS,
    WHOLE,
    described,
    files_beside,
    files_of_release,
    form_of,
    most_used,
    write_vectors,
)
from shoal.release.figures import NOT_PUBLISHED
from shoal.release.folders import CERTIFICATE, PUBLIC_FOLDER, check_free, folders_written_aside
from shoal.release.writing import Draft, write_release
from shoal.results.summary import DocumentFigures, StatedLoss, Summary
from shoal.terms.vector_space import VectorSpace

METHOD = "dynamic index, pools of k or more documents that never change"
UNKNOWN_LOSS = StatedLoss(0.0, 1.0, reason="the originals are encrypted, and nobody has all of them")


@dataclass(frozen=True)
class PublishedGroups:
    """The groups of an index that can be seen at one moment, each with a pool of its own."""

    k: int
    pools: sp.csr_matrix  # (groups, terms of the space): counts
    sizes: NDArray[np.int64]  # documents in each group now
    space: VectorSpace  # settled on the index's terms


def release_of_groups(groups: PublishedGroups, out: Path, force: bool = False) -> dict[str, Any]:
    """Write a release with a row for each document, and give its certificate."""
    check_free(out, force, lambda content: CERTIFICATE in content)
    with folders_written_aside((out, PUBLIC_FOLDER)) as (aside,):
        return write_release(_draft(groups), aside)


def _draft(groups: PublishedGroups) -> Draft:
    used = np.unique(groups.pools.indices)
    names = groups.space.terms_[used]
    order = np.argsort(rank_of_pools(sp.csr_matrix(groups.pools[:, used])), kind="stable")
    pools, sizes = sp.csr_matrix(groups.pools[:, used][order]), groups.sizes[order]
    frequency = members_with(pools, sizes) if groups.space.weighting == "tf-idf" else None
    weights = pooled_weights(pools, frequency, int(sizes.sum()))
    group_of_row = np.repeat(np.arange(len(sizes)), sizes)
    return Draft(
        summary=_summary(groups, pools, weights, sizes, names),
        columns=described(None),
        shared_columns=(tuple(TERM_COLUMNS),),
        parameters={"vector_space": groups.space.used_params()},
        files={
            WHOLE: lambda path: write_vectors(path, group_of_row, pools, weights, names, {}),
            **files_beside(names, (weights, group_of_row)),
        },
        private_files={},
    )


def _summary(
    groups: PublishedGroups, pools: sp.csr_matrix, weights: sp.csr_matrix, sizes: NDArray[np.int64], names: NDArray[Any]
) -> Summary:
    figures = DocumentFigures(
        form=form_of(groups.space),
        loss_of_means=None,
        terms=most_used(weights.T @ sizes, (pools != 0).T @ sizes, names),
        vocabulary=len(names),
        stemmed=groups.space.stem,
        in_meaning=False,
        words_read=0,
        words_left_out=(),
    )
    return Summary(
        k=groups.k,
        method=METHOD,
        promises_k=True,
        rows=int(sizes.sum()),
        smallest_group=int(sizes.min()),
        group_sizes=tuple(sorted(Counter(sizes.tolist()).items())),
        loss=UNKNOWN_LOSS,
        distances=NOT_PUBLISHED,
        withheld=(),
        diversity=(),
        figures=figures,
        attacked=False,
        files=files_of_release(True, None),
    )
