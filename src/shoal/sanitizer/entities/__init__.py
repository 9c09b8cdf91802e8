"""Entities of texts: what a text names, with every mention of it."""

from shoal.sanitizer.entities.collection import same_entities
from shoal.sanitizer.entities.finder import EntityFinder

__all__ = ["EntityFinder", "same_entities"]
