"""assess: figures of pairs that belong together, and refusal of pairs that do not."""

from __future__ import annotations

import csv
import json
import warnings
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
    SemanticMicroaggregation,
    SphericalMicroaggregation,
    VectorSpace,
    assess,
    progress,
    protect,
    verify,
)
from shoal.attacks.rates import wilson
from shoal.sample import letters
from tests.cli.run import run

pytestmark = pytest.mark.usefixtures("without_attack")

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
    assert found.loss.mean_change == 0
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
    assert by_key.loss.mean_change == pytest.approx(straight.loss.mean_change)
    assert by_key.risk.euclidean.rate == pytest.approx(straight.risk.euclidean.rate)


@pytest.mark.parametrize(
    ("after", "options", "says"),
    [
        (AFTER.iloc[:50], {}, "60 rows and the protected table 50"),
        (
            AFTER.sample(frac=1, random_state=0),
            {"columns": ["age", "pay"]},
            "2 of 2 columns do not match their counterparts",
        ),
        (AFTER.assign(id="p1"), {"key": "id"}, "59 keys more than once in column id"),
        (AFTER.assign(id=[f"q{n}" for n in range(60)]), {"key": "id"}, "60 keys only in the original and 60 only in"),
        (AFTER.drop(columns="id"), {"key": "id"}, "id"),
        (AFTER, {"columns": ["height"]}, "height"),
        (AFTER.rename(columns=str.upper), {}, "no column in common"),
        (AFTER.assign(pay=np.nan), {"columns": ["age", "pay"]}, "60 missing or infinite values in column pay"),
        (AFTER, {"private": "nowhere"}, "is not there"),
    ],
)
def test_pairs_that_do_not_belong_together_are_refused(after: pd.DataFrame, options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        assess(BEFORE, after, **options)


def test_one_column_of_labels_does_not_make_shuffled_rows_belong_together() -> None:
    before = BEFORE.assign(town=["A", "B", "C"] * 20).drop(columns="id")
    with pytest.raises(InputError, match="do not match their counterparts"):
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
            assess(tmp_path / f"{original}.csv", tmp_path / "one", private=tmp_path / f"{mapping}-private")


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
    assert not verify(made.folder).promises_crowd
    assert "60 of 60 records are one of a kind" in (made.folder / "README.md").read_text()
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
    # Smith, and one of two clerks, are found by name; the worker replaced the baker, and nobody else.
    assert found.risk.interval.rate == pytest.approx(1)
    assert found.label_loss.columns[0].table == pytest.approx(0.25)  # of half, baker and worker are a quarter each
    assert found.score == pytest.approx((found.mean_change + found.risk.risk) / 2)
    assert found.label_score(0) == pytest.approx(50)  # RL alone
    assert found.label_score(1) == pytest.approx(100 * found.label_loss.squared.information_loss)  # L alone


def test_control_records_tell_what_would_be_known_anyway(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    control = pd.DataFrame({"age": random.integers(18, 90, 40), "pay": random.normal(3000, 500, 40)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = assess(BEFORE[["age", "pay"]], AFTER[["age", "pay"]], tmp_path / "out", control=control)
    assert found.notes == ()
    assert all(rate.control_low <= rate.control <= rate.control_high for rate in found.gdpr)
    linkability = next(rate for rate in found.gdpr if rate.about == "linkability")
    assert (linkability.control_low, linkability.control_high) == wilson(linkability.control, 40)
    told = json.loads((tmp_path / "out" / "assessment.json").read_text())["gdpr"]
    assert [one["control_high"] for one in told] == [rate.control_high for rate in found.gdpr]
    assert "On strangers (95 % interval)" in (tmp_path / "out" / "report.html").read_text()
    with pytest.raises(InputError, match="pay"):
        assess(BEFORE[["age", "pay"]], AFTER[["age", "pay"]], control=control[["age"]])
    with pytest.raises(InputError, match="control records are for attacks on numbers"):
        assess(BEFORE[["id"]], BEFORE[["id"]], control=control)


def test_control_records_that_are_few_or_known_are_remarked(tmp_path: Path) -> None:
    for name, table in (("before", BEFORE), ("after", AFTER), ("control", BEFORE.iloc[:7].assign(age=[7] * 7))):
        table.drop(columns="id").to_csv(tmp_path / f"{name}.csv", index=False)
    with (tmp_path / "control.csv").open("a") as lines:
        lines.writelines(f"{row.age},{row.pay}\n" for row in BEFORE.iloc[10:12].itertuples())
    ran = run(tmp_path, "assess", "before.csv", "after.csv", "-o", "out", "--control", "control.csv")
    assert ran.code == 0, ran.err
    assert ran.err.splitlines() == [
        "shoal: note: the control table has 9 records, and with fewer than 30 it says little; "
        "give more people who are not in the original",
        "shoal: note: 2 of 9 control records are also in the original, equal in all columns that are compared; "
        "give people who are not in it",
    ]
    assert "2 of 9 control records" in (tmp_path / "out" / "report.html").read_text()
    assert len(json.loads((tmp_path / "out" / "assessment.json").read_text())["notes"]) == 2
    assert "strangers    " in ran.out


def test_strangers_who_agree_with_the_original_in_coarse_columns_only_are_not_taken_for_its_people() -> None:
    # Four columns of three values each: of any 300 people, nearly all find their like among 300 others.
    random = np.random.default_rng(4)
    coarse, strangers = (pd.DataFrame(random.integers(0, 3, (300, 4)), columns=list("abcd")) for _ in range(2))
    assert assess(coarse, coarse, control=strangers).notes == ()
    with pytest.warns(UserWarning, match="3 of 43 control records are also in the original"):
        known = pd.concat([BEFORE[["age", "pay"]].iloc[:3], BEFORE[["age", "pay"]].iloc[20:] + 0.5])
        assess(BEFORE[["age", "pay"]], AFTER[["age", "pay"]], control=known)


def test_a_release_of_eight_rows_is_judged_by_its_mapping(tmp_path: Path) -> None:
    # Two crowds of four: the pay of their members has little to do with that of the crowds.
    people = pd.DataFrame({"age": [20, 21, 22, 23, 60, 61, 62, 63], "pay": [1, 9, 2, 8, 7, 3, 6, 4]})
    people["height"] = [150, 190, 160, 180, 185, 155, 175, 165]
    people.to_csv(tmp_path / "people.csv", index=False)
    made = protect(tmp_path / "people.csv", 4, tmp_path / "release", roles=Roles(quasi=("age", "pay", "height")))
    found = assess(tmp_path / "people.csv", made.folder, tmp_path / "out")
    assert (found.rows, found.smallest_group) == (8, 4)
    assert found.risk.euclidean.rate <= 0.25


def test_every_step_of_an_assessment_has_a_name_while_it_is_under_way() -> None:
    begun: list[str] = []
    with progress.listening(lambda name, done, total: begun.append(name)):
        assess(BEFORE[["age", "pay"]], AFTER[["age", "pay"]])
    assert {"measuring the loss", "singling out", "linking records"} <= set(begun)
    begun.clear()
    random = sp.csr_matrix(np.random.default_rng(0).random((40, 12)))
    with progress.listening(lambda name, done, total: begun.append(name)):
        assess(random, random)
    assert list(dict.fromkeys(begun)) == ["comparing distances", "asking queries", "finding clusters"]


def test_options_of_tables_are_not_for_documents_and_unknown_ones_are_refused() -> None:
    with pytest.raises(InputError, match="text_column is for documents, and these are tables; leave it out"):
        assess(BEFORE, AFTER, text_column="id")
    with pytest.raises(TypeError, match="unexpected keyword argument 'mapping'"):
        assess(BEFORE, AFTER, mapping="private")


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
    page = (tmp_path / "assessment" / "report.html").read_text()
    for told in ("<h2>Searches</h2>", "<h2>Classifiers</h2>", "<h2>Distances before and after</h2>", "naive Bayes"):
        assert told in page
    ran = run(tmp_path, "assess", "letters.jsonl", "release", "-o", "again")
    assert "right by naive Bayes, from the originals" in ran.out
    with pytest.raises(InputError, match="documents of the release not among the originals"):
        assess(Corpus.from_texts([letter.text for letter in SAMPLE_LETTERS]), made.folder)
    with pytest.raises(InputError, match="key is for tables"):
        assess(source, made.folder, key="id")
    with pytest.raises(InputError, match="is not there"):
        assess(source, made.folder, private=tmp_path)
    with pytest.raises(InputError, match="is not the mapping of a release"):
        assess(source, made.folder, private=source)


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


LUCK = np.random.default_rng(3)
STAFF = pd.DataFrame({"age": LUCK.uniform(20, 60, 120).round(1), "school": LUCK.uniform(8, 18, 120).round(1)})
STAFF["pay"] = (0.5 * STAFF.age + 2 * STAFF.school + LUCK.normal(size=120)).round(2)
STAFF["grade"] = np.where(STAFF.pay > STAFF.pay.median(), "senior", "junior")
STAFF["code"] = np.where(STAFF.pay > STAFF.pay.median(), "007", "012")
STAFF["day"] = pd.Timestamp("2020-02-29")


def test_models_learn_a_target_of_numbers_from_the_other_columns() -> None:
    numbers = STAFF[["age", "school", "pay"]]
    found = assess(numbers, numbers, target="pay").models
    assert found.known == ("age", "school")
    assert found.records == 120
    assert {score.task for score in found.scores} == {"regression", "classification"}
    assert all(score.protected == score.original > score.baseline for score in found.scores)
    assert found.rows()[-1]["target"] == "pay above its median"
    assert assess(numbers, numbers).models is None


def test_a_release_is_asked_for_a_confidential_target_as_it_stands(tmp_path: Path) -> None:
    STAFF.to_csv(tmp_path / "staff.csv", index=False)
    roles = Roles(quasi=("age", "school"), confidential=("pay", "grade", "code"))
    made = protect(tmp_path / "staff.csv", 3, tmp_path / "out", roles=roles, method=Microaggregation(refine=False))
    labels = assess(tmp_path / "staff.csv", made.folder, tmp_path / "assessment", target="grade").models
    assert {score.task for score in labels.scores} == {"classification"}
    assert min(score.protected for score in labels.scores) > 0.8 > 0.6 > labels.scores[0].baseline
    assert assess(tmp_path / "staff.csv", made.folder, target="code").models.scores[0].protected > 0.8
    # The file has its numbers as they were written, and they are numbers again.
    pay = assess(tmp_path / "staff.csv", made.folder, target="pay").models.scores[0]
    assert (pay.task, pay.protected > 0.8) == ("regression", True)
    data = json.loads((tmp_path / "assessment" / "assessment.json").read_text())
    assert data["models"]["target"] == "grade"
    with (tmp_path / "assessment" / "models.csv").open() as lines:
        assert [line["model"] for line in csv.DictReader(lines)] == ["logistic regression", "boosted trees"]
    page = (tmp_path / "assessment" / "report.html").read_text()
    assert "Models from this table are right about grade in" in page
    ran = run(tmp_path, "assess", "staff.csv", "out", "-o", "again", "--target", "grade")
    assert ran.code == 0, ran.err
    assert "learned      grade by logistic regression: accuracy 0." in ran.out


def test_rare_labels_are_one_class_and_records_without_a_label_are_left_out() -> None:
    labels = pd.Series([f"team {number % 14}" for number in range(120)])
    labels[:20] = None
    table = STAFF[["age", "school"]].assign(team=labels)
    found = assess(table, table, columns=["age", "school"], target="team").models
    assert (found.records, found.taken_together) == (100, 5)
    assert not found.learnable


def test_labels_that_were_generalised_are_never_right() -> None:
    blurred = STAFF.assign(grade="somebody")
    scores = assess(STAFF, blurred, columns=["age", "school"], target="grade").models.scores
    assert all(score.protected == 0 < score.original for score in scores)


@pytest.mark.parametrize(
    ("target", "columns", "says"),
    [
        ("salary", ["age"], "the original has no column salary, only: age"),
        ("age", ["age"], "target age is learned from other columns, and no other is compared"),
        ("day", ["age"], "target day is timestamp.*, neither numbers nor labels; choose another column"),
        ("same", ["age"], "same is one class in all rows; there is nothing to learn, choose another target"),
        ("none", ["age"], "target none is missing in all but 0 records; choose another column"),
        ("kind", ["age"], "target kind is int64 in the original and .* in the protected table; choose a column of one"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused(target: str, columns: list[str], says: str) -> None:
    table = STAFF.assign(same="x", none=None, kind=1)
    with pytest.raises(InputError, match=says):
        assess(table, table.assign(kind="one"), columns=columns, target=target)


def test_documents_have_no_target(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="target is for tables, and these are documents"):
        assess(sp.eye(20), sp.eye(20), target="topic")


def test_vectors_are_not_compared_with_a_table(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "before.npz", sp.csr_matrix(np.eye(6)))
    AFTER.to_csv(tmp_path / "after.csv", index=False)
    with pytest.raises(InputError, match="the original is vectors of documents and the protected one a table"):
        assess(tmp_path / "before.npz", tmp_path / "after.csv")


def test_documents_by_meaning_lose_what_protect_says_they_lose(tmp_path: Path) -> None:
    nouns = ["dog", "cat", "horse", "wolf", "child", "woman", "hand", "arm", "leg", "fever", "pain", "bone"]
    texts = [" ".join(np.random.default_rng(row).choice(nouns, 8)) for row in range(40)]
    space = VectorSpace(min_df=1, stem=False)
    made = protect(
        Corpus.from_texts(texts), 3, tmp_path / "release", method=SemanticMicroaggregation(), space=space, attack=False
    )
    found = assess(Corpus.from_texts(texts), made.folder)
    assert found.utility.loss.information_loss == pytest.approx(made.measured_loss)
