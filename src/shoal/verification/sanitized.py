"""Promises about sanitized documents: those that anyone can count, and those that take the owner's secrets."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shoal.results.claims import Claim, Statement
from shoal.results.sanitizing import Secrets
from shoal.verification.certificate import CERTIFICATE
from shoal.verification.masked_strings import Wanted, found_in
from shoal.verification.release_files import ReleaseFolder
from shoal.verification.sanitized_files import (
    ReleasedTexts,
    check_docx,
    check_page,
    check_pictures,
    document_name,
    read_text,
)

REMOVED, HIDDEN_WORDS = "[removed]", "[…]"
PAGES = ("README.md", "report.html", CERTIFICATE)
DECISIONS = "decisions.jsonl"
FINGERPRINT = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")  # its letters are no words: "abe", "dade"


def sanitized_claims(release: ReleaseFolder, content: Mapping[str, Any], secrets: Secrets | None) -> Iterator[Claim]:
    """Every promise, counted."""
    promises = content["promises"]
    files: dict[str, set[str]] = {}
    for file in content["files"]:
        if (parts := document_name(file)) is not None:
            files.setdefault(parts[0], set()).add(parts[1])
    yield from _documents(files, promises)
    texts = ReleasedTexts(release, (name for name in sorted(files) if "txt" in files[name]))
    for name in texts:
        if "html" in files[name]:
            check_page(release, f"documents/{name}.html", texts[name])
        if "docx" in files[name]:
            check_docx(release, f"documents/{name}.docx", texts[name])
    pages = [check_pictures(release, f"documents/{name}.pdf") for name in sorted(files) if "pdf" in files[name]]
    if pages:
        yield Claim("pages", True, f"{sum(pages):,} pages are pictures alone: no text, no metadata")
    yield from _pseudonyms(texts.values(), promises)
    if secrets is not None:
        yield from secret_claims(release, content, texts, secrets)


def sanitized_statements(secrets: Secrets | None) -> tuple[Statement, ...]:
    """What nobody can check without the vault."""
    if secrets is not None:
        return ()
    return (
        Statement(
            "masked strings",
            "none can be read in any file; the owner can check it with the vault",
            CERTIFICATE,
        ),
        Statement("log", "every item was decided; the owner can check it with the log", CERTIFICATE),
    )


def _documents(files: Mapping[str, set[str]], promises: Mapping[str, Any]) -> Iterator[Claim]:
    """As many texts as promised, numbered without a gap, and of no other form."""
    count, form = promises["documents"], promises["form"]
    expected = {f"document-{number:04}" for number in range(1, len(files) + 1)}
    same = len(files) == count and set(files) == expected
    documents = "1 document" if len(files) == 1 else f"{len(files):,} documents"
    yield Claim("documents", same, documents + (", as promised" if same else f", not {count:,}"))
    allowed = [{"txt"}] * (form in ("text", "pdf")) + [{"txt", form}] * (form != "text")
    wrong = [name for name, suffixes in files.items() if suffixes not in allowed]
    detail = f"every document is in the form promised: {form}"
    yield Claim("form", not wrong, detail if not wrong else f"{wrong[0]} is not in the form promised: {form}")


def _pseudonyms(texts: Iterable[str], promises: Mapping[str, Any]) -> Iterator[Claim]:
    promised = promises["pseudonyms"]
    counts = _counts([*promised, REMOVED], texts)
    wrong = [pseudonym for pseudonym, count in promised.items() if not pseudonym or counts[pseudonym] != count]
    if wrong:
        yield Claim("pseudonyms", False, f"{len(wrong):,} pseudonyms are not as often in the texts as promised")
    elif promised:
        total = sum(promised.values())
        yield Claim("pseudonyms", True, f"{len(promised):,} pseudonyms in {total:,} places, as promised")
    removed = counts[REMOVED]
    same = removed == promises["removed"]
    detail = f"blocks marked as removed: {removed:,}"
    yield Claim("blocks", same, detail if same else f"{detail}, not {promises['removed']:,}")


def _counts(strings: Sequence[str], texts: Iterable[str]) -> Counter[str]:
    """How often each is in the texts. Pers1 is not in Pers12: what ends in a number is counted with all its digits."""
    prefixes = {stem for string in strings if (stem := string.rstrip("0123456789")) != string}
    numbered = re.compile(f"(?=((?:{'|'.join(map(re.escape, sorted(prefixes, key=len, reverse=True)))})[0-9]+))")
    others = [string for string in strings if string and string[-1] not in "0123456789"]
    counts: Counter[str] = Counter()
    for text in texts:
        if prefixes:
            counts.update(match[1] for match in numbered.finditer(text))
        counts.update({string: text.count(string) for string in others})
    return counts


def secret_claims(
    release: ReleaseFolder, content: Mapping[str, Any], texts: Mapping[str, str], secrets: Secrets
) -> Iterator[Claim]:
    """What can be counted only with the vault and the log. No claim names what was masked."""
    promises = content["promises"]
    yield _vault(secrets, promises["vault"])
    yield from _same_texts(texts, secrets.digests)
    yield from _consistent(texts, secrets, promises)
    yield from _nothing_left(release, texts, secrets)
    yield _log(secrets.log, promises["log"])


def _vault(secrets: Secrets, promised: str) -> Claim:
    pieces = {document: [list(piece) for piece in pieces] for document, pieces in secrets.pieces.items()}
    entities = [list(entity) for entity in secrets.entities]
    everything = [pieces, list(secrets.strings), secrets.kept, entities, secrets.digests]
    written = json.dumps(everything, sort_keys=True).encode("ascii")
    same = hmac.compare_digest(hmac.new(bytes.fromhex(secrets.key), written, hashlib.sha256).hexdigest(), promised)
    return Claim("vault", same, "is that of this release" if same else "is not that of this release, or was changed")


def _same_texts(texts: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[Claim]:
    """Whoever seals a release anew can put words back that were removed, or change a pseudonym: the vault knows."""
    changed = [name for name, text in texts.items() if hashlib.sha256(text.encode()).hexdigest() != digests.get(name)]
    for name in changed:
        yield Claim("texts", False, "is not the text that the owner released", f"documents/{name}.txt")
    if not changed:
        yield Claim("texts", True, f"{len(texts):,} texts are those that the owner released")


def _consistent(texts: Mapping[str, str], secrets: Secrets, promises: Mapping[str, Any]) -> Iterator[Claim]:
    """Every masked place shows a pseudonym of the vault, and a pseudonym stands for one entity."""
    places: Counter[str] = Counter()
    of_document: dict[str, set[str]] = {}
    for document, pseudonym, _, _ in secrets.entities:
        of_document.setdefault(document, set()).add(pseudonym)
    everywhere = of_document.get("", set())
    if set(secrets.pieces) != set(texts):
        yield Claim("pseudonyms", False, "the vault is of other documents")
        return
    for name, pieces in secrets.pieces.items():
        known, text = of_document.get(name, set()), texts[name]
        end_before = 0
        for start, end, _ in pieces:
            shown = text[start:end].rstrip()
            known_here = shown in (REMOVED, HIDDEN_WORDS) or shown in known or shown in everywhere
            if not end_before <= start < end or not known_here:
                yield Claim("pseudonyms", False, "a masked place does not show its pseudonym", f"documents/{name}.txt")
                return
            places[shown] += 1
            end_before = end
    counted = {pseudonym: places[pseudonym] for pseudonym in promises["pseudonyms"]}
    if promises["style"] == "numbered":
        entities = {(document, kind, name) for document, _, kind, name in secrets.entities}
        if len(entities) < len(secrets.entities) or counted != promises["pseudonyms"]:
            yield Claim("pseudonyms", False, "a pseudonym stands where nothing was masked, or an entity has several")
            return
    yield Claim("pseudonyms", True, f"{places.total():,} masked places show the pseudonyms of the vault")


def _nothing_left(release: ReleaseFolder, texts: Mapping[str, str], secrets: Secrets) -> Iterator[Claim]:
    """Every string of the vault, in every file: no more often than reviewers left it on purpose."""
    everything = Wanted(secrets.strings)
    words = Wanted(string for string in secrets.strings if not string.isdigit())
    pages = [name for name in PAGES if name in release]
    broken = left = 0
    for file in (*(f"documents/{name}.txt" for name in texts), *pages):
        text = read_text(release, file)
        # The numbers of a certificate are sizes and counts.
        found = found_in(FINGERPRINT.sub(" ", text), words) if file == CERTIFICATE else found_in(text, everything)
        allowed = secrets.kept.get(file, {})
        if any(count > allowed.get(string, 0) for string, count in found.items()):
            broken += 1
            yield Claim("masked strings", False, "a string that was masked can be read here", file)
        left += found.total() if file.startswith("documents/") else 0
    kept = f"; {left:,} places were left on purpose" if left else ""
    if not broken:
        yield Claim(
            "masked strings",
            True,
            f"{len(secrets.strings):,} strings looked for in {len(texts) + len(pages):,} files{kept}",
        )


def _log(log: bytes | None, promised: Mapping[str, Any]) -> Claim:
    """Whole: each line holds the fingerprint of the one before, and the last is the one in the certificate."""
    if log is None:
        return Claim("log", False, f"{DECISIONS} is not in the private folder")
    lines = log.splitlines(keepends=True)
    previous = None
    for number, line in enumerate(lines):
        try:
            decision = json.loads(line)
            follows = decision["number"] == number and (previous is None or decision["previous"] == previous)
        except (ValueError, TypeError, KeyError):
            follows = False
        if not follows:
            return Claim("log", False, f"line {number + 1} of {DECISIONS} does not follow the one before")
        previous = hashlib.sha256(line).hexdigest()
    if len(lines) != promised["decisions"] or (lines and previous != promised["head"]):
        return Claim("log", False, f"{DECISIONS} is not the log of this release: lines are missing, or were changed")
    return Claim("log", True, f"{len(lines):,} decisions, each follows the one before, the last is the one certified")
