"""Keys of the wrong kind: exit code 2, one line that says what to do, and no signature left behind."""

from __future__ import annotations

import base64
import io
import shlex
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization import PublicFormat as Public

from tests.cli.run import run, snapshot
from tests.cli.test_bad_input import GOOD_TABLE, TABLE, refused
from tests.release.releases import release_table

pytestmark = pytest.mark.usefixtures("without_attack")

ED25519 = ed25519.Ed25519PrivateKey.generate()
RSA = rsa.generate_private_key(65537, 2048)
ECDSA = ec.generate_private_key(ec.SECP256R1())


def private(key: ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


def public(key: ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.OpenSSH, Public.OpenSSH) + b" ann@laptop\n"


SOUND = private(ED25519)
KEYS = {
    "sound": SOUND,
    "sound.pub": public(ED25519),
    "rsa": private(RSA),
    "rsa.pub": public(RSA),
    "ecdsa": private(ECDSA),
    "pem": ED25519.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    "locked": ED25519.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, BestAvailableEncryption(b"tide pool")),
    "cut": SOUND[: len(SOUND) // 2],
    "changed": SOUND.replace(SOUND[120:124], b"AAAA"),
    "open": SOUND,
    "empty": b"",
    "binary": bytes(range(256)),
}
CASES = {
    "a key that is not there": ("sign release --key absent", "does not exist"),
    "a folder as a key": ("sign release --key release", "is a folder"),
    "an empty key": ("sign release --key empty", "is not an OpenSSH private key"),
    "a binary file as a key": ("sign release --key binary", "is not an OpenSSH private key"),
    "a table as a key": ("sign release --key t.csv", "is not an OpenSSH private key"),
    "a public key to sign": ("sign release --key sound.pub", "is a public key"),
    "an RSA key": ("sign release --key rsa", "kind RSA; signing takes Ed25519"),
    "an ECDSA key": ("sign release --key ecdsa", "signing takes Ed25519"),
    "a key in another format": ("sign release --key pem", "not in OpenSSH's own format; make one with: ssh-keygen -t"),
    "half a key": ("sign release --key cut", "not a sound OpenSSH private key"),
    "a changed key": ("sign release --key changed", "not a sound OpenSSH private key"),
    "a key that others can read": ("sign release --key open", "chmod 600"),
    "a wrong passphrase": ("sign release --key locked", "the passphrase does not open"),
    "no key": ("sign release", "--key"),
    "no release": ("sign absent --key sound", "not a folder that can be read"),
    "a folder that is no release": ("sign nothing --key sound", "has no certificate.json"),
    "a release that does not hold": ("sign broken --key sound", "not signed"),
    "a release that is signed": ("sign signed --key sound", "--force"),
    "protect with an RSA key": (f"{GOOD_TABLE} --sign rsa", "signing takes Ed25519"),
    "protect with a public key": (f"{GOOD_TABLE} --sign sound.pub", "is a public key"),
    "protect with a wrong passphrase": (f"{GOOD_TABLE} --sign locked", "the passphrase does not open"),
    "protect with no such key": (f"{GOOD_TABLE} --sign absent", "does not exist"),
    "a signer that is not there": ("verify signed --signer absent.pub", "is not a file that exists"),
    "a private key as signer": ("verify signed --signer sound", "is a private key"),
    "an RSA key as signer": ("verify signed --signer rsa.pub", "no Ed25519 public key for shoal-certificate (ssh-rsa)"),
    "a table as signer": ("verify signed --signer t.csv", "no Ed25519 public key"),
    "a folder as signer": ("verify signed --signer release", "is not a file"),
    "a binary file as signer": ("verify signed --signer binary", "cannot be read as public keys"),
    "an empty signer": ("verify signed --signer empty", "no Ed25519 public key"),
    "a signer without a name": ("verify signed --signer ''", "'' is not a file"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases and keys. No case changes anything, so all of them share one place."""
    folder = tmp_path_factory.mktemp("keys")
    for name, content in KEYS.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o644 if name == "open" or name.endswith(".pub") else 0o600)
    (folder / "t.csv").write_text(TABLE)
    (folder / "nothing").mkdir()
    release_table(folder / "made", attack=False).folder.rename(folder / "release")
    release_table(folder / "other", attack=False, sign=folder / "sound").folder.rename(folder / "signed")
    release_table(folder / "third", attack=False).folder.rename(folder / "broken")
    (folder / "broken" / "table.csv").write_text("x")
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_key_is_refused_in_one_line_and_leaves_nothing(
    case: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv, says = CASES[case]
    monkeypatch.setenv("SHOAL_PASSPHRASE", "low tide")
    before = snapshot(place)
    line = refused(run(place, *shlex.split(argv)))
    assert says in line
    assert "low tide" not in line
    assert snapshot(place) == before


@pytest.mark.parametrize("command", ["sign release --force --key locked", f"{GOOD_TABLE} --no-attack --sign locked"])
def test_a_locked_key_opens_with_the_passphrase_of_the_environment(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOAL_PASSPHRASE", "tide pool")
    assert run(place, *shlex.split(command)).code == 0
    made = "release" if command.startswith("sign") else "out"
    checked = run(place, "verify", made, "--signer", "sound.pub")
    assert checked.code == 0
    assert "signed by ann@laptop" in checked.err
    assert run(place, "verify", made, "--signer", "rsa.pub").code == 2


@pytest.mark.parametrize("passphrase, says", [("\udcff", "does not open"), ("", "is empty"), (None, "no terminal")])
def test_a_passphrase_that_is_no_text_or_cannot_be_typed_is_refused(
    passphrase: str | None, says: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOAL_PASSPHRASE", raising=False)
    if passphrase is not None:
        monkeypatch.setenv("SHOAL_PASSPHRASE", passphrase)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert says in refused(run(place, "sign", "release", "--force", "--key", "locked"))


def test_the_text_of_a_key_keeps_its_slashes_on_the_command_line(place: Path) -> None:
    key = b"\xff" * 32  # whose text has slashes side by side
    blob = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + key
    text = f"ssh-ed25519 {base64.b64encode(blob).decode()}"
    assert "//" in text
    checked = run(place, "verify", "signed", "--signer", text)
    assert checked.code == 1
    assert "made with another key" in checked.err
