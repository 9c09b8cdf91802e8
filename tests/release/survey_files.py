"""Files such as statistical offices, hospitals and schools have, made by stated rules, each with its traps.

Every maker writes a file into a folder and returns its path and what must never be averaged in a release of it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter=delimiter)
        lines.writerow(header)
        lines.writerows(rows)
    return path


def household_survey(folder: Path) -> tuple[Path, set[str]]:
    """300 households of 1 to 4 in 8 regions: weights constant in a region, one-digit codes, 999 in bmi, -9 in age."""
    rng, rows = np.random.default_rng(1), []
    weights = np.round(rng.lognormal(5.0, 0.6, 8), 4)
    for number in range(300):
        region, water = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        walls = str(rng.choice(["adobe", "brick", "wood"]))
        for line in range(1, int(rng.integers(1, 5)) + 1):
            age = -9 if rng.random() < 0.02 else int(rng.integers(0, 90))
            bmi = 999 if rng.random() < 0.03 else round(float(rng.normal(24, 4)), 1)
            smokes = int(rng.choice([1, 2, 9], p=[0.3, 0.65, 0.05]))
            disease = str(rng.choice(["none", "malaria", "tuberculosis"], p=[0.7, 0.2, 0.1]))
            rows.append([1000 + number, line, region, water, walls, age, int(rng.integers(1, 3)), bmi, smokes])
            rows[-1] += [weights[region - 1], disease]
    header = ["hhid", "line", "region", "water", "walls", "age", "sex", "bmi", "smokes", "hhweight", "disease"]
    never = {"hhid", "line", "region", "water", "walls", "sex", "smokes", "hhweight", "disease"}
    return write_rows(folder / "survey.csv", header, rows), never


def labour_survey(folder: Path) -> tuple[Path, set[str]]:
    """1,500 people in 180 regions by number, weights of heavy tail, ISCO and NACE codes, hours, wages with 99999."""
    rng, rows = np.random.default_rng(2), []
    for number in range(1500):
        hours = 99 if rng.random() < 0.03 else int(rng.integers(0, 61))
        wage = 99999 if rng.random() < 0.04 else int(rng.lognormal(7.5, 0.4))
        rows.append([500000 + number, int(rng.integers(1, 181)), int(rng.integers(1, 5)), int(rng.integers(15, 75))])
        rows[-1] += [int(rng.integers(1, 3)), int(rng.integers(1, 4)), int(rng.choice([1120, 2310, 5223, 7115, 9112]))]
        rows[-1] += [int(rng.integers(1, 22)), hours, wage, round(float(rng.lognormal(5, 0.9)), 5)]
    header = ["person_no", "region", "quarter", "age", "sex", "status", "isco", "nace", "hours", "wage", "fexp"]
    never = {"person_no", "region", "quarter", "sex", "status", "isco", "nace", "fexp"}
    return write_rows(folder / "labour.csv", header, rows), never


def hospital_file(folder: Path) -> tuple[Path, set[str]]:
    """Stays of 400 patients: dates in two forms, ICD-10, postcodes, and -9, 999, NA and "." for what is missing."""
    rng, rows = np.random.default_rng(3), []
    for number in range(400):
        born = np.datetime64("1930-01-01") + int(rng.integers(0, 29000))
        postcode, sex = f"{int(rng.choice([8001, 1005, 70173, 4105, 10115])):05d}", str(rng.choice(["f", "m"]))
        for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))):
            came = np.datetime64("2019-01-01") + int(rng.integers(0, 700))
            day, month, year = str(came)[8:], str(came)[5:7], str(came)[:4]
            days = int(rng.choice([-9, *range(1, 30)]))
            sugar = 999 if rng.random() < 0.05 else round(float(rng.normal(6, 1)), 1)
            pressure = str(rng.choice([".", "NA", *map(str, range(90, 180))]))
            icd = str(rng.choice(["I10", "E11.9", "J45.0", "K35", "C50.9", "S72.0"]))
            rows.append([f"P{number:05d}", born, f"{day}.{month}.{year}", postcode, sex, days, sugar, pressure])
            note = f"seen by the doctor on duty, room {rng.integers(1, 400)}, no findings"
            rows[-1] += [int(rng.integers(1, 7)), note, icd]
    header = ["patient_id", "birth_date", "admission", "postcode", "sex", "days", "glucose", "systolic", "ward"]
    never = {"patient_id", "postcode", "sex", "ward", "note", "diagnosis"}
    return write_rows(folder / "hospital.csv", [*header, "note", "diagnosis"], rows), never


def adult(folder: Path, source: Path, n_rows: int = 1500) -> tuple[Path, set[str]]:
    """The first rows of Adult: fnlwgt is a sampling weight, education-num the code of education."""
    import gzip

    path = folder / "adult.csv"
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        path.write_text("".join(line for _, line in zip(range(n_rows + 1), lines, strict=False)), encoding="utf-8")
    return path, {"fnlwgt", "workclass", "education", "sex", "race", "occupation", "relationship"}
