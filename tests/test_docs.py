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
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import shoal
from shoal.assessment.exploration.documents import document_trials
from shoal.assessment.exploration.ways import Ways
from shoal.cli import app
from shoal.release.demo import run_demo
from tests import cli_page, words

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

    An exploration tries every sixth of its trials there, in this process, sketches to compare with have 64 numbers, not
    512, and attackers learn from 60 records and take 10 groups apart.
    """
    place = tmp_path / "work"
    place.mkdir()
    for name in ("sample", "letters", "subjects"):
        shutil.copytree(made_once / name, place / name)
    for file in (made_once / "sample").iterdir():
        shutil.copy(file, place)
    monkeypatch.chdir(place)
    first = Ways.first
    monkeypatch.setattr(Ways, "first", lambda ways: first(ways)[::6])
    monkeypatch.setattr(Ways, "next_to", lambda *_: [])
    monkeypatch.setattr(
        "shoal.assessment.exploration.documents.document_trials", lambda *kind: document_trials(*kind)[2:17:7]
    )
    monkeypatch.setattr("shoal.assessment.exploration.trials.os.cpu_count", lambda: 1)
    monkeypatch.setattr("shoal.assessment.sketches.COMPONENTS", 64)
    monkeypatch.setattr("shoal.assessment.tables.SAMPLE", 60)
    monkeypatch.setattr("shoal.release.tables.steps.TRIED_AT_ONCE", 60)
    monkeypatch.setattr("shoal.release.documents.steps.GROUPS_TRIED", 10)
    return place


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=named)
def test_the_code_of_a_page_runs_with_few_trials_short_proofs_and_small_attackers(
    page: Path, workplace: Path, made_once: Path
) -> None:
    if page.name in ("tutorial.md", "README.md"):  # These pages make their releases themselves.
        for name in ("letters", "subjects"):
            shutil.rmtree(workplace / name)
    namespace: dict[str, Any] = {}
    for block in blocks(page):
        if block.kind == "python":
            exec(compile(block.content, named(page), "exec"), namespace)
        elif block.kind == "console":
            for line, shown in block.commands():
                if line[:2] == ["shoal", "demo"]:  # tests/cli/test_commands.py runs it
                    assert line[2:] == ["-o", "demo"]
                    shutil.copytree(made_once, "demo")
                else:
                    run_command(line, shown)


def run_command(words: list[str], shown: list[str]) -> None:
    """Run a shoal command: it must succeed, and say what the page says it does, figures aside.

    Proofs get a second, however many the page gives them.
    """
    if words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8"), f"there is no target {words[1]}"
    if words[0] != "shoal":
        return
    options = ["1" if before == "--prove" else word for before, word in pairwise(words)]
    result = CliRunner().invoke(app, options, catch_exceptions=False)
    assert result.exit_code == 0, f"{' '.join(words)}: {result.output}"
    said = {line.split()[0] for line in result.output.splitlines() if line.strip()}
    assert {line.split()[0] for line in shown} <= said, f"{' '.join(words)} says otherwise: {result.output}"


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_an_example_runs_in_an_empty_folder(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_notebooks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "notebooks" / "make.py"))["main"](str(tmp_path))
    for name in ("attack", "court", "letters", "survey"):
        shown = (tmp_path / f"{name}.ipynb").read_text(encoding="utf-8")
        assert "<table>" in shown
        assert "<svg" in shown or name not in ("attack", "letters")


def test_every_relative_link_leads_somewhere() -> None:
    dead = [
        f"{named(page)}: {target}"
        for page in PAGES
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:|#", target) and not (page.parent / target.partition("#")[0]).exists()
    ]
    assert not dead, "\n".join(["these links lead nowhere:", *dead])


MOST_WORDS = 45_000
MOST_ON_A_PAGE = 1_500  # that is no reference
REFERENCE = {"cli.md", "python.md", "certificate.md", "benchmarks.md", "papers.md"}


def test_the_documentation_is_short() -> None:
    pages = words.counted()
    assert sum(pages.values()) <= MOST_WORDS, "say it once and link; python -m tests.words lists the pages"
    long = [name for name, many in pages.items() if many > MOST_ON_A_PAGE and name not in REFERENCE]
    assert not long, f"more than {MOST_ON_A_PAGE:,} words: {', '.join(long)}"


def test_every_page_says_whom_it_is_for() -> None:
    silent = [
        named(page) for page in DOCS.rglob("*.md") if not re.search(r"\A# .*\n+For ", page.read_text(encoding="utf-8"))
    ]
    assert not silent, f"these pages do not begin with For …: {', '.join(silent)}"


def commands() -> dict[str, Any]:
    """Every command of the command line by its full name."""
    found: dict[str, Any] = {}

    def collect(command: Any, name: str) -> None:
        found[name] = command
        for sub in getattr(command, "commands", {}).values():
            collect(sub, f"{name} {sub.name}")

    collect(typer.main.get_command(app), "shoal")
    return found


def options_of(command: Any) -> set[str]:
    """Everything that begins with a dash."""
    spelled = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return {option for option in spelled if option.startswith("-")}


def section_of(name: str) -> str:
    """What docs/cli.md has on a command; on shoal itself, all of it."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    return page if name == "shoal" else page.partition(f"## {name}\n")[2].partition("\n## ")[0]


def test_every_command_and_option_is_documented() -> None:
    sections = {name: section_of(name) for name in commands()}
    missing = [name for name, section in sections.items() if not section]
    missing += [
        f"{name} {option}"
        for name, command in commands().items()
        for option in sorted(options_of(command) - UNDOCUMENTED)
        if not re.search(rf"[`\[]{option}[`\]]", sections[name])
    ]
    assert not missing, "\n".join(["docs/cli.md does not mention:", *missing])


def test_every_documented_option_exists() -> None:
    unknown = [
        f"{name} {option}"
        for name, command in commands().items()
        if name != "shoal"
        for row in re.findall(r"^\| (`-.*?) \|", section_of(name), re.MULTILINE)
        for option in re.findall(r"`(-[^`]+)`", row)
        if option not in options_of(command)
    ]
    assert not unknown, "\n".join(["docs/cli.md has options that do not exist:", *unknown])


def test_the_tables_of_options_are_those_of_the_commands() -> None:
    page = cli_page.PAGE.read_text(encoding="utf-8")
    assert page == cli_page.with_tables(page), "docs/cli.md is stale; run: make docs"


def test_every_public_name_is_documented() -> None:
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    missing = [name for name in shoal.__all__ if f"`{name}" not in page]
    assert not missing, f"docs/python.md does not mention: {', '.join(missing)}"


def modules() -> Iterator[str]:
    """Every module of the package."""
    yield "shoal"
    yield from (found.name for found in pkgutil.walk_packages(shoal.__path__, "shoal."))


def test_the_examples_in_docstrings_hold(capsys: pytest.CaptureFixture[str]) -> None:
    failed = [
        name
        for name in modules()
        if doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed
    ]
    assert not failed, "\n".join(["examples do not hold in:", *failed, capsys.readouterr().out])


def test_the_changelog_knows_the_version() -> None:
    assert f"## {shoal.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


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
