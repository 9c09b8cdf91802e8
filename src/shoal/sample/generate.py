"""The sample: letters put together clause by clause, the table of their subjects, and both as files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields
from datetime import date, timedelta
from pathlib import Path

from shoal.sample.cases import Case, Chance, Subject, cases
from shoal.sample.phrases import frame, people

HOSPITAL = "Tarnside General Hospital"
FEWEST_WORDS, MOST_WORDS = 80, 220
GROWN_UP, ELDERLY = 25, 76  # ages between which people live as in the clauses `home`
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# The letters have draws of their own, so that a new clause leaves the table as it was.
LETTERS_APART = 1_000_003


def letter_text(chance: Chance, case: Case) -> str:
    """The text of a letter, a case note or a summary, drawn again until its length is right."""
    while True:
        draft = chance.pick((_letter, _letter, _letter, _note, _note, _summary))(chance, case)
        # Wording comes first: a choice may hold placeholders, no value holds a choice.
        text = chance.wording(draft).format_map(_values(chance, case, named="{name}" in draft))
        if FEWEST_WORDS <= len(text.split()) <= MOST_WORDS:
            return text


def _letter(chance: Chance, case: Case) -> str:
    shared = frame()
    opening = chance.pick(shared["ward_openings"] if case.stayed else shared["clinic_openings"])
    top = [HOSPITAL + ", {date}"] if chance.happens(0.5) else []
    salutation = "Dear {practice},"
    reference = [chance.pick(shared["reference_lines"])] if chance.happens(0.5) else []
    story = [opening, chance.pick(case.condition.complaint), *chance.some(case.condition.detail, 0.2)]
    findings, person = _join(_findings(chance, case)), _join(_person(chance, case))
    middle = [person, findings] if chance.happens(0.6) else [findings, person]
    last = [*_management(chance, case), chance.pick(shared["closings"])]
    signature = chance.pick(shared["sign_offs"]) + "\n{consultant}, consultant {specialist}"
    return "\n\n".join([*top, salutation, *reference, _join(story), *middle, _join(last), signature])


def _note(chance: Chance, case: Case) -> str:
    opening = chance.pick(frame()["ward_notes"] if case.stayed else frame()["clinic_notes"])
    story = [opening, chance.pick(case.condition.complaint)]
    body = _findings(chance, case)
    if chance.happens(0.5):  # else in haste
        story.append(chance.pick(case.condition.detail))
        body = [*_person(chance, case), *body]
    signature = chance.pick(("Signed: {consultant}", "{consultant}, {specialist}", "Dictated by {consultant}."))
    return "\n\n".join([_join(story), _join(body), _join(_management(chance, case)), signature])


def _summary(chance: Chance, case: Case) -> str:
    course = "{ward_first}, {admitted} to {date} ({stay_days})" if case.stayed else "Outpatient visit, {date}"
    lines = [
        HOSPITAL + (": discharge summary" if case.stayed else ": clinic summary"),
        "Patient: {name}, {age}, {street}, {town}. Number {patient_id}.",
        course + ". Consultant: {consultant}.",
        "Diagnosis: {called}.",
    ]
    labels = chance.pick(
        (
            ("History", "Background", "Findings", "Treatment and plan"),
            ("Presentation", "Social history", "Examination and tests", "Management"),
        )
    )
    story = [chance.pick(case.condition.complaint), *chance.some(case.condition.detail, 0.2)]
    parts = (story, _person(chance, case), _findings(chance, case), _management(chance, case))
    headed = [f"{label}: {_join(part)}" for label, part in zip(labels, parts, strict=True)]
    return "\n".join(lines) + "\n\n" + "\n\n".join(headed)


def _person(chance: Chance, case: Case) -> list[str]:
    """Past, home, work, habits and means: some of them, at least one."""
    shared, age = frame(), case.subject.age
    home = shared["home_young"] if age < GROWN_UP else shared["home"] if age < ELDERLY else shared["home_old"]
    work = {"working": shared["working"], "not working": shared["not_working"], "retired": shared["retired"]}[
        case.employment
    ]
    habits = case.condition.habits or shared["habits"]
    likely = ((shared["past"], 0.3), (home, 0.65), (work, 0.65), (habits, 0.4), (shared["hardship"], 0.1))
    clauses = [chance.pick(options) for options, probability in likely if chance.happens(probability)]
    return clauses or [chance.pick(habits)]


def _findings(chance: Chance, case: Case) -> list[str]:
    shared, condition = frame(), case.condition
    clauses = [chance.pick(shared["vitals"])]
    if chance.happens(0.6):
        clauses.append(chance.pick(shared["build"]))
    if condition.examination:
        clauses.append(chance.pick(condition.examination))
    if not condition.examination or chance.happens(0.4):
        clauses.append(chance.pick(case.speciality.examination))
    return [*clauses, *chance.some(condition.tests, 0.2)]


def _management(chance: Chance, case: Case) -> list[str]:
    condition = case.condition
    treatment = (case.stayed and condition.ward_treatment) or condition.treatment
    plan = (case.stayed and condition.ward_plan) or condition.plan
    return [*chance.some(treatment, 0.25), *chance.some(plan, 0.3)]


def _join(clauses: list[str]) -> str:
    return " ".join(clauses)


def _values(chance: Chance, case: Case, named: bool) -> dict[str, object]:
    """What the placeholders stand for; where the full name was given above the letter, the prose uses the short one."""
    subject, speciality = case.subject, case.speciality
    full_name, surname = f"{case.title} {subject.name}", subject.name.split(" ", 1)[1]
    called, ward = chance.wording(case.condition.called), chance.pick(speciality.wards)
    age_adjective = f"{subject.age}-year-old"
    return {
        "name": full_name,
        "patient": f"{case.title} {surname}",
        "who": f"{case.title} {surname}" if named else full_name,
        "from_town": "" if named else f" from {subject.town}",
        "comma_from_town": "" if named else f" and lives in {subject.town}",
        "town": subject.town,
        "street": case.street,
        "telephone": case.telephone,
        "patient_id": subject.patient_id,
        "age": subject.age,
        "age_adjective": age_adjective,
        "an_age_adjective": _with_article(age_adjective),
        "born": _day(case.born),
        "date": _day(case.seen),
        "admitted": _day(case.seen - timedelta(days=subject.length_of_stay)),
        "stay_days": "1 day" if subject.length_of_stay == 1 else f"{subject.length_of_stay} days",
        "ward": ward,
        "ward_first": _capital(ward),
        "clinic": chance.wording(speciality.clinic),
        "called": called,
        "called_first": _capital(called),
        "consultant": chance.pick(speciality.consultants),
        "specialist": speciality.specialist,
        "practice": chance.pick(people().practices),
        "side": chance.pick(("right", "left")),
        "height": subject.height_cm,
        "weight": subject.weight_kg,
        "bmi": f"{subject.weight_kg * 10_000 / subject.height_cm**2:.1f}",
        "systolic": subject.systolic_bp,
        "diastolic": case.diastolic_bp,
        "heart_rate": subject.heart_rate,
        "income": f"{subject.income:,}",
        "occupation": case.occupation,
        "an_occupation": _with_article(case.occupation),
        "employer": case.employer,
        "he": "he" if case.male else "she",
        "He": "He" if case.male else "She",
        "him": "him" if case.male else "her",
        "his": "his" if case.male else "her",
        "His": "His" if case.male else "Her",
        "man": "man" if case.male else "woman",
        "spouse": "wife" if case.male else "husband",
    }


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _with_article(words: str) -> str:
    """The words after a or an; of the ages written in figures, 18 and the eighties sound like vowels."""
    return f"{'an' if words[0] in 'aeiou8' or words.startswith('18') else 'a'} {words}"


@dataclass(frozen=True)
class Letter:
    """A letter. Its subject is the row of the same position in `subjects`."""

    id: str
    text: str
    speciality: str


@dataclass(frozen=True)
class Sample:
    """Where the files of a sample are."""

    letters: Path  # JSON lines: id, text, speciality
    subjects: Path  # CSV: the columns of Subject, one row per letter
    towns: Path  # CSV: a hierarchy, child and parent
    occupations: Path  # CSV: a mapping of occupations to concepts of WordNet


def letters(random_state: int = 0) -> list[Letter]:
    """The letters of the sample, no two alike.

    >>> len(letters())
    360
    """
    chance = Chance(random_state + LETTERS_APART)
    return [
        Letter(id=f"letter-{number:03d}", text=letter_text(chance, case), speciality=case.speciality.name)
        for number, case in enumerate(cases(random_state), start=1)
    ]


def subjects(random_state: int = 0) -> list[Subject]:
    """The people the letters are about, in the order of the letters."""
    return [case.subject for case in cases(random_state)]


def write_sample(folder: str | Path, random_state: int = 0) -> Sample:
    """Write the four files into a folder, which is made if need be."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = ("letters.jsonl", "subjects.csv", "towns.csv", "occupations.csv")
    sample = Sample(*(folder / name for name in names))
    # Newlines are fixed, so that the files are the same on every system.
    with sample.letters.open("w", encoding="utf-8", newline="\n") as lines:
        for letter in letters(random_state):
            lines.write(json.dumps(asdict(letter), ensure_ascii=False) + "\n")
    rows: list[tuple[object, ...]] = [astuple(subject) for subject in subjects(random_state)]
    _write_csv(sample.subjects, tuple(field.name for field in fields(Subject)), rows)
    levels = people().districts, people().counties, {"the region": tuple(people().counties)}
    towns_and_regions = [(part, whole) for level in levels for whole, parts in level.items() for part in parts]
    _write_csv(sample.towns, ("child", "parent"), towns_and_regions)
    meanings = [("occupation", value, concept) for value, concept in people().meanings.items()]
    _write_csv(sample.occupations, ("column", "value", "concept"), meanings)
    return sample


def _write_csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
