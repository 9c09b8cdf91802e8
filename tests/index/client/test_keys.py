"""Keys: made, locked, read; documents that only recipients can decrypt."""

from __future__ import annotations

import stat

import pyrage
import pytest

from shoal.errors import InputError
from shoal.index.client import Keys


def test_a_key_file_is_its_owners_alone_and_gives_the_key_back(tmp_path):
    keys = Keys.draw()
    keys.write(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert Keys.read(tmp_path / "key").decrypt(keys.encrypt(b"letter")) == b"letter"


def test_a_key_is_never_replaced(tmp_path):
    Keys.draw().write(tmp_path / "key")
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(InputError, match="exists, and a lost key cannot be made again"):
        Keys.draw().write(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == before


def test_a_locked_key_opens_with_its_passphrase_alone(tmp_path):
    keys = Keys.draw()
    keys.write(tmp_path / "key", passphrase="correct horse")
    assert str(keys.identity).encode() not in (tmp_path / "key").read_bytes()
    with pytest.raises(InputError, match="passphrase does not open") as wrong:
        Keys.read(tmp_path / "key", lambda: "wrong horse")
    assert "\n" not in str(wrong.value) and "horse" not in str(wrong.value)
    with pytest.raises(InputError, match="is locked with a passphrase"):
        Keys.read(tmp_path / "key")
    assert Keys.read(tmp_path / "key", lambda: "correct horse").public == keys.public


def test_an_empty_passphrase_locks_nothing_and_is_refused(tmp_path):
    with pytest.raises(InputError, match="an empty passphrase"):
        Keys.draw().write(tmp_path / "key", passphrase="")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_first_key_is_its_owners_alone(tmp_path):
    Keys.draw().write(tmp_path / "shoal" / "key")
    assert stat.S_IMODE((tmp_path / "shoal").stat().st_mode) == 0o700


def test_a_key_that_others_can_read_is_refused(tmp_path):
    Keys.draw().write(tmp_path / "key")
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(InputError, match="mode 644, so others can read it"):
        Keys.read(tmp_path / "key")


@pytest.mark.parametrize("content", [b"", b"no key", b"AGE-SECRET-KEY-1QQQ", b"\xff\xfe"])
def test_a_file_without_a_key_is_refused_in_one_line_that_does_not_quote_it(tmp_path, content):
    file = tmp_path / "key"
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(InputError, match="is no key file") as refused:
        Keys.read(file)
    assert "\n" not in str(refused.value) and "QQQ" not in str(refused.value)


def test_all_recipients_can_read_and_nobody_else():
    owner, friend, stranger = Keys.draw(), Keys.draw(), Keys.draw()
    letter = owner.shared_with([friend.public]).encrypt(b"letter")
    assert owner.decrypt(letter) == friend.decrypt(letter) == b"letter"
    with pytest.raises(InputError, match="not encrypted for your key"):
        stranger.decrypt(letter)


def test_any_tool_for_age_can_decrypt():
    keys = Keys.draw()
    assert pyrage.decrypt(keys.encrypt(b"letter"), [keys.identity]) == b"letter"
    assert keys.encrypt(b"letter").startswith(b"age-encryption.org/v1\n")


def test_a_changed_ciphertext_is_refused():
    keys = Keys.draw()
    letter = bytearray(keys.encrypt(b"letter"))
    letter[-1] ^= 1
    with pytest.raises(InputError, match="or it was changed"):
        keys.decrypt(bytes(letter))


@pytest.mark.parametrize("key", ["", "age1", "ssh-ed25519 AAAA", "age1" + "q" * 58])
def test_what_is_no_public_key_is_refused(key):
    with pytest.raises(InputError, match="is no public key"):
        Keys.draw().shared_with([key])


def test_a_secret_key_given_for_a_public_one_is_not_quoted():
    secret = str(Keys.draw().identity)
    with pytest.raises(InputError, match="a secret key is no public key") as refused:
        Keys.draw().shared_with([secret])
    assert secret[20:] not in str(refused.value)


def test_the_secret_is_not_in_the_repr():
    keys = Keys.draw()
    assert str(keys.identity) not in repr(keys) and keys.public in repr(keys)
