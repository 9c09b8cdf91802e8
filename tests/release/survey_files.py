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


def demographic_survey(folder: Path) -> tuple[Path, set[str]]:
    """Women in 60 clusters, names as DHS has them: weights without a point, 9998 and 9999 for height, 8 for unknown."""
    rng, rows = np.random.default_rng(11), []
    for cluster in range(1, 61):
        weight, province, urban = int(rng.lognormal(13.8, 0.5)), (cluster - 1) // 10 + 1, 1 + cluster % 2
        for household in range(1, 9):
            for _ in range(int(rng.integers(1, 3))):
                religion = int(rng.choice([1, 2, 3, 4, 96], p=[0.3, 0.3, 0.2, 0.15, 0.05]))
                height = int(rng.choice([rng.integers(1300, 1800), 9998, 9999], p=[0.95, 0.03, 0.02]))
                tested = int(rng.choice([0, 1, 8], p=[0.9, 0.08, 0.02]))
                rows.append([f"  {cluster:3d} {household:2d}  1", cluster, household, weight, province, urban])
                rows[-1] += [
                    int(rng.integers(15, 50)),
                    int(rng.integers(0, 4)),
                    religion,
                    int(rng.poisson(2.2)),
                    height,
                ]
                rows[-1] += [tested, int(rng.integers(1400, 1480)), int(rng.integers(0, 2))]
    header = ["caseid", "v001", "v002", "v005", "v024", "v025", "v012", "v106", "v130", "v201", "v438", "hivtest"]
    header += ["v011", "v502"]
    never = {"caseid", "v001", "v002", "v005", "v024", "v025", "v106", "v130", "hivtest", "v502"}
    return write_rows(folder / "women.csv", header, rows), never


def german_labour_survey(folder: Path) -> tuple[Path, set[str]]:
    """Semicolons, decimal commas, years of two digits, German names, negative codes."""
    rng, rows = np.random.default_rng(12), []

    def comma(number: float, digits: int) -> str:
        return f"{number:.{digits}f}".replace(".", ",")

    for number in range(900):
        status = int(rng.choice([1, 2, 3, 4, 5, -1, -2], p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05]))
        hours = comma(rng.normal(38, 6), 1) if rng.random() > 0.05 else "-2,0"
        income = comma(rng.lognormal(7.6, 0.4), 2) if rng.random() > 0.1 else "-1,00"
        born = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.{rng.integers(40, 99)}"
        rows.append([20230000 + number // 2, number % 2 + 1, f"{rng.integers(1, 17):02d}", int(rng.integers(15, 80))])
        rows[-1] += [str(rng.choice(["m", "w", "d"], p=[0.49, 0.5, 0.01])), status, hours, income]
        rows[-1] += [comma(rng.lognormal(6.5, 0.7), 4), born, int(rng.choice([101, 251, 411, 622, 714, 832]))]
    header = ["hhnr", "persnr", "bundesland", "alter", "geschlecht", "familienstand", "arbeitszeit", "nettoeinkommen"]
    header += ["hrf", "gebdat", "kldb"]
    never = {"hhnr", "persnr", "bundesland", "geschlecht", "familienstand", "hrf", "kldb"}
    return write_rows(folder / "mikrozensus.csv", header, rows, ";"), never


def tumour_registry(folder: Path) -> tuple[Path, set[str]]:
    """A spreadsheet with a title and merged groups of columns above its header, months by name, 999 and 9."""
    import xlsxwriter

    rng = np.random.default_rng(13)
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    header = ["Study no", "Born", "Sex", "Centre", "Diagnosed", "ICD-O", "Stage", "Grade", "Alive", "Survival months"]
    with xlsxwriter.Workbook(folder / "registry.xlsx") as book:
        sheet = book.add_worksheet("data")
        sheet.write(0, 0, "Tumour registry, export of the study centre")
        for first, last, group in ((0, 3, "Patient"), (4, 7, "Tumour"), (8, 9, "Outcome")):
            sheet.merge_range(2, first, 2, last, group)
        sheet.write_row(3, 0, header)
        for row in range(420):
            cells = [f"TR-{row + 1:04d}", f"{rng.choice(months)} {rng.integers(1930, 1990)}", int(rng.integers(1, 3))]
            cells += [
                int(rng.integers(1, 25)),
                f"{rng.integers(1, 29)} {rng.choice(months)} {rng.integers(2010, 2021)}",
            ]
            cells += [
                str(rng.choice(["C50.1", "C34.9", "C18.7", "C61.9"])),
                str(rng.choice(["I", "II", "III", "IV", "X"])),
            ]
            cells += [
                int(rng.choice([1, 2, 3, 9])),
                str(rng.choice(["yes", "no"])),
                int(rng.choice([*range(120), 999])),
            ]
            sheet.write_row(4 + row, 0, cells)
        sheet.write(425, 0, "9 and 999: not known")
    return folder / "registry.xlsx", {"Study no", "Sex", "Centre", "ICD-O", "Stage", "Grade", "Alive"}


def school_census(folder: Path) -> tuple[Path, set[str]]:
    """Lines above the header, pupils' numbers, ages of eleven values, grades, -1 for a score."""
    rng, rows = np.random.default_rng(14), []
    for _ in range(1000):
        score = int(rng.choice([rng.integers(0, 101), -1], p=[0.95, 0.05]))
        rows.append([int(rng.integers(10**9, 10**10)), int(rng.integers(340001, 340031)), int(rng.integers(6, 17))])
        rows[-1] += [int(rng.integers(1, 12)), str(rng.choice(["M", "F"])), str(rng.choice(["en", "fr", "other", "-"]))]
        rows[-1] += [int(rng.integers(0, 2)), int(rng.integers(0, 30)), score, str(rng.choice([*"ABCDEFU"]))]
        rows[-1] += [int(rng.integers(2, 7))]
    header = (
        "upn school_code age year_group gender home_language free_meals absences maths_score english_grade siblings"
    )
    path = write_rows(folder / "census.csv", header.split(), rows)
    path.write_text("School census 2022, confidential\nExtracted 2022-11-03\n\n" + path.read_text())
    return path, {"upn", "school_code", "year_group", "gender", "home_language", "free_meals", "english_grade"}


def tax_returns(folder: Path) -> tuple[Path, set[str]]:
    """A running number, ZIP codes with leading zeros, a constant year, 9999999 for a value that is not known."""
    rng, rows = np.random.default_rng(15), []
    for number in range(1200):
        income = int(rng.lognormal(10.3, 0.7))
        rows.append(
            [number + 1, f"{rng.integers(1, 99999):05d}", int(rng.integers(1, 13)), int(rng.integers(1935, 2004))]
        )
        rows[-1] += [
            str(rng.choice(["single", "joint", "separate", "head"])),
            int(rng.choice([0, 0, 0, 1, 2, 3, 4])),
            income,
        ]
        rows[-1] += [int(income * rng.uniform(0.05, 0.3)), int(rng.choice([0, rng.lognormal(8, 1)], p=[0.8, 0.2]))]
        rows[-1] += [int(rng.choice([9999999, rng.lognormal(11, 1)], p=[0.03, 0.97]))]
        rows[-1] += [str(rng.choice(["031", "044", "109", "777"])), 2021]
    header = "lfd_nr zip canton birth_year filing children gross_income tax_due capital_gain property_value audit_code"
    never = {"lfd_nr", "zip", "canton", "filing", "audit_code"}
    return write_rows(folder / "returns.csv", [*header.split(), "tax_year"], rows), never


def living_conditions(folder: Path) -> tuple[Path, set[str]]:
    """Names as EU-SILC has them, which say nothing: numbers of households and people, two weights, codes."""
    rng, rows = np.random.default_rng(16), []
    for household in range(350):
        region, weight = str(rng.choice(["ES11", "ES30", "ES51", "ES61"])), round(float(rng.lognormal(7, 0.5)), 6)
        tenure = int(rng.integers(1, 5))
        for person in range(int(rng.integers(1, 6))):
            limited = int(rng.integers(1, 3)) if rng.random() > 0.04 else -1
            rows.append([2019, "ES", 100 * (household + 7), 100 * (household + 7) + person + 1, weight])
            rows[-1] += [round(weight * rng.uniform(0.8, 1.2), 6), region, int(rng.integers(1940, 2010))]
            rows[-1] += [int(rng.integers(1, 5)), int(rng.integers(1, 3))]
            rows[-1] += [int(rng.choice([100, 200, 300, 344, 354, 450, 500, -1])), tenure]
            rows[-1] += [round(float(rng.normal(18000, 9000)), 2), int(rng.integers(1, 6)), limited]
            rows[-1] += [round(float(rng.uniform(1, 3)), 1), int(rng.choice([11, 21, 22, 31, -8]))]
    header = "HB010 HB020 HX030 RX030 DB090 RB050 DB040 RB080 RB070 RB090 PE041 HH021 HY020 PH010 PH020 HX240 RB205"
    never = {"HX030", "RX030", "DB090", "RB050", "DB040", "RB070", "RB090", "PE041", "HH021", "PH010", "PH020", "RB205"}
    return write_rows(folder / "silc.csv", header.split(), rows), never


MAKERS = (
    *(household_survey, labour_survey, hospital_file, demographic_survey, german_labour_survey, tumour_registry),
    *(school_census, tax_returns, living_conditions),
)
