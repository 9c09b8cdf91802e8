"""Documents of authors: whole authors are the unit, and every published term is used by enough of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow.parquet as pq
import pytest

from shoal import InputError, load, protect, verify
from tests.release.releases import quietly

WORDS = [
    *("tide", "boat", "harbour", "storm", "sail", "anchor", "wave", "island"),
    *("fisher", "net", "gull", "rope", "captain", "mast", "lantern", "shore"),
]


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    """60 letters of 24 authors, who write one or more; only one of them writes of a zeppelin, four times."""
    random = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("letters") / "letters.jsonl"
    authors = [*range(24), 0, 0, 0, *random.choice(24, 33, p=np.arange(24, 0, -1) / 300).tolist()]
    lines = []
    for number, author in enumerate(authors):
        text = " ".join(random.choice(WORDS, 30)) + (" zeppelin" if author == 0 else "")
        lines.append(
            json.dumps(
                {"id": number, "text": text, "author": f"author {author}", "ill": "flu" if number % 3 else "gout"}
            )
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("asked", [{}, {"label_column": "ill", "l": 2}])
def test_at_least_k_authors_carry_all_rows_that_an_author_carries(letters, tmp_path, asked):
    made = quietly(protect, letters, 3, tmp_path / "release", person="author", refine=False, **asked)
    assert verify(made.folder)
    mapping = pq.read_table(made.private / "mapping.parquet").to_pydict()
    author_of = {str(one["id"]): one["author"] for one in map(json.loads, letters.read_text().splitlines())}
    groups_of, authors_of = defaultdict(set), defaultdict(set)
    for name, group in zip(mapping["id"], mapping["group"], strict=True):
        groups_of[author_of[str(name)]].add(group)
        authors_of[group].add(author_of[str(name)])
    for groups in groups_of.values():
        assert len(set.intersection(*(authors_of[group] for group in groups))) >= 3
    assert all(crowd["people"] >= 3 for crowd in made.certificate["promises"]["crowds"])


def test_a_term_of_one_author_is_not_published_however_many_letters_have_it(letters, tmp_path):
    made = quietly(protect, letters, 3, tmp_path / "release", person="author", refine=False)
    by_documents = quietly(protect, letters, 3, tmp_path / "documents", refine=False)
    assert not any(term.startswith("zeppelin") for term in load(made.folder).terms)
    assert any(term.startswith("zeppelin") for term in load(by_documents.folder).terms), "by documents it is frequent"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"person": "auhtor"}, "did you mean author"),
        ({"person": "text"}, "column text is for person and would be released, too"),
        ({"person": "author", "k": 25, "min_df": 1}, "k=25 needs at least 25 people, column author has 24"),
    ],
)
def test_what_authors_cannot_give_is_refused_in_one_line(letters, tmp_path, asked, message):
    with pytest.raises(InputError, match=message):
        quietly(protect, letters, **({"k": 3} | asked), out=tmp_path / "release", refine=False)
    assert not (tmp_path / "release").exists()


def test_a_letter_without_an_author_is_refused(tmp_path):
    path = tmp_path / "letters.jsonl"
    path.write_text('{"text": "tide boat", "author": "a"}\n{"text": "tide boat"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"1 document without a person .first: line 2"):
        protect(path, 2, tmp_path / "release", person="author")


def test_authors_in_a_group_have_as_many_letters_and_the_others_are_withheld(letters, tmp_path):
    made = quietly(protect, letters, 3, tmp_path / "release", person="author", refine=False)
    author_of = {str(one["id"]): one["author"] for one in map(json.loads, letters.read_text().splitlines())}
    mapping = pq.read_table(made.private / "mapping.parquet").to_pydict()
    groups_of = defaultdict(list)
    for name, group in zip(mapping["id"], mapping["group"], strict=True):
        groups_of[author_of[str(name)]].append(group)
    alike = Counter(tuple(sorted(groups)) for groups in groups_of.values())
    assert min(alike.values()) >= 3
    assert made.certificate["stated"]["withheld"] == [
        {"reason": "more records than k people have", "count": 60 - len(mapping["id"])}
    ]


def test_the_owner_is_warned_of_an_author_who_has_most_of_a_pool(tmp_path):
    path = tmp_path / "letters.jsonl"
    words = {"a": "tide boat " * 200, "b": "tide boat", "c": "tide boat", "d": "sail", "e": "sail", "f": "sail"}
    lines = [{"text": text, "author": author} for author, text in words.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.warns(UserWarning, match="in 1 group one author has more than half of the words"):
        protect(path, 3, tmp_path / "release", person="author", refine=False, attack=False)
