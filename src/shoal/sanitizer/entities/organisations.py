"""Organisations, places and addresses by the words their names are built with; other capitalised names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.candidates import Candidate, Rule, matches
from shoal.sanitizer.entities.names import CAPITALISED
from shoal.terms.lexicon import CLOSED, is_common_word, word_set

# The head word of a name says what sort of organisation it is.
HEADS = {
    "court": "Court Courts Tribunal Tribunals Senate Chamber Magistrates Judiciary",
    "authority": "Ministry Office Authority Directorate Department Agency Board Commission Committee Inspectorate "
    "Administration Registry Treasury Bureau Fund Service Commissioner Secretariat Headquarters Command",
    "government": "Government Parliament Assembly Council Municipality Borough Cabinet Republic Embassy Consulate",
    "prosecution": "Prosecutor Prosecutors Police Gendarmerie Army Forces Brigade Regiment Battalion Division",
    "prison": "Prison Penitentiary Garrison Barracks Remand Custody Detention",
    "school": "University College School Academy Faculty Institute Gymnasium Seminary Conservatory",
    "hospital": "Hospital Clinic Clinique Infirmary Sanatorium Hospice",
    "company": "Ltd Limited Inc Incorporated Corp Corporation Company LLC LLP PLC plc GmbH AG AB AS A/S SA S.A. S.p.A. "
    "BV NV Oy KG Group Holding Holdings Bank Solicitors Associates Partners Records Studios Motors Airlines Railways "
    "Industries Broadcasting Television Press Publishing Publications News Times Media",
    "association": "Association Union Party Foundation Society Federation League Club Church Movement Front Trust "
    "Organisation Organization Chambers Workers Alliance Network Centre Center Museum Theatre Orchestra Band Team",
}
_ALL_HEADS = [word for words in HEADS.values() for word in words.split()]
_HEAD_WORDS = "|".join(sorted(map(re.escape, _ALL_HEADS), key=len, reverse=True))
# On their own these name nobody: "the Court", "the Ministry".
GENERIC = frozenset(word.lower() for word in _ALL_HEADS) | word_set(
    "applicant applicants convention government state president registrar section rules protocol article chamber "
    "application respondent parties case plan act law code constitution king queen director secretary"
)
_S = r"(?:[ \t\u00a0]{1,3}\n?|\n)[ \t\u00a0]{0,3}"
_WORD = rf"(?:{CAPITALISED}(?:['’]s?)?|\d{{1,3}}(?:st|nd|rd|th)|[IVX]{{1,6}}|[A-Z]&[A-Z])"
_LINK = r"(?:of|for|and|on|de|du|des|der|für|zu|the|&|’s|'s)"
_TAIL = rf"(?:\s+{_LINK}(?:\s+(?:the|{_LINK}))?\s+{_WORD}(?:[ \t]{_WORD}){{0,3}})"
_FOREIGN = re.compile(r"\s\((?=[^()\n]*[^\W\d_])(?!(?:the|see|hereinafter|formerly)\b|[“\"])([^()\n]{2,80})\)")
_ORGANISATION = re.compile(
    rf"(?<!\w)(?:{_WORD}{_S}(?:(?:and|of|for)\s+)?){{0,6}}(?<![^\W\d_])(?:{_HEAD_WORDS})(?!\w)(?:['’]s?(?=\s+[A-Z]))?"
    rf"(?:[ \t]{_WORD}){{0,3}}{_TAIL}{{0,4}}"
)
_IN_LOWER_CASE = re.compile(
    rf"\b({CAPITALISED})(?:\s(?:{CAPITALISED}|[a-z]{{1,12}}(?:al|ary|ic)|[A-Z]-type)){{0,2}}\s(?:court|prison|garrison|barracks|hospital|"
    rf"clinic|school|university|cemetery|police|prosecutor|municipality|council|gendarmerie|bank|church|branch|office)\b"
)
_PLACE_HEADS = (
    r"(?:Street|Avenue|Road|Square|Park|Lane|Boulevard|Drive|Bridge|Airport|Station|Island|Islands|River|Lake|Mountains?|Peninsula|"
    r"Valley|Bay|Beach|Village|District|Province|County|Region|Municipality|Harbou?r|Port|Castle|Stadium|Building|Cemetery|Hall)"
)
_PLACES = tuple(
    Rule("LOC", "built", 24, re.compile(pattern))
    for pattern in (
        rf"\b(?:{CAPITALISED}[ \t]){{1,3}}{_PLACE_HEADS}\b",
        rf"\b(?:[Mm]unicipality|[Cc]ounty|[Dd]istrict|[Pp]rovince|[Vv]illage|[Bb]orough|[Cc]ity|[Tt]own|[Rr]egion|[Dd]épartement)\s+of\s+"
        rf"(?:the\s+)?{CAPITALISED}(?:[ \t-]{CAPITALISED}){{0,4}}",
        rf"\b(?:live[sd]?|living|resid(?:es|ed|ing|ent)|practi[sc]ing|born|based|died)\s+in\s+"
        rf"(?P<name>{CAPITALISED}(?:[ \t-]{CAPITALISED}){{0,4}})",
    )
)
_ADDRESSES = tuple(
    Rule("ADDRESS", "address", 7, re.compile(pattern, re.MULTILINE))
    for pattern in (
        rf"\b\d{{1,5}}[A-Za-z]?,?[ \t]+(?:(?!Dear\b){CAPITALISED}[ \t]+){{1,4}}(?:Street|St|Avenue|Ave|Road|"
        rf"Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Square|Sq|"
        rf"Court|Ct|Place|Pl|Way|Terrace|Crescent|Close|Highway|Hwy)\b\.?(?:,?\s+(?:Apt|Suite|Unit|Flat|Floor)\.?\s*#?\w+)?",
        r"\b(?:P\.?\s?O\.?\s+Box|PSC|Unit|Suite|Apt|Apartment|Flat|Ste)\.?\s+#?\d+[\w-]*(?:,?\s+Box\s+\d+)?(?:\s+[AD]PO\s+A[AEP]\s+\d{5})?",
        r"\b[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b",
        r"\b[A-Z]{2}\s+\d{5}(?:-\d{4})?\b",
        r"\b\d{3}\s\d{2}\b(?=\s+[A-ZÀ-Þ])",
    )
)


_NUMBERED_STREET = re.compile(
    rf"\b(?:{CAPITALISED}\s){{0,3}}({CAPITALISED})(?:\s(?:u|ul|utca|út|str|Str)\.)?\s\d{{1,5}}[a-zA-Z]?\.?(?=\s*(?:$|,|\n|Apt|Suite))"
)


def organisation_candidates(text: str) -> Iterator[Candidate]:
    """Organisations, places and addresses of a text whose names follow from their form."""
    for match in _ORGANISATION.finditer(text):
        yield Candidate(match.start(), match.end(), "ORG", "built", 14)
        foreign = _FOREIGN.match(text, match.end())
        if foreign is not None:
            explains = any(
                word.islower() and not is_common_word(word) for word in re.findall(r"[^\W\d_]{4,}", foreign[1])
            )
            yield Candidate(*foreign.span(1), "ORG", "in brackets", 13 if explains else 49)
    for match in _IN_LOWER_CASE.finditer(text):
        if not is_common_word(match.group(1).lower()):
            yield Candidate(match.start(), match.end(), "ORG", "built", 23)
    yield from matches(text, (*_PLACES, *_ADDRESSES))
    for match in _NUMBERED_STREET.finditer(text):
        if not is_common_word(match.group(1).lower()):
            yield Candidate(match.start(), match.end(), "ADDRESS", "numbered", 29)


_RUN = re.compile(
    rf"(?<![\w’'-]){CAPITALISED}(?:(?:[ \t](?:of|the|and|de|du|la|for|in)){{0,2}}[ \t-]{CAPITALISED}){{0,8}}(?!\w)"
)
_BEFORE = re.compile(r"(?:[a-z0-9,;)§]|[a-z]['’]s|[–-])\s+$|[(“\"‘]$")  # the sentence goes on
_QUOTED = re.compile(r"[“\"]([^”\"\n]{2,80})[”\"]")
_ACRONYM = re.compile(
    r"(?<![\w.-])(?:[A-Z]{2,40}+\d?(?:[-/][A-Z\d]{1,20}){0,3}|[A-Z][a-z]?[A-Z]{2,20}\w{0,20})(?![\w.]\w)"
)


def leftover_candidates(text: str) -> Iterator[Candidate]:
    """Runs of capitalised words within sentences, quoted titles and acronyms."""
    for match in _RUN.finditer(text):
        words = re.findall(r"[^\W\d_]+", match.group())
        unusual = [word for word in words if word[0].isupper() and not is_common_word(word.lower())]
        inside = _BEFORE.search(text, max(0, match.start() - 6), match.start()) is not None
        if not (inside or (unusual and len(words) > 1) or len(unusual) > 1):
            continue
        if all(word.lower() in GENERIC or word.lower() in CLOSED for word in words):
            continue
        form = "unusual name" if unusual else "capitals" if len(words) > 1 else "capital"
        yield Candidate(match.start(), match.end(), "MISC", form, 50)
    for match in _QUOTED.finditer(text):
        words = re.findall(r"[^\W\d_]+", match.group(1))
        if words and sum(word[0].isupper() for word in words) * 2 > len(words) and words[0] != "the":
            yield Candidate(match.start(1), match.end(1), "MISC", "quoted", 45)
    for match in _ACRONYM.finditer(text):
        if not is_common_word(match.group().lower()):
            yield Candidate(match.start(), match.end(), "ORG", "acronym", 48)
