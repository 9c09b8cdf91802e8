"""Forgeries by what a forger thinks of, not by where a mark fits: certificates read twice, names that look alike."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.release.releases import certificate_of, reseal, written
from tests.verification.hostile.cases import Change

CERTIFICATE = "certificate.json"
LOOKALIKES = {"a": "\u0430", "e": "\u0435", "o": "\u043e", "i": "\u0456", "p": "\u0440", "n": "n\u200b", "y": "\u0443"}
NUMBERS = (0, -1, 1, 10**6, 2**63, 1.5, True, "3", None, [3], {"k": 3}, float("nan"))


def tricks(release: Path) -> Iterator[tuple[str, Change]]:
    """Every trick that fits a release, by its name."""
    yield from _certificates_read_twice()
    yield from _numbers_that_are_none()
    data = sorted(path.relative_to(release).as_posix() for path in release.rglob("table*.parquet"))
    data = data or sorted(path.relative_to(release).as_posix() for path in release.rglob("part-*.parquet"))
    if data and certificate_of(release)["kind"] == "table":
        yield from _columns(data[-1], certificate_of(release))
        yield from _rows(data[-1])
    for name in [*data[:1], "report.html", "README.md"]:
        yield f"{name} under another spelling", _beside(name, name.upper())
        yield f"{name} with a blank", _beside(name, name + " ")
        yield f"{name} in a hidden folder", _beside(name, f".names/{Path(name).name}")


def _certificates_read_twice() -> Iterator[tuple[str, Change]]:
    """Readers differ in which of two keys counts, and in what a text is."""
    for key in ("promises", "stated", "seal", "kind", "files"):
        yield (
            f"{key} twice, the honest one last",
            _text(lambda text, key=key: text.replace("{", f'{{"{key}": {{}},', 1)),
        )
        yield (
            f"{key} twice, the honest one first",
            _text(lambda text, key=key: text.rstrip()[:-1] + f', "{key}": {{}}}}\n'),
        )
    yield "k twice", _text(lambda text: re.sub(r'"k": (\d+)', r'"k": 1000, "k": \1', text, count=1))
    yield "a certificate in UTF-16", _bytes(lambda raw: raw.decode().encode("utf-16"))
    yield "a certificate with a byte order mark", _bytes(lambda raw: b"\xef\xbb\xbf" + raw)
    yield "a certificate with what follows it", _bytes(lambda raw: raw + b"{}\n")
    yield "a certificate with a comment", _bytes(lambda raw: b"// k=1000\n" + raw)
    yield "a certificate with escapes", _text(lambda text: text.replace('"k"', '"\\u006b"', 1))
    yield "a certificate in one line", _text(lambda text: json.dumps(json.loads(text)))
    yield "a number as 3.0", _text(lambda text: re.sub(r'"k": (\d+)', r'"k": \1.0', text, count=1))
    yield "a number as 3e0", _text(lambda text: re.sub(r'"k": (\d+)', r'"k": \1e0', text, count=1))
    yield "a second certificate", _beside(CERTIFICATE, "Certificate.json")
    yield "an older certificate", _beside(CERTIFICATE, "certificate.json.bak")


def _numbers_that_are_none() -> Iterator[tuple[str, Change]]:
    for value in NUMBERS:
        for path in (("promises", "anonymity", "k"), ("promises", "rows"), ("promises", "anonymity", "smallest_group")):
            yield f"{value!r} for {path[-1]}", _stated(path, value)


def _columns(name: str, certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    """A column that is not what its name says, or is there twice."""
    columns = [column["name"] for column in certificate["promises"]["columns"]]
    for old in columns:
        other = "".join(LOOKALIKES.get(letter, letter) for letter in old)
        if other != old:
            yield f"{old} by a name that looks alike, in the file", _table(name, _renamed(old, other))
            yield f"{old} twice, once by a name that looks alike", _table(name, _doubled(old, other))
        yield f"{old} twice", _table(name, _doubled(old, old))
    for role in ("insensitive", "confidential", "identifier", "quasi "):
        yield f"the first column is {role}", _role(0, role)


def _rows(name: str) -> Iterator[tuple[str, Change]]:
    """Rows more, fewer, in another order, and groups that are not."""
    yield "one row left out", _table(name, lambda table: table.slice(1))
    yield "one row twice", _table(name, lambda table: pa.concat_tables([table, table.slice(0, 1)]).combine_chunks())
    yield "rows backwards", _table(name, lambda table: table.take(list(range(table.num_rows))[::-1]))
    yield "no rows", _table(name, lambda table: table.slice(0, 0))
    yield "one row alone", _table(name, _first_alone)
    yield "one row alone by the last bit", _table(name, _first_alone_by_a_bit)


def _first_alone(table: pa.Table) -> pa.Table:
    return _first_changed(table, lambda value: value + 1000)


def _first_alone_by_a_bit(table: pa.Table) -> pa.Table:
    return _first_changed(table, lambda value: value * (1 + 2**-52))


def _first_changed(table: pa.Table, change: Callable[[float], float]) -> pa.Table:
    place = next(number for number, kind in enumerate(table.schema.types) if pa.types.is_floating(kind))
    values = table.column(place).to_pylist()
    values[-1] = change(values[-1])
    return table.set_column(place, table.column_names[place], pa.array(values, table.schema.types[place]))


def _renamed(old: str, new: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.rename_columns([new if name == old else name for name in table.column_names])


def _doubled(old: str, new: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.append_column(new, pc.if_else(pa.scalar(True), table[old], table[old]))


def _table(name: str, change: Callable[[pa.Table], pa.Table]) -> Change:
    def both(release: Path) -> None:
        table = change(pq.ParquetFile(release / name).read())
        pq.write_table(table, release / name, compression="zstd", row_group_size=1 << 17)
        reseal(release)

    return both


def _role(number: int, role: str) -> Change:
    def change(release: Path) -> None:
        content = certificate_of(release)
        content["promises"]["columns"][number]["role"] = role
        reseal(release, content)

    return change


def _stated(path: tuple[str, ...], value: Any) -> Change:
    def change(release: Path) -> None:
        content = certificate_of(release)
        at = content
        for key in path[:-1]:
            at = at.get(key, {})
        at[path[-1]] = value
        reseal(release, content)

    return change


def _text(change: Callable[[str], str]) -> Change:
    return _bytes(lambda raw: change(raw.decode()).encode())


def _bytes(change: Callable[[bytes], bytes]) -> Change:
    def both(release: Path) -> None:
        (release / CERTIFICATE).write_bytes(change(written(certificate_of(release))))

    return both


def _beside(name: str, other: str) -> Change:
    def change(release: Path) -> None:
        (release / other).parent.mkdir(exist_ok=True)
        if not (release / other).exists():
            (release / other).write_bytes((release / name).read_bytes())
        reseal(release)

    return change
