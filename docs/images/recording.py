"""Thirty seconds of a terminal as one animated picture: `python docs/images/recording.py` runs the commands.

Each command is typed, its real output appears below it, and the picture starts again. No script is in it, and no font.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from shoal.sample import write_sample

PICTURE = Path(__file__).with_name("terminal.svg")
COMMANDS = (
    "shoal protect subjects.csv -k 5 -o release --quasi age,income --confidential diagnosis --l 2",
    "shoal verify release",
)
SECONDS, TYPING, READING = 30.0, 4.0, 6.0  # in all; for a command; before its successor
WIDTH, LINE, LEFT, CHARACTER, MOST = 980, 20, 16, 8.4, 112


def output_of(command: str, folder: Path) -> list[str]:
    """What the command prints, messages after data, long lines cut."""
    quiet = {**os.environ, "SHOAL_PROGRESS": "off"}
    run = [sys.executable, "-m", *command.split()]
    done = subprocess.run(run, cwd=folder, env=quiet, capture_output=True, text=True, check=True)
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    return [line if len(line) <= MOST else line[: MOST - 1] + "…" for line in lines]


def appears(at: float) -> str:
    return (
        f'<animate attributeName="visibility" values="hidden;visible" keyTimes="0;{at / SECONDS:.4f}" '
        f'dur="{SECONDS:g}s" calcMode="discrete" repeatCount="indefinite"/>'
    )


def text(line: str, row: int, at: float, kind: str) -> str:
    shown = escape(line).replace("  ", "\u00a0 ")
    return f'<text class="{kind}" x="{LEFT}" y="{(row + 2) * LINE}">{shown}{appears(at)}</text>'


def typed(command: str, row: int, at: float) -> str:
    """The command behind a curtain that is drawn back while it is typed; where nothing moves, there is no curtain."""
    start, end = LEFT + 2 * CHARACTER, LEFT + (len(command) + 2) * CHARACTER
    times = f"0;{at / SECONDS:.4f};{(at + TYPING) / SECONDS:.4f};1"
    curtain = (
        f'<rect class="ground" x="{WIDTH}" y="{(row + 1) * LINE + 5}" width="{WIDTH}" height="{LINE}">'
        f'<animate attributeName="x" values="{start:g};{start:g};{end:g};{WIDTH}" keyTimes="{times}" '
        f'dur="{SECONDS:g}s" repeatCount="indefinite"/></rect>'
    )
    return text(f"$ {command}", row, at, "typed") + curtain


def picture(outputs: list[list[str]]) -> str:
    parts, row, at = [], 0, 0.5
    for command, output in zip(COMMANDS, outputs, strict=True):
        parts.append(typed(command, row, at))
        row, at = row + 1, at + TYPING + 0.5
        for line in output:
            parts.append(text(line, row, at, "said" if line.startswith("shoal:") else "data"))
            row, at = row + 1, at + 0.15
        row, at = row + 1, at + READING
    height = (row + 2) * LINE
    style = (
        ".ground{fill:#10222e}text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}"
        ".typed{fill:#fff}.data{fill:#b9d6e2}.said{fill:#f0c674}"
    )
    title = "A table is protected and its release verified, in a terminal"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"><title>{title}</title>'
        f'<style>{style}</style><rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>'
        + "\n".join(parts)
        + "</svg>\n"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        write_sample(Path(name))
        PICTURE.write_text(picture([output_of(command, Path(name)) for command in COMMANDS]), encoding="utf-8")
