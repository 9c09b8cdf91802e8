"""What every estimator that makes sketches has in common."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags

__all__ = ["SketchesRows"]


class SketchesRows(BaseEstimator):  # type: ignore[misc]
    """Rows of counts or records in, Sketches out."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
