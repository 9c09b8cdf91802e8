"""The documentation is true: its code runs, its links lead somewhere, and nothing is left unsaid.

Every python block of a page runs, all blocks of a page in order and in one namespace, and so does every `$ shoal ...`
line of a console block, in a folder that holds the sample. A block after `<!-- not run -->` is left alone.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.exploration.documents import document_trials
from shoal.exploration.trials import number_trials
from shoal.release.demo import run_demo

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

FENCE = re.compile(r"(?P<before>[^\n]*)\n+```(?P<kind>\w+)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# Options that every command has and nobody needs to look up.
UNDOCUMENTED = {"--help"}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str  # python, console, text
    content: str

    def commands(self) -> Iterator[tuple[list[str], list[str]]]:
        """Each command line of a console block as words, and the lines shown below it."""
        for part in re.split(r"^\$ ", self.content, flags=re.MULTILINE)[1:]:
            line, *shown = part.splitlines()
            yield shlex.split(line, comments=True), [text for text in shown if text.strip()]


def blocks(path: Path) -> list[Block]:
    found = FENCE.finditer("\n" + path.read_text(encoding="utf-8"))
    return [Block(one["kind"], one["content"]) for one in found if "<!-- not run -->" not in one["before"]]


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample and a release of each half of it."""
    folder = tmp_path_factory.mktemp("docs") / "made"
    run_demo(folder)
    return folder


@pytest.fixture
def workplace(made_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sample/, letters/ and subjects/ as the pages expect, and the sample's files beside them.

    An exploration tries every third of its trials there.
    """
    place = tmp_path / "work"
    place.mkdir()
    for name in ("sample", "letters", "subjects"):
        shutil.copytree(made_once / name, place / name)
    for file in (made_once / "sample").iterdir():
        shutil.copy(file, place)
    monkeypatch.chdir(place)
    monkeypatch.setattr("shoal.exploration.tables.number_trials", lambda *size: number_trials(*size)[::3])
    monkeypatch.setattr("shoal.exploration.documents.document_trials", lambda *kind: document_trials(*kind)[2:17:5])
    return place


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=named)
def test_the_code_of_a_page_runs(page: Path, workplace: Path) -> None:
    if page.name in ("tutorial.md", "README.md"):  # These pages make their releases themselves.
        for name in ("letters", "subjects"):
            shutil.rmtree(workplace / name)
    namespace: dict[str, Any] = {}
    for block in blocks(page):
        if block.kind == "python":
            exec(compile(block.content, named(page), "exec"), namespace)
        elif block.kind == "console":
            for words, shown in block.commands():
                run_command(words, shown)


def run_command(words: list[str], shown: list[str]) -> None:
    """Run a shoal command: it must succeed, and say what the page says it does, figures aside."""
    if words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8"), f"there is no target {words[1]}"
    if words[0] != "shoal":
        return
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, f"{' '.join(words)}: {result.output}"
    said = {line.split()[0] for line in result.output.splitlines() if line.strip()}
    assert {line.split()[0] for line in shown} <= said, f"{' '.join(words)} says otherwise: {result.output}"


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_an_example_runs_in_an_empty_folder(example: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = target.partition("#")[0]
        if path and not re.match(r"[a-z]+:", target):
            assert (page.parent / path).exists(), f"{target} is not there"


def commands() -> dict[str, Any]:
    """Every command of the command line by its full name."""
    found: dict[str, Any] = {}

    def collect(command: Any, name: str) -> None:
        found[name] = command
        for sub in getattr(command, "commands", {}).values():
            collect(sub, f"{name} {sub.name}")

    collect(typer.main.get_command(app), "shoal")
    return found


@pytest.mark.parametrize("name", list(commands()))
def test_every_command_and_option_is_documented(name: str) -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    if name != "shoal":
        assert f"## {name}\n" in page, f"docs/cli.md has no section on {name}"
    section = page.partition(f"## {name}\n")[2].partition("\n## ")[0] if name != "shoal" else page
    options = {option for one in commands()[name].params for option in (*one.opts, *one.secondary_opts)}
    for option in sorted(option for option in options if option.startswith("-")):
        if option not in UNDOCUMENTED:
            assert re.search(rf"[`\[]{option}[`\]]", section), f"docs/cli.md does not mention {option} of {name}"


@pytest.mark.parametrize("name", list(commands()))
def test_every_documented_option_exists(name: str) -> None:
    if name == "shoal":
        return
    section = (DOCS / "cli.md").read_text(encoding="utf-8").partition(f"## {name}\n")[2].partition("\n## ")[0]
    options = {option for one in commands()[name].params for option in (*one.opts, *one.secondary_opts)}
    for row in re.findall(r"^\| (`-.*?) \|", section, re.MULTILINE):
        assert set(re.findall(r"`(-[^`]+)`", row)) <= options


@pytest.mark.parametrize("name", shoal.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert f"`{name}" in (DOCS / "python.md").read_text(encoding="utf-8")


def modules() -> Iterator[str]:
    """Every module of the package."""
    yield "shoal"
    yield from (found.name for found in pkgutil.walk_packages(shoal.__path__, "shoal."))


@pytest.mark.parametrize("name", list(modules()))
def test_the_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_the_changelog_knows_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    loaded = re.compile(r'<(?:script|img|source|iframe)[^>]* src="(?:https?:)?//|<link[^>]* href="(?:https?:)?//')
    for page in site.rglob("*.html"):
        assert not loaded.search(page.read_text(encoding="utf-8")), f"{page.name} fetches something from elsewhere"
