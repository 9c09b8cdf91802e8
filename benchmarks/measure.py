"""Time and memory of one job, in a process of its own, and the tables that show them."""

from __future__ import annotations

import json
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def best_of(times: int, job: Callable[[], Any]) -> float:
    """The shortest of several runs, in seconds: the one the machine disturbed least."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        found.append(time.perf_counter() - start)
    return min(found)


def side_by_side(times: int, one: Callable[[], Any], two: Callable[[], Any]) -> tuple[float, float]:
    """Median seconds of two jobs that are run in turn, so that what disturbs the machine disturbs both."""
    pairs = [(best_of(1, one), best_of(1, two)) for _ in range(times)]
    return statistics.median(first for first, _ in pairs), statistics.median(second for _, second in pairs)


def peak_memory(job: Callable[[], Any]) -> float:
    """Gigabytes that a fresh process needs at most to do the job."""
    return apart(job)[1]


def apart(job: Callable[[], Any]) -> tuple[Any, float]:
    """What the job gives in a fresh process, and the gigabytes that it needs at most."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_report_peak, args=(job, queue))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the job failed; its own message is above")
    found, peak = queue.get()
    return found, float(peak)


def _report_peak(job: Callable[[], Any], queue: Any) -> None:
    found = job()
    queue.put((found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6))


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a table."""
    names = list(rows[0])
    cells = [names, *([cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    print(f"\n{title}")
    for line in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))


def once(name: str, key: str, job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What the job gives, kept at once: a long benchmark that was interrupted goes on where it stopped."""
    path = RESULTS / f"{name}.part.json"
    done: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    if key not in done:
        done[key] = job()
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(done, indent=2))
        print(
            f"  {name}: {key}: {', '.join(f'{field} {cell(value)}' for field, value in done[key].items())}", flush=True
        )
    found: dict[str, Any] = done[key]
    return found


def keep(name: str, results: dict[str, Any]) -> None:
    """Write results for the docs."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=2) + "\n")
    (RESULTS / f"{name}.part.json").unlink(missing_ok=True)


def cell(value: Any) -> str:
    """A figure as it is shown."""
    return (
        f"{value:.6g}"
        if isinstance(value, float) and abs(value) >= 1
        else f"{value:.4g}"
        if isinstance(value, float)
        else str(value)
    )
