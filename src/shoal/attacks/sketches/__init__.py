"""Attacks on sketches: with the key, from known records, and by searching for the sketch of a record."""

from __future__ import annotations

from shoal.attacks.sketches.key_holder import KeyHolder
from shoal.attacks.sketches.known_records import KnownRecords
from shoal.attacks.sketches.linkage import SketchLinkage
from shoal.attacks.sketches.records import SketchedRecords

__all__ = ["KeyHolder", "KnownRecords", "SketchLinkage", "SketchedRecords"]
