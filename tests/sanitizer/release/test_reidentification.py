"""Words that give a text away are masked until attackers rank the right person low, the one left out included."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shoal.attacks.text_search import ATTACKERS, text_attacker
from shoal.errors import InputError
from shoal.sanitizer.release.reidentification import OpenText, hide_people
from shoal.verification.verify import verify
from tests.sanitizer.review.folders import work_folder
from tests.sanitizer.sanitized_releases import released, secrets_of

SHARED = "This person went to school, found work in the city, had a family and lived there for many years"
TOPICS = ("ferns mosses", "penalties goals", "operas sonatas", "bridges tunnels", "novels poems", "treaties borders")
PUBLIC = [f"{SHARED} and knew {TOPICS[number % 6]} and hobby{10 + number}" for number in range(36)]


@pytest.mark.parametrize("left_out", ATTACKERS)
def test_nobody_is_found_whoever_is_left_out_and_what_all_share_stays(left_out: str) -> None:
    texts = [OpenText(PUBLIC[person], [], person) for person in range(6)]
    spans, found = hide_people(texts, PUBLIC, 0.25, left_out)
    assert (found.before, found.k, found.people, found.attacker) == (1.0, 4, 36, left_out)
    assert found.after is not None and found.worst is not None and found.after <= found.worst <= 0.25
    shown = [text.shown(hidden) for text, hidden in zip(texts, spans, strict=True)]
    for name in set(ATTACKERS) - {left_out}:
        assert text_attacker(name, PUBLIC).chances(shown, np.arange(6)).max() <= 0.25
    assert all(f"hobby{10 + person}" not in text for person, text in enumerate(shown))
    assert sum(SHARED[:40] in text for text in shown) >= 4


def test_what_is_masked_already_is_neither_read_nor_masked_again() -> None:
    text = OpenText("Ann knew ferns", [(0, 3), (9, 14)], 0)
    assert text.shown().split() == ["¤", "knew", "¤"]
    (spans,), found = hide_people([text], PUBLIC, 0.5)
    assert spans in ([], [(4, 8)])
    assert found.shown == 1


def test_a_release_masks_more_words_says_so_and_can_be_undone(tmp_path: Path) -> None:
    public = [{"id": "a", "text": "Ann Smith met Ray; the dose was wrong, Smith left Girona"}]
    public += [{"id": "b", "text": "Bob wrote to her: will she come"}]
    public += [{"id": f"x{number}", "text": text} for number, text in enumerate(PUBLIC)]
    (tmp_path / "public.jsonl").write_text("".join(json.dumps(line) + "\n" for line in public))
    options = {"accept_rest": 0.5, "reidentification": 0.2, "background": tmp_path / "public.jsonl"}
    made = released(work_folder(tmp_path / "work"), tmp_path / "release", **options)
    texts = sorted(path.read_text() for path in (made.folder / "documents").iterdir())
    assert any("[…]" in text for text in texts)
    assert not any("Girona" in text for text in texts)
    stated = made.certificate["stated"]["reidentification"]
    assert (stated["asked"], stated["k"], stated["people"], stated["after"]) == (
        0.2,
        5,
        38,
        None,
    )  # two documents are few
    assert made.reidentification is not None and made.reidentification.after == 0.0
    assert "took no part" not in (made.folder / "report.html").read_text()
    assert verify(made.folder, secrets=secrets_of(made))


def test_a_background_must_have_every_person(tmp_path: Path) -> None:
    (tmp_path / "public.jsonl").write_text('{"id": "a", "text": "Ann"}\n{"id": "c", "text": "Cy"}\n')
    work = work_folder(tmp_path / "work")
    with pytest.raises(InputError, match="1 document of 2 not in the background"):
        released(work, tmp_path / "r", accept_rest=0.5, reidentification=0.5, background=tmp_path / "public.jsonl")
    with pytest.raises(InputError, match="between 0 and 1"):
        released(work, tmp_path / "r", accept_rest=0.5, reidentification=0.0)
    assert not (tmp_path / "r").exists()
