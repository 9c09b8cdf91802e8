"""The workbench in a real browser: how soon it opens and shows a large table, whether a job holds up a page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.csv as csv
from playwright.sync_api import Page, sync_playwright

from benchmarks import measure

ROWS = 1_000_000
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
# The longest that the page's own thread was busy, and the longest that an answer took, while a job runs.
WATCH = """async (seconds) => {
  let busy = 0, slowest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => busy = Math.max(busy, entry.duration)))
    .observe({type: "longtask", buffered: true});
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end) {
    const begun = performance.now();
    await fetch("/verify");
    slowest = Math.max(slowest, performance.now() - begun);
    await new Promise((resume) => setTimeout(resume, 50));
  }
  return [busy, slowest];
}"""


def run() -> dict[str, Any]:
    if CHROMIUM is None:
        raise SystemExit("the workbench is measured in Chromium, which is not here; install it: apt install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "shoal", "workbench", "--no-browser", "--folder", f"{folder}/workbench"],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.goto(found.group())
        opened = time.perf_counter() - begun
        try:
            rows = [{"what": "from the command to the start page", "seconds": opened, "bar": 3.0}]
            rows += _large_table(page, found.group().partition("?")[0], Path(folder), process.pid)
        finally:
            process.terminate()
            process.wait()
        browser.close()
    measure.show("The workbench", rows)
    return {"rows": rows}


def _large_table(page: Page, origin: str, folder: Path, server: int) -> list[dict[str, Any]]:
    """Upload a million rows, look at them, protect them, and watch the page meanwhile."""
    draw = np.random.default_rng(0)
    table = {"age": draw.integers(0, 99, ROWS), "income": draw.lognormal(10, 1, ROWS).round(2)}
    table |= {"town": draw.choice(["Saltmere", "Ebbing", "Tarn", "Quay"], ROWS), "stay": draw.integers(0, 60, ROWS)}
    csv.write_csv(pa.table(table), folder / "people.csv")
    page.goto(f"{origin}protect")
    most = _peak(server)
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.get_by_label("Choose a file").set_input_files(folder / "people.csv")
    begun = time.perf_counter()  # all of it has come
    page.wait_for_url("**/protect/*")
    page.get_by_role("heading", name="What becomes of each column").wait_for()
    shown = time.perf_counter() - begun
    memory = max(most, _peak(server))
    page.get_by_role("button", name="Protect", exact=True).click()
    page.wait_for_url("**/jobs/*")
    busy, slowest = page.evaluate(WATCH, 20)
    page.get_by_role("button", name="Cancel").click()
    return [
        {"what": f"a table of {ROWS:,} rows, from its arrival to its columns", "seconds": shown, "bar": 3.0},
        {"what": "memory for that, all processes, GB", "seconds": memory, "bar": 1.0},
        {"what": "the page's own thread is busy at most, during a job", "seconds": busy / 1000, "bar": 0.2},
        {"what": "another page answers, at the slowest, during a job", "seconds": slowest / 1000, "bar": 0.2},
    ]


def _peak(server: int) -> float:
    """Gigabytes of the server and the processes it started, at most so far."""
    processes = [psutil.Process(server), *psutil.Process(server).children(recursive=True)]
    peaks = [re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{one.pid}/status").read_text()) for one in processes]
    return sum(int(peak.group(1)) for peak in peaks if peak) / 1e6
