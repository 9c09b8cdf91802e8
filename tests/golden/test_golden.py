"""Every case gives what it gave when it was recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import CASES
from tests.golden.making import ELSEWHERE_OTHERS, PARTS, differences, libraries, made_by, run
from tests.golden.record import GOLDEN


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return content


def test_every_case_is_recorded(golden: dict[str, Any]) -> None:
    assert list(golden["cases"]) == list(CASES)


def test_every_option_of_protect_is_in_a_case(tmp_path: Path) -> None:
    """But for a cluster, which tests/release compares with this machine, and a plan, as tests/request does."""
    _, out, _ = run(tmp_path, "protect", "--help")
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", out.split("Options:")[1].split("Examples:")[0]))
    given = {argument for case in CASES.values() for command in case.commands for argument in command}
    default = {"--attack", "--refine", "--out"}
    assert options - given - default == {"--scheduler", "--plan", "--help"}


@pytest.mark.parametrize("name", CASES)
def test_a_command_makes_what_it_made(name: str, golden: dict[str, Any], tmp_path: Path) -> None:
    expected, made = golden["cases"][name], made_by(CASES[name], tmp_path)
    parts = [part for part in PARTS if part not in ELSEWHERE_OTHERS or golden["libraries"] == libraries()]
    if _versions(expected) != _versions(made):
        parts = [part for part in parts if part != "sealed"]
    changed = differences(expected, made, parts)
    commands = "".join(f"\n  shoal {' '.join(command)}" for command in CASES[name].commands)
    if changed:
        pytest.fail(f"{name}: changed\n  " + "\n  ".join(changed) + f"\nmade in {tmp_path} by{commands}", pytrace=False)


def _versions(made: dict[str, Any]) -> list[Any]:
    """What the certificates say made the releases."""
    return [one["versions"] for one in made.get("sealed", {}).values() if isinstance(one, dict)]
