"""Keys: secret, of one length, and the same signs for the same term wherever it appears."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from shoal import InputError
from shoal.methods.sketches import DeltaSketch, SketchKey

KEY = SketchKey(bytes(range(32)))


def test_a_key_never_shows_its_secret() -> None:
    assert KEY.secret.hex() not in repr(KEY) + str(KEY) + repr(DeltaSketch(key=KEY))
    assert repr(KEY.secret) not in repr(DeltaSketch(key=KEY))


def test_a_key_file_is_its_owners_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key"
    KEY.write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SketchKey.read(path) == KEY
    with pytest.raises(InputError, match="exists"):
        SketchKey.draw().write(path)
    assert SketchKey.read(path) == KEY


@pytest.mark.parametrize("content", [b"", b"00" * 31, b"00" * 33, b"zz" * 32, b"\xff" * 64])
def test_a_file_of_the_wrong_length_or_content_is_no_key(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(InputError):
        SketchKey.read(tmp_path / "key")


def test_a_key_has_32_bytes() -> None:
    with pytest.raises(InputError, match="32 bytes, got 5 bytes"):
        SketchKey(b"short")


def test_components_can_be_made_in_pieces() -> None:
    whole = KEY.signs(["bread", "milk"], 10)
    assert np.array_equal(whole[:, 4:], KEY.signs(["bread", "milk"], 6, first=4))


def test_two_keys_have_nothing_in_common() -> None:
    terms = [str(number) for number in range(300)]
    one, other = KEY.signs(terms, 100).astype(float), SketchKey.draw().signs(terms, 100).astype(float)
    assert abs(np.mean(one * other)) < 0.03  # 30,000 fair coins: 5 standard errors
    assert abs(one.mean()) < 0.03


def test_any_four_terms_have_independent_signs() -> None:
    signs = KEY.signs(["a", "b", "c", "d"], 40_000).astype(float)
    patterns = np.bincount(((signs > 0).T @ [1, 2, 4, 8]).astype(int), minlength=16)
    assert np.abs(patterns - 2_500).max() < 5 * np.sqrt(2_500)
