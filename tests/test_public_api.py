"""The names people rely on: written down twice, so that none comes or goes by accident."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import shoal

PUBLIC = [
    "VectorSpace",
    "SphericalMicroaggregation",
    "SemanticMicroaggregation",
    "Microaggregation",
    "CategoricalMicroaggregation",
    "MixedMicroaggregation",
    "RankSwap",
    "Noise",
    "DeltaSketch",
    "KVarianceSketch",
    "CrowdSketch",
    "inspect",
    "audit",
    "board",
    "count",
    "protect",
    "sign",
    "verify",
    "assess",
    "explore",
    "load",
    "sanitize",
    "redact",
    "unmask",
    "Roles",
    "TableFile",
    "Query",
    "Corpus",
    "WordNet",
    "Hierarchy",
    "ShoalError",
    "InputError",
]

# These need the extra `service`.
OPTIONAL = ["IndexClient", "Keys"]

# Whatever takes long to import, or is needed for part of the work only.
HEAVY = ("numpy", "scipy", "numba", "sklearn", "pyarrow", "narwhals", "typer", "rich", "jinja2", "pandas")


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_public_names_are_these() -> None:
    assert sorted(shoal.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC + OPTIONAL)
def test_a_public_name_can_be_imported_and_is_documented(name: str) -> None:
    thing = getattr(shoal, name)
    assert thing.__name__ == name
    assert thing.__doc__
    assert name in dir(shoal)


def test_import_shoal_loads_nothing_heavy() -> None:
    code = f"import sys, shoal; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(code) == "[]"


def test_verify_loads_no_method() -> None:
    code = "import sys, shoal; shoal.verify; print(sorted(name for name in sys.modules if name.startswith('shoal.')))"
    loaded = run(code)
    assert "shoal.methods" not in loaded and "shoal.terms" not in loaded


@pytest.mark.slow  # starts processes
@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "pyrage"])
def test_the_workbench_names_its_extra_whatever_of_it_is_missing(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = ['workbench']; from shoal.cli import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr == (
        "shoal: the workbench needs the extra 'workbench'; install it with: pip install 'shoal[workbench]'\n"
    )


@pytest.mark.slow
def test_the_workbench_opens_without_what_only_its_jobs_need(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom shoal.web.app import create_app\n"
        "from shoal.web.workspace import Workspace\n"
        f"create_app(Workspace(Path({str(tmp_path / 'workbench')!r})), 'token', 80)\n"
        "print([name for name in ('scipy', 'numba', 'sklearn', 'pandas') if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'protext'"):
        shoal.protext  # noqa: B018


def test_protect_loads_no_part_of_scikit_learn_that_only_other_work_needs() -> None:
    code = (
        "import sys, shoal.release.protect\n"
        "print({name.split('.')[1] for name in sys.modules if name.startswith('sklearn.')}"
        " & {'neighbors', 'naive_bayes', 'metrics', 'linear_model', 'decomposition', 'svm', 'ensemble'})"
    )
    assert run(code) == "set()"
