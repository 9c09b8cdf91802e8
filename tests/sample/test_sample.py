"""The sample is what it says it is, and the same everywhere."""

import csv
import hashlib
import json
import re
from collections import Counter

import pytest

from shoal import Hierarchy, WordNet
from shoal.sample import Letter, Subject, letters, subjects, write_sample
from shoal.sample.cases import Chance
from shoal.sample.phrases import people, specialities
from shoal.terms.value_mapping import mappings_of

# A change of any clause changes them: write them anew, and say so in the changelog.
LETTERS_SHA256 = "e1671b60fb9083f41f82682bf97035c4ee7f78f68bbb8ba74fb54f6a172efbdf"
SUBJECTS_SHA256 = "e076aa8b6318ec022f03dafef1a0292a075693f9dc1883eff5d442fa33ec799b"


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Letter, Subject]]:
    return list(zip(letters(), subjects(), strict=True))


def test_there_are_360_letters_of_six_specialities_of_uneven_size():
    assert Counter(subject.speciality for subject in subjects()) == {
        "cardiology": 90,
        "orthopaedics": 72,
        "respiratory medicine": 62,
        "gastroenterology": 54,
        "oncology": 44,
        "psychiatry": 38,
    }


def test_every_speciality_has_four_conditions_and_one_of_them_is_rare():
    for speciality in specialities():
        counts = [condition.letters for condition in speciality.conditions]
        assert len(counts) == 4
        assert min(counts) < 0.16 * sum(counts)


def test_every_letter_has_80_to_220_words(pairs):
    assert all(80 <= len(letter.text.split()) <= 220 for letter, _ in pairs)


def test_the_letters_use_more_than_1200_different_words(pairs):
    words = {word for letter, _ in pairs for word in re.findall(r"[a-z]+", letter.text.lower())}
    assert len(words) > 1200


def test_no_two_letters_ids_names_or_patients_are_alike(pairs):
    for values in zip(*((le.id, le.text, su.name, su.patient_id) for le, su in pairs), strict=True):
        assert len(set(values)) == 360


def test_every_patient_has_an_invented_name_that_only_their_own_letter_gives(pairs):
    for letter, subject in pairs:
        given, surname = subject.name.split(" ", 1)
        assert given in people().women + people().men
        assert surname in people().surnames
        assert [other.id for other, _ in pairs if subject.name in other.text] == [letter.id]


def test_no_clinician_shares_a_family_name_with_a_patient():
    clinicians = [name for speciality in specialities() for name in speciality.consultants] + list(people().practices)
    assert not {name.split()[-1] for name in clinicians} & set(people().surnames)


def test_what_a_letter_says_of_its_patient_is_what_the_table_says(pairs):
    for letter, subject in pairs:
        text = letter.text
        assert letter.speciality == subject.speciality
        assert subject.town in text
        assert re.search(rf"\b{subject.age}\b", text)
        assert f"{subject.systolic_bp}/" in text
        assert re.search(rf"(pulse|Pulse|heart rate of) {subject.heart_rate}\b", text)
        assert not (subject.length_of_stay and f"{subject.length_of_stay} day" not in text)
        assert set(re.findall(r"[Ww]eigh(?:t|ed) (\d+) kg", text)) <= {str(subject.weight_kg)}
        assert set(re.findall(r"[Hh]eight (?:of |was )?(\d+) cm", text)) <= {str(subject.height_cm)}
        assert set(re.findall(r"£([\d,]+)", text)) <= {f"{subject.income:,}"}
        assert set(re.findall(r"TG\d+", text)) <= {subject.patient_id}


def test_a_letter_keeps_to_one_pronoun_and_leaves_no_placeholder_open(pairs):
    for letter, subject in pairs:
        male = subject.name.split()[0] in people().men
        others = r"\b(she|her|woman|husband)\b" if male else r"\b(he|him|his|man|wife)\b"
        assert not re.search(others, letter.text, re.IGNORECASE)
        assert not re.search(r"[\[\]{}|]|  ", letter.text)


def test_patients_differ_by_condition_as_one_would_expect():
    def mean(column: str, diagnosis: str) -> float:
        values = [getattr(subject, column) for subject in subjects() if subject.diagnosis == diagnosis]
        return sum(values) / len(values)

    assert mean("age", "heart failure") > mean("age", "cruciate ligament tear") + 30
    assert mean("systolic_bp", "resistant hypertension") > mean("systolic_bp", "cirrhosis") + 40
    assert mean("heart_rate", "atrial fibrillation") > mean("heart_rate", "stable angina") + 15
    assert mean("length_of_stay", "schizophrenia") > mean("length_of_stay", "gallstones") + 10


def test_another_seed_gives_other_people_and_the_same_seed_the_same():
    assert subjects(1) != subjects(0)
    assert subjects(1) == subjects(1)
    assert letters(1) == letters(1)


def test_the_files_hold_the_letters_and_their_subjects_row_by_row(tmp_path):
    sample = write_sample(tmp_path / "new" / "folder")
    lines = [json.loads(line) for line in sample.letters.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {"id": "letter-001", "text": letters()[0].text, "speciality": letters()[0].speciality}
    with sample.subjects.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert len(lines) == len(rows) == 360
    assert all(row["name"] in line["text"] for row, line in zip(rows, lines, strict=True))
    assert ",".join(rows[0]) == (
        "name,patient_id,town,occupation,age,height_cm,weight_kg,systolic_bp,heart_rate,income,length_of_stay,"
        "speciality,diagnosis"
    )


def test_the_files_are_the_same_bytes_on_every_machine(tmp_path):
    sample = write_sample(tmp_path)
    assert hashlib.sha256(sample.letters.read_bytes()).hexdigest() == LETTERS_SHA256
    assert hashlib.sha256(sample.subjects.read_bytes()).hexdigest() == SUBJECTS_SHA256


def test_every_town_and_occupation_has_a_meaning(tmp_path):
    sample = write_sample(tmp_path)
    towns = Hierarchy.from_csv(sample.towns)
    occupations = mappings_of(sample.occupations, ["occupation"])["occupation"]
    wordnet = WordNet()
    for subject in subjects():
        assert towns.senses(subject.town)
        assert wordnet.senses(occupations.get(subject.occupation, subject.occupation))


def test_a_wording_settles_choices_within_choices():
    assert {Chance(seed).wording("[a [red|blue] hat|no hat]") for seed in range(40)} == {
        "a red hat",
        "a blue hat",
        "no hat",
    }


def test_some_takes_one_option_or_two_in_their_order():
    drawn = [tuple(Chance(seed).some("abc", second=0.5)) for seed in range(200)]
    assert set(drawn) == {("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")}
