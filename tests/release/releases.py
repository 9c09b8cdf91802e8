"""Small inputs, their releases, and readers of releases that share nothing with Shoal."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import shutil
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal import Corpus, Microaggregation, Roles, SphericalMicroaggregation, VectorSpace, protect
from shoal.release.protect import Protected

TABLE_MDAV = Microaggregation(refine=False)
DOCUMENT_MDAV = SphericalMicroaggregation(refine=False)

PEOPLE = """name,age,pay,town,illness
Ann Oakley,31,2100,Wick,flu
Bob Pike,33,2500,Wick,asthma
Cy Trout,58,4100,Deal,gout
Di Salmon,61,4000,Deal,flu
Ed Marlin,29,1900,Rye,gout
Flo Bream,64,4400,Rye,asthma
Gus Perch,35,2600,Wick,flu
Hal Tench,57,3900,Deal,gout
"""
ROLES = Roles(quasi=("age", "pay"), confidential=("illness",), insensitive=("town",), identifier=("name",))

LETTERS = [
    ("p-101", "The patient Zebulon coughs at night and has a fever.", "lung"),
    ("p-102", "Night cough, fever and pain in the chest; patient rests.", "lung"),
    ("p-103", "Pain in the knee after a fall, the patient walks slowly.", "bone"),
    ("p-104", "A fall on ice: broken wrist, pain, plaster for weeks.", "bone"),
    ("p-105", "Fever and cough for weeks, chest pain at night.", "heart"),
    ("p-106", "Knee and wrist pain, walks slowly on ice.", "bone"),
    ("p-107", "Chest pain at night, the patient rests for weeks.", "heart"),
    ("p-108", "Slowly the knee heals; the plaster stays for weeks.", "bone"),
]


def quietly(call: Any, *arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **options)


def release_table(folder: Path, k: int = 3, **options: Any) -> Protected:
    """The people of PEOPLE, released to `folder`/release."""
    source = folder / "people.csv"
    folder.mkdir(parents=True, exist_ok=True)
    source.write_text(PEOPLE, encoding="utf-8")
    options = {"roles": ROLES, "method": TABLE_MDAV} | options
    made: Protected = quietly(protect, source, k, folder / "release", **options)
    return made


def release_letters(folder: Path, k: int = 3, **options: Any) -> Protected:
    """The letters of LETTERS, released to `folder`/release."""
    source = folder / "letters.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": name, "text": text, "part": part}) for name, text, part in LETTERS]
    source.write_text("\n".join(lines), encoding="utf-8")
    options = {"label_column": "part", "space": VectorSpace(min_df=2), "method": DOCUMENT_MDAV} | options
    made: Protected = quietly(protect, source, k, folder / "release", **options)
    return made


def release_texts(texts: list[str], labels: list[str], k: int, folder: Path, **options: Any) -> Protected:
    corpus = Corpus.from_texts(texts, ids=[f"id-{n}" for n in range(len(texts))], labels=labels)
    options = {"label_column": "part", "method": DOCUMENT_MDAV} | options
    made: Protected = quietly(protect, corpus, k, folder, **options)
    return made


def release_frame(frame: Any, k: int, folder: Path, roles: Roles | None = None, **options: Any) -> Protected:
    """The frame released by plain MDAV, unless another method is given; what MDAV takes are numbers."""
    if "method" not in options:
        quasi = list(frame.columns) if roles is None else roles.quasi
        kinds = dict.fromkeys(quasi, "number")
        options = {"method": TABLE_MDAV, "kinds": kinds} | options
    made: Protected = quietly(protect, frame, k, folder, roles=roles, **options)
    return made


def steps_of(made: Protected) -> dict[str, float]:
    """What the means of each column are multiples of, as the certificate says."""
    steps: dict[str, float] = made.certificate["stated"]["parameters"]["rounded_to"]
    return steps


# Reading without Shoal


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a released file, each cell as it stands."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if ".tsv" in path.name else ","))


def smallest_class(rows: list[dict[str, Any]], columns: list[str]) -> int:
    """How many rows share the rarest combination of these columns."""
    return min(Counter(repr([row[column] for column in columns]) for row in rows).values())


def fewest_values(rows: list[dict[str, Any]], columns: list[str], confidential: str) -> int:
    """The least number of different confidential values among rows that are equal in `columns`; missing ones are none.

    Two spellings of a number are one value, so are upper and lower case, and space around it does not count.
    """
    found: dict[str, set[object]] = {}
    for row in rows:
        values = found.setdefault(repr([row[column] for column in columns]), set())
        text = " ".join(str(row[confidential]).split()).casefold()
        if row[confidential] is not None and text not in ("", "na", "n/a", "nan", "null", "none"):
            try:
                values.add(float(text))
            except ValueError:
                values.add(text)
    return min(map(len, found.values()))


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# Tampering


def copy_of(release: Path, folder: Path) -> Path:
    shutil.copytree(release, folder)
    return folder


def certificate_of(release: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((release / "certificate.json").read_bytes())
    return content


def reseal(release: Path, content: Any = None, rehash: bool = True) -> None:
    """Write the certificate anew, as somebody would who wants a changed release to look sound."""
    content = certificate_of(release) if content is None else content
    if rehash:
        files = [path for path in release.rglob("*") if path.is_file() and path.name != "certificate.json"]
        names = sorted(path.relative_to(release).as_posix() for path in files)
        content["files"] = {
            name: {
                "sha256": hashlib.sha256((release / name).read_bytes()).hexdigest(),
                "bytes": (release / name).stat().st_size,
            }
            for name in names
        }
    rest = {key: value for key, value in content.items() if key != "seal"}
    sealed = rest | {"seal": hashlib.sha256(written(rest)).hexdigest()}
    (release / "certificate.json").write_bytes(written(sealed))


def written(content: Any) -> bytes:
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def write_documents(rows: list[dict[str, Any]], path: Path, **options: Any) -> None:
    """Rows of documents written to Parquet as a release has them, unless the options say otherwise."""
    lists = {"terms": pa.string(), "counts": pa.int64(), "weights": pa.float64()}
    fields = [(name, pa.list_(lists[name]) if name in lists else pa.string()) for name in rows[0]]
    table = pa.Table.from_pylist(rows, schema=pa.schema(fields))
    pq.write_table(table, path, **({"compression": "zstd", "row_group_size": 20_000} | options))


def write_matrix(members: list[tuple[str, Any]], path: Path, comment: bytes = b"") -> None:
    """Arrays written to a zip file as NumPy does it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names given twice
        for name, values in members:
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)
        file.comment = comment
