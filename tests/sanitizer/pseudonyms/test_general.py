"""What is more general says less, and never the name."""

from __future__ import annotations

import pytest

from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.pseudonyms import pseudonyms_of


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("PROFESSION", "cardiologist", "a specialist"),
        ("PROFESSION", "physician", "a medical practitioner"),
        ("PROFESSION", "software engineer", "an engineer"),
        ("PROFESSION", "anselm", "a professional"),  # a name: "a bishop" would tell whose
        ("PROFESSION", "cummings", "a professional"),  # WordNet has E. E. Cummings in small letters, too
        ("PROFESSION", "mason", "a craftsman"),  # also the name of two people
        ("ORG", "University of Girona", "a university"),
        ("ORG", "Tarragona General Hospital", "a hospital"),
        ("ORG", "Imagine Inc.", "a company"),
        ("ORG", "Zyx", "an organisation"),
        ("LOC", "Lyon", "a city in France"),
        ("LOC", "Paris", "a city in France"),  # "the capital of France" would be its name
        ("LOC", "New York", "a place"),  # "a city in New York" would be, too
        ("LOC", "Zyxtown", "a place"),
        ("DATE", "3 May 2009", "a day in 2009"),
        ("DATE", "May 3rd, 2009", "a day in 2009"),
        ("DATE", "2009-05-03", "a day in 2009"),
        ("DATE", "03/05/2009", "a day in 2009"),
        ("DATE", "May 2009", "2009"),
        ("DATE", "2009", "the 2000s"),
        ("DATE", "the 1980s", "the 20th century"),
        ("DATE", "between 1999 and 2001", "a date"),
        ("DATE", "12:30 on 3 May 2001", "a date"),
        ("DATE", "last Monday", "a date"),
        ("AGE", "43", "40 to 49"),
        ("AGE", "17-year-old", "10 to 19-year-old"),
        ("AGE", "aged 93", "aged 90 or more"),
        ("AGE", "twelve", "an age"),
        ("AGE", "Ann Lee, 43", "an age"),
        ("AGE", "3 months", "an age"),
        ("PERSON", "Ann Lee", "a person"),
    ],
)
def test_an_entity_becomes_more_general(kind: str, name: str, expected: str) -> None:
    entity = Entity(kind, (Mention(0, len(name)),), name, "quasi", 1.0)
    assert pseudonyms_of([[entity]], [name], style="general") == ((expected,),)
