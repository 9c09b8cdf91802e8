"""The records of an index on this machine, in files that only its user's key opens, and exact search in them.

A sync fetches what changed since the last one, a page at a time, and writes each page before it asks for the next: one
that is interrupted goes on where it was. Two neighbouring files become one when the newer has grown to half the older.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.data.keys import Keys
from shoal.errors import InputError
from shoal.index.client.opened import write_whole
from shoal.index.client.records import About, Record

FILE = re.compile(r"(\d+)-(\d+)\.sealed")  # the numbers after which it begins and with which it ends
SEPARATOR = "\x1f"
CODEC = "zstd"
TRIES = 5
AGAIN = "sync with {option} to fetch them anew"


@dataclass(frozen=True)
class Match:
    """A document that has words of a query, and these words' stems, the heaviest first."""

    row: int
    similarity: float
    stems: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """The counts of documents (rows) by word (columns), and the weight of each word."""

    counts: sp.csr_matrix
    column_of: Mapping[str, int]
    idf: NDArray[np.float64]

    @classmethod
    def of_all(cls, counts: sp.csr_matrix, column_of: Mapping[str, int]) -> Ranking:
        """All documents of a collection."""
        return cls(counts, column_of, _idf(counts))

    def best(self, stems: Iterable[str], limit: int, allowed: NDArray[np.bool_] | None = None) -> list[Match]:
        """The documents most similar to a query; of equals the one that was stored first."""
        known = [stem for stem in stems if stem in self.column_of]
        columns = [self.column_of[stem] for stem in known]
        weights = self.idf[columns]
        length = float(np.linalg.norm(weights))
        if not length:
            return []
        scores = np.zeros(self.counts.shape[0], dtype=np.float32)
        for column, weight in zip(columns, weights, strict=True):
            part = slice(self._lists.indptr[column], self._lists.indptr[column + 1])
            scores[self._lists.indices[part]] += (weight / length) * self._lists.data[part]
        if allowed is not None:
            scores[~allowed] = 0.0
        found = np.flatnonzero(scores)
        if limit < len(found):
            lowest = np.partition(scores[found], len(found) - limit)[len(found) - limit]
            found = found[scores[found] >= lowest]
        ranked = found[np.argsort(-scores[found], kind="stable")][:limit]
        heaviest = [known[position] for position in np.argsort(-weights, kind="stable")]
        return [Match(row, float(scores[row]), self._matching(row, heaviest)) for row in ranked.tolist()]

    def _matching(self, row: int, stems: Iterable[str]) -> tuple[str, ...]:
        has = set(self.counts.indices[self.counts.indptr[row] : self.counts.indptr[row + 1]].tolist())
        return tuple(stem for stem in stems if self.column_of[stem] in has)

    @cached_property
    def _lists(self) -> sp.csc_matrix:
        """Weights at unit length by word: (1 + ln tf) · idf."""
        weights = 1.0 + np.log(self.counts.data, dtype=np.float32)
        weights *= self.idf.astype(np.float32)[self.counts.indices]
        rows = sp.csr_matrix((weights, self.counts.indices, self.counts.indptr), shape=self.counts.shape)
        starts = self.counts.indptr[:-1]
        squares = np.append(weights * weights, np.float32(0))
        lengths = np.sqrt(np.add.reduceat(squares, starts)) if len(starts) else np.zeros(0, np.float32)
        lengths[np.diff(self.counts.indptr) == 0] = 1.0
        rows.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(self.counts.indptr))
        return rows.tocsc()


def count_rows(rows: Sequence[Mapping[str, int]], column_of: dict[str, int]) -> sp.csr_matrix:
    """Counts by word as the rows of a matrix; new words get columns."""
    columns = [column_of.setdefault(word, len(column_of)) for row in rows for word in row]
    data = np.array([count for row in rows for count in row.values()], dtype=np.int32)
    ends = np.cumsum([0, *map(len, rows)])
    return sp.csr_matrix((data, np.array(columns, dtype=np.int32), ends), shape=(len(rows), len(column_of)))


def _idf(counts: sp.csr_matrix) -> NDArray[np.float64]:
    """ln((n + 1) / (df + 1)) + 1: a word that all documents have still counts a little."""
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    idf: NDArray[np.float64] = np.log((counts.shape[0] + 1) / (frequency + 1)) + 1.0
    return idf


@dataclass(frozen=True)
class Segment:
    """Records in the order of their numbers, as arrays."""

    ids: NDArray[np.uint8]  # (n, 16)
    gone: NDArray[np.bool_]  # deleted, or no longer readable
    about: list[str]
    words: list[str]
    counts: sp.csr_matrix  # (n, words)

    @classmethod
    def of(cls, records: Sequence[tuple[str, Record | None]]) -> Segment:
        """From ids and records; None: deleted."""
        column_of: dict[str, int] = {}
        counts = count_rows([record.counts if record is not None else {} for _, record in records], column_of)
        ids = np.frombuffer(bytes.fromhex("".join(id for id, _ in records)), np.uint8).reshape(-1, 16)
        gone = np.array([record is None for _, record in records], dtype=np.bool_)
        return cls(ids, gone, [_line(record) for _, record in records], list(column_of), counts)

    @classmethod
    def joined(cls, parts: Sequence[Segment], keep_gone: bool) -> Segment:
        """One after the other; of a document in several, the newest record alone."""
        column_of: dict[str, int] = {}
        moved = []
        for part in parts:
            columns = np.array([column_of.setdefault(word, len(column_of)) for word in part.words], dtype=np.int32)
            counts = part.counts
            moved.append((counts.data, columns[counts.indices], np.diff(counts.indptr)))
        data, indices, lengths = (np.concatenate(each) for each in zip(*moved, strict=True))
        ends = np.concatenate(([0], np.cumsum(lengths)))
        counts = sp.csr_matrix((data, indices, ends), shape=(len(lengths), len(column_of)))
        ids, gone = np.concatenate([part.ids for part in parts]), np.concatenate([part.gone for part in parts])
        about = [line for part in parts for line in part.about]
        # Ids are random: their first half tells them apart.
        key = np.ascontiguousarray(ids[:, :8]).view(np.uint64).ravel()
        newest = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
        rows = np.sort(newest if keep_gone else newest[~gone[newest]])
        if len(rows) < len(key):
            counts, about = counts[rows], [about[row] for row in rows.tolist()]
        return cls(ids[rows], gone[rows], about, list(column_of), counts)

    @cached_property
    def ranking(self) -> Ranking:
        """All of its documents, ready to be searched."""
        return Ranking.of_all(self.counts, {word: column for column, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.about)

    def id(self, row: int) -> str:
        """The id of a document."""
        return bytes(self.ids[row]).hex()

    def about_row(self, row: int) -> About:
        """What its record says about a document."""
        return About(*self.about[row].split(SEPARATOR))

    def packed(self) -> bytes:
        """As bytes."""
        arrays = {"ids": self.ids, "gone": self.gone, "data": self.counts.data, "ends": self.counts.indptr}
        texts = {"about": "\n".join(self.about), "words": "\n".join(self.words)}
        small = np.uint8 if self.counts.data.max(initial=0) < 256 else np.int32
        arrays |= {"data": self.counts.data.astype(small), "terms": self.counts.indices.astype(np.int32)}
        arrays |= {name: np.frombuffer(text.encode(), np.uint8) for name, text in texts.items()}
        file = io.BytesIO()
        np.savez(file, **arrays)
        content = file.getvalue()
        return len(content).to_bytes(8, "little") + bytes(pa.compress(content, CODEC, asbytes=True))

    @classmethod
    def unpacked(cls, content: bytes) -> Segment:
        """From bytes."""
        size = int.from_bytes(content[:8], "little")
        arrays = np.load(io.BytesIO(pa.decompress(content[8:], size, CODEC, asbytes=True)))
        about, words = (arrays[name].tobytes().decode() for name in ("about", "words"))
        ids, terms = arrays["ids"], arrays["terms"]
        listed = words.split("\n") if words else []
        parts = arrays["data"].astype(np.int32), terms, arrays["ends"]
        counts = sp.csr_matrix(parts, shape=(len(ids), len(listed)))
        return cls(ids, arrays["gone"], about.split("\n") if len(ids) else [], listed, counts)


class RecordCache:
    """The folder of one index. `after` is the number of the last record that it has."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self._folder, self._keys = folder, Keys((keys.public,), keys.identity)
        self._opened: tuple[list[tuple[int, int]], Segment] | None = None

    def __bool__(self) -> bool:
        return bool(self._ranges())

    @property
    def after(self) -> int:
        return max((end for _, end in self._ranges()), default=0)

    def add(self, records: Sequence[tuple[str, Record | None]], first: int, last: int) -> None:
        """Write a page of changes, after one number and up to another."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._write(Segment.of(records), first, last)
        while len(ranges := self._ranges()) > 1 and self._size(ranges[-2]) < 2 * self._size(ranges[-1]):
            older, newer = ranges[-2:]
            joined = Segment.joined([self._read(older), self._read(newer)], keep_gone=older[0] > 0)
            self._write(joined, older[0], newer[1])
            for merged in (older, newer):
                self._file(merged).unlink(missing_ok=True)

    def all(self) -> Segment:
        """All records that this user can read; they are read from the disk again only if there are others."""
        for _ in range(TRIES):
            ranges = self._ranges()
            if self._opened is not None and self._opened[0] == ranges:
                return self._opened[1]
            try:
                parts = [self._read(each) for each in ranges]
            except FileNotFoundError:  # another command joined files meanwhile
                continue
            segment = Segment.joined(parts, keep_gone=False) if len(parts) != 1 or parts[0].gone.any() else parts[0]
            self._opened = ranges, segment
            return segment
        raise InputError("the records on this machine change faster than they can be read; try again later")

    def size(self) -> int:
        """Bytes on the disk."""
        return sum(map(self._size, self._ranges()))

    def _ranges(self) -> list[tuple[int, int]]:
        """The files, in their order; those that another one covers are left over from a merge."""
        matches = (FILE.fullmatch(path.name) for path in self._folder.glob("*.sealed"))
        ranges = sorted((int(match[1]), -int(match[2])) for match in matches if match)
        kept: list[tuple[int, int]] = []
        for start, end in ((start, -end) for start, end in ranges):
            if not kept or end > kept[-1][1]:
                kept.append((start, end))
        if any(end < start for (_, end), (start, _) in pairwise([(0, 0), *kept])):
            raise InputError(f"files are missing among the records on this machine; {AGAIN}", "again")
        return kept

    def _read(self, part: tuple[int, int]) -> Segment:
        content = self._file(part).read_bytes()
        try:
            return Segment.unpacked(self._keys.decrypt(content))
        except (InputError, ValueError, KeyError, OSError):
            raise InputError(
                f"the records on this machine were sealed with another key, or are damaged; {AGAIN}", "again"
            ) from None

    def _write(self, segment: Segment, first: int, last: int) -> None:
        write_whole(self._file((first, last)), self._keys.encrypt(segment.packed()))

    def _file(self, part: tuple[int, int]) -> Path:
        return self._folder / f"{part[0]:012d}-{part[1]:012d}.sealed"

    def _size(self, part: tuple[int, int]) -> int:
        return self._file(part).stat().st_size

    def clear(self) -> None:
        """Remove all."""
        for file in self._folder.glob("*.sealed"):
            file.unlink(missing_ok=True)


def _line(record: Record | None) -> str:
    about = record.about if record is not None else About("")
    return SEPARATOR.join(re.sub(r"[\x00-\x1f\x85\u2028\u2029]", " ", item) for item in about)
