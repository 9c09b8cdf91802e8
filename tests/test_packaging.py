"""What is released: one version, one list of requirements, and files that name no host."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import shoal

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\s<>=\[]", one)[0].lower() for one in requirements}


def test_citation_and_recipe_have_the_version():
    assert read("CITATION.cff")["version"] == shoal.__version__
    assert read("packaging/conda/recipe.yaml")["context"]["version"] == shoal.__version__


def test_the_recipe_needs_what_the_package_needs():
    recipe = names(read("packaging/conda/recipe.yaml")["requirements"]["run"])
    assert recipe - {"python"} == names(PROJECT["dependencies"])


def test_the_core_leaves_out_what_only_some_need():
    assert not names(PROJECT["dependencies"]) & {
        "vl-convert-python",
        "highspy",
        "pandas",
        "spacy",
    }


def test_the_workflow_runs_what_the_project_runs():
    jobs = read(".github/workflows/ci.yml")["jobs"]
    assert [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step] == [
        ".ci/run",
        "make docs",
        "make dist",
    ]


def test_containers_run_without_root_and_write_to_volumes_only():
    assert re.search(r"^USER [1-9]\d*$", (ROOT / "packaging/Containerfile").read_text(encoding="utf-8"), re.MULTILINE)
    services = read("packaging/compose.yaml")["services"]
    for name in ("index", "workbench"):
        assert services[name]["read_only"]
        assert services[name]["cap_drop"] == ["ALL"]


def test_every_constraint_is_exact_and_every_requirement_has_one():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert all("==" in line for line in lines)
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    extras = [one for some in PROJECT["optional-dependencies"].values() for one in some]
    assert names(PROJECT["dependencies"] + extras) - pinned - {"shoal"} == set()
