"""The user's dial: what each threshold masks, so that it can be drawn as a curve."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.results.sanitizing import DialPoint, Entity

__all__ = ["DEFAULT_THRESHOLD", "dial_curve"]

DEFAULT_THRESHOLD = 0.1  # misses few entities and lets a person reject the rest; docs/sanitizer/tuning.md has the curve


def dial_curve(
    documents: Sequence[Sequence[Entity]], characters: int, thresholds: Sequence[float] | None = None
) -> tuple[DialPoint, ...]:
    """The curve of a collection: its entities by document, and how many characters its texts have."""
    entities = [entity for document in documents for entity in document]
    needed = sum(entity.probability for entity in entities)
    points = []
    for threshold in thresholds or [step / 50 for step in range(1, 50)]:
        masked = [entity for entity in entities if entity.probability >= threshold]
        length = sum(mention.end - mention.start for entity in masked for mention in entity.mentions)
        likely = sum(entity.probability for entity in masked)
        points.append(
            DialPoint(
                threshold,
                length / characters if characters else 0.0,
                likely / needed if needed else 1.0,
                likely / len(masked) if masked else 1.0,
            )
        )
    return tuple(points)
