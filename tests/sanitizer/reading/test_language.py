"""A text in another language than the model's is recognised; one with foreign names is not taken for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.sanitizer.propose import Proposing, propose
from shoal.sanitizer.reading.language import foreign_language

GERMAN = "Der Patient ist im Jahr 1961 in Graz geboren und wird von der Klinik für Chirurgie mit einer Fraktur betreut."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "German"),
        ("Le patient est né à Lyon en 1961 et il est suivi par le service de chirurgie pour une fracture.", "French"),
        ("El paciente nació en Lugo y fue tratado por el servicio de cirugía con una fractura de la mano.", "Spanish"),
        ("Пациент родился в 1961 году.", "the Cyrillic script"),
        ("The patient was born in Graz in 1961 and is treated at the clinic of Dr von der Au.", None),
        ("Court of Appeal (Sąd Apelacyjny), Warsaw; Regional Court (Sąd Okręgowy), Łódź; Mr W. Żółć of Gdańsk", None),
        ("Ann Smith, 4471", None),
    ],
)
def test_the_language_is_named_if_it_is_clearly_another(text: str, language: str | None) -> None:
    assert foreign_language(text, "en") == language


def test_a_document_in_another_language_is_held_back(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Ann Smith was born in Graz and lives there.")
    (tmp_path / "in" / "b.txt").write_text(GERMAN, encoding="utf-8")
    proposed = propose(tmp_path / "in", tmp_path / "work", Proposing(policy="none"))
    assert [text.source for text in proposed.work.proposals] == ["a.txt"]
    assert [(held.name, held.reason[:12]) for held in proposed.skipped] == [("b.txt", "is in German")]
    assert proposed.work.withheld == 1
    with pytest.raises(InputError, match=r"no document could be read: b\.txt is in German"):
        propose(tmp_path / "in" / "b.txt", tmp_path / "other", Proposing(policy="none"))
