"""Bad input, kind by kind: exit code 2, one line that says what is wrong and what to do, and nothing left behind.

Every case starts in a folder with a sound table (t.csv), sound documents (d.jsonl, texts/) and a sound release (r/).
The confidential cells of all of them carry a canary, which no message may quote.
"""

from __future__ import annotations

import contextlib
import decimal
import gzip
import io
import json
import os
import random
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.run import PATIENCE, SHOAL, Ran, run, snapshot

pytestmark = pytest.mark.usefixtures("without_attack")

CANARIES = ("s3cret", "73421")
ROWS = [(f"s3cret-{n:02d}", 20 + n % 17, 7342100 + n * 31 % 97, f"s3cret-{'abc'[n % 3]}") for n in range(30)]
NOUNS = ["tide", "heron", "shoal", "fish", "harbour", "boat", "storm", "anchor", "island", "gull", "reef", "salt"]
TEXTS = [f"{NOUNS[n % 12]} {NOUNS[n * 5 % 12]} {NOUNS[n * 7 % 11]} {NOUNS[n // 2]}" for n in range(24)]

Content = bytes | str | Callable[[Path], object]


def csv_of(header: str, *lines: str) -> str:
    return "\n".join([header, *lines]) + "\n"


def jsonl(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def parquet(**columns: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


TABLE = csv_of("name,age,income,diagnosis", *(",".join(map(str, row)) for row in ROWS))
NUMBERS = csv_of("age,income", *(f"{age},{income}" for _, age, income, _ in ROWS))
RECORDS = [{"id": f"s3cret-{n}", "text": text, "topic": f"s3cret-{'ab'[n % 2]}"} for n, text in enumerate(TEXTS)]
LETTERS = jsonl(*RECORDS)
PARQUET = parquet(age=[age for _, age, _, _ in ROWS], income=[income for _, _, income, _ in ROWS])
WORLD: dict[str, Content] = {"t.csv": TABLE, "n.csv": NUMBERS, "d.jsonl": LETTERS}
WORLD |= {f"texts/{n:02d}.txt": text for n, text in enumerate(TEXTS)}

ROLES = "--quasi age,income --confidential diagnosis --drop name"
GOOD_TABLE = f"protect t.csv -o out -k 3 {ROLES}"
GOOD_DOCUMENTS = "protect d.jsonl -o out -k 3"
GOOD_LABELS = "protect l.csv -o out -k 3 --quasi sport"
SPORTS = csv_of("child,parent", "golf,sport", "tennis,sport", "rugby,football", "football,sport")
UNKNOWN = jsonl(*({"text": "zzzq qqqx"} for _ in range(4)))
LABELS: dict[str, Content] = {"l.csv": csv_of("sport", *["golf", "tennis", "rugby"] * 3), "h.csv": SPORTS}


def make(folder: Path, files: dict[str, Content]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


class Case(NamedTuple):
    """A kind of bad input: the command, a part of what must be said of it, and files besides the sound ones."""

    name: str
    argv: str | list[str]
    says: str
    files: dict[str, Content] = {}  # noqa: RUF012 - never changed

    @property
    def arguments(self) -> list[str]:
        return shlex.split(self.argv) if isinstance(self.argv, str) else self.argv


# -- The command line itself ---------------------------------------------------------------------------------------

USAGE = [
    Case("unknown command", "protekt t.csv -o out", "No such command 'protekt'"),
    Case("a file instead of a command", "t.csv", "No such command 't.csv'"),
    Case("unknown option of the program", "--verbose", "No such option: --verbose"),
    Case("unknown short option", "-x", "No such option: -x"),
    Case("unknown option of protect", f"{GOOD_TABLE} --colour red", "--colour"),
    Case("unknown option of verify", "verify r --fast", "--fast"),
    Case("unknown option of demo", "demo -k 5", "-k"),
    Case("misspelt option", f"{GOOD_TABLE} --quassi age", "--quassi"),
    Case("an option of another command", "verify r -o out", "-o"),
    Case("protect without anything", "protect", "Missing argument 'INPUT'"),
    Case("protect without input", "protect -o out", "Missing argument 'INPUT'"),
    Case("an option twice", "protect t.csv -o out -k 3 -k 5", "-k '3 5' is given twice; give it once"),
    Case("columns twice", "protect t.csv -o out --quasi age --quasi income", "given twice"),
    Case("protect with two inputs", "protect t.csv n.csv -o out", "n.csv"),
    Case("protect with out as an argument", "protect t.csv out -k 3", "out"),
    Case("verify without a release", "verify", "Missing argument 'RELEASE'"),
    Case("verify with two releases", "verify r r", "unexpected extra argument"),
    Case("demo with an argument", "demo here", "here"),
    Case("-k without a number", "protect t.csv -o out -k", "-k"),
    Case("-o without a name", "protect t.csv -o", "-o"),
    Case("--quasi without columns", "protect t.csv -o out --quasi", "--quasi"),
    Case("--expect without a seal", "verify r --expect", "--expect"),
    Case("a value for a flag", f"{GOOD_TABLE} --force=yes", "--force"),
    Case("a value for --json", f"{GOOD_TABLE} --json=1", "--json"),
    Case("a value for --wordnet", f"{GOOD_DOCUMENTS} --wordnet=maybe", "--wordnet"),
    Case("--stem yes", f"{GOOD_DOCUMENTS} --stem yes", "yes"),
    Case("a command after --version's misspelling", "--versoin", "--versoin"),
    Case("two commands", "verify protect t.csv", "t.csv"),
    Case("the command in capitals", "PROTECT t.csv -o out", "PROTECT"),
    Case("an empty command", ["", "t.csv"], "No such command ''"),
    Case("a command with a line end", ["pro\ntect"], "No such command"),
    Case("an escape sequence as a command", ["\x1b[31mred"], "\\x1b[31mred"),
]

# -- Values of options ---------------------------------------------------------------------------------------------

NOT_K = ["0", "1", "-3", "-0", "1.5", "3.0", "abc", "", " ", "1e3", "0x5", "five", "nan", "inf", "5,", "k", "²", "--"]
VALUES = [
    *(Case(f"-k {value!r}", ["protect", "t.csv", "-o", "out", "-k", value], "at least 2") for value in NOT_K),
    Case("-k of 5000 digits", ["protect", "t.csv", "-o", "out", "-k", "9" * 5000], "999…' must be a whole number"),
    Case("k above the rows", f"protect t.csv -o out -k 31 {ROLES}", "k=31 needs at least 31 rows, got 30"),
    Case("k huge, table", f"protect t.csv -o out -k {10**30} {ROLES}", "rows, got 30"),
    Case("k huge, documents", f"protect d.jsonl -o out -k {10**30}", "documents with terms, got 0"),
    Case("k above the documents", "protect d.jsonl -o out -k 25 --min-df 1", "k=25 needs at least 25 documents"),
    *(
        Case(f"--l {value!r}", [*shlex.split(GOOD_TABLE), "--l", value], "at least 2")
        for value in ["1", "0", "-1", "two", "2.5", ""]
    ),
    *(
        Case(f"--attribute-groups {value!r}", [*shlex.split(GOOD_TABLE), "--attribute-groups", value], "at least 1")
        for value in ["0", "-2", "a", "1.5", ""]
    ),
    *(
        Case(f"--min-df {value!r}", [*shlex.split(GOOD_DOCUMENTS), "--min-df", value], "at least 1")
        for value in ["0", "-1", "0.5", "x", ""]
    ),
    *(
        Case(f"--max-terms {value!r}", [*shlex.split(GOOD_DOCUMENTS), "--max-terms", value], "at least 1")
        for value in ["0", "-5", "1.0", "many", ""]
    ),
    *(
        Case(f"--method {value!r}", [*shlex.split(GOOD_TABLE), "--method", value], "use one of mdav, semantic")
        for value in ["bogus", "", "MDAV", "mdav ", "kmeans"]
    ),
    *(
        Case(f"--missing {value!r}", [*shlex.split(GOOD_TABLE), "--missing", value], "use one of refuse, withhold")
        for value in ["bogus", "", "drop", "REFUSE"]
    ),
    *(
        Case(f"--language {value!r}", [*shlex.split(GOOD_DOCUMENTS), "--language", value], "is not known")
        for value in ["klingon", "", "en", "English", "porter", "englsh"]
    ),
    Case("--language too close to call", f"{GOOD_DOCUMENTS} --language germn", "did you mean german?"),
    Case("WordNet for German", f"{GOOD_DOCUMENTS} --language german --wordnet", "wordnet"),
    *(
        Case(f"empty {option}", [*shlex.split(GOOD_DOCUMENTS), option, ""], "names no column")
        for option in ["--text-column", "--id-column", "--label-column"]
    ),
    Case("blank text column", [*shlex.split(GOOD_DOCUMENTS), "--text-column", "  "], "names no column"),
]

# -- Options that do not go together -------------------------------------------------------------------------------

CONFLICTS = [
    Case("text column and roles", f"{GOOD_TABLE} --text-column name", "--text-column is for documents"),
    Case("label column and roles", f"{GOOD_TABLE} --label-column diagnosis", "--label-column is for documents"),
    Case("id column that is not there", f"{GOOD_TABLE} --id-column nobody", "nobody"),
    Case("label column of a table", "protect n.csv -o out --label-column age", "--label-column is for documents"),
    Case("--min-df for a table", f"{GOOD_TABLE} --min-df 2", "is a table"),
    Case("--max-terms for a table", f"{GOOD_TABLE} --max-terms 9", "is a table"),
    Case("--no-stem for a table", f"{GOOD_TABLE} --no-stem", "is a table"),
    Case("--wordnet for a table", f"{GOOD_TABLE} --wordnet", "is a table"),
    Case("--no-wordnet for a table", f"{GOOD_TABLE} --no-wordnet", "is a table"),
    Case("--language for a table", f"{GOOD_TABLE} --language german", "is a table"),
    Case("--quasi for JSONL", "protect d.jsonl -o out --quasi age", "JSONL"),
    Case("--drop for texts", "protect texts -o out --drop age", "folder"),
    Case("--missing for documents", f"{GOOD_DOCUMENTS} --missing withhold", "--missing is for tables"),
    Case(
        "--ontology for numbers", f"{GOOD_TABLE} --ontology h.csv", "is not for a table of numbers", {"h.csv": SPORTS}
    ),
    Case(
        "--mapping for numbers",
        f"{GOOD_TABLE} --mapping m.csv",
        "is not for a table of numbers",
        {"m.csv": "column,value,concept\nname,Ann,golf\n"},
    ),
    Case("--mapping that is none", f"{GOOD_TABLE} --mapping m.csv", "must begin with the columns", {"m.csv": "x"}),
    Case("--importance for numbers", f"{GOOD_TABLE} --importance age=2", "is not for a table of numbers"),
    Case("--importance without a number", f"{GOOD_TABLE} --importance age", "COLUMN=NUMBER"),
    Case("--importance of zero", f"{GOOD_TABLE} --importance age=0", "number above 0"),
    Case("--ontology that is not there", f"{GOOD_LABELS} --ontology absent.csv", "absent.csv"),
    Case(
        "--ontology twice for a column",
        f"{GOOD_LABELS} --ontology sport=h.csv --ontology sport=g.csv",
        "names 'sport' twice; give each column once",
        LABELS | {"g.csv": SPORTS},
    ),
    Case("--ontology of no column", f"{GOOD_LABELS} --ontology nope=h.csv", "no column nope", LABELS),
    Case("--ontology both ways", f"{GOOD_LABELS} --ontology h.csv --ontology sport=h.csv", "one or the other", LABELS),
    Case(
        "a hierarchy with a cycle",
        f"{GOOD_LABELS} --ontology c.csv",
        "cycle",
        LABELS | {"c.csv": "child,parent\na,b\nb,a\n"},
    ),
    Case("a hierarchy of nothing", f"{GOOD_LABELS} --ontology c.csv", "c.csv", LABELS | {"c.csv": ""}),
    Case(
        "labels not in WordNet",
        f"{GOOD_LABELS} --ontology wordnet",
        "not in WordNet",
        LABELS | {"l.csv": csv_of("sport", *["xyzzyq"] * 6)},
    ),
    Case(
        "labels not in the hierarchy",
        f"{GOOD_LABELS} --ontology h.csv",
        "not in the hierarchy",
        LABELS | {"l.csv": csv_of("sport", *["dog"] * 6)},
    ),
    Case("a mapping of nothing", f"{GOOD_LABELS} --mapping m.csv", "m.csv", LABELS | {"m.csv": ""}),
    Case(
        "a mapping with guesses",
        f"{GOOD_LABELS} --mapping m.csv",
        "not confirmed",
        LABELS | {"m.csv": "column,value,concept\nsport,golf,?golf\n"},
    ),
    Case(
        "a mapping with gaps",
        f"{GOOD_LABELS} --mapping m.csv",
        "without a concept",
        LABELS | {"m.csv": "column,value,concept\nsport,golf,\n"},
    ),
    Case(
        "a mapping astray",
        f"{GOOD_LABELS} --mapping m.csv",
        "that WordNet has not",
        LABELS | {"m.csv": "column,value,concept\nsport,golf,xyzzyq\n"},
    ),
    Case("--method mdav for labels", f"{GOOD_LABELS} --method mdav", "these are labels", LABELS),
    Case("--method ranking for labels", f"{GOOD_LABELS} --method ranking", "would take for an amount", LABELS),
    Case("--attribute-groups for labels", f"{GOOD_LABELS} --attribute-groups 1", "is not for generalised", LABELS),
    Case("assess: no such original", "assess absent.csv n.csv -o a", "absent.csv"),
    Case("assess: no such table", "assess n.csv absent.csv -o a", "absent.csv"),
    Case(
        "assess: fewer rows",
        "assess n.csv f.csv -o a",
        "protected table 3",
        {"f.csv": csv_of("age,income", "1,2", "3,4", "5,6")},
    ),
    Case(
        "assess: no column in common", "assess n.csv f.csv -o a", "no column in common", {"f.csv": "x\n" + "1\n" * 30}
    ),
    Case("assess: no such column", "assess n.csv n.csv -o a --columns nope", "nope"),
    Case("assess: no column at all", "assess n.csv n.csv -o a --columns ,", "names no column"),
    Case("assess: no such key", "assess n.csv n.csv -o a --key nope", "nope"),
    Case("assess: a key that is not one", "assess t.csv t.csv -o a --key diagnosis", "more than once"),
    Case("assess: no private folder", "assess n.csv n.csv -o a --private nowhere", "is not there"),
    Case("assess: documents and a table", "assess d.jsonl n.csv -o a", "holds documents"),
    Case("assess: no such control", "assess n.csv n.csv -o a --control absent.csv", "absent.csv"),
    Case(
        "assess: a control without the columns",
        "assess n.csv n.csv -o a --control f.csv",
        "age",
        {"f.csv": "x\n1\n2\n"},
    ),
    Case("assess: a folder that is there", "assess n.csv n.csv -o texts", "texts"),
    Case("assess: a table and texts", "assess n.csv d.jsonl -o a", "n.csv has no column text"),
    Case("assess: no such texts", "assess absent texts -o a", "absent"),
    Case("assess: texts of other names", "assess d.jsonl texts -o a", "not among the originals by name"),
    Case("assess: columns of text files", "assess texts texts -o a --id-column id", "text files have no columns"),
    Case("assess: a target in texts", "assess d.jsonl d.jsonl -o a --target age", "target is for tables"),
    Case("assess: no such policy", "assess d.jsonl d.jsonl -o a --policy nope", "nope"),
    Case("assess: no such queries", "assess d.jsonl d.jsonl -o a --queries absent.txt", "absent.txt"),
    Case("assess: no query", "assess d.jsonl d.jsonl -o a --queries q.txt", "has no query", {"q.txt": "\n \n"}),
    Case("assess: a relevance above 1", "assess d.jsonl d.jsonl -o a --relevance 2", "at most 1"),
    Case("assess: no such background", "assess d.jsonl d.jsonl -o a --background absent", "absent"),
    Case("assess: a background of others", "assess d.jsonl d.jsonl -o a --background texts", "none of the"),
    Case("assess: no such language", "assess d.jsonl d.jsonl -o a --language klingon", "klingon"),
    Case("explore: no such table", "explore absent.csv -o e", "absent.csv"),
    Case(
        "explore: columns of documents",
        "explore t.csv -o e --quasi age --text-column age",
        "--text-column is for documents",
    ),
    Case("explore: roles of documents", "explore d.jsonl -o e --quasi age", "holds documents"),
    Case("explore: hardened documents", "explore d.jsonl -o e --harden --max-risk 9", "these are documents"),
    Case("explore: no such column", "explore t.csv -o e --quasi nope", "nope"),
    Case("explore: a risk below zero", "explore n.csv -o e --max-risk -1", "above 0"),
    Case("explore: a folder of other things", "explore n.csv -o texts", "holds other files"),
    Case("--coarsen without a number", f"{GOOD_TABLE} --coarsen income", "write COLUMN=K, income=40"),
    Case("--coarsen without a column", f"{GOOD_TABLE} --coarsen =5", "write COLUMN=K"),
    Case("--coarsen of nothing", [*shlex.split(GOOD_TABLE), "--coarsen", ""], "write COLUMN=K"),
    Case("--coarsen with an empty number", f"{GOOD_TABLE} --coarsen income=", "write COLUMN=K"),
    *(
        Case(f"--coarsen income={value}", f"{GOOD_TABLE} --coarsen income={value}", "whole number of at least 2")
        for value in ["1", "0", "-4", "2.5", "many", "4=x"]
    ),
    Case("--coarsen of 5000 digits", f"{GOOD_TABLE} --coarsen income={'9' * 5000}", "whole number of at least 2"),
    Case("--coarsen twice", f"{GOOD_TABLE} --coarsen age=4 --coarsen age=5", "names 'age' twice"),
    Case("--coarsen of no column", f"{GOOD_TABLE} --coarsen pay=4", "coarsen pay=4: the table has no column pay"),
    Case("--coarsen of a confidential column", f"{GOOD_TABLE} --coarsen diagnosis=4", "is not protected"),
    Case("--coarsen of a dropped column", f"{GOOD_TABLE} --coarsen name=4", "is not protected"),
    Case("--coarsen of labels", f"{GOOD_LABELS} --ontology h.csv --coarsen sport=3", "not numbers", LABELS),
    Case("--coarsen above the rows", f"{GOOD_TABLE} --coarsen age=31", "coarsen age=31 needs at least 31 rows, got 30"),
    Case("--coarsen beyond all", f"{GOOD_TABLE} --coarsen age={10**30}", "rows, got 30"),
    Case("--coarsen for documents", f"{GOOD_DOCUMENTS} --coarsen age=4", "--coarsen is for tables"),
    Case(
        "noise in parts", f"protect 't*.csv' -o out -k 3 {ROLES} --method noise --percent 5", "needs all rows at once"
    ),
    Case("--percent for microaggregation", f"{GOOD_TABLE} --percent 5", "is not for microaggregation"),
    Case("noise without a strength", f"{GOOD_TABLE} --method noise", "give --percent"),
    Case("a strength for one column of two", f"{GOOD_TABLE} --method noise --percent age=5", "has no strength"),
    Case("a strength for no column", f"{GOOD_TABLE} --method noise --percent age=5,income=5,town=5", "is no number"),
    Case("noise of zero", f"{GOOD_TABLE} --method noise --percent 0", "above 0"),
    Case("swaps beyond all", f"{GOOD_TABLE} --method rank-swap --percent 200", "100"),
    Case("noise with --l", f"{GOOD_TABLE} --method noise --percent 5 --l 2", "makes none"),
    Case("noise for labels", f"{GOOD_LABELS} --method noise --percent 5", "would take for an amount", LABELS),
    Case("map: no such column", "map l.csv nope -o m.csv", "nope", LABELS),
    Case("map: a column twice", "map l.csv sport sport -o m.csv", "named twice", LABELS),
    Case("map: nothing to map", "map l.csv -o m.csv", "COLUMN", LABELS),
    Case("map: a file that is there", "map l.csv sport -o h.csv", "exists", LABELS),
    Case("map: in place of the table", "map l.csv sport -o l.csv --force", "made from", LABELS),
    Case("semantic: no word known", "protect z.jsonl -o out -k 2 --method semantic", "k=2 needs", {"z.jsonl": UNKNOWN}),
    Case("map: a folder that is not there", "map l.csv sport -o nope/m.csv", "cannot be written", LABELS),
    Case("map: no such table", "map absent.csv sport -o m.csv", "absent.csv"),
    Case("map: documents", "map d.jsonl text -o m.csv", "holds documents"),
    Case("--attribute-groups for documents", f"{GOOD_DOCUMENTS} --attribute-groups 2", "is for tables"),
    Case("--method ranking for documents", f"{GOOD_DOCUMENTS} --method ranking", "cannot protect documents"),
    Case("--method z-scores for documents", f"{GOOD_DOCUMENTS} --method z-scores", "use mdav"),
    Case("--l without a label", f"{GOOD_DOCUMENTS} --l 2", "--label-column"),
    Case("--l without a confidential column", "protect n.csv -o out -k 3 --l 2", "--confidential"),
    Case("--l with ranking", f"{GOOD_TABLE} --l 2 --method ranking", "over all quasi-identifiers at once"),
    Case("--l with attribute groups", f"{GOOD_TABLE} --l 2 --attribute-groups 1", "over all quasi-identifiers at once"),
    Case("attribute groups with ranking", f"{GOOD_TABLE} --method ranking --attribute-groups 2", "ranking"),
    Case("--l above a table's values", f"{GOOD_TABLE} --l 4", "l=4 needs 4 different values, column diagnosis has 3"),
    Case("--l above a label's values", f"{GOOD_DOCUMENTS} --label-column topic --l 3", "column topic has 2; lower l"),
    Case("--l of many digits", f"{GOOD_TABLE} --l {10**25}", "different values"),
    Case("columns for a folder of texts", "protect texts -o out --text-column body", "no columns"),
    Case("a label column for texts", "protect texts -o out --label-column topic", "'folder'"),
    Case("the text as label", f"{GOOD_DOCUMENTS} --label-column text", "stay private"),
    Case("the text column as label", f"{GOOD_DOCUMENTS} --text-column topic --label-column topic", "stay private"),
    Case("the id as label", f"{GOOD_DOCUMENTS} --label-column id", "stay private"),
    Case("the id column as label", f"{GOOD_DOCUMENTS} --id-column topic --label-column topic", "stay private"),
    Case(
        "a label called terms",
        "protect x.jsonl -o out -k 3 --label-column terms",
        "clash",
        {"x.jsonl": LETTERS.replace('"topic"', '"terms"')},
    ),
]

# -- Where the output goes -----------------------------------------------------------------------------------------


def loop(path: Path) -> None:
    path.symlink_to(path.name)


PLACES = [
    Case("out is a file", f"protect t.csv -o o {ROLES}", "not a folder", {"o": "mine"}),
    Case("out is a file, forced", f"protect t.csv -o o {ROLES} --force", "not a folder", {"o": "mine"}),
    Case("out is a folder in use", f"protect t.csv -o o {ROLES}", "--force", {"o/a": "mine"}),
    Case("out is a foreign folder, forced", f"protect t.csv -o o {ROLES} --force", "not made by", {"o/a": "mine"}),
    Case("out holds a hidden file", f"protect t.csv -o o {ROLES}", "--force", {"o/.a": "mine"}),
    Case("out is a release", f"protect t.csv -o r {ROLES}", "--force", {"r/certificate.json": "{}"}),
    Case("out is the input", f"protect t.csv -o t.csv {ROLES}", "inside"),
    Case("out is the input folder", "protect texts -o texts", "inside"),
    Case("out is inside the input", "protect texts -o texts/out", "inside"),
    Case("out is deep inside the input", "protect texts -o texts/a/b/c", "inside"),
    Case("the input is inside out", f"protect o/t.csv -o o {ROLES}", "inside", {"o/t.csv": TABLE}),
    Case("the input is inside out, by a detour", f"protect o/t.csv -o x/../o {ROLES}", "inside", {"o/t.csv": TABLE}),
    Case(
        "the input is inside out, by a link",
        f"protect t.csv -o link {ROLES}",
        "inside",
        {"link": lambda path: path.symlink_to(path.parent)},
    ),
    Case("out is a link to a file", f"protect t.csv -o l {ROLES}", "inside", {"l": lambda p: p.symlink_to("t.csv")}),
    Case("out is a dangling link", f"protect t.csv -o l {ROLES}", "not a folder", {"l": lambda p: p.symlink_to("no")}),
    Case("out is a link to itself", f"protect t.csv -o l {ROLES}", "leads nowhere", {"l": loop}),
    Case("out is below a link to itself", f"protect t.csv -o l/out {ROLES}", "leads nowhere", {"l": loop}),
    Case("out is a pipe", f"protect t.csv -o p {ROLES}", "not a folder", {"p": os.mkfifo}),
    Case("out is a device", f"protect t.csv -o /dev/null {ROLES}", "not a folder"),
    Case("out is below a device", f"protect t.csv -o /dev/null/out {ROLES}", "/dev/null"),
    Case("out is below a file", f"protect t.csv -o n.csv/out {ROLES}", "n.csv"),
    Case("out is deep below a file", f"protect t.csv -o n.csv/a/b {ROLES}", "n.csv"),
    Case("out is empty", ["protect", "t.csv", "-o", "", "--quasi", "age"], "is no path"),
    Case("out is blank", ["protect", "t.csv", "-o", "  ", "--quasi", "age"], "is no path"),
    Case("out is this folder", f"protect t.csv -o . {ROLES}", "no name for a new folder"),
    Case("out is the folder above", f"protect t.csv -o .. {ROLES}", "no name for a new folder"),
    Case("out is the root", f"protect t.csv -o / {ROLES}", "no name for a new folder"),
    Case("out ends in ..", f"protect t.csv -o a/.. {ROLES}", "no name for a new folder"),
    Case("out is no UTF-8", ["protect", "t.csv", "-o", "\udcff", "--quasi", "age"], "is no path"),
    Case("out has a NUL", ["protect", "t.csv", "-o", "o\0ut", "--quasi", "age"], "is no path"),
    Case("out has too long a name", f"protect t.csv -o {'o' * 300} {ROLES}", "too long"),
    Case("out's private side has too long a name", f"protect t.csv -o {'o' * 250} {ROLES}", "too long"),
    Case("out is too long a path", f"protect t.csv -o {'o/' * 3000}x {ROLES}", "too long"),
    Case("out is in a folder that cannot be made", f"protect t.csv -o {'o' * 300}/a {ROLES}", "too long"),
    Case("out is in /proc", f"protect t.csv -o /proc/shoal/out {ROLES}", "cannot be"),
    Case("private is the release", f"protect t.csv -o out --private out {ROLES}", "inside"),
    Case("private is inside the release", f"protect t.csv -o out --private out/private {ROLES}", "inside"),
    Case("the release is inside private", f"protect t.csv -o p/out --private p {ROLES}", "inside"),
    Case("private is the input", f"protect t.csv -o out --private t.csv {ROLES}", "inside"),
    Case("private is inside the input", "protect texts -o out --private texts/p", "inside"),
    Case("the input is inside private", f"protect p/t.csv -o out --private p {ROLES}", "inside", {"p/t.csv": TABLE}),
    Case("private is a file", f"protect t.csv -o out --private n.csv {ROLES}", "not a folder"),
    Case("private is a folder in use", f"protect t.csv -o out --private p {ROLES}", "--force", {"p/a": "mine"}),
    Case(
        "private is a foreign folder, forced",
        f"protect t.csv -o out --private p {ROLES} --force",
        "not made by Shoal",
        {"p/a": "mine"},
    ),
    Case("the private default is in use", f"protect t.csv -o out {ROLES}", "out-private exists", {"out-private/a": ""}),
    Case("private is empty", [*shlex.split(GOOD_TABLE), "--private", ""], "is no path"),
    Case("private is this folder", f"{GOOD_TABLE} --private .", "no name for a new folder"),
    Case("private has a NUL", [*shlex.split(GOOD_TABLE), "--private", "\0"], "is no path"),
    Case("private has too long a name", f"{GOOD_TABLE} --private {'p' * 300}", "too long"),
    Case("private cannot be made", f"{GOOD_TABLE} --private n.csv/p", "n.csv"),
]

# -- What is read --------------------------------------------------------------------------------------------------

LATIN = "naïve café\n".encode("latin-1")


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, tempfile.TemporaryDirectory() as short:
        server.bind(f"{short}/s")  # the address is short, tmp_path may not be
        os.rename(f"{short}/s", path)


INPUTS = [
    Case("no such file", "protect no.csv -o out", "no.csv does not exist"),
    Case("no such folder", "protect no/ -o out", "no does not exist"),
    Case("an input with a line end", ["protect", "no\nway.csv", "-o", "out"], "does not exist"),
    Case("an input that is no UTF-8", ["protect", "\udcff.csv", "-o", "out"], "is no path"),
    Case("an empty name", ["protect", "", "-o", "out"], "is no path"),
    Case("a name with a NUL", ["protect", "t\0.csv", "-o", "out"], "is no path"),
    Case("too long a name", ["protect", "t" * 300 + ".csv", "-o", "out"], "too long"),
    Case("a name below a file", "protect t.csv/t.csv -o out", "t.csv/t.csv"),
    Case("a dangling link", "protect l.csv -o out", "does not exist", {"l.csv": lambda p: p.symlink_to("no")}),
    Case("a link to itself", "protect l.csv -o out", "l.csv", {"l.csv": loop}),
    Case("an empty folder", "protect e -o out", "empty folder", {"e": lambda p: p.mkdir()}),
    Case("a folder of empty folders", "protect e -o out", "empty folder", {"e/f/g": lambda p: p.mkdir()}),
    Case("a folder of hidden files", "protect e -o out", "empty folder", {"e/.a.txt": "x"}),
    Case("a device", "protect /dev/zero -o out", "pipe or a device"),
    Case("a pipe", "protect p.csv -o out", "pipe or a device", {"p.csv": os.mkfifo}),
    Case("a pipe as JSONL", "protect p.jsonl -o out", "pipe or a device", {"p.jsonl": os.mkfifo}),
    Case("a socket", "protect s.csv -o out", "pipe or a device", {"s.csv": bind}),
    Case("a pipe in a folder of CSV", "protect e -o out", "e", {"e/p.csv": os.mkfifo}),
    Case("a folder called .csv", f"protect e.csv -o out {ROLES}", "is a folder", {"e.csv/a.csv": TABLE}),
    Case("one text file", "protect a.txt -o out", "single text file", {"a.txt": "the tide"}),
    Case("a PDF", "protect a.pdf -o out", "no known kind", {"a.pdf": b"%PDF-1.7\n\xff\xff"}),
    Case("a spreadsheet", "protect a.xlsx -o out", "cannot be read as a spreadsheet", {"a.xlsx": b"PK\x03\x04"}),
    Case("JSON", "protect a.json -o out", "name it .jsonl", {"a.json": '[{"text": "x"}]'}),
    Case("no suffix", "protect a -o out", "no known kind", {"a": TABLE}),
    Case("only .gz", "protect a.gz -o out", "no known kind", {"a.gz": gzip.compress(TABLE.encode(), mtime=0)}),
    Case("zipped CSV", "protect a.csv.zip -o out", "no known kind", {"a.csv.zip": b"PK\x03\x04"}),
    # Files that are not what their names say.
    Case("an empty CSV", f"protect a.csv -o out {ROLES}", "is empty", {"a.csv": ""}),
    Case("a CSV of blank lines", f"protect a.csv -o out {ROLES}", "is empty", {"a.csv": "\n\n\r\n\n"}),
    Case("an empty TSV", f"protect a.tsv -o out {ROLES}", "is empty", {"a.tsv": ""}),
    Case("an empty JSONL", "protect a.jsonl -o out", "no documents", {"a.jsonl": ""}),
    Case("a JSONL of blank lines", "protect a.jsonl -o out", "no documents", {"a.jsonl": "\n \n\t\n"}),
    Case("an empty Parquet file", f"protect a.parquet -o out {ROLES}", "a.parquet", {"a.parquet": b""}),
    Case("an empty .csv.gz", f"protect a.csv.gz -o out {ROLES}", "is empty", {"a.csv.gz": gzip.compress(b"", mtime=0)}),
    Case("a .gz of no bytes", f"protect a.csv.gz -o out {ROLES}", "a.csv.gz", {"a.csv.gz": b""}),
    Case("a plain CSV called .gz", f"protect a.csv.gz -o out {ROLES}", "gzip", {"a.csv.gz": TABLE}),
    Case("plain JSONL called .gz", "protect a.jsonl.gz -o out", "gzip", {"a.jsonl.gz": LETTERS}),
    Case(
        "a truncated .csv.gz",
        f"protect a.csv.gz -o out {ROLES}",
        "truncated",
        {"a.csv.gz": gzip.compress(TABLE.encode(), mtime=0)[:-12]},
    ),
    Case(
        "a truncated .jsonl.gz",
        "protect a.jsonl.gz -o out",
        "truncated",
        {"a.jsonl.gz": gzip.compress(LETTERS.encode(), mtime=0)[:-12]},
    ),
    Case(
        "a .gz with a wrong checksum",
        f"protect a.csv.gz -o out {ROLES}",
        "gzip",
        {"a.csv.gz": gzip.compress(TABLE.encode(), mtime=0)[:-8] + bytes(8)},
    ),
    Case(
        "a .gz with rubbish after it",
        "protect a.csv.gz -o out",
        "gzip",
        {"a.csv.gz": gzip.compress(b"a\n1\n", mtime=0) + b"x"},
    ),
    Case(
        "a gzipped CSV without .gz",
        f"protect a.csv -o out {ROLES}",
        "a.csv",
        {"a.csv": gzip.compress(TABLE.encode(), mtime=0)},
    ),
    Case("a binary CSV", f"protect a.csv -o out {ROLES}", "binary", {"a.csv": bytes(range(256))}),
    Case("a NUL in a cell", f"protect a.csv -o out {ROLES}", "line 2", {"a.csv": b"age,income\n1,\0\n"}),
    Case("Parquet called .csv", f"protect a.csv -o out {ROLES}", "a.csv", {"a.csv": PARQUET}),
    Case("CSV called .parquet", f"protect a.parquet -o out {ROLES}", "a.parquet", {"a.parquet": TABLE}),
    Case("truncated Parquet", f"protect a.parquet -o out {ROLES}", "a.parquet", {"a.parquet": PARQUET[:-20]}),
    Case("Parquet without its tail", "protect a.parquet -o out", "a.parquet", {"a.parquet": PARQUET[:100]}),
    Case(
        "Parquet with a broken footer",
        "protect a.parquet -o out",
        "a.parquet",
        {"a.parquet": PARQUET[:-60] + bytes(52) + PARQUET[-8:]},
    ),
    Case(
        "Parquet with broken pages",
        "protect a.parquet -o out",
        "a.parquet",
        {"a.parquet": PARQUET[:4] + bytes(200) + PARQUET[204:]},
    ),
    Case("CSV called .jsonl", "protect a.jsonl -o out", "not JSON", {"a.jsonl": TABLE}),
    Case("JSON over many lines", "protect a.jsonl -o out", "not JSON", {"a.jsonl": json.dumps(RECORDS, indent=1)}),
    Case("an unknown code page", "protect a.csv -o out --quasi a", "row 1 is not UTF-8", {"a.csv": b"a,b\n1,\x81\n"}),
    Case("a header of unknown letters", "protect a.csv -o out --quasi a", "not UTF-8", {"a.csv": b"a,\x8d\n1,2\n"}),
    Case(
        "a ragged row of unknown letters", "protect a.csv -o out --quasi a", "not UTF-8", {"a.csv": b"a,b\n1,2,\xff\n"}
    ),
    Case("a wrong encoding", "protect a.csv -o out --encoding utf-8", "not text in utf-8", {"a.csv": b"a\n1\xe9\n"}),
    Case("no such encoding", "protect t.csv -o out --quasi age --encoding klingon", "is not known"),
    Case("no such delimiter", "protect t.csv -o out --quasi age --delimiter x", "comma, semicolon, tab or bar"),
    Case("no such decimal sign", "protect t.csv -o out --quasi age --decimal x", "point or comma"),
    Case("a sheet of a CSV", "protect t.csv -o out --quasi age --sheet x", "--sheet is not for t.csv"),
    Case("a query of a CSV", "protect t.csv -o out --query select", "is not a database"),
    Case(
        "a delimiter of a spreadsheet",
        "protect a.xlsx -o out --delimiter tab",
        "--delimiter is not for",
        {"a.xlsx": b""},
    ),
    Case("a database without a query", "protect a.sqlite -o out", "--query", {"a.sqlite": b""}),
    Case("an address without a query", "inspect postgresql://u:s3cret@localhost/x", "--query"),
    Case("an address of nobody", "map postgresql://u:s3cret@localhost:1/x c -o m.csv --query select", "PGPASSWORD"),
    Case("a query and a sheet", "explore a.sqlite -o e --query select --sheet x", "--sheet is for files"),
    Case("an SQLite file that is none", "assess a.db n.csv -o a --query 'select 1'", "not an SQLite", {"a.db": TABLE}),
    Case("a broken SPSS file", "protect a.sav -o out", "cannot be read as what its name says", {"a.sav": TABLE}),
    Case("a broken Feather file", "protect a.feather -o out", "cannot be read", {"a.feather": TABLE}),
    Case("texts of a spreadsheet", "protect a.xlsx -o out --text-column t", "as a table only", {"a.xlsx": b""}),
    Case("UTF-16 without a mark", "protect a.csv -o out", "binary", {"a.csv": NUMBERS.encode("utf-16-le")}),
    Case("half a UTF-16 CSV", "protect a.csv -o out", "encoding", {"a.csv": NUMBERS.encode("utf-16")[:-1]}),
    Case("Latin-1 JSONL", "protect a.jsonl -o out", "not UTF-8", {"a.jsonl": b'{"text": "caf\xe9"}\n'}),
    Case("Latin-1 texts", "protect e -o out", "not UTF-8", {"e/a.txt": LATIN, "e/b.txt": LATIN}),
    Case("binary texts", "protect e -o out", "binary", {"e/a.bin": bytes(9), "e/b.bin": bytes(9)}),
    Case("empty texts", "protect e -o out", "'empty'", {"e/a.txt": "", "e/b.txt": " \n"}),
    Case("broken gzipped texts", "protect e -o out", "broken gzip", {"e/a.txt.gz": b"x", "e/b.txt.gz": b"y"}),
    Case(
        "a broken part in a folder",
        "protect e -o out",
        "b.csv.gz",
        {"e/a.csv.gz": gzip.compress(b"text\nx\n", mtime=0), "e/b.csv.gz": "x"},
    ),
]

# -- What a table holds --------------------------------------------------------------------------------------------


def column(*values: object) -> str:
    return csv_of("age,income", *(f"{value},{n}" for n, value in enumerate(values)))


SIX = range(6)
NAN = float("nan")


def table_case(name: str, says: str, content: Content, options: str = "--quasi age,income", kind: str = "csv") -> Case:
    return Case(name, f"protect a.{kind} -o out -k 3 {options}", says, {f"a.{kind}": content})


def parquet_case(name: str, says: str, age: object, options: str = "--quasi age") -> Case:
    return table_case(name, says, parquet(age=age, n=list(SIX)), options, "parquet")


TABLES = [
    table_case("only a header", "no rows", "age,income\n"),
    table_case("only a header, quoted", "no rows", '"age","income"\n'),
    table_case("a header and blank lines", "no rows", "age,income\n\n\n"),
    table_case("one row", "k=3 needs at least 3 rows, got 1", column(5)),
    table_case("two rows", "got 2", column(5, 6)),
    table_case("a short row", "1 row not as wide as the header (first: row 2 has 1 field", "age,income\n1,2\n3\n4,5\n"),
    table_case("a long row", "row 3 has 3 fields", "age,income\n1,2\n3,4\n4,5,6\n"),
    table_case("all rows ragged", "2 rows not as wide", "age,income\n1\n2\n"),
    table_case("a column twice", "given more than once (age)", "age,income,age\n1,2,3\n"),
    table_case("a column without a name", "without a name (number 2)", "age,,income\n1,2,3\n"),
    table_case("a column with a blank name", "without a name", "age, ,income\n1,2,3\n"),
    table_case("a comma at the end of the header", "without a name (number 3)", "age,income,\n1,2,\n"),
    table_case("only commas", "without a name", ",,,\n,,,\n"),
    table_case("a quote that never closes", "never closes", 'age,income\n1,"2\n3,4\n'),
    table_case("a quote that never closes in the header", "never closes", 'age,"income\n1,2\n3,4\n'),
    table_case("quotes that do not fit", "quotes in row 1", 'age,income\n1,"2"3\n4,5\n'),
    table_case("quotes that do not fit in the header", "quotes in the header", '"age"x,income\n1,2\n'),
    table_case("text in a column of numbers", "first in row 4", column(1, 2, 3, "s3cret", 5, 6)),
    table_case("thousands or decimals", "--decimal", csv_of("age;income", *(f"{n + 1},500;{n}" for n in SIX))),
    table_case("commas and points", "--decimal comma", csv_of("age;income", *(f"{n},5;{n}.512" for n in SIX))),
    table_case("commas and semicolons", "--delimiter", csv_of("age,a;income,b", *(f"{n},5;{n},5" for n in SIX))),
    table_case("a missing value", "1 missing value (first in row 3)", column(1, 2, "", 4, 5, 6)),
    table_case("NaN", "missing value", column(1, 2, "NaN", 4, 5, 6)),
    table_case("NA", "missing value", column(1, 2, "NA", 4, 5, 6)),
    table_case("null", "missing value", column(1, 2, "null", 4, 5, 6)),
    table_case("a column without values", "6 missing values", column(*[""] * 6)),
    table_case("infinity", "1 infinite value (first in row 2)", column(1, "inf", 3, 4, 5, 6)),
    table_case("minus infinity", "infinite", column(1, "-inf", 3, 4, 5, 6)),
    table_case("a number too large for a float", "infinite", column(1, "1e400", 3, 4, 5, 6)),
    table_case("a number too large to square", "1e+150 or more", column(1, "1e200", 3, 4, 5, 6)),
    table_case("integers over 2^53", "2^53 or more", column(1, 2**53, 3, 4, 5, 6)),
    table_case("negative integers over 2^53", "2^53 or more", column(1, -(2**60), 3, 4, 5, 6)),
    table_case("all rows withheld", "got 0 (6 withheld)", column(*[""] * 6), "--quasi age --missing withhold"),
    table_case("too few rows left", "got 2 (4 withheld)", column(1, 2, *[""] * 4), "--quasi age --missing withhold"),
    # Parquet can hold more.
    parquet_case("lists", "list", [[n] for n in SIX]),
    parquet_case("records", "lists or records", [{"a": n} for n in SIX]),
    parquet_case("maps", "lists or records", pa.array([[("a", n)] for n in SIX], pa.map_(pa.string(), pa.int64()))),
    parquet_case("bytes", "holds bytes", [b"s3cret"] * 6),
    parquet_case("NaN in Parquet", "missing value", [1.0, NAN, 3.0, 4.0, 5.0, 6.0]),
    parquet_case("null in Parquet", "missing value", [1, None, 3, 4, 5, 6]),
    parquet_case("only nulls in Parquet", "6 missing values", pa.nulls(6)),
    parquet_case("infinity in Parquet", "infinite", [1.0, float("inf"), 3.0, 4.0, 5.0, 6.0]),
    parquet_case("large integers in Parquet", "2^53", [2**60 + n for n in SIX]),
    parquet_case("large unsigned integers in Parquet", "2^53", pa.array([2**64 - 1] * 6, pa.uint64())),
    parquet_case("large decimals", "2^53", [decimal.Decimal(10**30 + n) for n in SIX]),
    parquet_case("a confidential list", "lists or records", [[n] for n in SIX], "--quasi n --confidential age"),
    parquet_case("an insensitive record", "lists or records", [{"a": n} for n in SIX], "--quasi n --insensitive age"),
    parquet_case(
        "confidential text that is no UTF-8",
        "a.parquet",
        pa.Array.from_buffers(pa.string(), 6, pa.array([b"\xff\xfe"] * 6, pa.binary()).buffers()),
        "--quasi n --confidential age",
    ),
    table_case("no rows in Parquet", "0 rows", parquet(age=pa.array([], pa.int64())), "--quasi age", "parquet"),
    table_case("no columns in Parquet", "0 columns", parquet(), "--quasi age", "parquet"),
    table_case("text without roles", "not numeric (name, diagnosis)", TABLE, ""),
    table_case("a wrong delimiter", "no column age", TABLE.replace(",", "^")),
    table_case("a CSV called .tsv", "no column age", TABLE, kind="tsv"),
]

# -- Roles ---------------------------------------------------------------------------------------------------------


ROLES_CASES = [
    Case("an unknown column", "protect t.csv -o out --quasi age,incme", "no column incme"),
    Case("a column in other letters", "protect t.csv -o out --quasi Age", "did you mean age?"),
    Case("an unknown confidential column", "protect t.csv -o out --quasi age --confidential x", "no column x"),
    Case("an unknown column to drop", "protect t.csv -o out --quasi age --drop x", "no column x"),
    Case("a column with two roles", "protect t.csv -o out --quasi age --confidential age", "listed twice"),
    Case("a column twice in a role", "protect t.csv -o out --quasi age,income,age", "listed twice"),
    Case("no quasi-identifier", "protect t.csv -o out --confidential diagnosis", "at least 1 (--quasi)"),
    Case("an empty list", ["protect", "t.csv", "-o", "out", "--quasi", ""], "names no column"),
    Case("a list of commas", ["protect", "t.csv", "-o", "out", "--quasi", " , ,"], "names no column"),
    Case("columns separated by semicolons", ["protect", "t.csv", "-o", "out", "--quasi", "age;income"], "no column"),
]

# -- What documents hold -------------------------------------------------------------------------------------------


def documents_case(name: str, says: str, content: Content, options: str = "", kind: str = "jsonl") -> Case:
    return Case(name, f"protect a.{kind} -o out -k 3 {options}", says, {f"a.{kind}": content})


DOCUMENTS = [
    documents_case("JSONL without a text", "no column text", jsonl({"body": "x"}, {"body": "y"})),
    documents_case("JSONL of different baskets", "k=3 needs at least 3 baskets with items, got 0", jsonl(["a"], ["b"])),
    documents_case("JSONL of empty baskets", "'empty'", jsonl([], [])),
    documents_case("baskets without items", "no column text", jsonl({"id": 1}, {"id": 2})),
    documents_case("negative counts", "a count is not a number from 0", jsonl({"items": {"s3cret": -1}})),
    documents_case("huge counts", "from 0 to 1,000,000,000", jsonl({"items": {"s3cret": 10**10}})),
    documents_case("parts of items", "a count is not a whole number", jsonl({"items": {"s3cret": 0.5}})),
    documents_case("items with control characters", "has control characters", jsonl(["s3cret\x07"])),
    documents_case("items of any kind", "neither text nor a whole number", jsonl([1.5], [True], [None])),
    documents_case("baskets for texts", "k=3 needs at least 3", jsonl({"text": "tide"}, *([["a"]] * 9))),
    documents_case("texts for baskets", "no column items", jsonl(["a"], *([{"text": "tide"}] * 9))),
    documents_case("meanings of items", "only words have meanings", jsonl(*[["a"]] * 9), "--method semantic"),
    documents_case("language of items", "--language is for texts", jsonl(*[["a"]] * 9), "--language german"),
    documents_case("stems of items", "--stem is for texts", jsonl(*[["a"]] * 9), "--stem"),
    documents_case("items in WordNet", "--wordnet is for texts", jsonl(*[["a"]] * 9), "--no-wordnet"),
    documents_case("empty .dat", "has no documents", "", kind="dat"),
    documents_case(".dat of empty lines", "'empty'", "\n \n", kind="dat"),
    documents_case("binary .dat", "is binary, not text", b"s3cret\0\1\2\n", kind="dat"),
    documents_case(".dat in Latin-1", "not UTF-8 text", b"s3cret caf\xe9\n", kind="dat"),
    documents_case(".dat with a label", "has no columns", "a b\n" * 9, "--label-column class", kind="dat"),
    documents_case(".dat with columns", "has no columns", "a b\n" * 9, "--text-column basket", kind="dat"),
    documents_case(".dat as a table", "holds baskets; give tables as", "a b\n" * 9, "--quasi a", kind="dat"),
    documents_case("broken .dat.gz", "gzip", b"a b\n", kind="dat.gz"),
    documents_case(
        "numbers with a fraction as items",
        "neither text nor a whole number",
        parquet(items=[[1.5], [2.5], [3.5]]),
        kind="parquet",
    ),
    documents_case("JSONL of strings", "not a JSON object", jsonl("a", "b")),
    documents_case("JSONL of nulls", "not a JSON object", jsonl(None, None)),
    documents_case("empty objects", "no documents", jsonl({}, {})),
    documents_case("numbers for texts", "not a string", jsonl({"text": 1}, {"text": 2})),
    documents_case("null for texts", "no text", jsonl({"text": None}, {"text": None})),
    documents_case("blank texts", "'empty'", jsonl({"text": " "}, {"text": ""})),
    documents_case("half characters", "not UTF-8", jsonl({"text": "\ud800 tide"})),
    documents_case("nested without end", "not JSON", '{"text": ' + "[" * 100_000 + "\n"),
    documents_case("an id twice", "1 id given more than once", jsonl(*RECORDS, RECORDS[0])),
    documents_case("an id missing", "1 document without id (first: line 25)", jsonl(*RECORDS, {"text": "tide"})),
    documents_case("a list as id", "without id", jsonl({"id": [1], "text": "tide"})),
    documents_case("an unknown text column", "no column body", LETTERS, "--text-column body"),
    documents_case("an unknown id column", "no column key", LETTERS, "--id-column key"),
    documents_case("an unknown label column", "no column class", LETTERS, "--label-column class"),
    documents_case(
        "a label missing",
        "1 document without label",
        jsonl(*RECORDS, {"id": 9, "text": "tide"}),
        "--label-column topic",
    ),
    documents_case(
        "a blank label",
        "without label",
        jsonl(*RECORDS, {"id": 9, "text": "tide", "topic": " "}),
        "--label-column topic",
    ),
    documents_case(
        "a record as label", "without label", jsonl({"text": "tide", "topic": {"a": 1}}), "--label-column topic"
    ),
    documents_case("fewer than k documents", "k=3 needs at least 3 documents", jsonl(*RECORDS[:2]), "--min-df 1"),
    documents_case("only stop words", "got 0 (9 without a term", jsonl(*[{"text": "the of and"}] * 9)),
    documents_case("only names", "got 0", jsonl(*[{"text": "Xyzzyx Qwfpgj"}] * 9)),
    documents_case("no letters", "got 0", jsonl(*[{"text": "123 456 !?"}] * 9)),
    documents_case("all alike", "got 0", jsonl(*[{"text": "tide heron"}] * 9)),
    documents_case("nothing in common", "got 0", jsonl(*({"text": noun} for noun in NOUNS))),
    documents_case("min_df above the documents", "got 0", LETTERS, "--min-df 1000"),
    documents_case("min_df of many digits", "got 0", LETTERS, f"--min-df {10**25}"),
    documents_case(
        "too few left with terms", "got 2", jsonl(*RECORDS[:2], *[{"id": n, "text": "the"} for n in SIX]), "--min-df 1"
    ),
    documents_case("a CSV of texts without rows", "no documents", "id,text\n", kind="csv"),
    documents_case("a CSV of texts, all ragged", "has 3 fields where the header has 2", "id,text\n1,a,b\n", kind="csv"),
    documents_case("a CSV with an open quote", "never closes", 'id,text\n1,"a\n2,b\n', kind="csv"),
    documents_case("a CSV with two text columns", "2 columns named text", "text,text\na,b\n", kind="csv"),
    documents_case("a CSV with two id columns", "2 columns named id", "id,id,text\n1,2,b\n", kind="csv"),
    documents_case("a CSV with an id twice", "more than once", "id,text\n1,tide\n1,heron\n", kind="csv"),
    documents_case("a CSV with a blank id", "without id", "id,text\n,tide\n2,heron\n", kind="csv"),
    documents_case("a CSV without that text column", "no column body", TABLE, "--text-column body", kind="csv"),
    documents_case("Parquet with numbers for texts", "not text", parquet(text=[1, 2, 3]), kind="parquet"),
    documents_case("Parquet with lists of texts", "not text", parquet(text=[["a"], ["b"]]), kind="parquet"),
    documents_case("Parquet with lists as ids", "cannot name", parquet(text=["a"], id=[[1]]), kind="parquet"),
    documents_case("Parquet without rows", "no documents", parquet(text=pa.array([], pa.string())), kind="parquet"),
    documents_case("Parquet with only nulls", "no text", parquet(text=pa.nulls(3)), kind="parquet"),
    documents_case("Parquet with an id twice", "more than once", parquet(text=["a", "b"], id=[1, 1]), kind="parquet"),
    documents_case(
        "Parquet with a label missing", "without label", parquet(text=["tide"], y=[None]), "--label-column y", "parquet"
    ),
    Case(
        "parts that differ", "protect e -o out", "no column text", {"e/a.csv": "text\ntide\n", "e/b.csv": "body\nx\n"}
    ),
    Case(
        "an id twice in two parts",
        "protect e -o out",
        "more than once",
        {"e/a.jsonl": jsonl({"id": 1, "text": "a"}), "e/b.jsonl": jsonl({"id": 1, "text": "b"})},
    ),
    Case("texts without a label", "protect texts -o out --label-column folder", "24 documents without label"),
    Case(
        "two short texts",
        "protect e -o out -k 3",
        "needs at least 3 documents",
        {"e/a.txt": "tide", "e/b.txt": "heron"},
    ),
]

# -- The other commands --------------------------------------------------------------------------------------------

OTHERS = [
    Case("verify: no such folder", "verify no", "is not a folder that can be read"),
    Case("verify: a file", "verify t.csv", "is not a folder that can be read"),
    Case("verify: a pipe", "verify p", "is not a folder", {"p": os.mkfifo}),
    Case("verify: a device", "verify /dev/null", "is not a folder"),
    Case("verify: an empty name", ["verify", ""], "is no path"),
    Case("verify: a NUL", ["verify", "\0"], "is no path"),
    Case("verify: too long a name", ["verify", "r" * 300], "is not a folder"),
    Case("verify: a link to itself", "verify l", "is not a folder", {"l": loop}),
    Case("verify: below a file", "verify t.csv/r", "is not a folder"),
    Case("demo: a file", "demo -o t.csv", "not a folder"),
    Case("demo: a foreign folder", "demo -o texts", "--force"),
    Case("demo: a foreign folder, forced", "demo -o texts --force", "not made by Shoal"),
    Case("demo: this folder", "demo -o .", "no name for a new folder"),
    Case("demo: an empty name", ["demo", "-o", ""], "is no path"),
    Case("demo: below a file", "demo -o t.csv/demo", "t.csv"),
    Case("demo: too long a name", ["demo", "-o", "d" * 300], "too long"),
    Case("demo: a link", "demo -o l", "not a folder", {"l": lambda path: path.symlink_to("texts")}),
    Case("demo: the default, in use", "demo", "demo exists", {"demo/mine": "x"}),
    Case("demo: without -o's name", "demo -o", "-o"),
]

# -- Sketches -------------------------------------------------------------------------------------------------------

BASKETS = jsonl(*([f"s3cret {n % 4}", f"s3cret {n % 3}"] for n in range(24)))
KEYS: dict[str, Content] = {"b.jsonl": BASKETS, "short.key": "ab" * 31, "long.key": "ab" * 33, "text.key": "s3cret"}


def sketch_case(name: str, says: str, options: str, content: Content = BASKETS) -> Case:
    return Case(name, f"protect b.jsonl -o out {options}", says, KEYS | {"b.jsonl": content})


SKETCHES = [
    sketch_case(
        "a delta that no record can meet", "delta=99: no record can meet it", "--method delta-sketch --delta 99"
    ),
    sketch_case("delta sketches without delta", "give --delta", "--method delta-sketch"),
    sketch_case("a delta of 0", "must be a number above 0", "--method delta-sketch --delta 0"),
    sketch_case("-k with delta", "-k is not for delta-sketch", "--method delta-sketch --delta 1 -k 5"),
    sketch_case("--l with delta", "l=2 needs a confidential column", "--method delta-sketch --delta 1 --l 2"),
    sketch_case("components with delta", "--components is not", "--method delta-sketch --delta 1 --components 8"),
    sketch_case("delta with a crowd", "--delta is not for crowd", "--method crowd-sketch -k 3 --delta 1"),
    sketch_case("delta with k-variance", "--delta is not for", "--method k-variance-sketch -k 3 --delta 1"),
    sketch_case("components without a sketch", "--components is not for mdav", "-k 3 --components 8"),
    sketch_case("a key without a sketch", "--key is not for mdav", "-k 3 --key short.key"),
    sketch_case("no components", "at least 1", "--method crowd-sketch -k 3 --components 0"),
    sketch_case("too many components", "from 1 to 1048576", "--method crowd-sketch -k 3 --components 9999999"),
    sketch_case("a key too short", "has 62 hex digits", "--method crowd-sketch -k 3 --key short.key"),
    sketch_case("a key too long", "has 66 hex digits", "--method crowd-sketch -k 3 --key long.key"),
    sketch_case("a key that is none", "is no sketch key", "--method crowd-sketch -k 3 --key text.key"),
    sketch_case("a key that is not there", "cannot be read", "--method crowd-sketch -k 3 --key nowhere.key"),
    sketch_case("k-variance of all", "k=24 needs at least 25", "--method k-variance-sketch -k 24"),
    sketch_case("a crowd of too many", "k=25 needs at least 25 baskets", "--method crowd-sketch -k 25"),
    sketch_case("sketched empty baskets", "'empty'", "--method delta-sketch --delta 1", jsonl([], [])),
    sketch_case("sketched negative counts", "from 0", "--method delta-sketch --delta 1", jsonl({"items": {"a": -1}})),
    sketch_case("sketched huge counts", "from 0", "--method delta-sketch --delta 1", jsonl({"items": {"a": 10**10}})),
    sketch_case("sketched control characters", "control", "--method delta-sketch --delta 1", jsonl(["s3cret\x07"])),
    Case("a table to sketch", f"{GOOD_TABLE} --method crowd-sketch", "cannot protect a table"),
    Case("components of a table", f"{GOOD_TABLE} --components 8", "--components is for documents"),
]

CASES = [*USAGE, *VALUES, *CONFLICTS, *PLACES, *INPUTS, *TABLES, *ROLES_CASES, *DOCUMENTS, *SKETCHES, *OTHERS]


def refused(ran: Ran) -> str:
    """The one line that a refusal consists of."""
    assert ran.code == 2, f"exit code {ran.code}: {ran.err or ran.out}"
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert len(ran.complaints) == 1, ran.err
    line = ran.complaints[0]
    assert line.startswith("shoal: ")
    assert line.isprintable()
    assert len(line) < 1000
    assert "fault in Shoal" not in line, line
    return line


def test_there_are_at_least_two_hundred_kinds_and_none_is_listed_twice() -> None:
    assert len(CASES) >= 200
    assert len({case.name for case in CASES}) == len(CASES)
    commands = [(tuple(case.arguments), repr(sorted(case.files))) for case in CASES if not case.files]
    assert len(set(commands)) == len(commands)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_is_refused_in_one_line_and_leaves_nothing(case: Case, tmp_path: Path) -> None:
    make(tmp_path, WORLD | case.files)
    before = snapshot(tmp_path)
    line = refused(run(tmp_path, *case.arguments))
    assert case.says in line
    assert any(mark in line for mark in (";", "?")), f"no remedy: {line}"
    assert not any(canary in line.replace(" ".join(case.arguments), "") for canary in CANARIES), line
    assert snapshot(tmp_path) == before


# -- Any bytes, any values -----------------------------------------------------------------------------------------

PLAN = '[source]\nfile = "t.csv"\n\n[columns]\nage = { role = "protect" }\nname = { role = "drop" }\n'
SHAPES: dict[str, bytes] = {
    "csv": TABLE.encode(),
    "tsv": TABLE.replace(",", "\t").encode(),
    "csv.gz": gzip.compress(TABLE.encode(), mtime=0),
    "jsonl": LETTERS.encode(),
    "jsonl.gz": gzip.compress(LETTERS.encode(), mtime=0),
    "parquet": PARQUET,
    "toml": PLAN.encode(),
}
PIECES = [b",", b'"', b"\n", b"\r", b"\0", b"\xff", b"age", b"NaN", b"1e999", b"[", b"{", b"\xef\xbb\xbf", b"9" * 30]


@st.composite
def mutated(draw: st.DrawFn, sound: bytes) -> bytes:
    """A sound file in which a few places were overwritten, inserted, cut out or doubled."""
    content = bytearray(sound)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        to = min(len(content), at + draw(st.sampled_from([0, 1, 1, 2, 8, 64])))
        content[at:to] = draw(
            st.one_of(st.sampled_from(PIECES), st.binary(max_size=4), st.just(bytes(content[at:to]) * 2))
        )
    return bytes(content)


@st.composite
def anything(draw: st.DrawFn) -> tuple[str, bytes]:
    kind = draw(st.sampled_from(sorted(SHAPES)))
    content = draw(st.one_of(mutated(SHAPES[kind]), mutated(SHAPES[kind]), st.binary(max_size=200)))
    if kind.endswith(".gz") and draw(st.booleans()):
        content = gzip.compress(draw(mutated(gzip.decompress(SHAPES[kind]))), mtime=0)
    return kind, content


def accepted_or_refused(folder: Path, *argv: str) -> None:
    """Either a release that verifies, or one line and nothing."""
    before = snapshot(folder)
    ran = run(folder, *argv)
    if ran.code == 0:
        assert set(os.listdir(folder)) - {name for name in before if "/" not in name} == {"out", "out-private"}
        checked = run(folder, "verify", "out")
        assert checked.code == 0, checked.out
    else:
        refused(ran)
        assert snapshot(folder) == before


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(file=anything(), roles=st.sampled_from(["", ROLES, "--quasi age --insensitive diagnosis --missing withhold"]))
def test_any_bytes_make_a_release_that_verifies_or_are_refused(file: tuple[str, bytes], roles: str) -> None:
    kind, content = file
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, {"t.csv": TABLE, f"a.{kind}": content})
        accepted_or_refused(folder, "protect", f"a.{kind}", "-o", "out", "-k", "3", *shlex.split(roles))


VALUE = st.one_of(
    st.sampled_from(["age", "income", "diagnosis", "age,income", "text", "topic", "id", "mdav", "ranking", "withhold"]),
    st.integers(-2, 40).map(str),
    st.integers().map(str),
    st.floats().map(str),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), max_size=8),
)
COLUMN_OPTIONS = [
    "--quasi",
    "--confidential",
    "--insensitive",
    "--drop",
    "--text-column",
    "--id-column",
    "--label-column",
]
OTHER_OPTIONS = ["-k", "--l", "--missing", "--method", "--attribute-groups", "--language", "--min-df", "--max-terms"]
FLAGS = ["--wordnet", "--no-wordnet", "--no-stem", "--force", "--json"]
OPTION = st.sampled_from(COLUMN_OPTIONS + OTHER_OPTIONS + FLAGS)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    source=st.sampled_from(["t.csv", "n.csv", "d.jsonl", "texts"]),
    options=st.lists(st.one_of(OPTION.map(lambda one: [one]), st.tuples(OPTION, VALUE).map(list)), max_size=4),
)
def test_any_options_make_a_release_that_verifies_or_are_refused(source: str, options: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, WORLD)
        accepted_or_refused(folder, "protect", source, "-o", "out", *(part for option in options for part in option))


def damaged_texts() -> Iterator[bytes]:
    """Random bytes that Hypothesis would not think of: long, and from a fixed seed."""
    chance = random.Random(7)
    for length in (1, 10, 1_000, 20_000):
        yield chance.randbytes(length)
        yield bytes(chance.choices(b'0123456789,.\n"ab;\t{}', k=length))


@pytest.mark.parametrize("kind", [*SHAPES, "txt", "ndjson", "tsv.gz"])
def test_random_bytes_are_refused_or_protected_whatever_they_are_called(kind: str, tmp_path: Path) -> None:
    for number, content in enumerate(damaged_texts()):
        folder = tmp_path / str(number)
        make(folder, {"t.csv": TABLE, f"a.{kind}": content})
        accepted_or_refused(folder, "protect", f"a.{kind}", "-o", "out")


# -- As real processes ---------------------------------------------------------------------------------------------

REAL = [  # one that typer refuses, one that a reader in C++ refuses; all others are tried in this process
    Case("no command of that name", "protekt t.csv", "No such command"),
    Case("broken Parquet", "protect a.parquet -o out", "a.parquet", {"a.parquet": PARQUET[:-9]}),
]


@pytest.mark.parametrize("case", REAL, ids=lambda case: case.name)
def test_a_real_process_refuses_it_likewise(case: Case, tmp_path: Path) -> None:
    make(tmp_path, WORLD | case.files)
    before = snapshot(tmp_path)
    done = subprocess.run([SHOAL, *case.arguments], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert case.says in refused(Ran(done.returncode, done.stdout, done.stderr))
    assert snapshot(tmp_path) == before


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without permissions")
@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("protect closed/t.csv -o open/out", "no permission"),
        ("protect t.csv -o closed/out", "closed"),
        ("protect t.csv -o shut/out", "shut is not a folder you can write to"),
        ("protect t.csv -o shut/a/b/out", "shut is not a folder you can write to"),
        ("protect t.csv -o open/out --private shut/p", "shut is not a folder you can write to"),
        ("protect closed/plan.toml -o open/out", "Permission denied"),
        ("verify closed", "is not a folder that can be read"),
        ("demo -o shut/demo", "shut is not a folder you can write to"),
    ],
)
def test_without_permission_it_is_refused(argv: str, says: str) -> None:
    """As a user without rights for a while: root may write everywhere."""
    import shoal.release.demo  # noqa: F401 - all that a command loads, while it may be read

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, {"t.csv": TABLE, "closed/t.csv": TABLE, "closed/plan.toml": PLAN, "shut/x": "", "open/x": ""})
        for place, mode in (("", 0o755), ("closed", 0o700), ("shut", 0o755), ("open", 0o777)):
            (folder / place).chmod(mode)
        before = snapshot(folder)
        with contextlib.chdir(folder):
            os.setresuid(65534, 65534, 0)
            try:
                ran = run(folder, *shlex.split(argv))
            finally:
                os.setresuid(0, 0, 0)
        assert says in refused(ran)
        assert snapshot(folder) == before


HEAVY = ("numpy", "scipy", "pyarrow", "sklearn", "numba", "narwhals", "rich", "jinja2", "pandas")


GOOD_USAGE = ["--help", "--version", "protect --help", "verify --help", "demo --help"]
WRONG_USAGE = [
    "protekt",
    "protect",
    "protect t.csv -o out -k 1",
    "protect t.csv -o out --method x",
    "protect t.csv -o out --missing x",
    "verify",
    "verify r --fast",
]


def test_help_and_usage_errors_load_nothing_heavy(tmp_path: Path) -> None:
    """So that they answer at once: what one of them loaded, those after it would have, too."""
    script = f"""if True:
        import json, shlex, sys
        import shoal.cli
        for line in {GOOD_USAGE + WRONG_USAGE!r}:
            sys.argv = ["shoal", *shlex.split(line)]
            try:
                shoal.cli.main()
            except SystemExit as ended:
                print(json.dumps([line, ended.code, sorted(set(sys.modules) & set({HEAVY!r}))]), file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[")]
    assert answers == [[line, 0, []] for line in GOOD_USAGE] + [[line, 2, []] for line in WRONG_USAGE], done.stderr
