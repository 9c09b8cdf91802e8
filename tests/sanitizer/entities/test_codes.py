"""Numbers and codes, by patterns of ours and of Presidio."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from presidio_analyzer import predefined_recognizers

from shoal.errors import InputError
from shoal.sanitizer.entities.codes import _recognizers, code_candidates

UNDER_AUDIT = """
import sys
def refuse(event, details):
    if event.startswith("socket."):
        print(event)
        raise OSError("no network")
from shoal.sanitizer.entities.finder import EntityFinder
finder = EntityFinder()
sys.addaudithook(refuse)
(entities,) = finder.find(["Write to ann.lee@uni.example.org, see www.example.org or 10.0.0.1."])
print([entity.name for entity in entities if entity.kind == "EMAIL"])
"""


def test_nothing_goes_to_the_network_on_the_first_run_of_a_new_user(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("XDG_CACHE_HOME", None)
    run = subprocess.run(
        [sys.executable, "-c", UNDER_AUDIT], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout == "['ann.lee@uni.example.org']\n"
    assert run.stderr == ""


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Mail ann@x.org.", "ann@x.org"),
        ("Mail 'ann@x.org' now", "ann@x.org"),
        ("Mail <o'brien+a/b@xn--80ak6aa92e.co.uk>", "o'brien+a/b@xn--80ak6aa92e.co.uk"),
        ("Mail müller@büro.de", "müller@büro.de"),
        ("Mail " + "a" * 200 + "@x.org", "a" * 200 + "@x.org"),
    ],
)
def test_an_email_address_is_found_whole(text: str, address: str) -> None:
    addresses = {text[c.start : c.end] for c in code_candidates(text) if c.kind == "EMAIL"}
    assert addresses == {address}


def test_a_recognizer_that_presidio_no_longer_has_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(predefined_recognizers, "IbanRecognizer")
    _recognizers.cache_clear()
    with pytest.raises(InputError, match="has no IbanRecognizer; install version"):
        list(code_candidates("DE89 3704 0044 0532 0130 00"))


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("It has the number 4471/902-7 on it", "CASE", "4471/902-7"),  # a tuple was in the pattern once
        ("Call 555-123-7044 now", "PHONE", "555-123-7044"),
        ("fax: (0)332 44 71-22 ext. 5.", "PHONE", "(0)332 44 71-22 ext. 5"),
        ("path mcvax!ukc!ann here", "EMAIL", "mcvax!ukc!ann"),
        ("see ~tgrey/mail", "ID", "tgrey"),
        ("QUJD" * 15 + "\n" + "REVG" * 3, "ID", "QUJD" * 15 + "\n" + "REVG" * 3),
    ],
)
def test_codes_are_found_whole(text: str, kind: str, code: str) -> None:
    best = min((c for c in code_candidates(text) if c.kind == kind), key=lambda c: (c.rank, c.start - c.end))
    assert text[best.start : best.end] == code
