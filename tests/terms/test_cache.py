"""Arrays kept in the user's cache folder: found again, made again when in doubt, and never needed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shoal.data.private_files import cache_folder
from shoal.terms.wordnet import cached_arrays

ARRAYS = {"numbers": np.arange(1000, dtype=np.int32), "letters": np.frombuffer(b"some letters", np.uint8)}


class Maker:
    """Makes the arrays and counts how often."""

    def __init__(self):
        self.made = 0

    def __call__(self):
        self.made += 1
        return ARRAYS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "not there yet"
    monkeypatch.setenv("SHOAL_CACHE", str(folder))
    return folder


def check(found):
    assert found.keys() == ARRAYS.keys()
    assert all(np.array_equal(found[name], ARRAYS[name]) for name in ARRAYS)


def test_what_was_made_is_found_again(folder):
    make = Maker()
    for _ in range(3):
        check(cached_arrays("thing", "1", make))
    assert make.made == 1
    assert [path.name for path in folder.iterdir()] == ["thing.npz"]


def test_another_fingerprint_makes_it_anew(folder):
    make = Maker()
    check(cached_arrays("thing", "1", make))
    check(cached_arrays("thing", "2", make))
    check(cached_arrays("thing", "2", make))
    assert make.made == 2


def test_a_broken_file_is_made_anew_wherever_it_is_broken(folder):
    cached_arrays("thing", "1", Maker())
    path = folder / "thing.npz"
    sound = path.read_bytes()
    chance = random.Random(0)
    broken = [sound[:place] for place in (0, 1, 100, len(sound) // 2, len(sound) - 1)]
    broken += [b"nonsense", b"\x93NUMPY" + sound, b"PK" + bytes(100)]
    for _ in range(200):
        place = chance.randrange(len(sound))
        broken.append(sound[:place] + bytes([sound[place] ^ 1 << chance.randrange(8)]) + sound[place + 1 :])
    for content in broken:
        path.write_bytes(content)
        check(cached_arrays("thing", "1", Maker()))
    path.write_bytes(broken[3])
    cached_arrays("thing", "1", Maker())
    assert path.read_bytes() == sound, "the broken file is replaced"


def test_a_single_array_in_its_place_is_made_anew(folder):
    folder.mkdir()
    np.save(folder / "other.npy", np.arange(3))
    (folder / "other.npy").rename(folder / "thing.npz")
    check(cached_arrays("thing", "1", Maker()))


@pytest.mark.parametrize("obstacle", ["file", "folder"])
def test_without_a_place_to_write_it_works(folder, obstacle):
    if obstacle == "file":
        folder.write_text("a file where the folder should be")
    else:
        (folder / "thing.npz").mkdir(parents=True)
    make = Maker()
    for _ in range(2):
        check(cached_arrays("thing", "1", make))
    assert make.made == 2


def test_a_write_that_fails_leaves_nothing_behind(folder, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", fail)
    check(cached_arrays("thing", "1", Maker()))
    assert list(folder.iterdir()) == []


def test_without_a_home_it_works(monkeypatch):
    monkeypatch.setattr("shoal.terms.wordnet.cache_folder", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    check(cached_arrays("thing", "1", Maker()))


@pytest.mark.parametrize(
    ("platform", "variables", "place"),
    [
        ("linux", {"SHOAL_CACHE": "/chosen", "XDG_CACHE_HOME": "/xdg"}, "/chosen"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/shoal"),
        ("linux", {"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/shoal"),
        ("darwin", {"HOME": "/home/me"}, "/home/me/Library/Caches/shoal"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/shoal"),
    ],
)
def test_the_folder_is_the_chosen_one_or_the_platforms(monkeypatch, platform, variables, place):
    for name in ("SHOAL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder().as_posix() == place
