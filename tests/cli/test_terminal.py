"""What people see while they wait, and of figures that say little."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from shoal import progress
from shoal.cli import terminal
from shoal.cli.terminal import shown_progress
from tests.cli.run import PATIENCE, run

FEW_PEOPLE = "id,age,income\n" + "".join(f"p{row},{20 + row},{1000 + 37 * row}\n" for row in range(4))


def test_a_pipe_gets_a_line_on_the_latest_step_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    said = threading.Event()
    lines: list[str] = []

    def say(line: str) -> int:
        lines.append(line)
        said.set()
        return 0

    monkeypatch.setenv("SHOAL_PROGRESS", "")
    monkeypatch.setattr(terminal, "LINE_EVERY", 0.01)
    monkeypatch.setattr(terminal, "say", say)
    with shown_progress():
        progress.step("grouping", 1_200, 5_000)
        assert said.wait(PATIENCE)
    assert set(lines) == {"grouping: 1,200 of 5,000"}


def test_the_owner_sees_the_exact_loss_where_the_release_states_a_range(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text(FEW_PEOPLE)
    ran = run(tmp_path, "protect", "few.csv", "-k2", "-oout", "--quasi", "age,income", "--drop", "id", "--no-attack")
    assert ran.code == 0, ran.err
    # Four people one step apart, in pairs: 4 / 2² of 2 (3² + 1²) / 2².
    assert "lost         20.0% of the information (published: 20% to 30%)" in ran.out.splitlines()


def test_of_very_few_attempts_assess_says_so_and_gives_no_interval(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text(FEW_PEOPLE)
    ran = run(tmp_path, "assess", "few.csv", "few.csv", "-o", "judged", "--key", "id", "--columns", "age,income")
    assert ran.code == 0, ran.err
    linked = [line for line in ran.out.splitlines() if line.startswith("linked")]
    assert linked and all("too few attempts by" in line and "%" not in line for line in linked), ran.out
