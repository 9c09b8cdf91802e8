"""Thousands of small changes of honest releases: none is accepted unless the release is equal in content.

Equal in content means: the same rows are equal to each other in the bits of their protected columns, in the same order;
columns, terms and matrix are the same; no file has a note more; no promise is another one, but for a k or l that the
rows hold. Other values of a whole crowd, or of a column that is not protected, are the owner's to choose: only the
expected seal tells that they were changed, and with that nothing is accepted.

SHOAL_MUTATIONS says how many changes are tried, 700 unless given; 2,000 and more before a release of Shoal.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import shutil
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import verify
from tests.release.releases import certificate_of, copy_of, reseal
from tests.verification.hostile.surgery import parsed

pytestmark = pytest.mark.usefixtures("without_attack")

MUTATIONS = int(os.environ.get("SHOAL_MUTATIONS", "700"))
KINDS = (
    "documents",
    "documents without labels",
    "documents in parts",
    "table.csv",
    "table.tsv",
    "table.csv.gz",
    "table.parquet",
    "table in parts",
    "table of labels",
)
WORDS = {"README.md", "report.html"}  # the owner's


# Reading without Shoal


def content_of(release):
    promises = certificate_of(release)["promises"]
    protected = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
    files = sorted(path for path in release.rglob("*") if path.is_file())
    return {path.relative_to(release).as_posix(): content_of_file(path, protected) for path in files}


def content_of_file(path, protected):
    if path.name in WORDS or path.name == "certificate.json":
        return None
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        notes = file.metadata.metadata, file.metadata.created_by.split()[0], str(file.schema_arrow)
        table = file.read()
        return groups, notes, crowds_of([bits_of(table[name].to_pylist()) for name in protected])
    if path.suffix == ".npz":
        with np.load(path) as matrix:
            return {name: (matrix[name].dtype.str, matrix[name].tobytes()) for name in matrix.files}
    raw = path.read_bytes()
    if path.name == "terms.txt":
        return raw
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    between = "\t" if ".tsv" in path.name else ","
    # Protected numbers come first in these tables.
    return [row[: len(protected)] for row in csv.reader(io.StringIO(text, newline=""), delimiter=between)]


def bits_of(values):
    """Lists, texts and numbers as they are stored; a number that is none by its payload."""
    return [
        bits_of(value) if isinstance(value, list) else struct.pack("<d", value) if isinstance(value, float) else value
        for value in values
    ]


def crowds_of(columns):
    """For each row, the first row that is equal to it."""
    rows = list(map(repr, zip(*columns, strict=True)))
    return [rows.index(row) for row in rows]


def state_of(release):
    files = [path for path in release.rglob("*") if path.is_file()]
    return {path.relative_to(release).as_posix(): path.read_bytes() for path in files}


def promises_of(release):
    """The promises but k and l, and whether those are no more than what is counted beside them."""
    promises = certificate_of(release)["promises"]
    k, l = promises["anonymity"].pop("k"), promises["diversity"].pop("l")
    least = min((column["least"] for column in promises["diversity"]["columns"]), default=0)
    return promises, (k or 0) <= promises["anonymity"]["smallest_group"] and (l or 0) <= least


# Changes


def other_bytes(chance, raw):
    """A byte flipped, changed, left out, put in or doubled, or two runs exchanged."""
    at = chance.randrange(len(raw))
    kind = chance.randrange(6)
    if kind == 0:
        return raw[:at] + bytes([raw[at] ^ 1 << chance.randrange(8)]) + raw[at + 1 :]
    if kind == 1:
        return raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
    if kind == 2:
        return raw[:at] + raw[at + chance.randrange(1, 9) :]
    if kind == 3:
        return raw[:at] + chance.randbytes(chance.randrange(1, 9)) + raw[at:]
    if kind == 4:
        return raw[:at] + raw[at : at + 8] + raw[at:]
    other = chance.randrange(len(raw))
    first, last = sorted((at, other))
    return raw[:first] + raw[last:] + raw[first:last]


def change_bytes(chance, release):
    """Bytes of any file, hashed and sealed anew or not."""
    path = chance.choice(sorted(path for path in release.rglob("*") if path.is_file()))
    path.write_bytes(other_bytes(chance, path.read_bytes()))
    if chance.random() < 0.7 and path.name != "certificate.json":
        reseal(release)


def change_json(chance, release):
    """A value somewhere in the certificate, sealed anew."""
    content = certificate_of(release)
    place = content
    while True:
        key = chance.choice(sorted(place) if isinstance(place, dict) else range(len(place)))
        if not isinstance(place[key], dict | list) or not place[key] or chance.random() < 0.1:
            break
        place = place[key]
    old = place[key]
    strange = [None, True, False, 0, 1, -1, 2, 3, 4, 10**20, 0.5, 1e300, "", "Ann", [], {}, [old], {"Ann": old}]
    near = [old + 1, old - 1, float(old)] if isinstance(old, int) else [f"{old} ", str(old)[:-1]]
    place[key] = chance.choice(strange + near)
    if isinstance(place, dict) and chance.random() < 0.2:
        place["Ann"] = place.pop(key)
    reseal(release, content, rehash=False)


def change_structure(chance, release):
    """A number or a text in the footer or a page of a Parquet file, everything else fitted to it."""
    paths = sorted(release.rglob("*.parquet"))
    if not paths:
        return change_bytes(chance, release)
    path = chance.choice(paths)
    file = parsed(path)
    pages = [page for chunk in file.chunks for page in chunk]
    if chance.random() < 0.3:
        page = chance.choice(pages)
        page.body = other_bytes(chance, page.body) if page.body else b"Ann"
    else:
        place = chance.choice([file.footer, file.footer, *(page.header for page in pages)])
        while True:
            number = chance.choice(sorted(place))
            kind, value = place[number]
            if isinstance(value, list) and value:
                kind, value = chance.choice(value)
            if not isinstance(value, dict) or not value:
                break
            place = value
        if number in place and not isinstance(place[number][1], list | dict):
            kind, value = place[number]
            if isinstance(value, bytes):
                place[number] = (kind, other_bytes(chance, value) if value else b"Ann")
            elif isinstance(value, bool):
                place[number] = (kind, not value)
            else:
                place[number] = (kind, chance.choice([value + 1, value - 1, 0, 7, 2**31 - 1, -1]))
    try:
        file.write(path)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        return change_bytes(chance, release)
    return reseal(release)


def change_cell(chance, release):
    """A protected cell, written as Shoal would."""
    paths = sorted(release.rglob("*.parquet"))
    if not paths:
        return change_bytes(chance, release)
    path = chance.choice(paths)
    table = pq.read_table(path)
    name = chance.choice([c["name"] for c in certificate_of(release)["promises"]["columns"] if c["role"] == "quasi"])
    values = table[name].to_pylist()
    row = chance.randrange(len(values))
    if isinstance(values[row], list):
        entry = chance.randrange(len(values[row]))
        values[row][entry] = other_value(chance, values[row][entry])
    else:
        values[row] = other_value(chance, values[row])
    place = table.column_names.index(name)
    lists = {"terms": pa.list_(pa.string()), "counts": pa.list_(pa.int64()), "weights": pa.list_(pa.float64())}
    for other in lists.keys() & set(table.column_names):
        at = table.column_names.index(other)
        table = table.set_column(at, pa.field(other, lists[other]), table[other].cast(lists[other]))
    table = table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type))
    pq.write_table(table, path, compression="zstd")
    return reseal(release)


def other_value(chance, value):
    if isinstance(value, float):
        strange = [0.0, -0.0, float("nan"), float("inf"), -value, value + 1.0]
        return chance.choice([np.nextafter(value, 9e9).item(), np.nextafter(value, -9e9).item(), *strange])
    if isinstance(value, int):
        return chance.choice([0, -value, value + 1, value - 1, 2 * value, 10**12])
    return chance.choice(["", None, f"{value} ", f"{value}\u200b", str(value).upper(), "Ann"])


CHANGES = (change_bytes, change_bytes, change_json, change_structure, change_cell)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_is_refused_or_rewriting_undoes_it(honest, tmp_path, kind):
    original = honest[kind]
    seal = certificate_of(original)["seal"]
    content, promises, before = content_of(original), promises_of(original), state_of(original)
    accepted = 0
    for number in range(-(-MUTATIONS // len(KINDS))):
        chance = random.Random(f"{kind} {number}")
        release = copy_of(original, tmp_path / "copy")
        change = chance.choice(CHANGES)
        while state_of(release) == before:  # some draws change nothing, and are no change
            change(chance, release)
        if verify(release):
            accepted += 1
            rewritten = tmp_path / "rewritten"
            assert verify(release, rewrite=rewritten), (number, change.__name__)
            assert content_of(rewritten) == content, (number, change.__name__)
            shutil.rmtree(rewritten)
            assert promises_of(release) == promises, (number, change.__name__)
            same = (release / "certificate.json").read_bytes() == (original / "certificate.json").read_bytes()
            assert same or not verify(release, expect=seal)
        shutil.rmtree(release)
    assert accepted < MUTATIONS // len(KINDS) // 2  # most changes do change something


def test_the_content_of_a_release_tells_what_is_protected(honest):
    assert json.dumps(certificate_of(honest["documents"])["promises"]["rows"]) == "8"
    _, _, crowds = content_of(honest["table.parquet"])["table.parquet"]
    assert crowds == [0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9]
    assert len(content_of(honest["table.csv"])["table.csv"]) == 13  # a header and twelve rows
