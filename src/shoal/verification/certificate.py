"""certificate.json as each format has it: exact keys, exact types, nothing else. See docs/certificate.md."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from shoal.language import LANGUAGES
from shoal.results.stated import is_worded, worded, worded_parameters
from shoal.verification.copies import COPIES
from shoal.verification.release_files import Refused, ReleaseFolder

CERTIFICATE = "certificate.json"
MOST_ENTRIES = 50  # of attacks and of reasons why records are withheld
LARGEST = 4_000_000  # bytes; a release of ten thousand parts has a certificate of two million
LARGEST_NUMBER = 2**53  # whole numbers that every reader of JSON has exactly
LONGEST_TEXT = 1_000  # characters, of a column's name or label

Rule = Callable[[Any, str], None]  # looks at a value of the certificate and its place; raises Unfit


class Unfit(ValueError):
    """A value that its place does not allow."""

    def __init__(self, place: str, needed: str) -> None:
        super().__init__(f"{place} must be {needed}")


def text(value: Any, place: str) -> None:
    if type(value) is not str or len(value) > LONGEST_TEXT:
        raise Unfit(place, f"text of at most {LONGEST_TEXT:,} characters")


def wording(value: Any, place: str) -> None:
    if type(value) is not str or worded(value) != value:
        raise Unfit(place, "worded by Shoal")


def version_number(value: Any, place: str) -> None:
    if type(value) is not str or not re.fullmatch(r"\d{1,4}(\.\d{1,4}){1,3}(\.?(a|b|rc|post|dev)\d{0,4}){0,2}", value):
        raise Unfit(place, "the number of a version")


def anything(value: Any, place: str) -> None:
    """What another rule looks at."""


def boolean(value: Any, place: str) -> None:
    if type(value) is not bool:
        raise Unfit(place, "true or false")


def number(value: Any, place: str) -> None:
    if type(value) not in (int, float) or not abs(value) < 1e300:
        raise Unfit(place, "a number")


def above(limit: float) -> Rule:
    def rule(value: Any, place: str) -> None:
        number(value, place)
        if not value > limit:
            raise Unfit(place, f"a number above {limit}")

    return rule


def whole(least: int) -> Rule:
    def rule(value: Any, place: str) -> None:
        if type(value) is not int or not least <= value <= LARGEST_NUMBER:
            raise Unfit(place, f"a whole number of at least {least}")

    return rule


def one_of(*allowed: str) -> Rule:
    def rule(value: Any, place: str) -> None:
        if value not in allowed or type(value) is not str:
            raise Unfit(place, " or ".join(map(repr, allowed)))

    return rule


def digest(value: Any, place: str) -> None:
    if type(value) is not str or not re.fullmatch("[0-9a-f]{64}", value):
        raise Unfit(place, "a SHA-256 in hexadecimal")


def or_null(rule: Rule) -> Rule:
    return lambda value, place: None if value is None else rule(value, place)


def each(rule: Rule) -> Rule:
    def of_all(value: Any, place: str) -> None:
        if type(value) is not list:
            raise Unfit(place, "a list")
        for number, one in enumerate(value):
            rule(one, f"{place}[{number}]")

    return of_all


def either(one: Rule, other: Rule) -> Rule:
    """What fits one of two rules."""

    def rule(value: Any, place: str) -> None:
        try:
            one(value, place)
        except Unfit:
            other(value, place)

    return rule


def by_name(rule: Rule) -> Rule:
    def of_all(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise Unfit(place, "an object")
        for name, one in value.items():
            rule(one, f"{place}.{name[:40]}")

    return of_all


def fields(rules: Mapping[str, Rule], may: Mapping[str, Rule] | None = None) -> Rule:
    """An object with exactly these keys; those in `may` can be absent."""
    known = {**rules, **(may or {})}

    def rule(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise Unfit(place, "an object")
        for name in value:
            if name not in known:
                raise Unfit(_below(place, name[:40]), "absent: it is not known")
        for name, of_field in known.items():
            if name in value:
                of_field(value[name], _below(place, name))
            elif name in rules:
                raise Unfit(_below(place, name), "there")

    return rule


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


_DIVERSITY: dict[str, Rule] = {
    "column": text,
    "least": whole(0),
    "single_valued_groups": whole(0),
    "groups": whole(1),
    "values": whole(0),
}
_DIVERSITY_COLUMN = fields(_DIVERSITY, {"equally_frequent": number, "ratio": number})
_PROMISES: dict[str, Rule] = {
    "form": or_null(one_of("pooled counts, tf-idf", "pooled counts, tf")),
    "rows": whole(1),
    "columns": each(
        fields(
            {"name": text, "role": one_of("quasi", "confidential", "insensitive", "weight", "unit"), "type": text},
            {"gaps": whole(1)},  # of protected numbers: rows in which a gap stands for the group
        )
    ),
    "anonymity": fields(
        {
            "k": or_null(whole(2)),
            "whole_rows": boolean,
            "shared_columns": each(each(text)),
            "smallest_group": whole(1),
        }
    ),
    "diversity": fields(
        {"l": or_null(above(1)), "columns": each(_DIVERSITY_COLUMN)},
        {"kind": one_of("entropy", "recursive"), "c": above(0)},
    ),
}
# What is promised only where it was asked for.
_ASKED_FOR: dict[str, Rule] = {
    "closeness": fields({"t": number, "columns": each(fields({"column": text, "t": number, "ordered": boolean}))}),
    "likeness": fields({"bound": number, "columns": each(fields({"column": text, "gain": number}))}),
    "unit": one_of("household"),
    "crowds": each(
        fields({"groups": whole(1), "rows": whole(1), "people": or_null(whole(1)), "own_k": or_null(whole(1))})
    ),
}

_LANGUAGE: dict[str, Rule] = {"language": one_of(*LANGUAGES[1:])}  # of the pages; absent: English
_STATED: dict[str, Rule] = {
    "method": wording,
    "parameters": by_name(anything),
    "report": fields(
        {"attacked": boolean, "files": each(each(text))} | dict.fromkeys(("distances", "figures"), by_name(anything)),
        _LANGUAGE,
    ),
    "sse": or_null(number),
    "ssa": or_null(number),
    "information_loss": or_null(number),
    "loss_range": or_null(fields({"low": number, "high": number, "reason": wording})),
    "loss_of_means": or_null(number),
    "withheld": each(fields({"reason": wording, "count": whole(1)})),
    "above_optimum": or_null(number),
    "linked": or_null(number),
    "attacks": each(
        fields({"about": wording, "n": whole(0), "rate": number, "low": number, "high": number, "baseline": number})
    ),
}

_CODE: Rule = either(number, text)
_COPY = fields(  # of a table, in the format that came in
    {
        "file": one_of(*COPIES),
        "writer": text,
        "dialect": or_null(
            fields({"delimiter": one_of(",", ";", "\t", "|"), "decimal": one_of(".", ","), "encoding": text})
        ),
        "columns": each(
            fields(
                {
                    **dict.fromkeys(("name", "label"), text),
                    **dict.fromkeys(("category", "letters"), boolean),
                    "measure": one_of("", "nominal", "ordinal", "scale"),
                    "values": each(fields({"code": _CODE, "label": text})),
                    "missing": each(fields({"first": _CODE, "last": _CODE})),
                }
            )
        ),
    }
)
_VISIBLE = each(fields({"column": text, "value": text, "rows": whole(2)}))  # values that keep their share
_PROMISES_OF_SKETCHES = _PROMISES | {
    "form": one_of("crowd sketches", "delta sketches", "k-variance sketches"),
    "lengths": fields({"shortest": whole(1), "longest": whole(1)}),
}
_STATED_OF_RECORDS = fields(_STATED)

_PROMISES_OF_SANITIZED: dict[str, Rule] = {
    "documents": whole(1),
    "form": one_of("text", "html", "docx", "pdf"),
    "style": one_of("numbered", "category", "general"),
    "scope": one_of("document", "collection"),
    "pseudonyms": by_name(whole(0)),
    "removed": whole(0),
    "log": fields({"decisions": whole(0), "head": digest}),
    "vault": digest,
}
_TEXT_ATTACKERS = ("words", "pairs", "characters", "topics", "linear", "search")
_STATED_OF_SANITIZED = fields(
    {"model": wording, "policy": wording, "threshold": number, "hidden_share": or_null(number), "dial": each(anything)}
    | {"masked": by_name(fields({"entities": whole(0), "places": whole(1)}))}
    | {name: whole(0) for name in ("blocks", "kept", "reviewers", "unseen", "rejected", "withheld")},
    _LANGUAGE
    | {
        "reidentification": fields(
            {"asked": number, "k": whole(1), "people": whole(2), "attacker": one_of(*_TEXT_ATTACKERS)}
            | {name: or_null(number) for name in ("before", "after", "low", "high", "worst")}
            | {name: or_null(whole(0)) for name in ("words", "shown")}
        )
    },
)


def _content(kinds: Mapping[str, tuple[Rule, Rule]]) -> Rule:
    """A certificate of one of these kinds, each with promises and statements of its own."""

    of_all = fields(
        {
            "format": text,
            "kind": one_of(*kinds),
            "promises": by_name(anything),
            "stated": by_name(anything),
            # A library drew the charts before 0.2.
            "versions": fields(dict.fromkeys(("shoal", "python", "numpy"), version_number), {"charts": version_number}),
            "files": by_name(fields({"sha256": digest, "bytes": whole(0)})),
            "seal": digest,
        }
    )

    def rule(content: Any, place: str) -> None:
        of_all(content, place)
        promises, stated = kinds[content["kind"]]
        promises(content["promises"], "promises")
        stated(content["stated"], "stated")

    return rule


FORMAT = "shoal-certificate/3"
OLDER = ("shoal-certificate/1", "shoal-certificate/2")
CONTENT = _content(
    {
        "documents": (fields(_PROMISES, _ASKED_FOR), _STATED_OF_RECORDS),
        "sanitized": (fields(_PROMISES_OF_SANITIZED), _STATED_OF_SANITIZED),
        "sketches": (fields(_PROMISES_OF_SKETCHES, _ASKED_FOR), _STATED_OF_RECORDS),
        "table": (fields(_PROMISES, {**_ASKED_FOR, "copy": _COPY, "visible": _VISIBLE}), _STATED_OF_RECORDS),
    }
)


def read_certificate(release: ReleaseFolder) -> dict[str, Any]:
    """The certificate, with exactly the fields of its format."""

    def refused(detail: str) -> Refused:
        return Refused("certificate", detail, CERTIFICATE)

    raw = release.read(CERTIFICATE, LARGEST)
    try:
        content = json.loads(raw)
        written = dump(content)
    except (ValueError, RecursionError):
        raise refused("the certificate is not the JSON that Shoal writes; it was changed") from None
    format = content.get("format") if type(content) is dict else None
    if format in OLDER:
        raise refused("the release was made by an older version of Shoal; make it anew")
    if format != FORMAT:
        raise refused(f"this version of Shoal reads {FORMAT}; take a version that reads the one given")
    try:
        CONTENT(content, "")
        _check_names(content["promises"])
        _check_words(content["promises"], content["stated"])
    except Unfit as unfit:
        raise refused(f"the certificate is not as its format has it: {unfit}") from None
    if raw != written:
        raise refused("the certificate is not written as Shoal writes it; it was changed")
    return dict(content)


def is_sealed(content: Mapping[str, Any]) -> bool:
    """Whether the seal is that of the content."""
    rest = {key: value for key, value in content.items() if key != "seal"}
    return bool(content["seal"] == hashlib.sha256(dump(rest)).hexdigest())


def _check_words(promises: Mapping[str, Any], stated: Mapping[str, Any]) -> None:
    """No text is free: those that are stated are names of columns, or worded by Shoal."""
    columns = {column["name"] for column in promises.get("columns", ())}
    parameters = stated.get("parameters", {})
    if worded_parameters(parameters, columns) != parameters:
        raise Unfit("stated.parameters", "known names with numbers, names of columns or wordings of Shoal")
    if any(type(entry) is list and len(entry) > MOST_ENTRIES for entry in stated.values()):
        raise Unfit("stated", f"without a list of more than {MOST_ENTRIES} entries")
    if "report" in stated and not is_worded(stated["report"], columns):
        raise Unfit("stated.report", "without a text that is not worded by Shoal")


def _check_names(promises: Mapping[str, Any]) -> None:
    names = [column["name"] for column in promises.get("columns", ())]
    if len(set(names)) < len(names):
        raise Unfit("promises.columns", "columns of different names")


def dump(content: Any) -> bytes:
    """The one way a certificate is written."""
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
