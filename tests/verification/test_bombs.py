"""What unpacks to much more than it is: refused, in little memory. Each is verified in a process of its own."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.release.releases import certificate_of, copy_of, reseal, write_matrix
from tests.verification.hostile.cases import table_of
from tests.verification.hostile.surgery import I32, parsed

pytestmark = pytest.mark.usefixtures("without_attack")

MOST = 1_000  # megabytes, of everything: Python and Arrow alone take some 150
LARGE = 300_000_000

MEASURING = """
import json, os, re, resource, sys
from pathlib import Path
import pyarrow.parquet
from shoal import verify
for line in sys.stdin:
    if os.fork():
        os.wait()
        continue
    broken = verify(line.rstrip("\\n")).broken
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    status = Path("/proc/self/status")  # on Linux a process inherits the peak of the one that started it, but not there
    peak = int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]) / 1e3 if status.exists() else peak
    claims = [[claim.promise, claim.detail] for claim in broken]
    print(json.dumps({"megabytes": peak, "claims": claims}), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def measured():
    """Verifies a release in a process of its own, forked from one that has everything loaded."""
    command = [sys.executable, "-c", MEASURING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def measure(release):
            process.stdin.write(f"{release}\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield measure


def long_rows(release):
    """One text of ten megabytes, in each of a hundred thousand rows: a terabyte, in a file of a few kilobytes."""
    texts = pa.DictionaryArray.from_arrays(np.zeros(100_000, dtype=np.int32), pa.array(["x" * 10_000_000]))
    pq.write_table(pa.table({"age": np.full(100_000, 3.0), "illness": texts}), release / "table.parquet")
    table = {"age": np.full(2, 3.0), "illness": ["x", "y"]}
    table_of(table, {"age": "quasi", "illness": "confidential"}, release)
    content = certificate_of(release)
    content["promises"]["rows"] = 100_000
    content["promises"]["anonymity"]["smallest_group"] = 100_000
    plain = pa.table({"age": np.full(100_000, 3.0), "illness": texts})
    schema = pa.schema([("age", pa.float64()), ("illness", pa.string())])
    with pq.ParquetWriter(release / "table.parquet", schema, compression="zstd") as writer:
        writer.write_table(plain.slice(0, 20).cast(schema))
    file = parsed(release / "table.parquet")
    repeat_last_value(file, 1, 100_000)
    repeat_last_value(file, 0, 100_000)
    file.row_group[3] = (6, 100_000)
    file.footer[3] = (6, 100_000)
    file.write(release / "table.parquet")
    reseal(release, content)


def repeat_last_value(file, column, rows):
    """One page whose runs say that its first value comes `rows` times."""
    page = next(page for page in file.chunks[column] if not page.is_dictionary)
    run = bytes([rows << 1 & 0x7F | 0x80, rows >> 6 & 0x7F | 0x80, rows >> 13 & 0x7F])
    levels = run + b"\x01"
    page.body = len(levels).to_bytes(4, "little") + levels + b"\x01" + run + b"\x00"
    page.header[5][1][1] = (I32, rows)


def cells_that_grow(release):
    """Texts that are 18 times as long once they are normalised, each just short enough to be counted."""
    rows = pq.read_table(release / "table.parquet")
    place = rows.column_names.index("illness")
    grown = pa.array([f"{value}{chr(0xFDFA) * 50_000}" for value in rows["illness"].to_pylist()])
    pq.write_table(rows.set_column(place, "illness", grown), release / "table.parquet", compression="zstd")
    reseal(release)


def large_pages(release):
    """Zeros, which take next to nothing when packed."""
    zeros = np.zeros(LARGE // 8)
    table_of({"age": zeros[:6]}, {"age": "quasi"}, release)
    content = certificate_of(release)
    content["promises"]["rows"] = len(zeros)
    options = {"compression": "zstd", "use_dictionary": False, "row_group_size": len(zeros)}
    pq.write_table(pa.table({"age": zeros}), release / "table.parquet", **options)
    reseal(release, content)


def many_row_groups(release):
    """Two thousand full row groups of equal rows: two gigabytes of numbers, in a megabyte."""
    zeros = pa.array(np.zeros(1 << 17))
    table_of({"age": np.zeros(6)}, {"age": "quasi"}, release)
    content = certificate_of(release)
    content["promises"]["rows"] = 2000 << 17
    content["promises"]["anonymity"]["smallest_group"] = 2000 << 17
    with pq.ParquetWriter(release / "table.parquet", pa.schema([("age", pa.float64())]), compression="zstd") as writer:
        for _ in range(2000):
            writer.write_table(pa.table({"age": zeros}))
    reseal(release, content)


def packed_text(release):
    """Rows of one letter: gzip packs them a thousandfold."""
    row = b'31,2100.5,"x","flu"\n'
    header = b'"age","pay","town","illness"\n'
    (release / "table.csv.gz").write_bytes(gzip.compress(header + row * (LARGE // len(row)), 1, mtime=0))
    reseal(release)


def packed_line(release):
    """A line that does not end."""
    (release / "table.csv.gz").write_bytes(
        gzip.compress(b'"age","pay","town","illness"\n31,2100.5,"' + b"x" * LARGE, 1, mtime=0)
    )
    reseal(release)


def packed_matrix(release):
    with np.load(release / "vectors.npz") as file:
        parts = dict(file)
    write_matrix(list((parts | {"data": np.zeros(LARGE // 8)}).items()), release / "vectors.npz")
    reseal(release)


def long_list_of_terms(release):
    (release / "terms.txt").write_bytes(b"a\n" * (LARGE // 2))
    reseal(release)


def large_certificate(release):
    content = certificate_of(release)
    content["stated"]["parameters"] = {"who": "ten million empty lists"}
    lists = "[" + ", ".join(["[]"] * 10_000_000) + "]"
    text = json.dumps(content).replace('"ten million empty lists"', lists)
    (release / "certificate.json").write_text(text, encoding="utf-8")


def deep_certificate(release):
    (release / "certificate.json").write_bytes(b'{"a":' * 600_000)


def wide_certificate(release):
    """As large as it may be, and made of what takes the most room when read."""
    (release / "certificate.json").write_bytes(b"[" + b"[]," * 1_300_000 + b"[]]")


def large_page(release):
    (release / "report.html").write_bytes((release / "report.html").read_bytes() + b"<b>" * (LARGE // 3))
    reseal(release)


def slow_page(release):
    """Tags that nearly fit, over and over: who tries each of them to the end of the page needs hours."""
    page = (release / "report.html").read_bytes()
    (release / "report.html").write_bytes(page + b"<p" + b" a" * 1_000_000)
    reseal(release)


BOMBS = [
    ("table.parquet", long_rows, "size"),
    ("table.parquet", large_pages, "size"),
    ("table.parquet", many_row_groups, "size"),
    ("table.csv.gz", packed_text, "rows"),
    ("table.csv.gz", packed_line, "size"),
    ("documents", packed_matrix, "same data"),
    ("documents", long_list_of_terms, "size"),
    ("documents", large_certificate, "size"),
    ("documents", deep_certificate, "certificate"),
    ("documents", wide_certificate, "certificate"),
    ("documents", large_page, "page"),
    ("documents", slow_page, "page"),
]


@pytest.mark.parametrize(("of", "change", "promise"), BOMBS, ids=lambda value: getattr(value, "__name__", None))
def test_what_unpacks_to_much_more_is_refused_in_little_memory(honest, measured, tmp_path, of, change, promise):
    release = copy_of(honest[of], tmp_path / "copy")
    change(release)
    found = measured(release)
    assert promise in [claim for claim, _ in found["claims"]], found
    assert found["megabytes"] < MOST, found
    if change in (large_pages, packed_text, packed_line, wide_certificate):
        assert found["megabytes"] < 3 * measured(honest[of])["megabytes"]


def test_cells_that_grow_take_at_most_three_times_the_memory_of_an_honest_release(honest, measured, tmp_path):
    release = copy_of(honest["table.parquet"], tmp_path / "copy")
    cells_that_grow(release)
    assert measured(release)["megabytes"] < 3 * measured(honest["table.parquet"])["megabytes"]
