"""The benchmarks of the papers run, in a small form; whether the others call what is there, mypy sees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_benchmarks_of_the_papers_run_in_a_small_form():
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.smoke"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "learned_paper: " in ran.stdout
