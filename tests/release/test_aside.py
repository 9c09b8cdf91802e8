"""Folders aside: whole or not at all, named when a killed run left them, and private from the start."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shoal import Roles, assess, explore, protect
from shoal.errors import InputError
from shoal.release import folders
from shoal.release.folders import (
    PUBLIC_FOLDER,
    folder_aside,
    folders_written_aside,
    make_aside,
    uninterrupted,
    warn_of_leftovers,
)
from shoal.terms.value_mapping import Proposal, write_proposals
from tests.release.releases import release_letters, release_table

pytestmark = pytest.mark.usefixtures("without_attack")


def said_of(*targets: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_of_leftovers(*targets)
    return [str(one.message) for one in said]


def test_the_folder_of_a_run_that_goes_on_is_not_called_a_leftover(tmp_path: Path) -> None:
    with folder_aside(tmp_path / "out"):
        assert said_of(tmp_path / "out") == []
    assert os.listdir(tmp_path) == []


def test_a_folder_that_nobody_holds_is_named_with_the_command_that_removes_it(tmp_path: Path) -> None:
    left = make_aside(tmp_path / "my out")
    left.unlock()
    private = make_aside(tmp_path / "my out-private")
    private.unlock()
    [said] = said_of(tmp_path / "my out", tmp_path / "my out-private")
    assert said.endswith(f"; remove it: rm -r '{left.folder}' '{private.folder}'")


def test_what_a_killed_run_was_replacing_is_not_called_rubbish(tmp_path: Path) -> None:
    left = make_aside(tmp_path / "out")
    (left.folder / "old").mkdir()
    left.unlock()
    [said] = said_of(tmp_path / "out")
    assert f"what was there before is in {left.folder}/old; move it back, or remove it" in said


@pytest.mark.parametrize("name", [".out-archived", ".out-unfinished-abc", ".other-unfinished-abcdefgh"])
def test_folders_that_are_not_ours_are_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / ".out-unfinished-abcdefgh").write_text("a file")
    assert said_of(tmp_path / "out") == []


def test_a_run_that_has_made_its_folder_but_not_locked_it_yet_is_given_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_aside(tmp_path / "out")
    free = iter([True, False])
    monkeypatch.setattr(folders, "_can_be_locked", lambda folder: next(free))
    assert said_of(tmp_path / "out") == []
    made.remove()


@pytest.fixture
def heeded_interrupts() -> Iterator[None]:
    """Ctrl-C has its usual effect, even where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_interrupts")
def test_a_second_interrupt_does_not_stop_the_cleaning_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = shutil.rmtree

    def interrupted(folder: Path, ignore_errors: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        remove(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr(folders.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), folders_written_aside((tmp_path / "new/out", 0o700)) as (made,):
        (made / "file").write_text("x")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("heeded_interrupts")
def test_a_signal_in_an_uninterrupted_block_is_handled_after_it() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("the rest")
    assert done == ["the rest"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_when_a_folder_cannot_take_its_place_the_earlier_one_comes_back(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private/earlier").write_text("x")
    with (
        pytest.raises(InputError, match="cannot be written"),
        folders_written_aside((tmp_path / "private", 0o700), (tmp_path / "out", 0o755)) as (_, release),
    ):
        release.rmdir()  # so that it cannot be renamed
    assert os.listdir(tmp_path) == ["private"]
    assert os.listdir(tmp_path / "private") == ["earlier"]


def test_folders_written_from_several_threads_follow_the_umask_and_never_change_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)  # a folder of 777 becomes one of 750
    changed: list[int] = []

    def write(number: int) -> None:
        with folders_written_aside((tmp_path / f"out{number}", PUBLIC_FOLDER)) as (aside,):
            (aside / "file").write_text("x")

    try:
        with monkeypatch.context() as patch, ThreadPoolExecutor(4) as threads:
            patch.setattr(os, "umask", changed.append)
            list(threads.map(write, range(20)))
    finally:
        os.umask(before)
    assert changed == []
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in tmp_path.iterdir()} == {0o750}
    assert {tuple(os.listdir(folder)) for folder in tmp_path.iterdir()} == {("file",)}


def test_no_code_sets_the_umask_of_the_process() -> None:
    source = Path(__file__).parents[2] / "src/shoal"
    assert [path.name for path in source.rglob("*.py") if "os.umask(" in path.read_text(encoding="utf-8")] == []


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> set[tuple[str, int]]:
    """What may be done with the folders and the files below this one, itself included."""
    paths = [folder, *folder.rglob("*")]
    assert any(path.is_file() for path in paths)
    return {("folder" if path.is_dir() else "file", stat.S_IMODE(path.stat().st_mode)) for path in paths}


CLOSED = {("folder", 0o700), ("file", 0o600)}


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("make", [release_table, release_letters])
def test_private_files_are_the_owners_alone_whatever_the_umask(make, tmp_path: Path) -> None:
    made = make(tmp_path)
    assert modes(made.private) == CLOSED
    assert modes(made.folder) == {("folder", 0o777), ("file", 0o666)}


@pytest.mark.usefixtures("open_umask")
def test_private_files_of_a_release_in_parts_are_the_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "part.csv").write_text("age\n" + "".join(f"{n}\n" for n in range(20)))
    made = protect(str(tmp_path / "*.csv"), 2, tmp_path / "out", roles=Roles(quasi="age"))
    assert (made.private / "mapping").is_dir()
    assert modes(made.private) == CLOSED


@pytest.mark.usefixtures("open_umask")
def test_assessments_explorations_and_mappings_are_the_owners_alone(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,pay\n" + "".join(f"{20 + n * 7 % 50},{900 + n * 37 % 400}\n" for n in range(12)))
    assess(table, table, tmp_path / "assessed")
    assert modes(tmp_path / "assessed") == CLOSED
    explore(table, tmp_path / "explored", refine=False, workers=1)
    assert modes(tmp_path / "explored") == CLOSED
    (tmp_path / ".mapping.csv.part").write_text("left open by a killed run")
    write_proposals(tmp_path / "mapping.csv", [Proposal("job", "nurse", "nurse.n.01", "", 1, True, ())])
    assert stat.S_IMODE((tmp_path / "mapping.csv").stat().st_mode) == 0o600


def test_an_interrupted_mapping_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_proposals(tmp_path / "mapping.csv", [])
    assert os.listdir(tmp_path) == []


def test_a_file_put_in_the_way_of_a_mapping_is_not_written_to(tmp_path: Path) -> None:
    bait = tmp_path / "bait"
    bait.write_text("mine")
    (tmp_path / ".mapping.csv.part").symlink_to(bait)
    write_proposals(tmp_path / "mapping.csv", [Proposal("job", "nurse", "nurse.n.01", "", 1, True, ())])
    assert bait.read_text() == "mine"
    assert not (tmp_path / "mapping.csv").is_symlink()
