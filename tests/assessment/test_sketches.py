"""assess on releases of sketches: attacked with the owner's key, beside other sketches of the same records."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from shoal import InputError, SphericalMicroaggregation, assess, protect
from shoal.assessment import sketches
from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch, SketchKey
from tests.cli.run import run
from tests.release.releases import LETTERS

METHODS = {
    "crowd sketches": CrowdSketch(components=128, method=SphericalMicroaggregation(refine=False)),
    "delta sketches": DeltaSketch(0.1),
    "k-variance sketches": KVarianceSketch(max_components=16),
}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer components in what is compared with."""
    monkeypatch.setattr(sketches, "COMPONENTS", 64)


def baskets_file(folder: Path, count: int = 120) -> Path:
    random = np.random.default_rng(0)
    path = folder / "baskets.dat"
    lines = (" ".join(f"i{item}" for item in random.choice(60, size=6, replace=False)) for _ in range(count))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def released(folder: Path, method, source: Path, k: int = 3) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        protect(source, k, folder / "release", method=method, attack=False)
    return folder / "release"


@pytest.mark.parametrize("kind", METHODS)
def test_every_kind_of_release_is_attacked_beside_the_other_kinds(tmp_path, kind):
    source = baskets_file(tmp_path)
    found = assess(source, released(tmp_path, METHODS[kind], source), tmp_path / "out")
    kinds = {"plain sketches", *METHODS}
    assert found.release.kind == kind
    assert {other.kind for other in found.others} == kinds - {kind}
    assert (found.release.openly is not None) == (kind == "crowd sketches")
    data = json.loads((tmp_path / "out" / "assessment.json").read_text(encoding="utf-8"))
    assert data["release"]["linked_with_key"]["rate"] == found.release.linked_with_key.rate
    assert len((tmp_path / "out" / "sketches.csv").read_text(encoding="utf-8").splitlines()) == 5
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert kind.capitalize() in page
    assert "<script" not in page
    everything = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    key = SketchKey.read(tmp_path / "release-private" / "sketch.key")
    assert key.secret.hex() not in everything


def test_a_low_delta_is_reported_as_broken_and_a_crowd_is_not(tmp_path):
    source = baskets_file(tmp_path)
    (tmp_path / "delta").mkdir(), (tmp_path / "crowd").mkdir()
    delta = assess(source, released(tmp_path / "delta", DeltaSketch(0.1), source), tmp_path / "broken")
    crowd = assess(source, released(tmp_path / "crowd", METHODS["crowd sketches"], source), tmp_path / "sound")
    assert delta.release.with_key.whole.rate > 0.95
    assert delta.release.linked_with_key.rate > 0.95
    assert crowd.release.linked_with_key.rate <= 1 / 3
    assert crowd.release.openly is not None
    assert crowd.release.with_key.items.low <= crowd.release.openly.items.rate
    assert "These sketches can be broken" in (tmp_path / "broken" / "report.html").read_text(encoding="utf-8")
    assert "These sketches can be broken" not in (tmp_path / "sound" / "report.html").read_text(encoding="utf-8")


def test_the_length_of_a_delta_sketch_is_used_to_link_without_the_key(tmp_path):
    # Every basket has a size of its own, so delta gives every sketch a length of its own.
    path = tmp_path / "baskets.dat"
    path.write_text("\n".join(" ".join(f"i{n}" for n in range(size)) for size in range(3, 23)) + "\n", encoding="utf-8")
    found = assess(path, released(tmp_path, DeltaSketch(0.5), path))
    assert found.release.linked_without_key.rate == 1.0
    assert found.release.linked_without_key.baseline == 1 / 20


def test_texts_are_attacked_as_they_were_sketched(tmp_path):
    path = tmp_path / "letters.jsonl"
    lines = [json.dumps({"id": f"{copy}-{name}", "text": text}) for copy in range(2) for name, text, _ in LETTERS]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = assess(path, released(tmp_path, DeltaSketch(0.01), path, k=2))
    assert found.record == "document"
    assert found.release.with_key.items.rate > found.release.with_key.items.baseline


def test_other_originals_or_another_key_are_refused(tmp_path):
    source = baskets_file(tmp_path)
    release = released(tmp_path, DeltaSketch(0.1), source)
    key = tmp_path / "release-private" / "sketch.key"
    kept = key.read_text(encoding="ascii")
    key.write_text("00" * 32 + "\n", encoding="ascii")
    with pytest.raises(InputError, match="not those of these records under this key"):
        assess(source, release)
    key.unlink()
    with pytest.raises(InputError, match=r"sketch\.key is not there"):
        assess(source, release)
    key.write_text(kept, encoding="ascii")
    with pytest.raises(InputError, match="not among the originals"):
        (tmp_path / "other").mkdir()
        assess(baskets_file(tmp_path / "other", count=50), release)
    with pytest.raises(InputError, match="is for tables"):
        assess(source, release, columns=["a"])


def test_kinds_that_cannot_be_made_of_so_few_records_are_left_out(tmp_path):
    # Baskets of one item: no delta sketch has a component, since every attribute would be certain.
    path = tmp_path / "baskets.dat"
    path.write_text("a\nb\nc\na\nb\nc\n", encoding="utf-8")
    found = assess(path, released(tmp_path, CrowdSketch(components=32), path, k=2))
    assert [other.kind for other in found.others] == ["plain sketches", "k-variance sketches"]


def test_the_command_says_what_attackers_find(tmp_path):
    source = baskets_file(tmp_path)
    released(tmp_path, METHODS["crowd sketches"], source)
    said = run(tmp_path, "assess", "baskets.dat", "release", "-o", "out")
    assert said.code == 0, said.err
    for line in ("with the key ", "openly ", "known  ", "linked  ", "beside  ", "neighbours ", "alike "):
        assert line in said.out
    assert json.loads(run(tmp_path, "assess", "baskets.dat", "release", "-o", "out", "--force", "--json").out)


@pytest.mark.parametrize("kind", METHODS)
def test_originals_in_another_order_are_refused(tmp_path, kind):
    source = baskets_file(tmp_path)
    release = released(tmp_path, METHODS[kind], source)
    lines = source.read_text(encoding="utf-8").splitlines()
    source.write_text("\n".join(lines[1:] + lines[:1]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="not those of these records under this key"):
        assess(source, release)
