"""Documents in parts: the same release here and on a cluster, whatever happens to its workers."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import InputError, SphericalMicroaggregation, load, progress, protect, verify
from shoal.methods.blocks.executors import LocalExecutor
from shoal.release.cluster.parts import write_parts
from shoal.release.folders import replacing
from shoal.sample import letters

pytestmark = pytest.mark.usefixtures("without_attack")

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

METHOD = SphericalMicroaggregation(refine=False, blocks=90)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    sample = letters()
    for number in range(4):
        rows = sample[number::4]
        table = {
            "id": [row.id for row in rows],
            "text": [row.text for row in rows],
            "kind": [row.speciality for row in rows],
        }
        pq.write_table(pa.table(table), folder / f"letters-{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def here(parts, tmp_path_factory):
    return protect(
        f"{parts}/*.parquet", 5, tmp_path_factory.mktemp("here") / "release", label_column="kind", method=METHOD
    )


def test_a_release_in_parts_is_verified_and_loaded(here):
    assert verify(here.folder)
    release = load(here.folder)
    assert release.vectors.shape == (360, len(release.terms))
    assert release.table.num_rows == 360
    assert len(list((here.folder / "vectors").iterdir())) > 1


def test_every_row_is_shared_by_k_when_all_parts_are_counted_by_hand(here):
    tables = [pq.read_table(path).to_pylist() for path in (here.folder / "vectors").iterdir()]
    rows = Counter(repr((row["terms"], row["weights"])) for table in tables for row in table)
    assert min(rows.values()) >= 5


def test_how_the_documents_are_cut_into_parts_does_not_show(here, parts, tmp_path):
    whole = pa.concat_tables(pq.read_table(path) for path in sorted(parts.iterdir()))
    pq.write_table(whole, tmp_path / "all.parquet")
    made = protect(f"{tmp_path}/*.parquet", 5, tmp_path / "release", label_column="kind", method=METHOD)
    assert made.certificate["seal"] == here.certificate["seal"]


def test_the_address_of_a_scheduler_is_enough(here, parts, cluster, tmp_path):
    address = cluster.scheduler_address
    made = protect(parts, 5, tmp_path / "release", label_column="kind", method=METHOD, client=address)
    assert made.certificate["seal"] == here.certificate["seal"]


@pytest.mark.parametrize("step", ["blocks", "writing"])
def test_a_worker_killed_in_the_middle_changes_nothing(here, parts, cluster, tmp_path, step):
    killed = []

    def kill(name, done, total):
        if name == step and not killed and done:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    with distributed.Client(cluster) as client, progress.listening(kill):
        made = protect(parts, 5, tmp_path / "release", label_column="kind", method=METHOD, client=client)
    assert killed
    assert made.certificate["seal"] == here.certificate["seal"]
    assert verify(made.folder)
    assert {path.name for path in tmp_path.iterdir()} == {"release", "release-private"}


def test_work_that_is_done_again_after_the_figures_came_leaves_nothing(tmp_path):
    class Twice(LocalExecutor):
        """A schedule that does everything once more when its result was fetched, as after the loss of a worker."""

        def submit(self, work, *arguments):
            future = super().submit(work, *arguments)
            future.again = lambda: work(*arguments)
            return future

        def gather(self, futures):
            results = super().gather(futures)
            again.extend(future.again for future in futures)
            return results

    again = []
    folders = tmp_path / "private", tmp_path / "release"
    for folder in folders:
        folder.mkdir()
    with Twice() as schedule:

        def write(number, target, mapping):
            return schedule.submit(write_two, number, target, mapping)

        assert write_parts("documents", write, 2, folders, schedule) == [0, 1]
    for once_more in again:
        with pytest.raises(OSError):
            once_more()
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    names = ("part-00000.parquet", "part-00001.parquet")
    assert found == [f"private/mapping/{name}" for name in names] + [f"release/vectors/{name}" for name in names]


def write_two(number, target, mapping):
    for place in (target, mapping):
        with replacing(place) as path:
            path.write_text(str(number))
    return number


def test_a_worker_that_can_hold_little_of_the_data_gives_the_same_bytes(here, parts, tmp_path):
    """A worker keeps a ten-thousandth of its limit in memory, less than any part takes; the rest is on disk."""
    with (
        dask.config.set({"distributed.worker.memory.target": 0.0001}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit="2GB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        made = protect(parts, 5, tmp_path / "release", label_column="kind", method=METHOD, client=client)
        (written,) = client.run(bytes_written_to_disk).values()
    assert written > 1_000_000
    assert made.certificate["seal"] == here.certificate["seal"]


def bytes_written_to_disk(dask_worker):
    return dask_worker.data.cumulative_metrics["disk-write", "bytes"]


def test_a_changed_part_is_found(here, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(here.folder, copy)
    part = copy / "vectors" / "part-00001.parquet"
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    assert "vectors/part-00001.parquet" in {claim.file for claim in verify(copy).broken}
    part.unlink()
    assert "vectors/part-00001.parquet" in {claim.file for claim in verify(copy).broken}


def test_nothing_but_parts_may_lie_among_the_parts(here, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(here.folder, copy)
    (copy / "vectors" / "note.txt").write_text("Ann was here")
    assert ("files", "vectors/note.txt") in {(claim.promise, claim.file) for claim in verify(copy).broken}


def test_the_mapping_of_every_part_is_private(here):
    names = [name for path in (here.private / "mapping").iterdir() for name in pq.read_table(path)["id"].to_pylist()]
    assert len(set(names)) == 360
    released = b"".join(path.read_bytes() for path in here.folder.rglob("*") if path.is_file())
    assert b"letter-001" not in released


@pytest.mark.parametrize(
    ("source", "more", "message"),
    [
        ("{parts}/*.nothing", {}, "0 files"),
        ("s3no://nowhere/at/all", {}, "cannot be listed"),
        ("{parts}/*.parquet", {"client": "tcp://127.0.0.1:9"}, "no Dask scheduler answers"),
        ("{parts}/*.parquet", {"l": 2}, "needs a confidential column"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_written(monkeypatch, parts, tmp_path, source, more, message):
    monkeypatch.setattr("shoal.release.cluster.parts.PATIENCE", 0.2)
    with pytest.raises(InputError, match=message):
        protect(source.format(parts=parts), 5, tmp_path / "release", **more)
    assert list(tmp_path.iterdir()) == []


def test_l_holds_in_every_part(parts, tmp_path):
    made = protect(f"{parts}/*.parquet", 5, tmp_path / "release", label_column="kind", method=METHOD, l=2)
    assert (
        json.loads((made.folder / "certificate.json").read_text())["promises"]["diversity"]["columns"][0]["least"] >= 2
    )
    assert verify(made.folder)
