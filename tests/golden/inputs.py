"""Inputs of the cases, made anew by every run. The same bytes or rows on every machine; nobody in them exists."""

from __future__ import annotations

import csv
import gzip
import json
import random
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from shoal.sample import letters, subjects, write_sample

TOWNS = ("Saltmere", "Thornley Quay", "Great Pellow", "Little Pellow")
JOBS = ("nurse", "physician", "carpenter", "plumber", "teacher", "clerk", "baker", "farmer", "lawyer", "cook")
ILLNESSES = ("flu", "asthma", "gout", "angina", "eczema", "migraine")
EDUCATION = ("primary", "secondary", "college", "university")
ROOFS = ("slate", "tile", "thatch", "tin")
WARDS = ("north", "south", "east")
ZIPS = ("01005", "01097", "02138", "02139", "10001", "10027")
ITEMS = ("tea", "milk", "bread", "butter", "jam", "eggs", "rice", "beans", "soap", "ink", "salt", "figs", "oats")

Row = dict[str, Any]


class Draws:
    """Draws that are the same in every version of Python: `Random.random` alone is promised to stay as it is."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        return int(self._random.random() * limit)

    def one_of(self, values: Sequence[Any], skew: float = 1.0) -> Any:
        """One value; with a skew above 1 the first ones more often."""
        return values[int(self._random.random() ** skew * len(values))]

    def about(self, middle: float, spread: float) -> float:
        """Roughly normal: the sum of four uniform draws."""
        return middle + spread * (sum(self._random.random() for _ in range(4)) - 2) * 1.73

    def happens(self, share: float) -> bool:
        return self._random.random() < share


def people(rows: int = 240, seed: int = 1) -> list[Row]:
    """One record per visit; somebody may have come several times."""
    draws = Draws(seed)
    made = []
    for number in range(rows):
        person = number if draws.happens(0.7) or not number else draws.below(number)
        age = min(95, max(18, round(draws.about(47, 16))))
        illness = draws.one_of(ILLNESSES, skew=1.4)
        made.append(
            {
                "id": f"r-{number:04d}",
                "name": f"Person {number:04d}",
                "household": f"h-{person:04d}",
                "age": age,
                "income": round(max(900.0, draws.about(1500 + 40 * age, 600)), 2),
                "height": round(draws.about(171, 9)),
                "birth": (date(2024 - age, 1, 1) + timedelta(days=draws.below(365))).isoformat(),
                "visit": f"{1 + draws.below(28):02d}/{1 + draws.below(12):02d}/{2019 + draws.below(5)}",
                "zip": draws.one_of(ZIPS, skew=1.3),
                "sex": draws.one_of(("F", "M")),
                "town": draws.one_of(TOWNS),
                "job": draws.one_of(JOBS, skew=1.2),
                "education": draws.one_of(EDUCATION),
                "roof": draws.one_of(ROOFS, skew=1.5),
                "smoker": draws.one_of(("no", "yes"), skew=1.6),
                "illness": illness,
                "score": round(draws.about(10 + ILLNESSES.index(illness), 2), 1),
                "ward": draws.one_of(WARDS),
                "own_k": 8 if draws.happens(0.04) else "",
            }
        )
    return made


def with_gaps() -> list[Row]:
    draws = Draws(2)
    made = people(150, seed=2)
    for row in made:
        for column, share in (("age", 0.08), ("income", 0.12), ("education", 0.06), ("birth", 0.1), ("roof", 0.05)):
            if draws.happens(share):
                row[column] = ""
    return made


def sentences(documents: int, seed: int, length: int = 14) -> list[tuple[str, str]]:
    """Short notes on one of three subjects, and the subject."""
    subjects_and_words = {
        "birds": "heron egret gull nest feather wing river reed bird egg beak flight marsh swan",
        "engines": "engine piston valve oil pump gear wheel brake motor fuel clutch cylinder exhaust bolt",
        "kitchens": "oven bread flour butter knife pan kettle spoon salt onion soup plate sugar stove",
    }
    about = {subject: words.split() for subject, words in subjects_and_words.items()}
    draws = Draws(seed)
    found = []
    for _ in range(documents):
        subject = draws.one_of(tuple(about))
        other = draws.one_of(tuple(about))
        words = [draws.one_of(about[other if draws.happens(0.15) else subject], skew=1.3) for _ in range(length)]
        found.append((" ".join(words).capitalize() + ".", subject))
    return found


def baskets(count: int = 150, seed: int = 5) -> list[list[str]]:
    draws = Draws(seed)
    return [[draws.one_of(ITEMS, skew=1.5) for _ in range(2 + draws.below(6))] for _ in range(count)]


# Writers


def write_csv(path: Path, rows: Iterable[Row], delimiter: str = ",", encoding: str = "utf-8") -> None:
    rows = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_jsonl(path: Path, lines: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def only(rows: Iterable[Row], *columns: str) -> list[Row]:
    return [{column: row[column] for column in columns} for row in rows]


# Inputs, by the name a case gives them


def people_csv(folder: Path) -> None:
    write_csv(folder / "people.csv", people())


def gaps_csv(folder: Path) -> None:
    write_csv(folder / "gaps.csv", with_gaps())


def later_csv(folder: Path) -> None:
    """The people some time later: some left, some came."""
    earlier, draws = people(), Draws(3)
    newcomers = [row | {"id": f"n-{number:03d}"} for number, row in enumerate(people(40, seed=4))]
    write_csv(folder / "later.csv", [row for row in earlier if draws.happens(0.95)] + newcomers)


def numbers_parquet(folder: Path) -> None:
    rows = only(people(80, seed=6), "age", "income", "height")
    pq.write_table(pa.Table.from_pylist(rows), folder / "numbers.parquet")


def typed_parquet(folder: Path) -> None:
    """Columns with types that a text file lacks: dates, truth values, categories."""
    rows = people(150, seed=7)
    columns = {
        "age": pa.array([row["age"] for row in rows], pa.int16()),
        "birth": pa.array([date.fromisoformat(row["birth"]) for row in rows], pa.date32()),
        "smoker": pa.array([row["smoker"] == "yes" for row in rows], pa.bool_()),
        "roof": pa.array([row["roof"] for row in rows]).dictionary_encode(),
        "illness": pa.array([row["illness"] for row in rows]),
    }
    pq.write_table(pa.table(columns), folder / "typed.parquet")


def people_feather(folder: Path) -> None:
    rows = only(people(120, seed=8), "age", "income", "illness")
    feather.write_feather(pa.Table.from_pylist(rows), folder / "people.feather")


def people_tsv_gz(folder: Path) -> None:
    rows = only(people(120, seed=9), "age", "height", "illness")
    lines = ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]
    (folder / "people.tsv.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), mtime=0))


def german_csv(folder: Path) -> None:
    """Semicolons, decimal commas and Windows-1252, as a German spreadsheet writes them."""
    rows = only(people(120, seed=10), "age", "income", "illness")
    translated = [
        {
            "alter": row["age"],
            "einkommen": str(row["income"]).replace(".", ","),
            "krankheit": f"{row['illness']} (müde)",
        }
        for row in rows
    ]
    write_csv(folder / "german.csv", translated, delimiter=";", encoding="windows-1252")


def people_sqlite(folder: Path) -> None:
    rows = only(people(120, seed=11), "age", "income", "town", "illness")
    with sqlite3.connect(folder / "people.sqlite") as database:
        database.execute("create table people (age integer, income real, town text, illness text)")
        database.executemany("insert into people values (?, ?, ?, ?)", [tuple(row.values()) for row in rows])
    database.close()


def people_xlsx(folder: Path) -> None:
    import xlsxwriter

    rows = only(people(100, seed=12), "age", "income", "illness")
    with xlsxwriter.Workbook(folder / "people.xlsx") as book:
        book.add_worksheet("notes").write(0, 0, "not this one")
        sheet = book.add_worksheet("visits")
        for line, values in enumerate([list(rows[0]), *(list(row.values()) for row in rows)]):
            sheet.write_row(line, 0, values)


def people_sav(folder: Path) -> None:
    import pandas as pd
    import pyreadstat

    rows = people(100, seed=13)
    frame = pd.DataFrame(
        {
            "age": [99 if number % 20 == 7 else row["age"] for number, row in enumerate(rows)],
            "income": [row["income"] for row in rows],
            "sex": [1 + (row["sex"] == "M") for row in rows],
            "illness": [row["illness"] for row in rows],
        }
    )
    pyreadstat.write_sav(
        frame,
        str(folder / "people.sav"),
        column_labels={"age": "Age at the visit"},
        variable_value_labels={"sex": {1: "female", 2: "male"}, "age": {99: "no answer"}},
        missing_ranges={"age": [99]},
    )


def people_in_parts(folder: Path) -> None:
    rows = people(360, seed=14)
    for part in range(3):
        write_csv(folder / "people" / f"{part}.csv", rows[120 * part : 120 * part + 120])


def towns_csv(folder: Path) -> None:
    """A hierarchy of the towns, child and parent."""
    places = dict(zip(TOWNS, ("the coast", "the coast", "the hills", "the hills"), strict=True))
    rows = [*places.items(), ("the coast", "the county"), ("the hills", "the county")]
    write_csv(folder / "towns.csv", [{"child": child, "parent": parent} for child, parent in rows])


def sample_files(folder: Path) -> None:
    """The sample of `shoal demo`: letters.jsonl, subjects.csv, towns.csv and occupations.csv, in sample/."""
    write_sample(folder / "sample")


def letters_jsonl(folder: Path) -> None:
    """A third of the sample's letters."""
    chosen = letters()[::3]
    rows = ({"id": one.id, "text": one.text, "speciality": one.speciality} for one in chosen)
    write_jsonl(folder / "letters.jsonl", rows)


def letter_files(folder: Path) -> None:
    """Letters as files, in a folder for each speciality."""
    for letter in letters()[:90]:
        path = folder / "letters" / letter.speciality / f"{letter.id}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(letter.text, encoding="utf-8", newline="\n")


def one_letter(folder: Path) -> None:
    (folder / "letter.txt").write_text(letters()[1].text, encoding="utf-8", newline="\n")


def letters_about_subjects(folder: Path) -> None:
    """A table with a column of texts, and other names for its columns."""
    chosen = list(zip(letters(), subjects(), strict=True))[:80]
    rows = [{"number": one.id, "note": one.text, "diagnosis": about.diagnosis} for one, about in chosen]
    write_csv(folder / "notes.csv", rows)


def notes_in_parts(folder: Path) -> None:
    notes, draws = sentences(180, seed=15), Draws(15)
    for part in range(3):
        lines = [{"text": text, "shelf": draws.one_of(WARDS)} for text, _ in notes[60 * part : 60 * part + 60]]
        write_jsonl(folder / "notes" / f"{part}.jsonl", lines)


def notes_jsonl(folder: Path) -> None:
    lines = [{"id": f"n{number}", "text": text} for number, (text, _) in enumerate(sentences(90, seed=16))]
    write_jsonl(folder / "notes.jsonl", lines)


def german_jsonl(folder: Path) -> None:
    text = "der Reiher und die Möwe bauen Nester am Fluss die Mühlen mahlen Mehl für das Brot im Ofen der Bäcker"
    words, draws = text.split(), Draws(17)
    lines = [{"text": " ".join(draws.one_of(words) for _ in range(12))} for _ in range(60)]
    write_jsonl(folder / "german.jsonl", lines)


def baskets_dat(folder: Path) -> None:
    (folder / "baskets.dat").write_text("".join(" ".join(basket) + "\n" for basket in baskets()), encoding="utf-8")


def baskets_jsonl(folder: Path) -> None:
    draws = Draws(18)
    lines = [
        {"id": f"b{number}", "items": basket, "shop": draws.one_of(WARDS)}
        for number, basket in enumerate(baskets(120, seed=18))
    ]
    write_jsonl(folder / "baskets.jsonl", lines)


def sketch_key(folder: Path) -> None:
    path = folder / "fixed.key"
    path.write_text(bytes(range(32)).hex() + "\n", encoding="ascii")
    path.chmod(0o600)


def signing_key(folder: Path) -> None:
    """An Ed25519 key that is always the same, so that its signatures are."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    path = folder / "id_ed25519"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    path.chmod(0o600)


def survey_csv(folder: Path) -> None:
    """A title, a header of two rows, weights of wards, and 999999 for an income that is not known."""
    lines = ["Survey of visitors", "who,,,what,", "household,age,sex,income,weight"]
    for number, row in enumerate(people(180, seed=9)):
        income = "999999" if number % 31 == 7 else row["income"]
        weight = {"north": 12.5, "south": 40.25, "east": 88.125}[row["ward"]]
        lines.append(f"{row['household']},{row['age']},{row['sex']},{income},{weight}")
    (folder / "survey.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


INPUTS: dict[str, Callable[[Path], None]] = {
    "people.csv": people_csv,
    "survey.csv": survey_csv,
    "gaps.csv": gaps_csv,
    "later.csv": later_csv,
    "numbers.parquet": numbers_parquet,
    "typed.parquet": typed_parquet,
    "people.feather": people_feather,
    "people.tsv.gz": people_tsv_gz,
    "german.csv": german_csv,
    "people.sqlite": people_sqlite,
    "people.xlsx": people_xlsx,
    "people.sav": people_sav,
    "people/*.csv": people_in_parts,
    "towns.csv": towns_csv,
    "sample": sample_files,
    "letters.jsonl": letters_jsonl,
    "letters": letter_files,
    "letter.txt": one_letter,
    "notes.csv": letters_about_subjects,
    "notes/*.jsonl": notes_in_parts,
    "notes.jsonl": notes_jsonl,
    "german.jsonl": german_jsonl,
    "baskets.dat": baskets_dat,
    "baskets.jsonl": baskets_jsonl,
    "fixed.key": sketch_key,
    "id_ed25519": signing_key,
}
