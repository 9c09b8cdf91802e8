"""Every hostile release of the corpus is refused, for the right reason."""

from __future__ import annotations

import pytest

from shoal import verify
from tests.release.releases import copy_of, reseal
from tests.verification.hostile.archive_changes import ARCHIVE_CHANGES
from tests.verification.hostile.cases import BYTES
from tests.verification.hostile.certificate_changes import CERTIFICATE_CHANGES
from tests.verification.hostile.parquet_changes import PARQUET_CHANGES
from tests.verification.hostile.row_changes import ROW_CHANGES
from tests.verification.hostile.surgery import parsed

pytestmark = pytest.mark.usefixtures("without_attack")

HOSTILE = [*PARQUET_CHANGES, *ARCHIVE_CHANGES, *ROW_CHANGES, *CERTIFICATE_CHANGES]
KINDS = sorted({hostile.of for hostile in HOSTILE} | {"documents without labels", "table.tsv", "table of labels"})


@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_release_is_accepted_and_so_is_one_put_together_again(honest, tmp_path, kind):
    assert verify(honest[kind]).broken == ()
    copy = copy_of(honest[kind], tmp_path / "copy")
    for path in copy.rglob("*.parquet"):
        parsed(path).write(path)
    reseal(copy)
    assert verify(copy).broken == ()
    assert_only_counted_content_is_rewritten(copy, honest[kind], tmp_path / "rewritten")


def state_of(release):
    files = [path for path in release.rglob("*") if path.is_file()]
    return {path.relative_to(release).as_posix(): (path.is_symlink(), path.read_bytes()) for path in files}


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: f"{hostile.of}: {hostile.name}")
def test_a_hostile_release_is_refused_for_the_right_reason(honest, tmp_path, hostile):
    release = copy_of(honest[hostile.of], tmp_path / "copy")
    before = state_of(release)
    hostile.change(release)
    after = state_of(release)
    assert before != after
    if before["certificate.json"] == after["certificate.json"]:
        reseal(release)
    broken = verify(release).broken
    assert not any(claim.promise == "files" for claim in broken) or hostile.promise == "files", "sealed anew"
    if hostile.promise != BYTES:
        assert any(claim.promise == hostile.promise and hostile.words in claim.detail for claim in broken), broken
    elif not broken:
        assert_only_counted_content_is_rewritten(release, honest[hostile.of], tmp_path / "rewritten")


def assert_only_counted_content_is_rewritten(release, honest, out):
    """Whatever was hidden in the bytes, rewriting gives the honest release to the byte."""
    assert verify(release, rewrite=out)
    assert state_of(out) == state_of(honest)


def test_the_corpus_has_a_hundred_releases_of_different_names():
    assert len({(hostile.of, hostile.name) for hostile in HOSTILE}) == len(HOSTILE) >= 100
