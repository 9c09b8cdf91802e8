"""Wrong words about columns, kind by kind: exit code 2, one line, nothing written, and no cell quoted."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.run import run, snapshot

pytestmark = pytest.mark.usefixtures("without_attack")

N = 12
COLUMNS = {
    "age": [str(20 + n) for n in range(N)],
    "born": [f"{1 + n:02d}.05.1980" for n in range(N)],
    "bad_day": ["31.02.1980" if n == 7 else f"{13 + n}.05.1980" for n in range(N)],
    "mixed": ["1980-05-12" if n % 3 else "12.05.1980" for n in range(N)],
    "short_year": [f"{1 + n:02d}.05.{80 if n else 1980}" for n in range(N)],
    "either": [f"0{1 + n % 9}/0{1 + n % 7}/1980" for n in range(N)],
    "zip": [f"0100{n % 3}" for n in range(N)],
    "risk": ["low", "high", "s3cret"] * (N // 3),
    "note": [f"s3cret words that nobody else wrote {n}" for n in range(N)],
    "gap": ["" if n == 4 else str(n) for n in range(N)],
    "nothing": [""] * N,
    "most_gone": ["" if n > 1 else str(n) for n in range(N)],
    "compact": ["20240230" if n == 3 else f"202401{n + 10}" for n in range(N)],
    "months": [f"{n + 1} {'May' if n else 'mai'} 1980" for n in range(N)],
    "money": [f"{n} ¤?" for n in range(N)],
    "old": ["90+" if n == N - 1 else str(60 + n) for n in range(N)],
    "wide": [str(10_000 + n) for n in range(N)],
    "year": [str(1980 + n) for n in range(N)],
    "ill": ["flu", "gout"] * (N // 2),
}
PROTECT = ("protect", "t.csv", "-k", "3", "-o", "out", "--no-attack", "--no-refine", "--confidential", "ill", "--quasi")

CASES = {
    "an unknown kind": ("age --kind age=postcode", "there is no such kind"),
    "a kind without a column": ("age --kind code", "write zip=code"),
    "a kind without a word": ("age --kind age=", "write zip=code"),
    "a kind given twice": ("age --kind age=code,age=date", "twice"),
    "the kind of a column that is not there": ("age --kind agee=code", "did you mean age?"),
    "free text as a quasi-identifier": (
        "age,note --kind note=text",
        "free text, which no value",
    ),
    "an identifier as a quasi-identifier": ("age --kind age=identifier", "drop it"),
    "words given as numbers": ("risk --kind risk=number", "12 values not a number (first in row 1)"),
    "dates given as numbers": ("born --kind born=whole", "not a number"),
    "words given as dates": ("risk --kind risk=date", "not written as"),
    "an impossible date": ("bad_day", "1 date that no calendar has (read as %d.%m.%Y, first in row 8)"),
    "dates in two forms": ("mixed", "4 of 12 values not written as %Y-%m-%d (first in row 1)"),
    "years of two digits": ("short_year --kind short_year=date", "not written as"),
    "day and month that cannot be told apart": ("either", "day and month cannot be told apart"),
    "a form of dates that there is not": ("born --kind born=date:%A", "write it like date:%d/%m/%Y"),
    "a form of dates for a code": ("zip --kind zip=code:%Y", "write it like date:%d/%m/%Y"),
    "a form that the dates do not have": ("born --kind born=date:%Y-%m-%d", "not written as %Y-%m-%d"),
    "numbers that are no years": ("age --kind age=date:%Y%m%d", "not written as %Y%m%d"),
    "an unknown period": ("born --recode born=week", "month, year, decade"),
    "a period without a column": ("born --recode year", "write age="),
    "a period of numbers": ("age --kind age=number --recode age=year", "not a date"),
    "a period of a column that is not protected": ("age --recode born=year", "is not protected"),
    "a period of a column that is not there": ("age --recode birth=year", "has no column birth"),
    "a period of words": ("risk --recode risk=year", "not written as"),
    "rounding of a code": ("zip --round zip", "not a number"),
    "rounding of a date": ("born --kind born=date --round born", "not a number"),
    "rounding of a date that nobody called so": ("born --round born", "is a date/time, not a number"),
    "rounding of ordered labels": ("risk --order risk=low<high<s3cret --round risk", "not a number"),
    "a number that is a category": ("age --kind age=number --categorical age", "leave out one of the two"),
    "rounding of a column that is not there": ("age --round agee", "did you mean age?"),
    "rounding of a column that is not protected": ("age --round ill", "is not protected"),
    "rounding of nothing": ("age --round ,", "names no column"),
    "an order that lacks a label": (
        "risk --order risk=low<high",
        "1 label (in 4 rows, first in row 3) not in",
    ),
    "an order of one label": ("risk --order risk=low", "write risk='low<medium<high'"),
    "an order without a column": ("risk --order low<high", "write risk='low<medium<high'"),
    "an order with a label twice": ("risk --order risk=low<low", "twice"),
    "an order with an empty label": ("risk --order risk=low<<high", "a label is empty"),
    "an order given twice": ("risk --order risk=low<high --order risk=high<low", "twice"),
    "an order of a column that is not there": ("age --order rsk=low<high", "has no column rsk"),
    "an ordered label without an order": ("risk --kind risk=ordered", "without an order"),
    "an order of a code": ("risk --kind risk=code --order risk=low<high", "leave out one of the two"),
    "categories of a column that is not there": ("age --categorical agee", "did you mean age?"),
    "categories of a column that is not protected": ("age --categorical risk", "is not protected"),
    "categories by another word": ("risk --categorical risk=mean", "the table has no column risk=mean"),
    "a code for a method of numbers": ("age,zip --method noise --percent 5", "zip is a code"),
    "a gap, without a word": ("gap", "1 missing value (first in row 5)"),
    "a gap for a method without groups": ("age,gap --missing group --method rank-swap --percent 5", "needs groups"),
    "gaps that are coarsened": ("age,gap --missing group --coarsen gap=4", "the column has gaps"),
    "an unknown word for gaps": ("gap --missing mean", "use one of refuse, withhold, group, impute"),
    "a column of gaps": ("age,nothing --missing group", "holds no value at all"),
    "a kind of a column that is left out": ("age --kind =code", "write zip=code"),
    "a date of eight digits that is none": ("compact --kind compact=date", "1 date that no calendar has"),
    "a date of eight digits and two forms": ("compact --kind compact=date:%Y-%m-%d", "not written as %Y-%m-%d"),
    "names of months in two languages": ("months", "names of several languages"),
    "a number with signs": ("money --kind money=number", "12 values not a number (first in row 1)"),
    "an age that is no number": ("old --kind old=whole", "1 value not a number (first in row 12)"),
    "an age that is no number, without a word": ("old", "1 of 12 values not numbers (first in row 12)"),
    "a year that is none": ("wide --kind wide=date:%Y", "not written as %Y"),
    "words without a meaning": ("risk --ontology wordnet", "take all as plain categories (--categorical risk)"),
    "rounding to a set": ("age --round age=1", "has no column age=1"),
    "a set of dates": ("born --kind born=date --categorical born", "leave out one of the two"),
    "a period of a code": ("zip --kind zip=code --recode zip=year", "not a date"),
    "months of years": ("year --recode year=month", "by the year; take a longer period"),
    "an order of numbers given as such": ("age --kind age=whole --order age=1<2", "leave out one of the two"),
    "an order of one label with a sign": ("risk --order risk=low<", "a label is empty"),
    "a period given twice": ("born --recode born=year --recode born=month", "twice"),
    "a code list that lacks a value": ("zip --ontology zip=codes.csv", "1 value not in the hierarchy"),
    "a mapping for a column of dates that lacks them": ("born --mapping codes.csv", "codes.csv"),
    "fewer rows than k once gaps are withheld": ("most_gone --missing withhold", "10 withheld"),
    "a person who is protected": ("age --person age", "--person"),
    "a person who is not there": ("age --person whom", "has no column whom"),
    "a k of words": ("age --k-column risk", "--k-column"),
    "a k that is not there": ("age --k-column kk", "has no column kk"),
    "t above 1": ("age --t 1.5", "1.5"),
    "t without a confidential column": ("ill --categorical ill --t 0.3", "listed twice"),
    "an l of more values than there are": ("age --l 9", "l=9"),
    "recursive diversity without c": ("age --l 2 --diversity recursive", "c"),
    "c without recursive diversity": ("age --l 2 --c 2", "c"),
    "coarser ordered labels": ("risk --order risk=low<high<s3cret --coarsen risk=4", "holds labels, not numbers"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("columns")
    lines = [",".join(COLUMNS), *(",".join(row) for row in zip(*COLUMNS.values(), strict=True))]
    (made / "codes.csv").write_text("child,parent\n01000,all\n01001,all\n")
    (made / "t.csv").write_text("\n".join(lines) + "\n")
    return made


@pytest.mark.parametrize(("words", "message"), CASES.values(), ids=CASES.keys())
def test_wrong_words_about_columns_are_refused_in_one_line(words: str, message: str, folder: Path) -> None:
    before = snapshot(folder)
    ran = run(folder, *PROTECT, *words.split(" "))
    assert (ran.code, len(ran.complaints), ran.out) == (2, 1, ""), ran
    assert message in ran.complaints[0]
    assert "s3cret" not in ran.err
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([2**40] * N, pa.timestamp("s")), "before the year 1 or after 9999"),
        (pa.array([[1]] * N), "holds no dates"),
        (pa.array([1.5] * N), "no year from 1 to 9999"),
    ],
)
def test_stored_columns_that_are_no_dates_are_refused(column: pa.Array, message: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"day": column}), tmp_path / "t.parquet")
    ran = run(tmp_path, "protect", "t.parquet", "-o", "out", "--quasi", "day", "--kind", "day=date")
    assert (ran.code, len(ran.complaints)) == (2, 1) and message in ran.complaints[0]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", ["missing.csv", "empty.csv", "t.csv --plan no/such/plan.toml", "letters.json"])
def test_inspect_refuses_in_one_line(words: str, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "letters.json").write_text("{}")
    (tmp_path / "t.csv").write_text("a\n1\n")
    ran = run(tmp_path, "inspect", *words.split(" "))
    assert (ran.code, len(ran.complaints)) == (2, 1)
