"""A release that was made: the figures of its certificate in words, and who vouches for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.columns import Ints, value_codes
from shoal.data.sources import table_source
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.pages.words import count, number, percent
from shoal.request.plan import read_plan
from shoal.request.request import Request
from shoal.verification.certificate import LARGEST
from shoal.verification.release_files import ReleaseFolder
from shoal.verification.signatures import KEY_TYPE, fingerprint_of, read_signature
from shoal.verification.tables import read_released_table
from shoal.web.jobs import Job
from shoal.web.wording import for_people

RELEASE = "release"
MOST_PAIRED = 8  # kept columns whose pairs are counted, those with the most values


@dataclass(frozen=True)
class Figure:
    """A figure and the sentence that says what it means."""

    title: str
    value: str
    words: str


@dataclass(frozen=True)
class OpenPoint:
    """Something that a release does not promise, and the change of its plan that mends it."""

    words: str
    button: str
    option: str  # an option of the plan
    value: str  # for it


def open_points(release: Path, certificate: Mapping[str, Any], plan: Path | None = None) -> list[OpenPoint]:
    """What keeps a release from being called safe to hand out; none: all that was to be promised is.

    With the plan that made it, kept values are counted in the people or households that have them.
    """
    promises = certificate["promises"]
    rare = rare_values(release, certificate["seal"], plan) if certificate["kind"] == "table" else ()
    return [
        *_no_crowd(promises["anonymity"]),
        *_found_beyond_crowd(certificate),
        *_unwatched(promises),
        *_singling_out(certificate["stated"], rare),
    ]


def _no_crowd(anonymity: Mapping[str, Any]) -> list[OpenPoint]:
    if anonymity["k"] is not None and anonymity["whole_rows"]:
        return []
    words = "No crowd is promised: a record may be one of a kind."
    return [OpenPoint(words, "Make groups of records that look alike", "method", "")]


def _unwatched(promises: Mapping[str, Any]) -> list[OpenPoint]:
    """Confidential columns of which nothing was asked, or so little that groups with one value keep it."""
    diversity = promises["diversity"]
    asked = diversity["l"] is not None or any(promises.get(name) for name in ("closeness", "likeness"))
    columns = [column for column in diversity["columns"] if not asked or column["single_valued_groups"]]
    if not columns:
        return []
    words = " ".join(map(_unwatched_in_words, columns))
    names = [column["column"] for column in columns]
    constant = next((column["column"] for column in columns if column["values"] < 2), None)
    if constant is not None:
        return [OpenPoint(words, f"Leave {constant} out", "drop", constant)]
    return [OpenPoint(words, f"Ask for 2 different values of {' and of '.join(names)} in every group", "l", "2")]


def unwatched_columns(plan: Request | None) -> tuple[str, ...]:
    """Confidential columns of which a plan asks nothing: no protection by it is recommended."""
    if plan is None or plan.promises.of_values:
        return ()
    return tuple(plan.columns.confidential or ())


def _unwatched_in_words(column: Mapping[str, Any]) -> str:
    name, alone = column["column"], column["single_valued_groups"]
    if not alone:
        return f"Nothing is promised of {name}; every group happens to have {column['least']} different values."
    groups = f"{count(alone, 'group')} of {column['groups']:,}"
    return f"In {groups} all records have the same {name}: whoever is known to be there is known to have it."


def _found_beyond_crowd(certificate: Mapping[str, Any]) -> list[OpenPoint]:
    """An attack that surely finds more than one record in k: the crowd does not hide what was attacked."""
    k, worst = certificate["promises"]["anonymity"]["k"], _strongest_attack(certificate)
    if worst is None or worst["low"] <= max(worst["baseline"], 1 / (k or 1)):
        return []
    words = (
        f"An attack finds {percent(worst['rate'])} of the records, more than the one in {k:,} that the crowd allows."
    )
    return [OpenPoint(words, f"Ask for crowds of {2 * k:,}", "k", str(2 * k))]


@dataclass(frozen=True)
class RareValues:
    """Columns that are released unchanged, and how many records have values that too few others have."""

    columns: tuple[str, ...]  # one, or two together
    role: str
    records: int
    rows: int  # of so many
    fewest: int  # that should have each value
    units: str  # of what


@cache
def rare_values(release: Path, seal: str, plan: Path | None = None) -> tuple[RareValues, ...]:
    """What of the columns that are released unchanged singles records out; the worst pair only where no column does.

    Whoever knows a kept value should still find a crowd; a confidential one is known to few, but must not be unique,
    nor two kept ones together. `seal` stands for the content of the release.
    """
    folder = ReleaseFolder(release)
    promises = json.loads(folder.read("certificate.json", LARGEST))["promises"]
    roles = {column["name"]: column["role"] for column in promises["columns"]}
    k, units = promises["anonymity"]["k"] or 2, "record"
    known = {"insensitive": k, "confidential": 2}
    unchanged = [name for name, role in roles.items() if role in known]
    if not unchanged:
        return ()
    table, unit = read_released_table(folder, promises["columns"]), None
    asked = read_plan(plan) if plan is not None and plan.is_file() else None
    recoded = () if asked is None else asked.columns.recode or ()
    if asked is not None and asked.promises.unit is not None and not set(recoded) & set(unchanged):
        table = read_table(table_source(asked.source, asked.reading), [asked.promises.unit, *unchanged]).data
        unit, units = value_codes(table[asked.promises.unit]), asked.promises.units
    codes = {name: value_codes(table[name]) for name in unchanged}
    found = []
    for name, of in codes.items():
        there = table[name].is_valid().to_numpy() if roles[name] == "confidential" else np.ones(len(of), dtype=bool)
        few = _with_fewer(of, unit, known[roles[name]]) & there
        found.append(RareValues((name,), roles[name], int(few.sum()), len(of), known[roles[name]], units))
    kept = sorted((name for name in codes if roles[name] == "insensitive"), key=lambda name: -int(codes[name].max()))
    pairs: list[RareValues] = []
    if not any(one.records for one in found):
        for pair in combinations(kept[:MOST_PAIRED], 2):
            few = _with_fewer(_together(*(codes[name] for name in pair)), unit, 2)
            pairs.append(RareValues(pair, "insensitive", int(few.sum()), len(few), 2, units))
    found += sorted(pairs, key=lambda one: -one.records)[:1]
    return tuple(one for one in found if one.records)


def _together(one: Ints, other: Ints) -> Ints:
    pairs: Ints = np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]
    return pairs


def _with_fewer(codes: Ints, unit: Ints | None, fewest: int) -> NDArray[np.bool_]:
    """The records whose value fewer than so many records have, or fewer units."""
    having = codes if unit is None else np.unique(np.stack([codes, unit]), axis=1)[0]
    return np.bincount(having, minlength=int(codes.max()) + 1)[codes] < fewest


def _singling_out(stated: Mapping[str, Any], rare: Sequence[RareValues]) -> list[OpenPoint]:
    allowed = (stated.get("report") or {}).get("figures", {}).get("allowed", ())
    points = [
        OpenPoint(f"{name} is released unchanged and singles records out.", f"Leave {name} out", "drop", name)
        for name in allowed
    ]
    return points + [_rare_in_words(one) for one in rare if one.columns[0] not in allowed]


def _rare_in_words(rare: RareValues) -> OpenPoint:
    name, who = rare.columns[0], f"{rare.records:,} of {count(rare.rows, 'record')}"
    if len(rare.columns) > 1:
        both = f"{' and '.join(rare.columns)} are released unchanged"
        words = f"{both}: {who} have a pair of values that no other has. Whoever knows both finds them."
    elif rare.role == "confidential":
        words = f"{name} is released unchanged: {who} have a value that no other has. Whoever knows it finds them."
    else:
        fewer = count(rare.fewest - 1, "other") if rare.units == "record" else f"{rare.fewest - 1:,} other {rare.units}"
        words = f"{name} is released unchanged: {who} share their value with fewer than {fewer}."
    return OpenPoint(words, f"Protect {name} too", "quasi", name)


def mended(plan: Request, option: str, value: str) -> Request:
    """The plan with what mends an open point."""
    if option == "l":
        return plan.with_options(l=2)
    if option == "k" and value.isdigit():
        return plan.with_options(k=int(value))
    if option == "method":
        return plan.with_options(method=None, percent=None, attribute_groups=None)
    if option not in ("drop", "quasi"):
        raise InputError("there is nothing to mend; choose other settings")
    lists = {name: plan.given.get(name) or () for name in ("quasi", "confidential", "insensitive", "drop", "allow")}
    left: dict[str, Any] = {name: [one for one in columns if one != value] or None for name, columns in lists.items()}
    if left["confidential"] is None:  # nothing is left that a promise could be about
        left |= dict.fromkeys(("l", "c", "t", "beta")) | {"diversity": "distinct"}
    return plan.with_options(**left | {option: [*(left[option] or ()), value]})


def figures(certificate: Mapping[str, Any], measured_loss: float | None = None) -> list[Figure]:
    """What is promised and what it cost; the owner sees the loss as it was measured."""
    promises, stated = certificate["promises"], certificate["stated"]
    return [
        _crowd(promises["anonymity"], certificate["kind"] == "table"),
        _records(promises, stated["withheld"]),
        *map(_diversity, promises["diversity"]["columns"]),
        *_loss(stated, measured_loss),
    ]


def attack_in_words(certificate: Mapping[str, Any]) -> str:
    """What the strongest attack found, beside guessing; empty if there was none."""
    worst = _strongest_attack(certificate)
    if worst is None:
        return ""
    what, _, how = worst["about"].rpartition(" ")
    if what == "documents recovered":
        return f"Of {worst['n']:,} documents, an attacker recovers {percent(worst['rate'])} {how}."
    guessing = f"guessing finds {percent(worst['baseline'])}"
    return f"An attacker who knows the originals finds {percent(worst['rate'])} of the records; {guessing}."


def _strongest_attack(certificate: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Of those that find records: an interval around a value points at nobody."""
    tried = [one for one in certificate["stated"]["attacks"] if not one["about"].startswith("interval disclosure")]
    return max(tried, key=lambda attack: float(attack["rate"]), default=None)


def _crowd(anonymity: Mapping[str, Any], is_table: bool) -> Figure:
    if anonymity["k"] is None:
        return Figure("Crowd", "none", "No crowd is promised: a record may be one of a kind.")
    if not anonymity["whole_rows"]:
        words = "Values are shared within each group of columns only; whole records may be one of a kind."
        return Figure("Crowd", "none", words)
    others = count(anonymity["smallest_group"] - 1, "other")
    where = " in the columns that are protected" if is_table else ""
    return Figure("Crowd", number(anonymity["smallest_group"]), f"Every record looks like at least {others}{where}.")


def _records(promises: Mapping[str, Any], withheld: list[Mapping[str, Any]]) -> Figure:
    if not withheld:
        return Figure("Records", number(promises["rows"]), "All records are in the release.")
    reasons = "; ".join(f"{group['count']:,}: {for_people(group['reason'])}" for group in withheld)
    left_out = sum(group["count"] for group in withheld)
    return Figure("Records", number(promises["rows"]), f"{count(left_out, 'record')} withheld ({reasons}).")


def _diversity(diversity: Mapping[str, Any]) -> Figure:
    least, column = diversity["least"], diversity["column"]
    if least <= 1:
        alone = count(diversity["single_valued_groups"], "group")
        words = f"In {alone} all records have the same {column}: who is known to be in one is known to have it."
        return Figure("Diversity", number(least), words)
    return Figure("Diversity", number(least), f"Every group has at least {least} different values of {column}.")


def _loss(stated: Mapping[str, Any], measured: float | None) -> list[Figure]:
    known, loss = stated["loss_range"], stated["information_loss"] if measured is None else measured
    if loss is None and known is None:
        return []
    published = f"{known['low']:.0%} to {known['high']:.0%}" if known else ""
    value = published if loss is None else percent(loss)
    published = f" The report says {published}." if published and loss is not None else ""
    words = "The share of the differences between records that was given up for the crowd."
    if stated["method"].startswith("groups made for common values"):
        words = "The mean of what the protected columns lost: the report says how it is measured."
    return [Figure("Information lost", value, words + published)]


def has_leaks(job: Job) -> bool:
    """Whether the private part says which columns leak: only tables that were attacked have that."""
    return (job.work / f"{RELEASE}-private" / "leaks.html").is_file()


def sign_release(release: Path, key: bytes, passphrase: str) -> None:
    """Verify the release and sign it, as `shoal sign` does. It is signed aside, where what that needs is loaded."""
    from shoal.release.signing import SigningKey, sign

    sign(release, SigningKey.parse(key, "the file", passphrase or None), force=True)


def signed_by(job: Job) -> str:
    """The key with which the release was signed; empty if it was not."""
    signature = read_signature(ReleaseFolder(job.work / RELEASE))
    return f"{KEY_TYPE} {fingerprint_of(signature.key)}" if signature is not None else ""
