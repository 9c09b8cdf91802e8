"""assess: figures of pairs that belong together, and refusal of pairs that do not."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from shoal import (
    Corpus,
    InputError,
    Microaggregation,
    Noise,
    RankSwap,
    Roles,
    SphericalMicroaggregation,
    assess,
    protect,
    verify,
)
from shoal.sample import letters

SAMPLE_LETTERS = letters()[:90]
RANDOM = np.random.default_rng(0)
BEFORE = pd.DataFrame(
    {
        "id": [f"p{n}" for n in range(60)],
        "age": RANDOM.integers(18, 90, 60),
        "pay": RANDOM.normal(3000, 500, 60).round(),
    }
)
AFTER = BEFORE.assign(age=BEFORE.age + RANDOM.normal(0, 1, 60), pay=BEFORE.pay + RANDOM.normal(0, 5, 60))


def test_a_table_judged_against_itself_has_lost_nothing_and_hides_nobody() -> None:
    found = assess(BEFORE[["age", "pay"]], BEFORE[["age", "pay"]])
    assert found.loss.information_loss == 0
    assert found.risk.euclidean.rate == 1.0
    assert found.unique == 60
    assert found.how == "by their place"


def test_a_table_of_equal_rows_gives_nobody_away_beyond_guessing() -> None:
    flat = BEFORE[["age", "pay"]].assign(age=50.0, pay=3000.0)
    found = assess(BEFORE[["age", "pay"]], flat, aligned=True)
    assert found.risk.euclidean.rate == pytest.approx(1 / 60)
    assert found.smallest_group == 60


def test_a_key_puts_reordered_rows_side_by_side() -> None:
    straight = assess(BEFORE, AFTER, columns=["age", "pay"])
    by_key = assess(BEFORE.sample(frac=1, random_state=1), AFTER.sample(frac=1, random_state=2), key="id")
    assert by_key.how == "by the key id"
    assert by_key.loss.information_loss == pytest.approx(straight.loss.information_loss)
    assert by_key.risk.euclidean.rate == pytest.approx(straight.risk.euclidean.rate)


@pytest.mark.parametrize(
    ("after", "options", "says"),
    [
        (AFTER.iloc[:50], {}, "60 rows and the protected table 50"),
        (
            AFTER.sample(frac=1, random_state=0),
            {"columns": ["age", "pay"]},
            "2 of 2 columns do not go with their counterparts",
        ),
        (AFTER.assign(age=AFTER.age.astype(str)), {"columns": ["age"]}, "column age is int64 in the original and"),
        (AFTER.assign(id="p1"), {"key": "id"}, "59 keys more than once in column id"),
        (AFTER.assign(id=[f"q{n}" for n in range(60)]), {"key": "id"}, "60 keys only in the original and 60 only in"),
        (AFTER.drop(columns="id"), {"key": "id"}, "id"),
        (AFTER, {"columns": ["height"]}, "height"),
        (AFTER.rename(columns=str.upper), {}, "no column in common"),
        (AFTER.assign(pay=np.nan), {"columns": ["age", "pay"]}, "60 missing or infinite values in column pay"),
        (AFTER, {"mapping": "nowhere"}, "is not there"),
    ],
)
def test_pairs_that_do_not_belong_together_are_refused(after: pd.DataFrame, options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        assess(BEFORE, after, **options)


def test_one_column_of_labels_does_not_make_shuffled_rows_belong_together() -> None:
    before = BEFORE.assign(town=["A", "B", "C"] * 20).drop(columns="id")
    with pytest.raises(InputError, match="do not go with their counterparts"):
        assess(before, before.sample(frac=1, random_state=0))


def test_the_wrong_original_and_the_wrong_private_folder_are_refused(tmp_path: Path) -> None:
    roles = Roles(quasi=("age", "pay"), identifier=("id",))
    for name, order in (("one", 1), ("two", 2)):
        BEFORE.sample(frac=1, random_state=order).to_csv(tmp_path / f"{name}.csv", index=False)
        protect(tmp_path / f"{name}.csv", 3, tmp_path / name, roles=roles, method=Microaggregation(refine=False))
    assert assess(tmp_path / "one.csv", tmp_path / "one").risk.euclidean.rate > 0.2
    assert assess(tmp_path / "one.csv", tmp_path / "one" / "table.csv").how == "by the private mapping"
    for original, mapping in (("two", "one"), ("one", "two")):
        with pytest.raises(InputError, match="do not belong together"):
            assess(tmp_path / f"{original}.csv", tmp_path / "one", mapping=tmp_path / f"{mapping}-private")


def test_numbers_too_large_to_square_and_wide_tables() -> None:
    numbers = BEFORE[["age", "pay"]]
    with pytest.raises(InputError, match="too large"):
        assess(numbers * 1e200, numbers * 1e200)
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 22))).rename(columns=str)
    assert "20 of 22 columns" in assess(wide, wide).risk.probabilistic.about


def test_who_insists_on_the_order_is_believed() -> None:
    shuffled = AFTER.sample(frac=1, random_state=0)
    assert assess(BEFORE, shuffled, columns=["age", "pay"], aligned=True).risk.euclidean.rate < 0.2


@pytest.mark.parametrize(
    "method", [Microaggregation(refine=False), RankSwap(10), Noise(10), Noise(10, correlated=True)]
)
def test_a_release_is_judged_through_its_private_mapping(tmp_path: Path, method: object) -> None:
    source = tmp_path / "people.csv"
    BEFORE.to_csv(source, index=False)
    made = protect(
        source, 5, tmp_path / "release", roles=Roles(quasi=("age", "pay"), identifier=("id",)), method=method
    )
    assert verify(made.folder)
    found = assess(source, made.folder, tmp_path / "assessment")
    assert found.how == "by the private mapping"
    # Figures that only the right order of rows can give: the release says the same of itself.
    stated = {one["about"]: one["rate"] for one in made.certificate["stated"]["attacks"]}
    assert found.risk.euclidean.rate == pytest.approx(stated["distance-based linkage, euclidean"], abs=1e-4)
    data = json.loads((tmp_path / "assessment" / "assessment.json").read_text())
    assert data["score"] == pytest.approx((data["loss"]["IL"] + data["risk"]["DR"]) / 2)
    with (tmp_path / "assessment" / "found.csv").open() as lines:
        assert len(list(csv.DictReader(lines))) == 60
    page = (tmp_path / "assessment" / "report.html").read_text()
    assert "An intruder who knows the original values links" in page
    assert "http" not in page.replace("http-equiv", "")


def test_masking_without_groups_promises_no_crowd_and_tells_no_seed(tmp_path: Path) -> None:
    secret = 918273645
    made = protect(
        BEFORE, 5, tmp_path / "release", roles=Roles(quasi=("age", "pay")), method=Noise(5, random_state=secret)
    )
    assert made.certificate["promises"]["anonymity"]["k"] is None
    assert str(secret) not in (made.folder / "certificate.json").read_text()
    assert str(secret) not in (made.folder / "report.html").read_text()
    claims = {claim.promise: claim for claim in verify(made.folder).claims}
    assert "k-anonymity" not in claims
    assert "one of a kind" in claims["no crowd"].detail
    again = protect(BEFORE, 5, tmp_path / "again", roles=Roles(quasi=("age", "pay")), method=Noise(5))
    other = protect(BEFORE, 5, tmp_path / "other", roles=Roles(quasi=("age", "pay")), method=Noise(5))
    assert (again.folder / "table.parquet").read_bytes() != (other.folder / "table.parquet").read_bytes()


def test_labels_are_judged_by_equality() -> None:
    before = pd.DataFrame({"job": ["smith", "baker", "clerk", "clerk"]})
    after = pd.DataFrame({"job": ["smith", "worker", "clerk", "clerk"]})
    found = assess(before, after)
    assert found.labels_linked == pytest.approx((1 + 0 + 0.5 + 0.5) / 4)
    assert found.labels_changed == (("job", 0.25),)
    assert found.loss is None
    assert found.score is None


def test_control_records_tell_what_would_be_known_anyway(tmp_path: Path) -> None:
    control = BEFORE[["age", "pay"]].sample(30, random_state=5)
    found = assess(BEFORE[["age", "pay"]], AFTER[["age", "pay"]], control=control)
    assert all(rate.control is not None for rate in found.gdpr)
    with pytest.raises(InputError, match="pay"):
        assess(BEFORE[["age", "pay"]], AFTER[["age", "pay"]], control=control[["age"]])


def test_an_earlier_assessment_is_replaced_only_by_force(tmp_path: Path) -> None:
    tables = BEFORE[["age", "pay"]], AFTER[["age", "pay"]]
    assess(*tables, tmp_path / "out")
    with pytest.raises(InputError, match="exists"):
        assess(*tables, tmp_path / "out")
    assess(*tables, tmp_path / "out", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("keep me")
    with pytest.raises(InputError, match="mine"):
        assess(*tables, tmp_path / "mine", force=True)


def test_a_release_of_documents_is_judged_against_its_letters(tmp_path: Path) -> None:
    source = tmp_path / "letters.jsonl"
    with source.open("w", encoding="utf-8") as lines:
        for number, letter in enumerate(SAMPLE_LETTERS):
            lines.write(json.dumps({"id": f"s3cret-{number}", "text": letter.text, "topic": letter.speciality}) + "\n")
    method = SphericalMicroaggregation(refine=False)
    made = protect(source, 5, tmp_path / "release", label_column="topic", method=method)
    found = assess(source, made.folder, tmp_path / "assessment")
    stated = made.certificate["stated"]["information_loss"]
    assert found.utility.loss.information_loss == pytest.approx(stated, abs=1e-4)  # only the right order gives it
    assert found.smallest_group >= 5
    assert found.utility.classifiers
    assert {path.name for path in (tmp_path / "assessment").iterdir()} == {
        "assessment.json",
        "figures.csv",
        "report.html",
    }
    with pytest.raises(InputError, match="documents of the release not among the originals"):
        assess(Corpus.from_texts([letter.text for letter in SAMPLE_LETTERS]), made.folder)
    with pytest.raises(InputError, match="key is for tables"):
        assess(source, made.folder, key="id")
    with pytest.raises(InputError, match="is not there"):
        assess(source, made.folder, mapping=tmp_path)
    with pytest.raises(InputError, match="is not the mapping of a release"):
        assess(source, made.folder, mapping=source)


def test_two_matrices_made_by_anyone_are_judged(tmp_path: Path) -> None:
    before = sp.csr_matrix(np.eye(6)[[0, 0, 1, 1, 2, 2]])
    after = sp.csr_matrix(np.eye(6)[[0, 0, 1, 1, 1, 1]])
    sp.save_npz(tmp_path / "before.npz", before)
    sp.save_npz(tmp_path / "after.npz", after)
    found = assess(tmp_path / "before.npz", tmp_path / "after.npz")
    assert found.utility.loss.sse == pytest.approx(2.0)
    assert found.smallest_group == 2
    many = sp.csr_matrix(np.eye(40))
    with pytest.raises(InputError, match="no more alike than rows drawn at random"):
        assess(many, many[::-1])
    with pytest.raises(InputError, match="6 rows and 6 columns, the protected one 5 and 6"):
        assess(before, after[:5])
    (tmp_path / "broken.npz").write_bytes(b"PK no zip")
    with pytest.raises(InputError, match="not a sparse matrix"):
        assess(before, tmp_path / "broken.npz")
