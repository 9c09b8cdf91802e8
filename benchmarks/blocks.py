"""Blocks: cost against size, what is lost against one piece, and a million documents from file to verified release."""

from __future__ import annotations

import gzip
import json
import os
import resource
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data, measure

PASSAGES = "frus_passages_100k.jsonl.gz"
QUARTER = 25_000
MILLION = int(os.environ.get("SHOAL_BENCH_DOCUMENTS", "1000000"))


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    results = {"scale": scale(), "loss": loss(), "million": million()}
    measure.show("Passages, k=5, plain MDAV: cost against size", results["scale"])
    measure.show("25,000 passages, k=5: SSE in blocks against one piece", results["loss"])
    measure.show(f"{MILLION:,} documents, k=5: protect and verify", [results["million"]])
    return results


def scale() -> list[dict[str, Any]]:
    """A quarter, a half and all of the passages in blocks of the default size; a quarter in one piece as well."""
    from shoal import SphericalMicroaggregation
    from shoal.methods.blocks.grouping import BLOCK_ROWS

    X = passages()
    SphericalMicroaggregation(5, refine=False, blocks=100).fit(X[:400])  # loads the compiled kernels
    rows = []
    for n_rows, blocks in (
        (QUARTER, BLOCK_ROWS),
        (2 * QUARTER, BLOCK_ROWS),
        (X.shape[0], BLOCK_ROWS),
        (QUARTER, False),
    ):
        model = SphericalMicroaggregation(5, refine=False, blocks=blocks)
        start = time.process_time()
        seconds = measure.best_of(1, lambda model=model, n_rows=n_rows: model.fit(X[:n_rows]))
        cpu = time.process_time() - start
        rows.append({"rows": n_rows, "blocks": blocks or "one piece", "seconds": seconds, "cpu seconds": cpu})
    for row in rows:
        row["times the quarter"] = row["seconds"] / rows[0]["seconds"]
    return rows


def loss() -> list[dict[str, Any]]:
    """The same rows in one piece and in blocks of several sizes, plain and refined."""
    from shoal import SphericalMicroaggregation

    X = passages()[:QUARTER]
    rows = []
    for refine in (False, True):
        whole = SphericalMicroaggregation(5, refine=refine, blocks=False, time_budget=10).fit(X).sse_
        for blocks in (12_500, 6_250, 3_125):
            sse = SphericalMicroaggregation(5, refine=refine, blocks=blocks, time_budget=10).fit(X).sse_
            rows.append({"refine": refine, "rows per block": blocks, "SSE": sse, "above one piece": sse / whole - 1})
    return rows


def passages() -> Any:
    from shoal import VectorSpace

    X = VectorSpace(min_df=5).fit_transform(data.texts(PASSAGES))
    return X[np.diff(X.indptr) > 0]


def million() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "documents.jsonl.gz"
        write_documents(source, MILLION)
        start = time.perf_counter()
        peak = measure.peak_memory(_Job(source, Path(folder) / "release"))
        return {"documents": MILLION, "minutes": (time.perf_counter() - start) / 60, "peak GB": peak}


class _Job:
    """Protect and verify with all defaults, in a process of its own; says what each step took."""

    def __init__(self, source: Path, out: Path) -> None:
        self.source, self.out = source, out

    def __call__(self) -> None:
        from shoal import progress, protect, verify

        start = time.perf_counter()
        seen: set[str] = set()

        def show(name: str, done: int, total: int | None) -> None:
            if name not in seen or done == total:
                seen.add(name)
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
                print(f"  {time.perf_counter() - start:7.0f} s  {memory:5.2f} GB  {name} {done} of {total}", flush=True)

        with progress.listening(show):
            made = protect(self.source, 5, self.out)
            show("verifying", 0, 1)
            assert verify(made.folder)
            show("verifying", 1, 1)


def write_documents(path: Path, count: int) -> None:
    """`count` documents as gzipped JSONL."""
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as lines:
        for document in documents(count):
            lines.write(json.dumps(document, ensure_ascii=False) + "\n")


def documents(count: int) -> Iterator[dict[str, str]]:
    """Documents as long as the passages, each of words drawn from the passages of its volume; always the same ones."""
    texts_of: dict[str, list[str]] = {}
    with gzip.open(data.path(PASSAGES), "rt", encoding="utf-8") as lines:
        for line in lines:
            passage = json.loads(line)
            texts_of.setdefault(passage["volume"], []).append(passage["text"])
    n_passages = sum(map(len, texts_of.values()))
    random = np.random.default_rng(0)
    made = seen = 0
    for volume, texts in texts_of.items():
        lengths = [len(text.split()) for text in texts]
        words = np.array([word for text in texts for word in text.split()], dtype=object)
        seen += len(texts)
        for number in range(count * seen // n_passages - made):
            chosen = words[random.integers(len(words), size=lengths[number % len(lengths)])]
            yield {"id": f"{volume}#{number}", "volume": volume, "text": " ".join(chosen)}
        made = count * seen // n_passages
