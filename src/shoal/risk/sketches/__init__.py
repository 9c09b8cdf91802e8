"""Attacks on sketches: by whoever has the key, knows some of the records, or looks for the sketch of a record."""

from __future__ import annotations

from shoal.risk.sketches.key_holder import KeyHolder
from shoal.risk.sketches.known_records import KnownRecords
from shoal.risk.sketches.linkage import SketchLinkage
from shoal.risk.sketches.sketched import SketchedRecords

__all__ = ["KeyHolder", "KnownRecords", "SketchLinkage", "SketchedRecords"]
