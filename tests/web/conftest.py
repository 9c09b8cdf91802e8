"""A real workbench and a real browser. Without Chromium these tests are skipped, except in CI, where they must run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from shoal.sample import write_sample
from tests.web.clicks import COUNT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120_000  # milliseconds; the machine may be busy
QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"]


@dataclass(frozen=True)
class Workbench:
    """A running workbench, its one-time address and its private folder."""

    address: str  # with the token
    folder: Path
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0]


def start_workbench(folder: Path) -> Workbench:
    """`shoal workbench`, as a user starts it; it has said its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", "workbench", "--no-browser", "--folder", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stderr.readline())
    assert found is not None
    return Workbench(found.group(), folder, process)


@contextmanager
def running_workbench(folder: Path) -> Iterator[Workbench]:
    running = start_workbench(folder)
    yield running
    running.process.terminate()
    running.process.wait()


@contextmanager
def let_in(browser: Browser, workbench: Workbench) -> Iterator[BrowserContext]:
    """A browser that came with the token, which works once."""
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        context.add_init_script(COUNT)
        expect.set_options(timeout=PATIENCE)
        page = context.new_page()
        page.goto(workbench.address)
        page.close()
        yield context


@pytest.fixture(scope="session")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    with running_workbench(tmp_path_factory.mktemp("workbench")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        message = "Chromium is not installed, so the workbench was NOT tested in a browser; apt install chromium"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *QUIET])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser: Browser, workbench: Workbench) -> Iterator[BrowserContext]:
    with let_in(browser, workbench) as context:
        yield context


@pytest.fixture
def page(context: BrowserContext, workbench: Workbench) -> Iterator[Page]:
    """The start page. A test fails if a script of a page did."""
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{workbench.origin}/")
    yield page
    page.close()
    assert faults == []


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 120 of the sample's invented patients: enough to attack, and quick."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    table = folder / "subjects.csv"
    table.write_text("".join(table.read_text(encoding="utf-8").splitlines(keepends=True)[:121]), encoding="utf-8")
    return table
