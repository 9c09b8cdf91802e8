"""How an index starts: with the groups of a release, and the private mapping that says which document is in which."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.bundle.load import load
from shoal.bundle.private_mapping import private_folder, read_mapping, rows_of_parts
from shoal.errors import InputError
from shoal.io.files import shown
from shoal.microaggregation.words.pooling import rank_of_pools
from shoal.service.client.vocabulary import Vocabulary

__all__ = ["Start", "read_start"]


@dataclass(frozen=True)
class Start:
    """The k and the vocabulary of an index, and its first groups."""

    k: int
    vocabulary: Vocabulary
    pools: Any = None  # (groups, terms), a CSR matrix
    group_of: dict[str, int] = field(default_factory=dict)  # by the name of the document


def read_start(
    release: str | os.PathLike[str], private: str | os.PathLike[str] | None, with_documents: bool = True
) -> Start:
    """From a release of documents; without documents its k and vocabulary alone."""
    loaded = load(release)
    if loaded.counts is None or loaded.terms is None:
        raise InputError(
            f"{shown(release)} is no release of documents with pooled counts; make one with: shoal protect"
        )
    parameters = loaded.certificate["stated"]["parameters"]
    if "ontology" in parameters.get("microaggregation", {}) or "vector_space" not in parameters:
        raise InputError(
            f"{shown(release)} was protected by meaning, or without stating how words were counted; an index counts "
            "words: protect the documents with --method mdav"
        )
    counts = sp.csr_matrix(loaded.counts)
    rank = rank_of_pools(counts)
    pools = sp.csr_matrix(counts[np.unique(rank, return_index=True)[1]]).astype(np.int64)
    vocabulary = Vocabulary.of_pools(loaded.terms, pools, np.bincount(rank), parameters["vector_space"])
    k = int(loaded.certificate["promises"]["anonymity"]["k"])
    if not with_documents:
        return Start(k, vocabulary)
    sizes = rows_of_parts(Path(release), "documents") or [counts.shape[0]]
    mapping = read_mapping(private_folder(release, private), sizes)
    return Start(k, vocabulary, pools, dict(zip(mapping.names.to_pylist(), rank.tolist(), strict=True)))
