"""What the name of a column says of it, in English, German, French, Spanish and the habits of survey files.

Names only propose: what a column holds decides with them, and the owner decides in the end.
"""

from __future__ import annotations

import re
import unicodedata

_WORDS = re.compile(r"[a-z]+|\d+")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


YEAR = _words("year yr yob birthyear birthyr jahr geburtsjahr annee ano anio")
PERSON = _words(
    "id ids uuid guid ssn pid mrn passport nhs dni nif curp case caseid patient patientid personid persid idperson "
    "respondent respid idind indid subject pseudonym fallnummer patientennummer matricule expediente taxpayer pupil "
    "student upn"
)
HOUSEHOLD = _words(
    "hh hhid hhno hhnr hhnum hhnumber household householdid haushalt haushaltsnr hogar idhogar vivienda menage idmen "
    "foyer famid dwelling"
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
    "krankheit einkommen gehalt diagnostic maladie revenu salaire enfermedad ingreso ingresos renta tax steuer impot "
    "impuesto grade diag hba1c"
)

_WEIGHT = re.compile(
    r"^(w|wt|wgt|wts|weights?|gew|gewicht|gewichtung|hochrechnung\w*|hrf|pond\w*|poids|peso|pesos|factor|facteur|fexp\w*"
    r"|fac|coef|coeff|expansion|elevacion|extrapol\w*|calibrated|[a-z]{0,5}(wgt|wght|weight|wt|pond|peso|factor)"
    r"|(wt|wgt|weight|gew|pond|peso|pw|fw|dw)[a-z]{1,6})$"
)
_WEIGHS_BODIES = _words("kg lb lbs g grams gram birth body koerper korper baby nacer bmi")
_AMBIGUOUS = _words("weight weights gewicht peso pesos poids wt w factor fac coef")
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
    words = words_of(name)
    return bool(words & WANTED) or any(word.endswith(long) for word in words for long in WANTED if len(long) > 5)


def names_weight(name: str) -> bool | None:
    """Whether a column is called like a sampling weight; None where bodies are weighed under that name, too."""
    words = words_of(name)
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
    return bool(words & PERSON) and (len(words) == 1 or bool(words & (NUMBERING | {"uuid", "ssn", "mrn", "pid"})))
