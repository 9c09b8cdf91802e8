"""The vault opens for its owner, and says nothing to anybody else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.keys import Keys, padded, sealed
from shoal.errors import InputError
from shoal.sanitizer.release.masking import masked
from shoal.sanitizer.release.vault import Vault

LETTER = masked("Ann met Bob.\r\nAnn left. 🐟", [(0, 3, "Pers1"), (8, 11, "Pers2"), (14, 17, "Pers1")], [(18, 23)])


@pytest.fixture(scope="module")
def keys() -> Keys:
    return Keys.draw()


def test_a_sealed_vault_unmasks_for_its_key(tmp_path: Path, keys: Keys) -> None:
    Vault.of({"letter": LETTER}).seal(tmp_path / "vault.age", keys.recipients)
    vault = Vault.open(tmp_path / "vault.age", [str(keys.identity)])
    assert vault.unmask("letter", LETTER.text) == "Ann met Bob.\r\nAnn left. 🐟"
    assert vault.table() == {"Pers1": ("Ann",), "Pers2": ("Bob",), "[removed]": ("left.",)}
    assert vault == Vault.of({"letter": LETTER})


def test_a_sealed_vault_unmasks_for_its_passphrase(tmp_path: Path) -> None:
    Vault.of({"letter": LETTER}).seal(tmp_path / "vault.age", passphrase="three blue herrings")
    vault = Vault.open(tmp_path / "vault.age", passphrase="three blue herrings")
    assert vault.entries["letter"].pieces == LETTER.pieces
    with pytest.raises(InputError, match="this passphrase cannot open the file"):
        Vault.open(tmp_path / "vault.age", passphrase="three red herrings")


def test_nothing_of_the_vault_can_be_read_in_its_file_or_by_others(tmp_path: Path, keys: Keys) -> None:
    path = tmp_path / "vault.age"
    Vault.of({"letter": LETTER}).seal(path, keys.recipients)
    content = path.read_bytes()
    assert not any(word in content for word in (b"Ann", b"Bob", b"Pers", b"letter"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="these keys cannot open the file"):
        Vault.open(path, [str(Keys.draw().identity)])


def test_nothing_of_the_vault_is_in_a_printed_value() -> None:
    vault = Vault.of({"letter": LETTER})
    assert "Ann" not in repr(vault) and "Ann" not in repr(vault.entries["letter"])


def test_a_text_that_was_changed_is_refused() -> None:
    vault = Vault.of({"letter": LETTER})
    with pytest.raises(InputError, match="not the one that was released") as refused:
        vault.unmask("letter", LETTER.text.replace("\r\n", "\n"))
    assert "Ann" not in str(refused.value)


def test_a_document_that_the_vault_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="has 1 document and not other"):
        Vault.of({"letter": LETTER}).unmask("other", "")


def test_in_the_scope_of_a_document_a_pseudonym_means_what_it_means_there() -> None:
    vault = Vault.of({"a": masked("Ann", [(0, 3, "Pers1")]), "b": masked("Bob", [(0, 3, "Pers1")])})
    assert vault.table("b") == {"Pers1": ("Bob",)}
    assert vault.table() == {"Pers1": ("Ann", "Bob")}


def test_a_vault_is_never_overwritten(tmp_path: Path, keys: Keys) -> None:
    path = tmp_path / "vault.age"
    path.write_text("kept")
    with pytest.raises(InputError, match="name a new file"):
        Vault.of({}).seal(path, keys.recipients)
    assert path.read_text() == "kept"


def test_a_vault_without_keys_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="either public keys or a passphrase"):
        Vault.of({}).seal(tmp_path / "vault.age")
    with pytest.raises(InputError, match="is no public key of age"):
        Vault.of({}).seal(tmp_path / "vault.age", ["age1nonsense"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"[]", b"{}", b"\xff", b'{"form": "shoal vault", "version": 1}'])
def test_a_file_that_holds_no_vault_is_refused(tmp_path: Path, keys: Keys, content: bytes) -> None:
    (tmp_path / "other.age").write_bytes(sealed(content, keys.recipients))
    with pytest.raises(InputError, match="does not hold a vault"):
        Vault.open(tmp_path / "other.age", [str(keys.identity)])


def test_a_file_that_is_not_sealed_is_refused(tmp_path: Path, keys: Keys) -> None:
    (tmp_path / "plain.json").write_bytes(b"{}")
    with pytest.raises(InputError, match="cannot open the file"):
        Vault.open(tmp_path / "plain.json", [str(keys.identity)])


@given(st.integers(0, 100_000))
def test_the_length_of_a_sealed_file_tells_little_of_what_is_in_it(length: int) -> None:
    content = padded(b"x" * length)
    assert length <= len(content) <= 1.12 * length + 1


def test_lengths_that_are_near_cannot_be_told_apart() -> None:
    assert len({len(padded(b"x" * length)) for length in range(30_721, 31_745)}) == 1
