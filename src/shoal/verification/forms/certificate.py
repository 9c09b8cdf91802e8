"""certificate.json as each format has it: exact keys, exact types, nothing else. See docs/certificate.md."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.verification.forms.refused import Refused

__all__ = ["CERTIFICATE", "FORMATS", "is_sealed", "read_certificate"]

CERTIFICATE = "certificate.json"
LARGEST = 4_000_000  # bytes; a release of ten thousand parts has a certificate of two million
LARGEST_NUMBER = 2**53  # whole numbers that every reader of JSON has exactly
DEEPEST = 5  # lists in lists, among the parameters

Rule = Callable[[Any, str], None]  # looks at a value and its place; raises Unfit


class Unfit(ValueError):
    """A value that its place does not allow."""

    def __init__(self, place: str, needed: str) -> None:
        super().__init__(f"{place} must be {needed}")


def _text(value: Any, place: str) -> None:
    if type(value) is not str:
        raise Unfit(place, "text")


def _anything(value: Any, place: str) -> None:
    """What another rule looks at."""


def _boolean(value: Any, place: str) -> None:
    if type(value) is not bool:
        raise Unfit(place, "true or false")


def _number(value: Any, place: str) -> None:
    if type(value) not in (int, float) or not abs(value) < 1e300:
        raise Unfit(place, "a number")


def _whole(least: int) -> Rule:
    def rule(value: Any, place: str) -> None:
        if type(value) is not int or not least <= value <= LARGEST_NUMBER:
            raise Unfit(place, f"a whole number of at least {least}")

    return rule


def _one_of(*allowed: str) -> Rule:
    def rule(value: Any, place: str) -> None:
        if value not in allowed or type(value) is not str:
            raise Unfit(place, " or ".join(map(repr, allowed)))

    return rule


def _digest(value: Any, place: str) -> None:
    if type(value) is not str or not re.fullmatch("[0-9a-f]{64}", value):
        raise Unfit(place, "a SHA-256 in hexadecimal")


def _or_null(rule: Rule) -> Rule:
    return lambda value, place: None if value is None else rule(value, place)


def _each(rule: Rule) -> Rule:
    def of_all(value: Any, place: str) -> None:
        if type(value) is not list:
            raise Unfit(place, "a list")
        for number, one in enumerate(value):
            rule(one, f"{place}[{number}]")

    return of_all


def _by_name(rule: Rule) -> Rule:
    def of_all(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise Unfit(place, "an object")
        for name, one in value.items():
            rule(one, f"{place}.{name[:40]}")

    return of_all


def _fields(rules: Mapping[str, Rule], may: Mapping[str, Rule] | None = None) -> Rule:
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


def _plain(value: Any, place: str, depth: int = 0) -> None:
    """A parameter of a method, of which only its maker knows what it is."""
    if type(value) in (list, dict):
        if depth == DEEPEST:
            raise Unfit(place, f"nested at most {DEEPEST} deep")
        for one in value if type(value) is list else value.values():
            _plain(one, place, depth + 1)
    elif value is not None and type(value) not in (str, bool):
        _number(value, place)


_PROMISES: dict[str, Rule] = {
    "rows": _whole(1),
    "columns": _each(_fields({"name": _text, "role": _one_of("quasi", "confidential", "insensitive"), "type": _text})),
    "anonymity": _fields(
        {
            "k": _or_null(_whole(2)),
            "whole_rows": _boolean,
            "shared_columns": _each(_each(_text)),
            "smallest_group": _whole(1),
        }
    ),
    "diversity": _fields(
        {
            "l": _or_null(_whole(2)),
            "columns": _each(
                _fields(
                    {
                        "column": _text,
                        "least": _whole(0),
                        "single_valued_groups": _whole(0),
                        "groups": _whole(1),
                        "values": _whole(0),
                    }
                )
            ),
        }
    ),
}

_STATED: dict[str, Rule] = {
    "method": _text,
    "parameters": _by_name(_plain),
    "sse": _number,
    "ssa": _number,
    "information_loss": _number,
    "withheld": _each(_fields({"reason": _text, "count": _whole(1)})),
}
_STATED_LATER: dict[str, Rule] = {  # what the first certificates of format 1 did not have yet
    "above_optimum": _or_null(_number),
    "linked": _or_null(_number),
    "attacks": _each(
        _fields({"about": _text, "n": _whole(0), "rate": _number, "low": _number, "high": _number, "baseline": _number})
    ),
    "closeness": _each(_fields({"column": _text, "t": _number, "ordered": _boolean})),
}

_PROMISES_2 = _PROMISES | {"form": _or_null(_one_of("pooled counts, tf-idf", "pooled counts, tf"))}
_PROMISES_OF_SKETCHES = _PROMISES | {
    "form": _one_of("crowd sketches", "delta sketches", "k-variance sketches"),
    "lengths": _fields({"shortest": _whole(1), "longest": _whole(1)}),
}
_STATED_2: dict[str, Rule] = {
    "sse": _or_null(_number),
    "ssa": _or_null(_number),
    "information_loss": _or_null(_number),
    "loss_range": _or_null(_fields({"low": _number, "high": _number, "reason": _text})),
    "loss_of_means": _or_null(_number),
}


def _format(promises_of: Mapping[str, Mapping[str, Rule]], stated: Rule) -> Rule:
    """A certificate of one of these kinds, each with promises of its own."""

    fields = _fields(
        {
            "format": _text,
            "kind": _one_of(*promises_of),
            "promises": _by_name(_anything),
            "stated": stated,
            "versions": _fields({"shoal": _text, "python": _text, "numpy": _text}),
            "files": _by_name(_fields({"sha256": _digest, "bytes": _whole(0)})),
            "seal": _digest,
        }
    )

    def rule(content: Any, place: str) -> None:
        fields(content, place)
        _fields(promises_of[content["kind"]])(content["promises"], "promises")

    return rule


# What is read, side by side. A field that a format adds goes into its promises here.
FORMATS: dict[str, Rule] = {
    "shoal-certificate/1": _format({"documents": _PROMISES, "table": _PROMISES}, _fields(_STATED, _STATED_LATER)),
    "shoal-certificate/2": _format(
        {"documents": _PROMISES_2, "sketches": _PROMISES_OF_SKETCHES, "table": _PROMISES_2},
        _fields(_STATED | _STATED_LATER | _STATED_2),
    ),
}


def read_certificate(release: Path) -> dict[str, Any]:
    """The certificate, in a format that is known and with nothing in it that its format does not have."""

    def refused(detail: str) -> Refused:
        return Refused("certificate", detail, CERTIFICATE)

    path = release / CERTIFICATE
    if path.is_symlink() or not path.is_file():
        raise refused("there is no certificate, so nothing is promised")
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise refused(f"the certificate is larger than the {LARGEST:,} bytes that one may have")
        content = json.loads(raw)
        written = _dump(content)
    except OSError:
        raise refused("the certificate cannot be read") from None
    except (ValueError, RecursionError):
        raise refused("the certificate is not the JSON that Shoal writes; it was changed") from None
    known = FORMATS.get(content["format"]) if _names_its_format(content) else None
    if known is None:
        raise refused(f"this version of Shoal reads {' and '.join(FORMATS)}; take a version that reads the one given")
    try:
        known(content, "")
        _check_names(content["promises"])
    except Unfit as unfit:
        raise refused(f"the certificate is not as its format has it: {unfit}") from None
    if raw != written:
        raise refused("the certificate is not written as Shoal writes it; it was changed")
    return dict(content)


def is_sealed(content: Mapping[str, Any]) -> bool:
    """Whether the seal is that of the content."""
    rest = {key: value for key, value in content.items() if key != "seal"}
    return bool(content["seal"] == hashlib.sha256(_dump(rest)).hexdigest())


def _names_its_format(content: Any) -> bool:
    return type(content) is dict and type(content.get("format")) is str


def _check_names(promises: Mapping[str, Any]) -> None:
    names = [column["name"] for column in promises["columns"]]
    if len(set(names)) < len(names):
        raise Unfit("promises.columns", "columns of different names")


def _dump(content: Any) -> bytes:
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
