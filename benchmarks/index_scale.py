"""The service with a million documents: search, insertion, restart, memory, and clients that do everything at once.

Wall times include HTTP on this machine. CPU times are the server's, of all its threads, per request.
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
from benchmarks.index_corpus import (
    CIPHERTEXT,
    Caller,
    Server,
    build,
    queries,
    serving,
)

SIZES = (10_000, 100_000, int(os.environ.get("SHOAL_BENCH_DOCUMENTS", "1000000")))
REQUESTS = 500
LIMIT = 10  # documents of a search
CLIENTS = (1, 4, 16)
SECONDS = float(os.environ.get("SHOAL_BENCH_SECONDS", "60"))
MIX = {"search": 0.5, "get": 0.25, "put": 0.15, "delete": 0.1}  # a search fetches the records of similar groups
GROUPS = 100
FOLDER = Path(tempfile.gettempdir()) / "shoal-index-scale"


def run() -> dict[str, Any]:
    large = SIZES[-1]
    searching = [{"documents": size} | step(f"search {size}", partial(search, size)) for size in SIZES]
    for row in searching:
        row["times the first"] = row["p50 ms"] / searching[0]["p50 ms"]
    served = step("serve", partial(serve, large))
    inserted = step("insert", partial(insert, large))
    copied = step("client", partial(client, large))
    loads = [{"clients": count} | step(f"load {count}", partial(load, large, count)) for count in CLIENTS]
    results = {
        "searching": searching,
        "serving": [served],
        "inserting": inserted["rows"],
        "client": [copied],
        "load": [{name: value for name, value in row.items() if name != "rows"} for row in loads],
        "operations": [{"clients": row["clients"]} | operation for row in loads for operation in row["rows"]],
    }
    for title, rows in results.items():
        measure.show(f"{large:,} documents: {title}", rows)
    shutil.rmtree(FOLDER, ignore_errors=True)
    return results


def step(name: str, job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A step that is done once, and how busy the machine was at its end."""
    return measure.once("index_scale", name, lambda: job() | {"load after": os.getloadavg()[0]})


def index_of(size: int) -> tuple[Path, str]:
    """The database of an index of so many documents, and its operator's token; built unless it is there."""
    folder = FOLDER / str(size)
    if not (folder / "token").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        start = time.perf_counter()
        token = build(folder / "shoal.db", size)
        (folder / "token").write_text(token)
        print(f"  an index of {size:,} documents took {time.perf_counter() - start:.0f} s", flush=True)
    return folder / "shoal.db", (folder / "token").read_text()


def search(size: int) -> dict[str, Any]:
    """Searches by groups, ranked by the client."""
    file, token = index_of(size)
    with serving(file) as server:
        searched, _ = measure.apart(Client(server.url, token, file.with_name("client"), queries(REQUESTS, 1)))
    return {name: searched[name] for name in ("p50 ms", "p95 ms", "CPU ms")}


def serve(size: int) -> dict[str, Any]:
    """A restart."""
    file, _ = index_of(size)
    with serving(file) as server:
        return {
            "documents": size,
            "ready after s": server.ready,
            "CPU s": server.cpu_seconds(),
            "GB": server.memory("VmRSS"),
            "GB at most": server.memory("VmHWM"),
            "database GB": file.stat().st_size / 1e9,
        }


def insert(size: int) -> dict[str, Any]:
    """Documents one by one, into groups that a client chose; and deletions."""
    file, token = index_of(size)
    with serving(file) as server:
        caller = Caller(server.url, token)
        names = iter(group_names(caller)[:REQUESTS])
        made: list[str] = []

        def keep(answer: tuple[int, bytes]) -> tuple[int, bytes]:
            made.append(id_of(answer[1]))
            return answer

        rows = [{"insertion": "a document"} | timed(server, REQUESTS, lambda: keep(put(caller, next(names))))]
        gone = iter(made)
        rows.append(
            {"insertion": "deletion"}
            | timed(server, REQUESTS, lambda: caller.write("DELETE", f"/v1/documents/{next(gone)}")),
        )
    return {"rows": rows}


def client(size: int) -> dict[str, Any]:
    """The client's copy of the representatives: fetched for the first time, and opened again as every command does."""
    file, token = index_of(size)
    texts = queries(REQUESTS, 1)
    copy = file.with_name("client")
    shutil.rmtree(copy, ignore_errors=True)
    with serving(file) as server:
        first, _ = measure.apart(Client(server.url, token, copy, texts[:1]))
        again, peak = measure.apart(Client(server.url, token, copy, texts))
    return {
        "fetched and searched s": first["first s"],
        "opened and searched s": again["first s"],
        "p50 ms": again["p50 ms"],
        "p95 ms": again["p95 ms"],
        "GB at most": peak,
        "copy GB": sum(part.stat().st_size for part in copy.rglob("*") if part.is_file()) / 1e9,
    }


@dataclass(frozen=True)
class Client:
    """Searches by a client that ranks itself: the first, from its copy on disk, and those that follow."""

    url: str
    token: str
    folder: Path
    texts: list[str]

    def __call__(self) -> dict[str, Any]:
        from shoal.index.client import IndexClient

        with IndexClient(self.url, self.token, folder=self.folder) as index:
            start = time.perf_counter()
            index.search(self.texts[0], LIMIT)
            first, cpu = time.perf_counter() - start, time.process_time()
            seconds = [measure.best_of(1, lambda text=text: index.search(text, LIMIT)) for text in self.texts]
            spent = (time.process_time() - cpu) / len(self.texts)
        return {
            "first s": first,
            **quantiles(seconds),
            "CPU ms": 1e3 * spent,
        }


def load(size: int, n_clients: int) -> dict[str, Any]:
    """Clients that do everything without a pause."""
    file, token = index_of(size)
    with serving(file) as server:
        workers = [Worker(server.url, token, number) for number in range(n_clients)]
        before = server.cpu_seconds()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        cpu = server.cpu_seconds() - before
        done = sum(len(times) for worker in workers for times in worker.seconds.values())
        rows = [
            {"operation": what, "requests": len(times)} | quantiles(times)
            for what in MIX
            for times in [[seconds for worker in workers for seconds in worker.seconds[what]]]
        ]
        return {
            "requests per s": done / SECONDS,
            "errors": sum(worker.errors for worker in workers),
            **quantiles([seconds for worker in workers for times in worker.seconds.values() for seconds in times]),
            "CPU ms": 1e3 * cpu / done,
            "GB at most": server.memory("VmHWM"),
            "rows": rows,
        }


class Worker(Thread):
    """One client. It deletes its own documents alone, and reads what its searches give."""

    def __init__(self, url: str, token: str, number: int) -> None:
        super().__init__(daemon=True)
        self._random = np.random.default_rng(number)
        self._caller = Caller(url, token)
        self._groups = group_names(self._caller)
        self._mine = [id_of(put(self._caller, self._any(self._groups))[1]) for _ in range(5)]
        self._seen = list(self._mine)
        self.seconds: dict[str, list[float]] = {what: [] for what in MIX}
        self.errors = 0

    def run(self) -> None:
        jobs = {
            "search": self._search,
            "get": lambda: self._caller.ask("GET", f"/v1/documents/{self._any(self._seen)}"),
            "put": self._put,
            "delete": self._delete,
        }
        end = time.perf_counter() + SECONDS
        while (start := time.perf_counter()) < end:
            what = str(self._random.choice(list(MIX), p=list(MIX.values())))
            if what == "delete" and not self._mine:
                what = "put"
            try:
                status, _ = jobs[what]()
            except OSError:
                status = 599
            self.seconds[what].append(time.perf_counter() - start)
            # Another may have deleted what a search gave, or retired a group: that is an answer, not an error.
            self.errors += status >= 400 and not (status in (404, 409) and what in ("get", "put"))

    def _any(self, things: list[Any]) -> Any:
        return things[self._random.integers(len(things))]

    def _search(self) -> tuple[int, bytes]:
        names = ",".join(self._any(self._groups) for _ in range(GROUPS))
        status, answer = self._caller.ask("GET", f"/v1/groups/records?representatives={names}")
        if status == 200:
            self._seen = arrow(answer)["document"].to_pylist()[:LIMIT] or self._seen
        return status, answer

    def _put(self) -> tuple[int, bytes]:
        status, answer = put(self._caller, self._any(self._groups))
        if status == 201:
            self._mine.append(id_of(answer))
        return status, answer

    def _delete(self) -> tuple[int, bytes]:
        document = self._mine.pop(self._random.integers(len(self._mine)))
        return self._caller.write("DELETE", f"/v1/documents/{document}")


def put(caller: Caller, representative: str) -> tuple[int, bytes]:
    """A document into the group that its client chose."""
    line = json.dumps({"documents": [{"bytes": CIPHERTEXT, "representative": representative}]}).encode()
    return caller.write("POST", "/v1/batches", line + b"\n" + os.urandom(CIPHERTEXT))


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
