"""The sanitizer on many documents: peak memory of each command, for a small and a large collection."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import data, measure

SIZES = (250, 1000)


def run() -> dict[str, Any]:
    texts = documents(max(SIZES))
    rows = [row for size in SIZES for row in commands(texts[:size])]
    measure.show("scale", rows)
    return {"scale": rows}


def documents(count: int) -> list[str]:
    """Diplomatic papers, and passages of one volume joined to papers of the same lengths."""
    drawn = random.Random(0)
    papers = [paper["text"] for paper in data.records("frus_docs.jsonl.gz")]
    passages: dict[str, list[str]] = {}
    for passage in data.records("frus_passages_100k.jsonl.gz"):
        passages.setdefault(passage["volume"], []).append(passage["text"])
    lengths, volumes = list(map(len, papers)), sorted(passages)
    while len(papers) < count:
        length, volume, joined = drawn.choice(lengths), passages[drawn.choice(volumes)], ""
        while len(joined) < length and volume:
            joined += volume.pop() + "\n\n"
        if 2 * len(joined) >= length:
            papers.append(joined)
    drawn.shuffle(papers)
    return papers


def commands(texts: list[str]) -> list[dict[str, Any]]:
    """Every command in a process of its own, with nobody reviewing."""
    with tempfile.TemporaryDirectory() as folder:
        letters = Path(folder) / "letters"
        letters.mkdir()
        for number, text in enumerate(texts):
            (letters / f"{number}.txt").write_text(text, encoding="utf-8")
        key = ["--key", "owner.key"]
        lines = {
            "sanitize": ["sanitize", "letters", "-o", "work", "--scope", "collection"],
            "redact": ["redact", "work", "-o", "release", "--accept-rest", "0.1", *key],
            "verify": ["verify", "release"],
            "verify with the vault": ["verify", "release", "--private", "release-private", *key],
            "unmask": ["unmask", "release", "-o", "back", *key],
        }
        rows = []
        for name, line in lines.items():
            rows.append({"documents": len(texts), "command": name, "peak MB": peak(line, folder)})
        back = Path(folder, "back").glob("*.txt")  # what is not in English was held back
        if any(path.read_bytes() != (letters / path.name).read_bytes() for path in back):
            raise SystemExit("unmask did not give the originals")
    return rows


def peak(line: list[str], folder: str) -> float:
    """The megabytes that a command takes at most."""
    process = subprocess.Popen([sys.executable, "-m", "shoal", *line], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"shoal {line[0]} failed; its own message is above")
    return usage.ru_maxrss / 1024
