"""What a column is, by its content and its name: the kind, and the reason in words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import NUMBER, all_match, any_match, is_gap, is_text, plain, thousands_mark
from shoal.data.kinds.dates import FORMS, PIVOT, PLAIN_DIGITS, fitting_forms, month_number
from shoal.data.roles import Kind

Ints = NDArray[np.int64]
_WORDS = re.compile(r"[a-z]+|\d+")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


YEAR = _words("year yr yob birthyear birthyr jahr geburtsjahr annee ano anio")
PERSON = _words(
    "id ids uuid guid ssn pid mrn passport nhs dni nif curp case caseid patient patientid personid persid idperson "
    "respondent respid idind indid idno pidp subject pseudonym fallnummer patientennummer matricule expediente "
    "taxpayer pupil student upn"
)
_OF_A_PERSON = re.compile("(pat|patient|pers|person|fall|case|resp|subj|ind|cust|member|kunden)(id|nr|no|num|nummer)")
HOUSEHOLD = _words(
    "hh hhid hidp hhno hhnr hhnum hhnumber household householdid haushalt haushaltsnr hogar idhogar vivienda menage "
    "idmen foyer famid dwelling"
)
NUMBERING = _words("id no nr num number key nummer numero code seq idx index serial")
SERIAL = _words("key nr no number row line seq serial index idx lfd folio record recno")

# Digits under these names stand for something: they are never amounts.
CODE = _words(
    "zip zipcode postcode postal plz postleitzahl fips icd iban cp nuts lau insee code codes cod kode schluessel "
    "region regions province provincia prov district distrito county comarca municipality municipio gemeinde kreis "
    "commune canton dep departement departamento dept department bundesland land state estado country pais psu ssu "
    "cluster clusterno stratum strata estrato strate schicht ea segment isco isic isced nace naics sic soc occ "
    "occupation occup ocupacion beruf cpc industry branche sector drg ops atc ccs snomed ward hospital clinic school "
    "centre center site facility practice station unit team "
    "schule ecole colegio centro group grp gruppe groupe grupo class klasse classe cat category band type typ tipo "
    "status nationality nacionalidad citizenship tract religion ethnicity race language sprache langue idioma "
    "interviewer wave welle flag"
)

# Whole numbers under these names are amounts, if they reach beyond what codes do.
AMOUNT = _words(
    "age alter edad hours hrs stunden heures horas days tage jours dias weeks months years minutes income wage salary "
    "height cm kg bmi points pressure"
)
BEYOND_CODES = 12

PEOPLE = _words(
    "name surname firstname lastname forename email mail phone telephone mobile fax tel telefon mobil handy nachname "
    "vorname nom prenom nombre apellido apellidos ssn passport iban address street strasse adresse direccion uuid "
    "guid mrn url ip account plate gps latitude longitude lat lon lng"
)
KNOWN_ELSEWHERE = _words(
    "age sex gender birth born birthday birthdate dob yob zip zipcode postcode postal plz city town county region "
    "state country nationality race ethnicity marital status education edu job occupation profession work workclass "
    "height household family relationship hours language date year admission discharge district alter geschlecht "
    "geburt beruf edad sexo nacimiento naissance sexe"
)
WANTED = _words(
    "diagnosis disease illness condition icd treatment drug medication test result income salary wage pay debt credit "
    "score religion party vote crime offence hiv cancer pregnant disability capital wealth charge cost costs diagnose "
    "krankheit einkommen gehalt diagnostic maladie revenu salaire enfermedad ingreso ingresos renta lohn tax steuer "
    "impot impuesto grade diag hba1c"
)

# Names of survey programs that no word explains: DHS, EU-SILC; their clusters and strata.
_PROGRAM_WEIGHT = re.compile(r"[hm]?v005|d005|[dhrp]b0[4-9]0")
_DESIGN = re.compile(r"[hm]?v0(01|02|04|21|22|23)|[a-z]*(psu|stra|strat|strata|stratum|clust|cluster)")
_WEIGHT = re.compile(
    r"^(w|xw|lw|i?pond[a-z]*|wt|wgt|wts|weights?|gew|gewicht|gewichtung|hochrechnung\w*|hrf|pond\w*|poids|peso|pesos|factor|facteur|fexp\w*"
    r"|fac|coef|coeff|expansion|elevacion|extrapol\w*|calibrated|[a-z]{0,5}(wgt|wght|weight|wt|pond|peso|factor)"
    r"|(wt|wgt|weight|gew|pond|peso|pw|fw|dw)[a-z]{1,6})$"
)
_WEIGHS_BODIES = _words("drg kg lb lbs g grams gram birth body koerper korper baby nacer bmi")
_AMBIGUOUS = _words("weight weights gew gewicht peso pesos poids wt w factor fac coef")
_OF_A_SAMPLE = _words(
    "survey sample sampling design final person pers household hh cross longitudinal grossing norm pop population "
    "expansion stichprobe muestra muestral sondage base annual quarterly"
)


def words_of(name: str) -> set[str]:
    """The words that a column's name is made of: birthYear and birth_year are birth and year."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    return set(_WORDS.findall(re.sub(r"([a-z])([A-Z])", r"\1 \2", plain).lower()))


def names_wanted(name: str) -> bool:
    """Whether a column is called like what an intruder wants to learn, also in one word: nettoeinkommen."""
    words = words_of(name) | {word.removesuffix("s") for word in words_of(name)}
    joined = words - KNOWN_ELSEWHERE  # discharge is no charge
    return bool(words & WANTED) or any(word.endswith(long) for word in joined for long in WANTED if len(long) > 5)


def names_weight(name: str) -> bool | None:
    """Whether a column is called like a sampling weight; None where bodies are weighed under that name, too."""
    words = words_of(name)
    if _PROGRAM_WEIGHT.fullmatch(name.lower().rpartition("_")[2]):
        return True
    called = {word for word in words if _WEIGHT.match(word)}
    if not called or words & _WEIGHS_BODIES:
        return False
    return True if called - _AMBIGUOUS or words & _OF_A_SAMPLE else None


def names_household(name: str) -> bool:
    """Whether a column is called like the number of a household."""
    words = words_of(name)
    joined = "".join(sorted(words))
    return bool(words & HOUSEHOLD) and (
        len(words) == 1 or bool(words & NUMBERING) or any(word.isdigit() for word in words) or joined in HOUSEHOLD
    )


def names_person(name: str) -> bool:
    """Whether a column is called like the number of a person or a case."""
    words = words_of(name)
    if any(_OF_A_PERSON.fullmatch(word) for word in words):
        return True
    return bool(words & PERSON) and (len(words) == 1 or bool(words & (NUMBERING | {"uuid", "ssn", "mrn", "pid"})))


FEW_VALUES = 12  # different whole numbers, which are names unless the owner says that they are amounts
OLDEST = 120  # rows may be in the order of age
IF_AMOUNTS = 'if these are amounts, write kind = "number"'
IF_CODES = 'may be codes, and is averaged: if so, write kind = "code"'
FREQUENT, FEWEST_FREQUENT = 5, 8  # records of a value, and such values, from which on these are compared
FEWEST_RECORDS = 200  # from which on a verdict is more than a doubt
ENOUGH = 4  # records per value: of few records, all columns have few values
_LEADING_ZERO = r"^\s*[+-]?0\d+\s*$"
_WHOLE = r"^\s*[+-]?\d+\s*$"
_EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_DATED = (
    r"^\s*(\d{4}[-./]\d{1,2}([-./]\d{1,2})?|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,2}[./]\d{4})"
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?\s*$"
)
_SHORT_YEAR = r"^\s*\d{1,2}([-./])\d{1,2}[-./]\d{2}\s*$"  # 31/12/99
_NAMED_MONTH = (  # 31 Dec 1999, 3. März 2019, December 31, 1999, Jan 2020, 2020-Jan, 01JAN2020
    r"^\s*(\d{1,2}[-./ ]{0,2}(de )?\pL{3,10}\.?[-./ ]{0,2}(de )?(\d{2}|\d{4})|\pL{3,10}\.? \d{1,2},? \d{4}"
    r"|\pL{3,10}\.?([-./ ]| de )(\d{2}|\d{4})|\d{4}[- ]\pL{3,10})\s*$"
)
_YES_NO = {"yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "oui", "non", "si", "sí", "sì", "j"}
_SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("none", "primary", "secondary", "tertiary"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("small", "medium", "large"),
    ("never", "former", "current"),
    ("low", "middle", "high"),
    ("junior", "mid", "senior"),
)
_COMPACT = "%Y%m%d"
_WRITTEN = tuple(form for form in FORMS if form not in PLAIN_DIGITS)


@dataclass(frozen=True)
class Recognised:
    """A kind and why; of ordered labels their order, where it is known."""

    kind: Kind
    reason: str
    order: tuple[str, ...] = ()
    certain: bool = True  # if not, `protect` asks the owner to confirm it
    mixed: bool = False  # most texts are numbers: `protect` refuses to take all for categories
    few: bool = False  # a code because it has few different values: in another part of the table it may have more
    note: str = ""  # what to write in the plan if this is wrong


def plain_values(column: Any) -> pa.Array:
    """The different values that are there, dictionaries as their values."""
    values = plain(column).unique()
    if is_text(values.type):
        values = values.cast(pa.large_string())
        return values.filter(pc.invert(is_gap(values)))
    return values.drop_null()


def recognise(name: str, column: Any) -> Recognised:
    """The kind of a column (all of it or a sample), as `protect` takes it unless it is given."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _of_dictionary(column)
    if pa.types.is_boolean(kind):
        return Recognised(Kind.YES_NO, "holds true and false")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Recognised(Kind.DATE, f"is stored as {kind}")
    if pa.types.is_nested(kind):
        return Recognised(Kind.LABEL, "holds lists or records, which no release of a table has")
    values = plain_values(column)
    if not len(values):
        return Recognised(Kind.LABEL, "holds no value")
    n_given = len(column) - column.null_count
    if pa.types.is_integer(kind):
        return _of_wholes(name, values, n_given, column)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64(), safe=False).to_numpy()
        finite = numbers[np.isfinite(numbers)]
        if len(finite) and np.all(finite == np.rint(finite)) and np.abs(finite).max() < 2**53:
            return _of_wholes(name, pa.array(finite.astype(np.int64)), n_given, column)
        doubted = not words_of(name) & AMOUNT and _are_codes(column) is not False
        return Recognised(Kind.NUMBER, "holds numbers with decimals", note=IF_CODES if doubted else "")
    if is_text(kind):
        return _of_text(name, values, n_given)
    return Recognised(Kind.LABEL, f"is stored as {kind}")


def _of_dictionary(column: Any) -> Recognised:
    values = column.type.value_type
    if column.type.ordered:
        chunk = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        return Recognised(Kind.ORDERED, "is an ordered categorical", tuple(map(str, chunk.dictionary.to_pylist())))
    if is_text(values):
        return Recognised(Kind.LABEL, "is a categorical: its values are categories")
    return Recognised(Kind.CODE, "is a categorical: its numbers are names of categories")


def _are_codes(column: Any) -> bool | None:
    """Whether numbers with two decimals at most are codes, by how often each occurs; None: perhaps.

    A number nearly as large as another one, and as round, is nearly as frequent, if they measure something. Codes are
    not: frequent ones stand beside rare ones and beside numbers that nobody has; and they do not thin out at the ends.
    """
    numbers = plain(column).cast(pa.float64(), safe=False).drop_null().to_numpy()
    scaled = numbers[np.isfinite(numbers)] * (1 if np.all(numbers == np.rint(numbers)) else 100)
    if not len(scaled) or np.abs(scaled).max() >= 2**53 or np.any(np.abs(scaled - np.rint(scaled)) > 1e-6):
        return False
    values, counts = np.unique(np.rint(scaled).astype(np.int64), return_counts=True)
    n_digits = np.char.str_len(np.abs(values).astype(str))
    frequent = counts >= FREQUENT
    of_others = counts.sum() - counts.max()  # many a column has one value that most records have, such as 0
    if frequent.sum() < FEWEST_FREQUENT or 2 * (counts[frequent].sum() - counts.max()) < of_others:
        alike = n_digits.min() == n_digits.max() >= 4 and values[0] > 0 and bool(np.all(scaled == numbers))
        return None if alike else False
    roughness = _roughness(values, counts, frequent)
    at_ends = min(counts[:2].mean(), counts[-2:].mean()) / np.median(counts[frequent])
    like_codes = np.ptp(n_digits) < 2 or len(values) >= 0.4 * (values[-1] - values[0] + 1)
    rough = roughness >= 0.6 or (roughness >= 0.15 and at_ends >= 0.3)
    if rough and like_codes and len(scaled) >= FEWEST_RECORDS:
        return True
    return None if rough or roughness >= 0.25 or at_ends >= 0.5 else False


def _roughness(values: Ints, counts: Ints, frequent: NDArray[np.bool_]) -> float:
    """By how much the counts of frequent values differ from those of their neighbours, in logarithms, beyond chance."""
    for step in (1000, 500, 250, 100, 50, 25, 20, 10, 5, 4, 2, 1):  # of which nearly all are multiples
        remainder = np.bincount(values[frequent] % step).argmax()
        if np.mean(values[frequent] % step == remainder) >= 0.95:
            break
    on_grid = values % step == remainder
    values, counts = values[on_grid] // step, counts[on_grid]
    frequent_values, own = values[counts >= FREQUENT], counts[counts >= FREQUENT]
    distance = _roundness(frequent_values)  # 30 is compared with 20 and 40, 31 with 29 and 33
    of_neighbours = np.full((2, len(own)), np.nan)
    for side, sign in enumerate((-1, 1)):
        neighbour = frequent_values + sign * distance
        neighbour = np.where(_roundness(neighbour) > distance, neighbour + sign * distance, neighbour)
        place = np.minimum(np.searchsorted(values, neighbour), len(values) - 1)
        inside = (neighbour >= values[0]) & (neighbour <= values[-1])
        of_neighbours[side, inside] = np.log(np.where(values[place] == neighbour, counts[place], 0) + 0.5)[inside]
    has_any = ~np.isnan(of_neighbours).all(axis=0)
    own, log_mean = own[has_any], np.nanmean(of_neighbours[:, has_any], axis=0)
    by_chance = 0.67 * np.sqrt(1 / own + 1 / (2 * np.exp(log_mean)))
    return float(np.median(np.maximum(np.abs(np.log(own + 0.5) - log_mean) - by_chance, 0.0)))


def _roundness(values: Ints) -> Ints:
    """The largest of 2, 5, 10, 20, ... that divides each, if it is no larger than its first digit."""
    roundness = np.ones(len(values), dtype=np.int64)
    for step in (2, 5, 10, 20, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000):
        roundness[values % step == 0] = step
    size = 10 ** np.floor(np.log10(np.maximum(np.abs(values), 1))).astype(np.int64)
    return np.minimum(roundness, size)


def _of_wholes(name: str, values: pa.Array, n_given: int, column: Any) -> Recognised:
    words = words_of(name)
    lowest, highest = int(pc.min(values).as_py()), int(pc.max(values).as_py())
    unique = len(values) == n_given >= 20
    several = len(values) > FEW_VALUES or len(values) == n_given > 1
    if several and (names_household(name) or names_person(name)):
        if unique:
            return Recognised(Kind.IDENTIFIER, "a different whole number for every record")
        return Recognised(Kind.CODE, "is called like an identifier: such digits are names, not amounts")
    if words & YEAR and lowest >= 1000 and highest <= 2999:
        return Recognised(Kind.DATE, "holds years")
    if words & CODE or _DESIGN.fullmatch(name.lower()):
        return Recognised(Kind.CODE, "is called like a code: such digits are names, not amounts")
    of_our_time = lowest >= 1800_01_01 and highest <= 2199_12_31
    if of_our_time and len(values) > 1 and fitting_forms(values.cast(pa.int64()).cast(pa.large_string()), [_COMPACT]):
        return Recognised(Kind.DATE, f"holds dates written as {_COMPACT}")
    counting = n_given >= 100 and highest - lowest == n_given - 1
    if unique and (words & SERIAL or counting):
        return Recognised(Kind.IDENTIFIER, "a different whole number for every record")
    if len(values) <= FEW_VALUES:
        return _of_few(words, len(values), n_given, highest)
    if numbers_in_runs(values) and not words & AMOUNT and n_given >= 100:
        if unique:
            return Recognised(Kind.IDENTIFIER, "a different whole number for every record, in the order of the rows")
        of_several = 5 * len(values) <= 4 * n_given  # else the rows may be in the order of an amount
        if of_several and (highest > OLDEST or (lowest == 1 and highest == len(values))):
            reason = "holds numbers that rise with the rows, as those of units do"
            return Recognised(Kind.CODE, reason, few=True, note=IF_AMOUNTS)
    if unique:
        reason = "holds a different whole number for every record: if it names the record, drop it"
        return Recognised(Kind.WHOLE, reason)
    are_codes = False if words & AMOUNT else _are_codes(column)
    if are_codes:
        reason = "holds numbers that are not as frequent as those beside them, as codes are"
        return Recognised(Kind.CODE, reason, note=IF_AMOUNTS)
    return Recognised(Kind.WHOLE, "holds whole numbers", note=IF_CODES if are_codes is None else "")


def numbers_in_runs(values: pa.Array) -> bool:
    """Whether the different values come in rising order, as they do where rows are numbered."""
    first_seen = values.to_numpy(zero_copy_only=False)
    return bool(np.all(first_seen[1:] > first_seen[:-1]))


def _of_few(words: set[str], different: int, n_given: int, highest: int) -> Recognised:
    if different == 1:
        return Recognised(Kind.WHOLE, "holds one whole number, the same for every record")
    if ENOUGH * different > n_given:
        return Recognised(Kind.WHOLE, "holds whole numbers")
    if words & AMOUNT and highest > BEYOND_CODES:
        return Recognised(Kind.WHOLE, f"holds only {different} different whole numbers, and is called like an amount")
    reason = f"holds only {different} different whole numbers, which may be names: if they are amounts, say number"
    return Recognised(Kind.CODE, reason, few=True, note=IF_AMOUNTS)


def _of_text(name: str, values: pa.Array, n_given: int) -> Recognised:
    if all_match(values, NUMBER):
        return _of_digits(name, values, n_given)
    folded = {value.strip().lower() for value in values.to_pylist()} if len(values) <= 20 else set()
    if len(folded) in (1, 2) and folded <= _YES_NO:
        return Recognised(Kind.YES_NO, "holds yes and no, in whatever words")
    if _half(values, _DATED):
        forms = fitting_forms(values, _WRITTEN)
        reason = f"holds dates written as {forms[0].spelling}" if forms else "holds dates, but not all in one form"
        return Recognised(Kind.DATE, reason)
    if all_match(values, _SHORT_YEAR) or (all_match(values, _NAMED_MONTH) and _name_months(values)):
        forms = fitting_forms(values, _WRITTEN)
        written = f"written as {forms[0].spelling}{_pivot(forms[0].spelling)}" if forms else "but not all in one form"
        return Recognised(Kind.DATE, f"holds dates {written}")
    if any(thousands_mark(values, decimal) is not None for decimal in ".,"):
        reason = "holds numbers with signs such as % or $, or marks between thousands, which are left out"
        return Recognised(Kind.NUMBER, reason, certain=False)
    if words_of(name) & CODE and any_match(values, NUMBER) and 2 * len(values) <= n_given:
        return Recognised(Kind.CODE, "is called like a code: such values are names")
    if any_match(values, _LEADING_ZERO) and 2 * len(values) <= n_given:
        return Recognised(Kind.CODE, "holds digits with leading zeros: names, not amounts")
    if _half(values, NUMBER):
        astray = len(values) - int(pc.sum(pc.match_substring_regex(values, NUMBER)).as_py())
        several = "value is none" if astray == 1 else "different values are none"
        reason = f"holds numbers, but {astray} {several}: correct that, or say what they are"
        return Recognised(Kind.LABEL, reason, mixed=True)
    if n_given >= 20 and all_match(values, _EMAIL):
        return Recognised(Kind.IDENTIFIER, "holds addresses of people")
    n_words = float(pc.mean(pc.count_substring(values, " ")).as_py()) + 1.0
    if n_words > 4.0 and len(values) > min(0.5 * n_given, max(50.0, 0.1 * n_given)):
        return Recognised(Kind.TEXT, f"holds sentences, {n_words:.0f} words on average, few of them alike")
    if n_given >= 20 and len(values) > 0.9 * n_given:
        return Recognised(Kind.IDENTIFIER, "nearly every record has a text of its own")
    for scale in _SCALES:
        if len(folded) > 2 and folded <= set(scale):
            spelt = {value.strip().lower(): value for value in values.to_pylist()}
            order = tuple(spelt[value] for value in scale if value in folded)
            return Recognised(Kind.ORDERED, "holds the steps of a scale", order)
    if _half(values, r"\d") and not any_match(values, NUMBER) and 2 * len(values) <= n_given:
        return Recognised(Kind.CODE, "holds digits among its letters, and each value several times", certain=False)
    if 2 * len(values) > n_given >= 20:
        return Recognised(Kind.LABEL, "holds texts, most of them for one or two records")
    return Recognised(Kind.LABEL, "holds words, each of them for several records")


def _name_months(values: pa.Array) -> bool:
    """Whether the words in all texts are names of months."""
    words = pc.struct_field(pc.extract_regex(values, r"(?P<word>\pL{3,10}\.?)"), "word")
    return all(month_number(word) for word in words.unique().to_pylist())


def _pivot(spelling: str) -> str:
    """What years of two digits are taken for."""
    return f": years 00 to {PIVOT - 1} are taken as 20.., {PIVOT} to 99 as 19.." if "%y" in spelling else ""


def _of_digits(name: str, values: pa.Array, n_given: int) -> Recognised:
    """Digits that were kept as text: leading zeros, long numbers, or a column that is text by its type."""
    unique = len(values) == n_given >= 20
    if len(values) > 1 and fitting_forms(values, [_COMPACT]) and all_match(values, r"^\s*(1[89]|2[01])"):
        return Recognised(Kind.DATE, f"holds dates written as {_COMPACT}")
    if any_match(values, _LEADING_ZERO):
        if unique:
            return Recognised(Kind.IDENTIFIER, "a different string of digits for every record")
        return Recognised(Kind.CODE, "holds digits with leading zeros: names, not amounts")
    if not all_match(values, _WHOLE):
        return Recognised(Kind.NUMBER, "holds numbers with decimals, stored as text")
    if unique:
        return Recognised(Kind.IDENTIFIER, "a different string of digits for every record")
    several = 2 * len(values) <= n_given
    return Recognised(Kind.CODE, "holds digits that are stored as text: names, not amounts", certain=several)


def _half(values: pa.Array, pattern: str) -> bool:
    return 2 * (pc.sum(pc.match_substring_regex(values, pattern)).as_py() or 0) >= len(values)
