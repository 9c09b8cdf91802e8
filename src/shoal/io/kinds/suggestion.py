"""A role that would suit a column, and why: a proposal for its owner, who knows what others know."""

from __future__ import annotations

from shoal.io.kinds.recognition import SAYS_WHOSE, words_of
from shoal.io.kinds.vocabulary import Kind
from shoal.io.table import Role

__all__ = ["suggested_role"]

_NAMES_PEOPLE = {
    *("name", "surname", "firstname", "lastname", "forename", "email", "mail", "phone", "telephone", "mobile", "fax"),
    *("tel", "telefon", "mobil", "handy"),
    *("ssn", "passport", "iban", "address", "street", "uuid", "guid", "mrn", "url", "ip", "account", "plate"),
}
_KNOWN_ELSEWHERE = {
    *("age", "sex", "gender", "birth", "born", "birthday", "birthdate", "dob", "yob", "zip", "zipcode", "postcode"),
    *("postal", "plz", "city", "town", "county", "region", "state", "country", "nationality", "race", "ethnicity"),
    *("marital", "status", "education", "edu", "job", "occupation", "profession", "work", "workclass", "height"),
    *("household", "family", "relationship", "hours", "language", "date", "year", "admission", "discharge", "district"),
}
_WANTED = {
    *("diagnosis", "disease", "illness", "condition", "icd", "treatment", "drug", "medication", "test", "result"),
    *("income", "salary", "wage", "pay", "debt", "credit", "score", "religion", "party", "vote", "crime", "offence"),
    *("hiv", "cancer", "pregnant", "disability", "capital", "wealth", "charge", "cost", "costs"),
}


def suggested_role(name: str, kind: Kind, distinct: int, rows: int) -> tuple[Role, str]:
    """The role and the reason in words."""
    words = words_of(name)
    if words & _NAMES_PEOPLE and kind not in (Kind.YES_NO, Kind.NUMBER):
        return Role.IDENTIFIER, "by its name it points at a person: it is dropped"
    if kind is Kind.IDENTIFIER:
        return Role.IDENTIFIER, "one value per record points at the record: it is dropped"
    if kind is Kind.CODE and words & SAYS_WHOSE:
        return Role.IDENTIFIER, "by its name it says whose a record is: dropped; protect --person counts by it"
    if kind is Kind.TEXT:
        return Role.IDENTIFIER, "text can hold names and cannot be averaged: dropped"
    if distinct == 0:
        return Role.IDENTIFIER, "it holds nothing: dropped"
    if words & _WANTED:
        return Role.CONFIDENTIAL, "by its name it is what an intruder wants to learn: released, and watched"
    if words & _KNOWN_ELSEWHERE:
        return Role.QUASI, "by its name others may know it of a person: it is protected"
    if distinct == 1:
        return Role.INSENSITIVE, "the same value for every record tells nobody apart"
    if kind is Kind.DATE:
        return Role.QUASI, "others often know when something happened: it is protected"
    return Role.QUASI, "nothing says that others cannot know it: protected unless you know better"
