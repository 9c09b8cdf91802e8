"""The promises about sanitized documents: those that anyone can count, and those that take the owner's secrets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.results.claims import Claim, Statement
from shoal.results.sanitized import Secrets
from shoal.verification.forms.certificate import CERTIFICATE
from shoal.verification.sanitized.forms import ReleasedTexts, check_page, check_pictures, document_name
from shoal.verification.sanitized.secrets import secret_claims

__all__ = ["sanitized_claims", "sanitized_statements"]

REMOVED = "[removed]"


def sanitized_claims(release: Path, content: Mapping[str, Any], secrets: Secrets | None) -> Iterator[Claim]:
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
    yield Claim("documents", same, f"{len(files):,} documents" + (", as promised" if same else f", not {count:,}"))
    allowed = {"text": [{"txt"}], "html": [{"txt", "html"}], "pdf": [{"txt"}, {"txt", "pdf"}]}[form]
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
    detail = f"{removed:,} blocks are marked as removed"
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
