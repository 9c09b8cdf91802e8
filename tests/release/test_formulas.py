"""Released text that a spreadsheet would run is named in a warning: the column and how many, never the value."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pytest

from shoal import Microaggregation, Roles, VectorSpace, protect, verify
from shoal.release.writing import formulas_in

pytestmark = pytest.mark.usefixtures("without_attack")

ROLES = Roles(quasi="age", confidential="illness", insensitive="note")


def said_by(source: object, out: Path, **how: object) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = protect(source, 2, out, **how)  # type: ignore[arg-type]
    assert verify(made.folder)
    return [str(one.message) for one in said if "spreadsheet" in str(one.message)]


@pytest.mark.parametrize(
    "cell, runs",
    [
        ("=1+1", True),
        ("+cmd", True),
        ("-2+3", True),
        ("@sum(a1)", True),
        ("\t=1", True),
        ("\r=1", True),
        ("-Ähre", True),
        ("-5", False),
        ("+5.25", False),
        ("-1,234.5", False),
        ("-1e-3", False),
        ("-5 %", False),
        ("-", False),
        ("--", False),
        ("a=b", False),
        (" =1", False),
        ("", False),
    ],
)
def test_a_cell_runs_when_it_begins_like_a_formula_and_is_no_number(cell: str, runs: bool) -> None:
    assert formulas_in(pa.table({"note": ["plain", cell, None]})) == ({"note": 1} if runs else {})


def test_columns_of_numbers_have_no_formulas() -> None:
    assert formulas_in(pa.table({"age": [-5, 5], "pay": [-1.5, 2.0]})) == {}


@pytest.mark.parametrize("name", ["people.csv", "people.tsv"])
def test_the_columns_of_a_table_are_named_and_the_release_is_made(name: str, tmp_path: Path) -> None:
    rows = ["age,illness,note", "-31,flu,=2+5", "32,@cold,ok", "51,flu,+x", "52,gout,-7"]
    (tmp_path / name).write_text("\n".join(rows).replace(",", "\t" if "tsv" in name else ",") + "\n")
    [warning] = said_by(tmp_path / name, tmp_path / "out", roles=ROLES, method=Microaggregation(refine=False))
    assert "1 cell of column illness, 2 cells of column note;" in warning
    assert "write an apostrophe before it" in warning
    assert "2+5" not in warning
    assert "import columns of text as text" in (tmp_path / "out/README.md").read_text()


def test_the_name_of_a_column_may_be_a_formula(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,=sum\n31,a\n32,b\n51,a\n52,b\n")
    roles = Roles(quasi=("age",), insensitive=("=sum",))
    [warning] = said_by(tmp_path / "people.csv", tmp_path / "out", roles=roles)
    assert "the name of column =sum;" in warning


def test_a_table_in_parts_is_counted_over_all_parts(tmp_path: Path) -> None:
    for part in range(2):
        lines = "".join(f"{20 + 7 * n + part},flu,{'=x' if n < 3 else 'ok'}\n" for n in range(10))
        (tmp_path / f"{part}.csv").write_text("age,illness,note\n" + lines)
    [warning] = said_by(str(tmp_path / "*.csv"), tmp_path / "out", roles=ROLES)
    assert "6 cells of column note;" in warning


@pytest.mark.parametrize("in_parts", [False, True])
def test_the_label_of_documents_is_counted(in_parts: bool, tmp_path: Path) -> None:
    words = ["heron water fish", "heron water river", "bread oven flour", "bread oven butter"]
    lines = [
        f'{{"text": "{text}", "kind": "{kind}"}}\n' for text, kind in zip(words, ["=a", "b", "+c", "d"], strict=True)
    ]
    (tmp_path / "letters.jsonl").write_text("".join(lines))
    source = str(tmp_path / "letters*.jsonl") if in_parts else tmp_path / "letters.jsonl"
    space = VectorSpace(min_df=2)
    [warning] = said_by(source, tmp_path / "out", label_column="kind", space=space)
    assert "2 cells of column kind;" in warning


def test_plain_text_is_passed_over_in_silence(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,illness,note\n31,flu,-\n32,cold,-4\n51,flu,a=b\n52,gout,ok\n")
    assert said_by(tmp_path / "people.csv", tmp_path / "out", roles=ROLES) == []
