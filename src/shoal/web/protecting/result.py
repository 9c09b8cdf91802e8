"""A release that was made: the figures of its certificate in words, and who vouches for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.pages.words import count, number, percent
from shoal.verification.release_files import ReleaseFolder
from shoal.verification.signatures import KEY_TYPE, fingerprint_of, read_signature
from shoal.web.jobs import Job

RELEASE = "release"


@dataclass(frozen=True)
class Figure:
    """A figure and the sentence that says what it means."""

    title: str
    value: str
    words: str


def figures(certificate: Mapping[str, Any]) -> list[Figure]:
    """What is promised, what it cost, and what an attacker still finds."""
    promises, stated = certificate["promises"], certificate["stated"]
    return [
        _crowd(promises["anonymity"]),
        _records(promises, stated["withheld"]),
        *map(_diversity, promises["diversity"]["columns"]),
        *_loss(stated),
        *_attack(stated["attacks"]),
    ]


def _crowd(anonymity: Mapping[str, Any]) -> Figure:
    if anonymity["k"] is None:
        return Figure("Crowd", "none", "No crowd is promised: a record may be one of a kind.")
    if not anonymity["whole_rows"]:
        words = "Values are shared within each group of columns only; whole records may be one of a kind."
        return Figure("Crowd", "none", words)
    others = count(anonymity["smallest_group"] - 1, "other")
    return Figure("Crowd", number(anonymity["smallest_group"]), f"Every record looks like at least {others}.")


def _records(promises: Mapping[str, Any], withheld: list[Mapping[str, Any]]) -> Figure:
    if not withheld:
        return Figure("Records", number(promises["rows"]), "All records are in the release.")
    reasons = "; ".join(f"{group['count']:,}: {group['reason']}" for group in withheld)
    left_out = sum(group["count"] for group in withheld)
    return Figure("Records", number(promises["rows"]), f"{count(left_out, 'record')} withheld ({reasons}).")


def _diversity(diversity: Mapping[str, Any]) -> Figure:
    least, column = diversity["least"], diversity["column"]
    if least <= 1:
        alone = count(diversity["single_valued_groups"], "group")
        words = f"In {alone} all records have the same {column}: who is known to be in one is known to have it."
        return Figure("Diversity", number(least), words)
    return Figure("Diversity", number(least), f"Every group has at least {least} different values of {column}.")


def _loss(stated: Mapping[str, Any]) -> list[Figure]:
    known = stated["loss_range"]
    if known is not None:
        share = f"{known['low']:.0%} to {known['high']:.0%}"
        return [
            Figure(
                "Lost", share, "The share of the information that was given up; the exact figure may not be published."
            )
        ]
    if stated["information_loss"] is None:
        return []
    words = "The share of the differences between records that was given up for the crowd."
    return [Figure("Lost", percent(stated["information_loss"]), words)]


def _attack(attacks: list[Mapping[str, Any]]) -> list[Figure]:
    """The one that finds the most records; an interval around a value points at nobody."""
    tried = [attack for attack in attacks if attack["about"] != "interval disclosure"]
    if not tried:
        return []
    worst = max(tried, key=lambda attack: float(attack["rate"]))
    guessing = f"; guessing finds {percent(worst['baseline'])}" if worst.get("baseline") is not None else ""
    words = f"What the strongest attack found: {worst['about']}{guessing}."
    return [Figure("Attacked", percent(worst["rate"]), words)]


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
