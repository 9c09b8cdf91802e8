"""The vocabulary of an index: terms and weights that never change, and how words become terms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.microaggregation.words.pooling import THOUSAND, members_with
from shoal.vectors import VectorSpace

__all__ = ["Vocabulary"]


@dataclass(frozen=True)
class Vocabulary:
    """Terms in alphabetical order, the weight of one occurrence of each, and the parameters of a `VectorSpace`."""

    terms: NDArray[np.str_]
    weights: NDArray[np.float64]
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not len(self.terms) == len(self.weights) > 0:
            raise InputError(f"{len(self.terms)} terms and {len(self.weights)} weights; give as many, and at least 1")
        if np.any(self.terms[:-1] >= self.terms[1:]):
            raise InputError("the terms are not distinct and in alphabetical order; sort them, with their weights")
        if not np.all(np.isfinite(self.weights)) or np.any(self.weights <= 0):
            raise InputError("a weight is not above 0; give the weight of one occurrence of each term")

    @classmethod
    def of_pools(
        cls, terms: NDArray[np.str_], pools: sp.csr_matrix, sizes: NDArray[np.int64], parameters: Mapping[str, Any]
    ) -> Vocabulary:
        """Weights by the document frequencies that pools let anyone estimate; the true ones are not published."""
        frequency = members_with(pools, sizes)
        used = np.flatnonzero(frequency)
        if parameters.get("weighting") == "tf":
            weights = np.ones(len(used))
        else:
            weights = np.log(THOUSAND * sizes.sum() / frequency[used])
        return cls(terms[used], weights, parameters)

    @classmethod
    def from_json(cls, body: bytes, digest: str) -> Vocabulary:
        """The vocabulary that a server gave under the name of its hash."""
        if hashlib.sha256(body).hexdigest() != digest:
            raise InputError("the server's vocabulary is not the one that its name promises; ask the operator")
        try:
            content = json.loads(body)
            terms = np.array(content["terms"], dtype=np.str_)
            vocabulary = cls(terms, np.array(content["weights"], dtype=np.float64), content["space"])
            vocabulary.space()
        except (ValueError, KeyError, TypeError):  # InputError is a ValueError
            raise InputError("the server's vocabulary cannot be used with this version of Shoal; update it") from None
        return vocabulary

    def as_json(self) -> dict[str, Any]:
        """What is sent to create an index."""
        return {"terms": self.terms.tolist(), "weights": self.weights.tolist(), "space": dict(self.parameters)}

    def space(self) -> VectorSpace:
        """The space in which texts are counted."""
        return VectorSpace(**self.parameters).settle_on(self.terms, self.weights)
