from __future__ import annotations

import pytest

from shoal.sanitizer.entities.finder import EntityFinder


@pytest.fixture(scope="session")
def finder() -> EntityFinder:
    """One finder for all tests: a language model takes seconds to load."""
    return EntityFinder()
