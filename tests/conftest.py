"""What every test shares: which tests are slow, how Hypothesis searches, and where public data sets may lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
KERNELS = TESTS.parent / "src" / "shoal" / "kernels"

# `make quick` (pytest --quick) leaves these out: they start a browser, a server or other processes, train attackers, or
# make releases by the hundred. A single test of another module is left out with @pytest.mark.slow.
SLOW = (
    "assessment",
    "attacks/learned",
    "attacks/proof",
    "cli",
    "golden",
    "index/client",
    "index/server",
    "index/test_histories.py",
    "methods/sketches/test_generated_baskets.py",
    "published",
    "release",
    "sanitizer",
    "verification",
    "web",
    "test_conformance.py",
    "test_docs.py",
)

# Kernels are compiled on first use, so no example has a deadline; the same examples on every run.
settings.register_profile(
    "shoal", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("shoal"), max_examples=5)
settings.load_profile("shoal")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="run the unit tests only; see SLOW in tests/conftest.py")


def pytest_configure(config: pytest.Config) -> None:
    """Forget all compiled kernels when one has changed: those that call it are not compiled anew by themselves."""
    os.environ["SHOAL_PROGRESS"] = "off"  # else a slow machine adds lines to what commands print
    if config.getoption("quick"):
        settings.load_profile("quick")
    if not hasattr(config, "workerinput"):  # once, before pytest's workers begin
        changed = max(source.stat().st_mtime for source in KERNELS.rglob("*.py"))
        for compiled in KERNELS.rglob("*.nb[ic]"):
            if compiled.stat().st_mtime < changed:
                compiled.unlink(missing_ok=True)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is slow without importing it."""
    return True if config.getoption("quick") and collection_path in {TESTS / name for name in SLOW} else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("quick"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


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


@pytest.fixture(scope="module")
def without_attack() -> Iterator[None]:
    """No attacker is trained on the tables that this module protects and assesses, as if for `attack=False`.

    For modules that make many releases to test something else:
    `pytestmark = pytest.mark.usefixtures("without_attack")`.
    An attack takes a second. It is off for the whole module, so that the releases its tests share go without as well.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.release.tables.steps.find_leaks", lambda *given, **named: None)
        patch.setattr("shoal.assessment.tables.find_leaks", lambda *given, **options: None)
        yield
