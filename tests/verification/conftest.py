"""The honest releases that all these tests change, made once; every test changes a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verification.hostile.honest import make_honest


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release of each kind, by its name, without an attack."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.release.tables.steps.find_leaks", lambda *given, **named: None)
        return make_honest(tmp_path_factory.mktemp("honest"))
