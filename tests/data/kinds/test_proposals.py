"""Weights, replicate weights and designs of survey programs: none is averaged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.data.kinds.missing_codes import suspected_codes, without_codes
from shoal.data.roles import Kind, Role

WEIGHTS = [
    *("v005", "hv005", "mv005", "hhweight", "wmweight", "DB090", "RB050", "PB040", "COEFF", "pspwght", "pweight"),
    *("dweight", "W_FSTUWT", "WTMEC2YR", "wtssall", "PWGTP", "PERWT", "HHWT", "IPONDI", "a_indinus_xw"),
]


def survey(**columns: object) -> dict[str, shoal.data.kinds.inspection.ColumnInspection]:
    people = {"age": np.arange(300) % 70 + 15, "sex": np.arange(300) % 2 + 1}
    return {column.name: column for column in shoal.inspect(pd.DataFrame(people | columns)).columns}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_are_known_by_the_names_of_survey_programs(name: str) -> None:
    weights = np.random.default_rng(0).integers(200_000, 3_000_000, 300)
    assert survey(**{name: weights})[name].role is Role.WEIGHT


def test_numbers_that_are_1_on_average_and_have_many_decimals_are_weights_whatever_they_are_called() -> None:
    numbers = np.random.default_rng(0).gamma(6, 1 / 6, 300).round(6)
    assert survey(xyz=(numbers / numbers.mean()).round(6))["xyz"].role is Role.WEIGHT
    assert survey(xyz=numbers * 0.4)["xyz"].role is Role.QUASI


def test_replicate_weights_are_dropped_even_where_some_are_negative() -> None:
    rng = np.random.default_rng(0)
    weight = rng.integers(20, 300, 300)
    replicates = {f"rep{number}": weight + rng.integers(-40, 41, 300) for number in range(1, 11)}
    columns = survey(PWGTP=weight, **replicates)
    assert columns["PWGTP"].role is Role.WEIGHT
    assert {columns[name].role for name in replicates} == {Role.IDENTIFIER}
    assert "a replicate of the sampling weight" in columns["rep1"].reason


def test_a_weight_with_gaps_is_dropped_and_the_reason_says_what_to_write() -> None:
    weights = np.where(np.arange(300) % 50 == 0, np.nan, np.arange(300) + 0.25)
    column = survey(hhweight=weights)["hhweight"]
    assert column.role is Role.IDENTIFIER and 'write role = "weight"' in column.reason


@pytest.mark.parametrize("name", ["v021", "hv022", "SDMVPSU", "SDMVSTRA", "a_psu", "strata"])
def test_clusters_and_strata_are_codes(name: str) -> None:
    assert survey(**{name: np.random.default_rng(0).integers(100, 180, 300)})[name].kind is Kind.CODE


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5], list(range(41))])
def test_88_and_99_beside_a_scale_are_codes_for_missing_values(values: list[int]) -> None:
    assert suspected_codes(pa.array([*values * 20, 88, 88, 99, 99])) == (99, 88)


def test_codes_with_letters_among_their_digits_are_codes() -> None:
    departments = np.array(["01", "2A", "13", "69"])[np.arange(300) % 4]
    assert survey(Département=departments)["Département"].kind is Kind.CODE


def test_a_confidential_amount_that_all_but_names_its_record_is_said_to() -> None:
    incomes = survey(income=np.arange(300) * 17 + 900, salary=np.arange(300) % 20 * 100)
    assert "300 values all but name 300 records" in incomes["income"].reason
    assert incomes["salary"].role is Role.CONFIDENTIAL and "all but name" not in incomes["salary"].reason


def test_numbers_of_members_of_a_household_are_dropped_and_their_relations_are_not() -> None:
    members = np.arange(300) % 3 + 1
    relation = np.where(np.arange(300) % 9 == 8, 2, members)  # in a third of the households two rows have the same
    columns = survey(hhid=np.arange(300) // 3 + 100, pno=members, relation=relation)
    assert (columns["pno"].role, columns["relation"].role) == (Role.IDENTIFIER, Role.QUASI)
    assert "it numbers the members of each hhid: dropped; to release it, write protect" in columns["pno"].reason


def test_a_discharge_is_no_charge() -> None:
    columns = survey(
        discharge=np.arange("2024-01-01", "2024-10-27", dtype="datetime64[D]")[:300],
        surcharge=np.arange(300) % 20 * 100,
    )
    assert (columns["discharge"].role, columns["surcharge"].role) == (Role.QUASI, Role.CONFIDENTIAL)


def test_what_is_built_like_the_number_of_a_person_is_never_protected_by_listing_it() -> None:
    tax_codes = [f"RSSMRA{row // 2:03d}A01H501Z" for row in range(300)]  # two records each
    phones = 3_470_000_000 + np.random.default_rng(0).permutation(300) * 997
    columns = survey(codice_fiscale=tax_codes, cellulare=phones, fortune=(phones % 9_973) ** 2 * 100)
    assert columns["codice_fiscale"].role is Role.PERSON
    assert columns["cellulare"].role is Role.IDENTIFIER and "write protect" in columns["cellulare"].reason
    assert columns["fortune"].role is Role.QUASI


def spread(values: object, p: object = None, n: int = 6000) -> shoal.data.kinds.inspection.ColumnInspection:
    drawn = np.random.default_rng(1).choice(np.asarray(values), n, p=p)
    return shoal.inspect(pd.DataFrame({"V4010": drawn, "sex": np.arange(n) % 2})).columns[0]


def test_codes_under_names_that_say_nothing_are_known_by_their_frequencies() -> None:
    rng = np.random.default_rng(0)
    for codes in (range(1, 181), [a * 1000 + b * 10 + c for a in range(1, 10) for b in (11, 21) for c in (0, 1, 2)]):
        shares = rng.lognormal(0, 0.8, len(codes))
        column = spread(codes, shares / shares.sum())
        assert column.kind is Kind.CODE and 'if these are amounts, write kind = "number"' in column.notes


def test_codes_that_are_equally_frequent_are_averaged_with_a_note() -> None:
    column = spread(range(1, 181))
    assert column.kind is Kind.WHOLE and 'write kind = "code"' in column.notes[0]


def test_heaps_and_spikes_make_no_codes_of_amounts() -> None:
    rng = np.random.default_rng(0)
    pay = rng.lognormal(7.5, 0.6, 6000)
    for amounts in (
        np.where(rng.random(6000) < 0.7, np.rint(pay / 100) * 100, pay),
        np.where(rng.random(6000) < 0.45, 40, rng.normal(38, 12, 6000)),
        np.where(rng.random(6000) < 0.9, 0, rng.integers(1, 400, 6000)),
        rng.gamma(4, 10, 6000),
    ):
        column = shoal.inspect(pd.DataFrame({"V1": np.rint(amounts).astype(int), "sex": np.arange(6000) % 2})).columns[
            0
        ]
        assert column.kind is Kind.WHOLE


def test_a_weight_that_gives_the_region_away_is_named() -> None:
    region = np.arange(300) // 15
    weights = (np.random.default_rng(0).gamma(4, 50, 20).round(4))[region]
    notes = survey(region=region + 101, w=weights)["w"].notes
    assert "it gives region away" in notes[0]


def test_a_word_as_missing_code_of_numbers_is_noted() -> None:
    with pytest.warns(UserWarning, match="holds only numbers, and the code is not one"):
        without_codes(pa.table({"age": [1, 2]}), {"age": ["abc"]}, frozenset())


def test_98_and_99_above_ages_are_codes_and_a_lone_99_is_asked_about() -> None:
    ages = np.random.default_rng(0).integers(0, 97, 3000)
    assert suspected_codes(pa.array([*ages, *[98] * 200, *[99] * 200])) == (99, 98)
    hours = shoal.inspect(pd.DataFrame({"hours": [*ages, 97, 98, *[99] * 300], "sex": np.arange(3302) % 2})).columns[0]
    assert hours.missing_codes == () and "write missing_codes = [99]" in hours.notes[0]


def test_a_rare_9_beyond_contiguous_codes_is_one_for_missing_values_and_so_is_7_beside_9() -> None:
    race = [1] * 450 + [2] * 80 + [3] * 20 + [4] * 430 + [5] * 10 + [9] * 9
    assert suspected_codes(pa.array(race)) == (9,)
    assert suspected_codes(pa.array([1, 2, 3, 4, 7, 9] * 50)) == (9, 7)
    rooms = [1] * 450 + [2] * 280 + [3] * 120 + [4] * 60 + [5] * 30 + [6] * 15 + [9] * 3
    assert suspected_codes(pa.array(rooms)) == ()


def test_of_columns_that_spread_like_weights_only_the_one_with_far_more_decimals_is_one() -> None:
    rng = np.random.default_rng(0)
    measured = {f"x{number}": rng.lognormal(2, 1, 300).round(4) for number in range(1, 4)}
    surveys = [survey(V10=rng.uniform(5, 40, 300), **measured), survey(**measured)]
    assert surveys[0]["V10"].role is Role.WEIGHT
    for columns in (*surveys, survey(crp=measured["x1"], ferritin=measured["x2"])):
        assert {column.role for name, column in columns.items() if name != "V10"} == {Role.QUASI}
        assert any('if it is one, write role = "weight"' in " ".join(column.notes) for column in columns.values())


def test_numbers_that_begin_with_the_digits_of_another_code_are_codes() -> None:
    rng = np.random.default_rng(0)
    state = rng.choice([11, 23, 35, 53], 3000)
    frame = pd.DataFrame({"UF": state, "V2": state * 100_000 + rng.integers(1, 900, 3000), "V9": state * 1000 + 7.5})
    columns = {column.name: column for column in shoal.inspect(frame).columns}
    assert columns["V2"].kind is Kind.CODE and "begins with the digits of UF" in columns["V2"].kind_reason
    assert columns["V9"].kind is Kind.NUMBER


def test_the_number_of_a_household_within_its_cluster_is_dropped_and_the_weight_is_taken_for_no_person() -> None:
    rng = np.random.default_rng(0)
    household = np.repeat(np.arange(150), 4)
    frame = pd.DataFrame(
        {
            "hv001": household // 10 + 101,
            "hv002": household % 10 * 3 + household % 7 + 1,
            "hv005": rng.integers(200_000, 900_000, 150)[household],
            **{name: rng.integers(1, 5, 150)[household] for name in ("water", "floor", "roof")},
            **{name: rng.integers(1, 5, 600) for name in ("sex", "school", "kin")},
        }
    )
    columns = {column.name: column for column in shoal.inspect(frame).columns}
    assert columns["hv002"].role is Role.IDENTIFIER
    assert "together with hv001 it is one number" in columns["hv002"].reason
    assert columns["hv001"].role is Role.QUASI
    assert not any("one person" in note for note in columns["hv005"].notes)
