"""shoal protect --method semantic: what it takes, and what it refuses in one line."""

from __future__ import annotations

import json

import pytest

from tests.cli.run import run

pytestmark = pytest.mark.usefixtures("without_attack")

NOUNS = ["tide", "heron", "shoal", "fish", "harbour", "boat", "storm", "anchor", "island", "gull", "reef", "salt"]
TEXTS = [f"{NOUNS[n % 12]} {NOUNS[n * 5 % 12]} {NOUNS[n * 7 % 11]} {NOUNS[n // 2]}" for n in range(24)]


@pytest.fixture
def folder(tmp_path):
    lines = [json.dumps({"id": f"id-{n}", "text": text}) for n, text in enumerate(TEXTS)]
    (tmp_path / "d.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "t.csv").write_text("age,pay\n" + "".join(f"{n},{n * n}\n" for n in range(9)), encoding="utf-8")
    (tmp_path / "h.csv").write_text("child,parent\n" + "".join(f"{noun},sea\n" for noun in NOUNS), encoding="utf-8")
    return tmp_path


def test_documents_are_protected_by_meaning_and_verified(folder):
    done = run(folder, "protect", "d.jsonl", "-k", "3", "-o", "out", "--method", "semantic", "--json")
    assert done.code == 0, done.err
    parameters = json.loads(done.out)["certificate"]["stated"]["parameters"]
    assert parameters["vector_space"]["stem"] is False
    assert parameters["vector_space"]["terms_per_document"] == 50
    assert parameters["vector_space"]["min_df"] == 3
    assert run(folder, "verify", "out").code == 0


def test_a_hierarchy_and_the_number_of_terms_can_be_given(folder):
    options = ["--method", "semantic", "--ontology", "h.csv", "--terms-per-document", "2", "--min-df", "1"]
    done = run(folder, "protect", "d.jsonl", "-k", "3", "-o", "out", "--json", *options)
    assert done.code == 0, done.err
    parameters = json.loads(done.out)["certificate"]["stated"]["parameters"]
    assert parameters["microaggregation"]["ontology"] == "Hierarchy"
    assert parameters["vector_space"]["terms_per_document"] == 2
    assert run(folder, "verify", "out").code == 0


def test_documents_in_parts_are_protected_by_meaning(folder):
    done = run(folder, "protect", "*.jsonl", "-k", "3", "-o", "out", "--method", "semantic")
    assert done.code == 0, done.err
    assert (folder / "out" / "vectors").is_dir()
    assert run(folder, "verify", "out").code == 0


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("d.jsonl", ["--time-budget", "3"], "--time-budget is not for semantic; leave it out"),
        ("d.jsonl", ["--attribute-groups", "2"], "--attribute-groups is for tables"),
        ("d.jsonl", ["--stem"], "leave out --stem"),
        ("d.jsonl", ["--language", "german"], "WordNet is English, the language is german"),
        ("d.jsonl", ["--terms-per-document", "0"], "0 must be a whole number of at least 1"),
        ("d.jsonl", ["--ontology", "text=h.csv"], "--ontology: columns are of tables"),
        ("t.csv", [], "--method semantic cannot protect a table"),
        ("t.csv", ["--terms-per-document", "9"], "--terms-per-document is for documents, and this is a table"),
    ],
)
def test_what_makes_no_sense_is_one_line(folder, source, options, message):
    done = run(folder, "protect", source, "-k", "3", "-o", "out", "--method", "semantic", *options)
    assert done.code == 2
    assert len(done.complaints) == 1
    assert message in done.complaints[0]
    assert not (folder / "out").exists()
