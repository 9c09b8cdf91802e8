"""shoal protect with sketches: what it says, that it is verified, and that a key is kept and used again."""

from __future__ import annotations

import json

import pytest

from shoal import load
from tests.cli.run import run

ITEMS = ["tide", "heron", "shoal", "fish", "harbour", "boat", "storm", "anchor"]
BASKETS = "".join(f"{ITEMS[n % 8]} {ITEMS[n * 3 % 7]} {ITEMS[(n + 3) % 5]}\n" for n in range(40))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b.dat").write_text(BASKETS, encoding="utf-8")
    return tmp_path


def test_crowd_sketches_are_made_and_verified(folder):
    made = run(folder, "protect", "b.dat", "-k", "3", "-o", "out", "--method", "crowd-sketch", "--components", "32")
    assert made.code == 0, made.err
    assert "sketches     32 numbers each, no words or items" in made.out
    assert "each looks like at least" in made.out
    verified = run(folder, "verify", "out")
    assert verified.code == 0
    assert "stated" not in verified.out


@pytest.mark.parametrize(
    ("method", "about"),
    [(["delta-sketch", "--delta", "0.5"], "delta"), (["k-variance-sketch", "-k", "2"], "k-variance")],
)
def test_sketches_of_single_records_say_that_there_is_no_crowd(folder, method, about):
    made = run(folder, "protect", "b.dat", "-o", "out", "--max-components", "9", "--method", *method)
    assert made.code == 0, made.err
    assert "promise      NO crowd: a record may be one of a kind" in made.out
    assert "lost" not in made.out
    verified = run(folder, "verify", "out")
    assert verified.code == 0
    assert f"stated  {about}" in verified.out
    assert "NO crowd is promised" in verified.err
    data = json.loads(run(folder, "verify", "out", "--json").out)
    assert [statement["about"] for statement in data["stated"]] == [about]
    assert run(folder, "verify", "out", "--min-k", "2").code == 1


def test_a_key_is_kept_and_used_again_even_when_its_folder_is_replaced(folder):
    command = ["protect", "b.dat", "-k", "3", "-o", "out", "--method", "crowd-sketch", "--components", "8"]
    assert run(folder, *command).code == 0
    key = (folder / "out-private" / "sketch.key").read_text(encoding="ascii")
    first = load(folder / "out").sketches.values.tolist()
    assert run(folder, *command, "--force", "--key", "out-private/sketch.key").code == 0
    assert (folder / "out-private" / "sketch.key").read_text(encoding="ascii") == key
    assert load(folder / "out").sketches.values.tolist() == first
    assert run(folder, *command, "--force").code == 0
    assert (folder / "out-private" / "sketch.key").read_text(encoding="ascii") != key
    assert key.strip() not in "".join(path.read_text("latin-1") for path in (folder / "out").iterdir())
