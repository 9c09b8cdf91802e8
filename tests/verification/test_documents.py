"""What is published of a group of documents: pooled counts, by words and by meaning; and what old releases are told."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.exact_means import recovered

from shoal import Corpus, SemanticMicroaggregation, SphericalMicroaggregation, VectorSpace, load, protect, verify
from shoal.methods.spherical import spherical_representatives
from shoal.sample import letters
from tests.release.releases import quietly, rows_of

pytestmark = pytest.mark.usefixtures("without_attack")

TEXTS = [letter.text for letter in letters()][:90]
BRIEF = SphericalMicroaggregation(time_budget=0.2)


@pytest.fixture(scope="module")
def by_words(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    return quietly(protect, Corpus.from_texts(TEXTS), 3, folder / "release", method=BRIEF)


@pytest.fixture(scope="module")
def by_meaning(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meaning")
    return quietly(protect, Corpus.from_texts(TEXTS[:40]), 3, folder / "release", method=SemanticMicroaggregation())


def true_counts(made, texts):
    """The counts of every released row's own document, in the terms of the release's space."""
    space = VectorSpace(**made.certificate["stated"]["parameters"]["vector_space"])
    counts = quietly(space.fit, texts).count_rows(space.count(texts))
    numbers = [int(row["id"]) - 1 for row in rows_of(made.private / "mapping.parquet")]
    groups = np.array([row["group"] for row in rows_of(made.private / "mapping.parquet")])
    return space, counts[numbers], groups


def test_every_row_has_the_counts_of_its_group(by_words):
    space, counts, groups = true_counts(by_words, TEXTS)
    columns = np.searchsorted(space.terms_, load(by_words.folder).terms)
    released = load(by_words.folder).counts.toarray()
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(groups == group)
        assert released[rows].tolist() == [counts[rows][:, columns].toarray().sum(axis=0).tolist()] * len(rows)


def test_no_letter_is_recovered(by_words):
    exact, nearly = by_words.certificate["stated"]["attacks"]
    assert (exact["about"], nearly["about"]) == ("documents recovered exactly", "documents recovered nearly")
    assert (exact["rate"], nearly["rate"], exact["n"]) == (0.0, 0.0, 90)


def test_exact_means_of_the_same_groups_are_taken_apart(by_words):
    space, counts, groups = true_counts(by_words, TEXTS)
    X = sp.csr_matrix(counts @ sp.diags_array(space.idf_))
    X = sp.csr_matrix(sp.diags_array(1 / sp.linalg.norm(X, axis=1)) @ X)
    means = spherical_representatives(X, groups)
    exact, _ = recovered(means, counts, groups, space.min_df, len(groups), 30)
    assert exact > 0.9


def test_documents_by_meaning_are_pooled_too(by_meaning):
    assert verify(by_meaning.folder)
    release = load(by_meaning.folder)
    _, counts, groups = true_counts(by_meaning, TEXTS[:40])
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(groups == group)
        # Words that found no partner are left out, and nothing is counted twice.
        assert 0 < release.counts[[rows[0]]].sum() <= counts[rows].sum()
    assert by_meaning.certificate["stated"]["attacks"][0]["rate"] == 0.0


def test_raw_counts_make_a_form_of_their_own(tmp_path):
    space = VectorSpace(min_df=3, weighting="tf")
    made = quietly(protect, Corpus.from_texts(TEXTS), 3, tmp_path / "release", space=space, method=BRIEF)
    assert made.certificate["promises"]["form"] == "pooled counts, tf"
    assert verify(made.folder)
