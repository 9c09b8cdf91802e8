"""What every test shares: how Hypothesis searches, and where public data sets may lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Kernels are compiled on first use, so no example has a deadline; the same examples on every run.
settings.register_profile(
    "shoal", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shoal")


def pytest_make_parametrize_id(config: pytest.Config, val: object) -> str | None:
    """Name bytes by their length: packed content can differ from run to run, and a test's name may not."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Public data sets that are not part of the project: SHOAL_DATA, or ../shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
    folder = Path(os.environ.get("SHOAL_DATA", beside))
    if not folder.is_dir():
        pytest.skip("the public data sets are not here; set SHOAL_DATA to their folder")
    return folder


@pytest.fixture(autouse=True, scope="module")
def leaks_only_where_wanted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Looking for leaks takes seconds: what is made to test something else goes without, but for marked modules.

    For a whole module, so that the releases its tests share go without as well.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("leaks") is None:
            patch.setattr("shoal.release.tables.draft.leaks_of_release", lambda *given: None)
            patch.setattr("shoal.assessment.tables.find_leaks", lambda *given, **options: None)
        yield
