"""What users get who ask for nothing special: groups are refined, and the release is attacked before they see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shoal import Microaggregation, Roles, assess, protect, verify
from shoal.sample import letters
from tests.cli.run import run
from tests.release.releases import quietly

N_PEOPLE = 40
LEARNED = {"linkage learned from known links, tried on others", "linkage learned from all links (worst case)"}
RECOVERED = {"documents recovered exactly", "documents recovered nearly"}


def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, N_PEOPLE),
            "pay": random.normal(3000, 800, N_PEOPLE).round(),
            "illness": random.choice(["flu", "gout", "asthma"], N_PEOPLE),
        }
    )


def stated(folder: Path, **options: Any) -> dict[str, Any]:
    """What the certificate states of a release that was made with nothing but these options."""
    roles = Roles(quasi=("age", "pay"), confidential=("illness",))
    made = quietly(protect, people(), 4, folder / "release", roles=roles, **options)
    assert verify(made.folder)
    return dict(made.certificate["stated"])


def attacks_in(said: dict[str, Any]) -> set[str]:
    return {attack["about"] for attack in said["attacks"]}


def test_a_table_is_refined_and_attacked_by_one_trained_on_links(tmp_path: Path) -> None:
    said = stated(tmp_path)
    assert said["method"].endswith(", refined")
    assert attacks_in(said) >= LEARNED
    assert "What leaks" in (tmp_path / "release-private" / "leaks.html").read_text(encoding="utf-8")


def test_refined_groups_lose_less_than_those_of_mdav(tmp_path: Path) -> None:
    refined = stated(tmp_path / "refined")
    plain = stated(tmp_path / "plain", method=Microaggregation(refine=False))
    assert refined["sse"] < plain["sse"]
    assert ", refined" not in plain["method"]


def test_who_asks_for_no_attack_gets_none(tmp_path: Path) -> None:
    assert not attacks_in(stated(tmp_path, attack=False)) & LEARNED
    assert not (tmp_path / "release-private" / "leaks.html").exists()


def test_documents_are_refined_and_their_words_are_attacked(tmp_path: Path) -> None:
    made = quietly(protect, [letter.text for letter in letters()[:60]], 4, tmp_path / "release")
    assert made.certificate["stated"]["method"].endswith(", refined")
    assert attacks_in(made.certificate["stated"]) == RECOVERED


def test_baskets_are_refined_and_their_items_are_attacked(tmp_path: Path) -> None:
    rows = [" ".join(map(str, range(row % 5, row % 5 + 4))) for row in range(N_PEOPLE)]
    (tmp_path / "baskets.dat").write_text("\n".join(rows))
    made = quietly(protect, tmp_path / "baskets.dat", 4, tmp_path / "release")
    assert made.certificate["stated"]["method"].endswith(", refined")
    assert attacks_in(made.certificate["stated"]) == RECOVERED


def test_a_table_in_parts_is_refined(tmp_path: Path) -> None:
    people()[:20].to_csv(tmp_path / "a.csv", index=False)
    people()[20:].to_csv(tmp_path / "b.csv", index=False)
    made = quietly(protect, f"{tmp_path}/*.csv", 4, tmp_path / "release", roles=Roles(quasi=("age", "pay")))
    assert made.certificate["stated"]["method"].endswith(", refined")


def test_the_command_line_has_the_same_defaults(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    asked = ["protect", "people.csv", "-k", "4", "--quasi", "age,pay", "--confidential", "illness"]
    ran = run(tmp_path, *asked, "-o", "here")
    assert ran.code == 0, ran.err
    roles = Roles(quasi=("age", "pay"), confidential=("illness",))
    made = quietly(protect, tmp_path / "people.csv", 4, tmp_path / "there", roles=roles)
    assert made.certificate["seal"] in (tmp_path / "here" / "certificate.json").read_text(encoding="utf-8")
    assert attacks_in(made.certificate["stated"]) >= LEARNED


def test_an_assessment_says_what_leaks(tmp_path: Path) -> None:
    after = people().assign(age=people()["age"].round(-1), pay=people()["pay"].round(-3))
    judged = quietly(assess, people(), after, tmp_path / "judged", columns=("age", "pay"))
    assert judged.leaks is not None
    assert judged.leaks.leak.worst.n == N_PEOPLE
