"""The patients: the row each has in the table, and what else a letter mentions. Draws are alike on every machine."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, TypeVar

from shoal.sample.phrases import Condition, Speciality, people, specialities

RETIREMENT_AGE = 67
SENIOR_PAY = 40_000  # posts above it go to people of at least SENIOR_AGE
SENIOR_AGE = 30
FIRST_DAY = date(2023, 1, 2)

Employment = Literal["working", "not working", "retired"]
T = TypeVar("T")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")  # the innermost [this|that]


class Chance:
    """A source of draws made from `random()` alone, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        return self._random() < probability

    def below(self, bound: int) -> int:
        """A whole number from 0 up to and without `bound`."""
        return int(self._random() * bound)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], second: float) -> list[T]:
        """One of the options, and with probability `second` another one after it, in the order they are listed."""
        first = self.below(len(options))
        chosen = {first}
        if len(options) > 1 and self.happens(second):
            chosen.add((first + 1 + self.below(len(options) - 1)) % len(options))
        return [options[position] for position in sorted(chosen)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def normal(self, mean: float, deviation: float) -> float:
        """About normal: the sum of twelve uniforms."""
        # Logarithms and cosines differ between machines, and sum() between versions of Python; fsum() is exact.
        return mean + deviation * (math.fsum(self._random() for _ in range(12)) - 6)

    def within(self, mean: float, deviation: float, low: float, high: float) -> int:
        """A whole number, about normal, drawn again until it is within bounds."""
        while not low <= (value := round(self.normal(mean, deviation))) <= high:
            pass
        return value

    def wording(self, phrase: str) -> str:
        """The phrase with every `[this|that]` settled, from the inside out."""
        while choice := _CHOICE.search(phrase):
            phrase = phrase[: choice.start()] + self.pick(choice[1].split("|")) + phrase[choice.end() :]
        return phrase


@dataclass(frozen=True)
class Subject:
    """One row of the table, in the order of its columns."""

    name: str  # identifies
    patient_id: str  # identifies
    town: str  # identifies, with other things
    occupation: str  # present or former; identifies, with other things
    age: int
    height_cm: int
    weight_kg: int
    systolic_bp: int
    heart_rate: int
    income: int  # pounds a year
    length_of_stay: int  # days; 0 for patients seen in clinic only
    speciality: str
    diagnosis: str  # confidential


@dataclass(frozen=True)
class Case:
    """A subject, and what a letter about them needs beyond the table."""

    subject: Subject
    speciality: Speciality
    condition: Condition
    male: bool
    title: str
    born: date
    seen: date  # the day of the clinic or of the discharge
    street: str
    telephone: str
    employer: str
    occupation: str
    employment: Employment
    diastolic_bp: int

    @property
    def stayed(self) -> bool:
        return self.subject.length_of_stay > 0


def cases(random_state: int) -> list[Case]:
    """Every case of the sample, specialities mingled as they would be in a day's post."""
    chance = Chance(random_state)
    kinds = [
        (speciality, condition)
        for speciality in specialities()
        for condition in speciality.conditions
        for _ in range(condition.letters)
    ]
    taken: set[str] = set()
    drawn = []
    for speciality, condition in chance.shuffled(kinds):
        case = _case(chance, speciality, condition, taken)
        taken |= {case.subject.name, case.subject.patient_id}
        drawn.append(case)
    return drawn


def _case(chance: Chance, speciality: Speciality, condition: Condition, taken: set[str]) -> Case:
    male = chance.happens(condition.men)
    age = chance.within(*condition.age)
    height = chance.within(176 if male else 163, 6.5, 145, 200) - (2 if age > 75 else 0)
    bmi = max(chance.normal(condition.bmi, 3.4), 17.0)
    systolic = chance.within(condition.systolic[0] + 0.25 * (age - condition.age[0]), condition.systolic[1], 84, 214)
    heart_rate = chance.within(condition.heart_rate[0] + 0.5 * (bmi - condition.bmi), condition.heart_rate[1], 44, 148)
    employer, occupation, employment, income = _livelihood(chance, condition, age)
    length_of_stay = _length_of_stay(chance, condition, age)
    seen = _weekday_before(FIRST_DAY + timedelta(days=chance.below(360)), clinic=length_of_stay == 0)
    return Case(
        subject=Subject(
            name=_name(chance, male, taken),
            patient_id=_patient_id(chance, taken),
            town=people().towns[min(chance.below(len(people().towns)), chance.below(len(people().towns)))],
            occupation=occupation,
            age=age,
            height_cm=height,
            weight_kg=round(bmi * height * height / 10_000),
            systolic_bp=systolic,
            heart_rate=heart_rate,
            income=income,
            length_of_stay=length_of_stay,
            speciality=speciality.name,
            diagnosis=condition.name,
        ),
        speciality=speciality,
        condition=condition,
        male=male,
        title="Mr" if male else chance.pick(("Mrs", "Mrs", "Ms")),
        born=seen.replace(year=seen.year - age) - timedelta(days=1 + chance.below(360)),
        seen=seen,
        street=f"{1 + chance.below(140)} {chance.pick(people().streets)}",
        telephone=f"01632 960{chance.below(1000):03d}",  # a range kept free for invented numbers
        employer=employer,
        occupation=occupation,
        employment=employment,
        diastolic_bp=round(0.42 * systolic + chance.normal(24, 4)),
    )


def _name(chance: Chance, male: bool, taken: set[str]) -> str:
    given = people().men if male else people().women
    while (name := f"{chance.pick(given)} {chance.pick(people().surnames)}") in taken:
        pass
    return name


def _patient_id(chance: Chance, taken: set[str]) -> str:
    while (patient_id := f"TG{100_000 + chance.below(900_000)}") in taken:
        pass
    return patient_id


def _livelihood(chance: Chance, condition: Condition, age: int) -> tuple[str, str, Employment, int]:
    """Employer, occupation, whether at work, and income."""
    employer = chance.pick(people().employers)
    posts = [post for post in employer.posts if post[1] <= SENIOR_PAY or age >= SENIOR_AGE]
    occupation, pay = chance.pick(posts)
    at_work = chance.happens(condition.working)
    pay = round(pay * chance.normal(1.0, 0.09))
    if age >= RETIREMENT_AGE:
        return employer.name, occupation, "retired", _hundreds(9_000 + 0.35 * pay)
    if at_work:
        return employer.name, occupation, "working", _hundreds(pay)
    return employer.name, occupation, "not working", _hundreds(7_500 + 0.12 * pay)


def _length_of_stay(chance: Chance, condition: Condition, age: int) -> int:
    in_clinic_only, mean = condition.stay
    if chance.happens(in_clinic_only):
        return 0
    mean *= 1 + 0.008 * (age - condition.age[0])
    return chance.within(mean, 0.4 * mean, 1, 4 * mean)


def _weekday_before(day: date, clinic: bool) -> date:
    """The day, or the Friday before it: wards send people home at weekends, clinics are closed."""
    return day - timedelta(days=max(day.weekday() - 4, 0)) if clinic else day


def _hundreds(pounds: float) -> int:
    return 100 * round(pounds / 100)
