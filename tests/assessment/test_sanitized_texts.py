"""assess on sanitized texts: folders and JSONL side by side, searched, and searched for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal import Corpus, InputError, assess
from shoal.assessment.sanitized_texts import risk_queries, subject_queries
from shoal.sanitizer.policies.policy import Concept, Policy, Topic
from shoal.sanitizer.redact import redact
from shoal.sanitizer.review.work import Proposals, text_digest
from shoal.sanitizer.unmask import unmask
from shoal.terms.search_engine import SearchEngine
from tests.sanitizer.review import folders as review
from tests.sanitizer.sanitized_releases import IDENTITIES, SEALING

SUBJECTS = {
    "harvest": "wheat barley fields mill grain thresher sowing plough",
    "harbour": "ship quay tide crane cargo pilot anchor buoy",
    "hospital": "ward fever nurse dose surgeon bandage pulse clinic",
}
RISKY = Policy(
    "club",
    "What a club hides",
    (
        Topic("a", "weapons", (Concept("weapon"), Concept("rifle"))),
        Topic("b", "sources", (Concept("informant"),)),
        Topic("c", "ciphers", (Concept("cryptology"),)),
    ),
)


def letters() -> dict[str, str]:
    """Twelve letters on each subject, each with words of its own; every third speaks of rifles."""
    random = np.random.default_rng(0)
    texts = {}
    for subject, words in SUBJECTS.items():
        for number in range(12):
            some = " ".join(random.choice(words.split(), 6))
            own = f"{subject}{number}a {subject}{number}b"
            rifles = " The rifle and the weapon were hidden." if number % 3 == 0 else ""
            texts[f"{subject}/{number}.txt"] = f"{some} {own}.{rifles}"
    return texts


def folder(place: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return place


def jsonl(file: Path, texts: dict[str, str]) -> Path:
    lines = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


BEFORE = letters()
AFTER = {name: text.split(". The rifle")[0] for name, text in BEFORE.items()}


def test_removed_sentences_cost_risk_and_no_information(tmp_path: Path) -> None:
    found = assess(folder(tmp_path / "a", BEFORE), folder(tmp_path / "b", AFTER), tmp_path / "out", policy=RISKY)
    assert found.rows == 36
    assert [query.name for query in found.risk.queries] == ["weapons", "all topics"]
    assert found.risk.empty == ("sources", "ciphers")
    assert found.risk.mean == -75.0
    assert found.utility.mean > -10.0
    assert found.attack.with_all_words.first.rate == 1.0
    assert found.attack.named.control < 0.2
    assert found.words_left == pytest.approx(1 - 12 * 8 / (36 * 8 + 12 * 8), abs=0.03)


def test_the_report_holds_the_figures(tmp_path: Path) -> None:
    found = assess(folder(tmp_path / "a", BEFORE), folder(tmp_path / "b", AFTER), tmp_path / "out", policy=RISKY)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "-75.0%" in page
    assert "Keep this page to yourself" in page
    data = json.loads((tmp_path / "out" / "assessment.json").read_text(encoding="utf-8"))
    assert data == found.data()
    assert data["risk"]["queries"][0]["changes"]["total"] == -75.0
    places = (tmp_path / "out" / "found.csv").read_text(encoding="utf-8").splitlines()
    assert places[0] == "document,rank,named"
    assert len(places) == 37
    queries = (tmp_path / "out" / "queries.csv").read_text(encoding="utf-8").splitlines()
    assert len(queries) == 1 + len(found.utility.queries) + 2


def test_folders_jsonl_and_lists_give_the_same(tmp_path: Path) -> None:
    by_folder = assess(folder(tmp_path / "a", BEFORE), folder(tmp_path / "b", AFTER), policy=RISKY)
    by_lines = assess(jsonl(tmp_path / "a.jsonl", BEFORE), jsonl(tmp_path / "b.jsonl", AFTER), policy=RISKY)
    mixed = assess(folder(tmp_path / "a", BEFORE), jsonl(tmp_path / "b.jsonl", AFTER), policy=RISKY)
    in_memory = assess(
        Corpus.from_texts(BEFORE.values(), ids=BEFORE), Corpus.from_texts(AFTER.values(), ids=AFTER), policy=RISKY
    )
    assert by_folder.risk == by_lines.risk == mixed.risk == in_memory.risk
    by_place = assess(list(BEFORE.values()), list(AFTER.values()), policy=RISKY)
    assert by_place.risk == by_lines.risk


def test_unchanged_texts_lose_nothing() -> None:
    texts = list(BEFORE.values())
    found = assess(texts, texts, policy=RISKY)
    assert (found.words_left, found.utility.mean, found.risk.mean) == (1.0, 0.0, 0.0)
    assert found.attack.searches == found.unsanitized.searches


def test_a_file_may_change_its_suffix(tmp_path: Path) -> None:
    originals = folder(tmp_path / "a", {name.replace(".txt", ".md"): text for name, text in BEFORE.items()})
    assert assess(originals, folder(tmp_path / "b", AFTER), policy=RISKY).risk.mean == -75.0


def test_a_withheld_text_counts_as_empty(tmp_path: Path) -> None:
    kept = {name: text for name, text in AFTER.items() if name != "harvest/1.txt"}
    found = assess(folder(tmp_path / "a", BEFORE), folder(tmp_path / "b", kept), policy=RISKY)
    assert found.rows == 36
    assert "1 text withheld or empty after sanitizing" in found.notes
    assert found.attack.with_all_words.first.rate < 1.0


def test_texts_of_other_names_are_refused(tmp_path: Path) -> None:
    others = {f"x{name}": text for name, text in AFTER.items()}
    with pytest.raises(InputError, match="36 sanitized texts of 36 not among the originals"):
        assess(folder(tmp_path / "a", BEFORE), folder(tmp_path / "b", others))


def test_texts_in_another_order_are_refused() -> None:
    texts = list(BEFORE.values())
    with pytest.raises(InputError, match="no more alike than rows drawn at random"):
        assess(texts, texts[18:] + texts[:18])


def test_options_of_tables_are_refused_for_texts() -> None:
    texts = list(BEFORE.values())
    with pytest.raises(InputError, match="target is for tables, and these are texts"):
        assess(texts, texts, target="topic")


def test_options_of_texts_are_refused_for_tables(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age\n1\n2\n3\n", encoding="utf-8")
    with pytest.raises(InputError, match="relevance is for texts, and these are tables"):
        assess(table, table, relevance=0.1)


def test_own_queries_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("wheat and barley\n\n  ships \n", encoding="utf-8")
    found = assess(list(BEFORE.values()), list(AFTER.values()), queries=file, policy=RISKY, relevance=0.05)
    assert [query.words for query in found.utility.queries] == ["wheat and barley", "ships"]
    assert {query.threshold for query in found.utility.queries} == {0.05}


def test_a_file_without_queries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "queries.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"queries\.txt has no query"):
        assess(list(BEFORE.values()), list(AFTER.values()), queries=tmp_path / "queries.txt")


def test_the_background_may_be_other_texts_under_the_same_names(tmp_path: Path) -> None:
    # A newspaper has a line on each letter, with a word of its own; half the lines are missing.
    lines = {name: f"{text.split('.')[0].split()[-1]} in the news" for name, text in list(BEFORE.items())[::2]}
    masked = {name: text.split()[0] + " " + text.split(".")[0].split()[-1] for name, text in BEFORE.items()}
    found = assess(
        folder(tmp_path / "a", BEFORE), folder(tmp_path / "b", masked), policy=RISKY,
        background=folder(tmp_path / "news", lines),
    )  # fmt: skip
    assert (found.attack.documents, found.attack.background) == (18, 18)
    assert found.attack.with_all_words.first.rate == 1.0
    assert len(found.found()) == 18


def test_a_background_without_a_common_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the 2 documents of the background"):
        assess(
            list(BEFORE.values()), list(AFTER.values()), background=folder(tmp_path, {"x.txt": "one", "y.txt": "two"})
        )


def test_each_subject_gets_a_query_of_its_own_words() -> None:
    queries = subject_queries(SearchEngine().fit(BEFORE.values()))
    assert len(queries) == 9
    subjects = [set(words.split()) for words in SUBJECTS.values()]
    assert all(any(subject & set(query.words.split()) for subject in subjects) for query in queries)


def test_a_single_topic_is_asked_for_once() -> None:
    assert [query.words for query in risk_queries(replace(RISKY, topics=RISKY.topics[:1]))] == ["weapon rifle"]


def test_a_release_is_judged_by_what_unmask_writes_and_by_its_own_policy(tmp_path: Path) -> None:
    third = "The fever of the child has gone. No dose was given on Monday."
    proposals = [*review.letters(), Proposals("d3", "c.txt", text_digest(third), "", False, (), ())]
    work = review.work_folder(tmp_path / "work", (*review.LETTERS, third), proposals)
    redact(work.path, tmp_path / "release", SEALING, form="html", accept_rest=0.5)
    unmask(tmp_path / "release", tmp_path / "originals", identities=IDENTITIES)
    found = assess(tmp_path / "originals", tmp_path / "release", queries=["Girona", "Bob"])
    assert (found.rows, found.policy) == (3, "health")
    girona, bob = found.utility.queries
    assert girona.changes.total == 0.0
    assert bob.after.returned == 0
    with pytest.raises(InputError, match="as shoal unmask writes them"):
        assess(folder(tmp_path / "a", BEFORE), tmp_path / "release")
