"""A signature vouches for one certificate, by one key, for one purpose; OpenSSH agrees with us in both directions."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization import PublicFormat as Public

from shoal import CrowdSketch, InputError, sign, verify
from tests.release.releases import certificate_of, copy_of, release_letters, release_table, reseal
from tests.sanitizer.review.folders import work_folder
from tests.sanitizer.sanitized_releases import accept_everything, released

pytestmark = pytest.mark.usefixtures("without_attack")

SIGNATURE = "certificate.json.sig"
KEYGEN = shutil.which("ssh-keygen")
WITH_OPENSSH = pytest.mark.skipif(KEYGEN is None, reason="there is no ssh-keygen on this machine")


def new_key(path: Path, comment: str = "ann@laptop", passphrase: str | None = None) -> Path:
    """A pair of keys as ssh-keygen writes them: path and path.pub."""
    key = Ed25519PrivateKey.generate()
    lock = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, lock))
    path.chmod(0o600)
    public = key.public_key().public_bytes(Encoding.OpenSSH, Public.OpenSSH)
    path.with_suffix(".pub").write_bytes(public + f" {comment}\n".encode())
    return path


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Ann's keys, Bob's keys, and a release that Ann signed when she made it."""
    folder = tmp_path_factory.mktemp("signed")
    new_key(folder / "bob", "bob@desk")
    release_table(folder, sign=new_key(folder / "ann"))
    return folder


@pytest.fixture
def release(signed: Path, tmp_path: Path) -> Path:
    return copy_of(signed / "release", tmp_path / "release")


def broken(release: Path, signer: Path | str | None = None) -> list[tuple[str, str]]:
    return [(claim.promise, claim.detail) for claim in verify(release, signer=signer).broken]


def test_a_signed_release_names_who_vouches_and_for_which_seal(signed: Path, release: Path) -> None:
    result = verify(release, signer=signed / "ann.pub")
    assert result
    (claim,) = [claim for claim in result.claims if claim.promise == "signature"]
    assert claim.detail.startswith("ann@laptop (ssh-ed25519 SHA256:")
    assert certificate_of(release)["seal"][:16] in claim.detail
    assert result.signature.startswith("signed by ann@laptop")


def test_without_a_signer_the_signature_is_checked_and_the_name_is_not(release: Path) -> None:
    result = verify(release)
    assert result
    assert "--signer checks by whom" in result.signature


def test_an_unsigned_release_holds_and_says_that_it_is_unsigned(signed: Path, release: Path) -> None:
    (release / SIGNATURE).unlink()
    assert verify(release)
    assert "not signed" in verify(release).signature
    assert broken(release, signed / "ann.pub") == [("signature", "is missing: nobody signed the release")]


def test_another_key_than_the_one_asked_for_is_refused(signed: Path, release: Path) -> None:
    ((promise, detail),) = broken(release, signed / "bob.pub")
    assert promise == "signature"
    assert detail.startswith("was made with another key")


def test_a_release_that_was_changed_and_sealed_anew_loses_its_signature(signed: Path, release: Path) -> None:
    table = release / "table.csv"
    table.write_text(table.read_text().replace("Deal", "Dale"))
    signature = (release / SIGNATURE).read_bytes()
    (release / SIGNATURE).unlink()
    reseal(release)
    assert verify(release)  # nobody could tell from the seal alone
    (release / SIGNATURE).write_bytes(signature)
    for signer in (None, signed / "ann.pub"):
        assert broken(release, signer) == [
            ("signature", "is not a signature of this certificate: one of the two was changed")
        ]


def test_every_flipped_byte_of_a_signature_is_found(signed: Path, release: Path) -> None:
    sound = (release / SIGNATURE).read_bytes()
    for at in range(0, len(sound), 7):
        (release / SIGNATURE).write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        assert [promise for promise, _ in broken(release)] == ["signature"], at


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"a" * 5000, b"-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n"]
    + [
        b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(blob) + b"\n-----END SSH SIGNATURE-----\n"
        for blob in (b"SSHSIG", b"SSHSIG\0\0\0\1", b"SSHSIG\0\0\0\2", b"SSHSIG\0\0\0\1\xff\xff\xff\xff", b"PGPSIG")
    ],
)
def test_what_is_no_signature_is_refused(release: Path, content: bytes) -> None:
    (release / SIGNATURE).write_bytes(content)
    assert [promise for promise, _ in broken(release)] == ["signature"]


def test_nothing_rides_along_in_a_signature_file(release: Path) -> None:
    sound = (release / SIGNATURE).read_bytes()
    for content in (sound + b"\n", b"\n" + sound, sound.replace(b"\n", b"\r\n"), sound + b"Ann\n", sound[:-1]):
        (release / SIGNATURE).write_bytes(content)
        assert [promise for promise, _ in broken(release)] == ["signature"]


def test_a_link_a_folder_or_an_entry_of_the_certificate_is_no_signature(release: Path, tmp_path: Path) -> None:
    (release / SIGNATURE).rename(tmp_path / "elsewhere")
    (release / SIGNATURE).symlink_to(tmp_path / "elsewhere")
    assert broken(release) == [("signature", "is not a plain file")]
    (release / SIGNATURE).unlink()
    (release / SIGNATURE).mkdir()
    assert ("signature", "is not a plain file") in broken(release)
    (release / SIGNATURE).rmdir()
    (release / SIGNATURE).write_text("who is who")
    reseal(release)  # lists every file of the folder
    assert "files" in [promise for promise, _ in broken(release)]


def test_the_signature_does_not_tell_the_comment_of_the_key(release: Path) -> None:
    coded = "".join((release / SIGNATURE).read_text().splitlines()[1:-1])
    assert b"ann" not in base64.b64decode(coded)
    assert b"laptop" not in base64.b64decode(coded)


def test_signing_twice_gives_the_same_bytes_and_an_old_time(signed: Path, release: Path) -> None:
    first = (release / SIGNATURE).read_bytes()
    with pytest.raises(InputError, match="force"):
        sign(release, key=signed / "ann")
    assert sign(release, key=signed / "ann", force=True) == certificate_of(release)["seal"]
    assert (release / SIGNATURE).read_bytes() == first
    assert (release / SIGNATURE).stat().st_mtime == (release / "certificate.json").stat().st_mtime


def test_what_does_not_hold_is_not_signed(signed: Path, release: Path) -> None:
    (release / SIGNATURE).unlink()
    (release / "table.csv").write_text("x")
    with pytest.raises(InputError, match="not signed"):
        sign(release, key=signed / "ann")
    assert not (release / SIGNATURE).exists()


def test_releases_of_every_kind_can_be_signed(signed: Path, tmp_path: Path) -> None:
    letters = release_letters(tmp_path / "letters", sign=signed / "ann").folder
    sketches = release_letters(tmp_path / "sketches", method=CrowdSketch(k=3)).folder
    work = work_folder(tmp_path / "work")
    accept_everything(work)
    sanitized = released(work, tmp_path / "sanitized").folder
    for folder in (sketches, sanitized):
        sign(folder, key=signed / "ann")
    for folder in (letters, sketches, sanitized):
        assert verify(folder, signer=signed / "ann.pub")
        assert not verify(folder, signer=signed / "bob.pub")


# Keys that are trusted


def openssh_accepts(release: Path, allowed: Path) -> bool:
    """Whether ssh-keygen takes the signature for Ann's."""
    check = ["verify", "-f", str(allowed), "-I", "ann@office.org", "-n", "shoal-certificate"]
    command = [str(KEYGEN), "-Y", *check, "-s", str(release / SIGNATURE)]
    certificate = (release / "certificate.json").read_bytes()
    return subprocess.run(command, input=certificate, capture_output=True).returncode == 0


def test_a_signer_may_be_the_text_of_a_key_or_one_line_of_many(
    signed: Path, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = ((signed / f"{name}.pub").read_text().strip() for name in ("ann", "bob"))
    assert verify(release, signer=ann)
    for lines in (f"# team\nssh-rsa AAAAB3NzaC1yc2E= old\n\n{bob}\n{ann}\n", f"\ufeff{ann}\r\n"):
        (tmp_path / "keys").write_text(lines)
        assert verify(release, signer=tmp_path / "keys")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert verify(release, signer="~/keys")


def test_allowed_signers_name_people_and_purposes(signed: Path, release: Path, tmp_path: Path) -> None:
    key = (signed / "ann.pub").read_text().strip()
    allowed = tmp_path / "allowed"
    for before, holds in [
        ("ann@office.org", True),
        ('ann@office.org namespaces="git,shoal-*"', True),
        ("ann@office.org\t", True),
        ('ann@office.org namespaces="git"', False),
        ('ann@office.org namespaces="*,!shoal-certificate"', False),
        ('ann@office.org namespaces="shoal-certificat[e]"', False),
        ('ann@office.org namespaces="git"\u2028bob', False),  # which ends no line
        ('ann@office.org namespaces="git"\x0b', False),
        ('ann@office.org namespaces="git"\r', False),
    ]:
        allowed.write_text(f"{before} {key}\n")
        if holds:
            assert verify(release, signer=allowed).signature.startswith("signed by ann@office.org")
        else:
            with pytest.raises(InputError, match=r"no Ed25519 public key for shoal-certificate|is not supported"):
                verify(release, signer=allowed)
        if KEYGEN is not None:
            assert openssh_accepts(release, allowed) == holds


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "no Ed25519 public key"),
        ("ssh-rsa AAAAB3NzaC1yc2E= x", "ssh-rsa"),
        ("ecdsa-sha2-nistp256 AAAA x", "ecdsa-sha2-nistp256"),
        ("ssh-ed25519 AAAA x", "cut off or changed"),
        ("ssh-ed25519 !!!! x", "no Ed25519 public key"),
        ("ssh-ed25519 @@==== x", "cut off or changed"),
        ("ann cert-authority ssh-ed25519 @@", "cert-authority is not supported"),
        ('ann valid-before="20300101" ssh-ed25519 @@', "valid-before is not supported"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "is a private key"),
    ],
)
def test_a_file_that_names_nobody_is_refused(
    signed: Path, release: Path, tmp_path: Path, content: str, says: str
) -> None:
    key = (signed / "ann.pub").read_text().split()[1]
    (tmp_path / "who").write_text(content.replace("@@", key))
    with pytest.raises(InputError, match=says):
        verify(release, signer=tmp_path / "who")


# OpenSSH


@WITH_OPENSSH
def test_ssh_keygen_accepts_our_signature_and_we_accept_its_own(signed: Path, release: Path, tmp_path: Path) -> None:
    allowed, certificate = tmp_path / "allowed", release / "certificate.json"
    allowed.write_text(f"ann@office.org {(signed / 'ann.pub').read_text()}")
    assert openssh_accepts(release, allowed)
    content = certificate.read_bytes()
    certificate.write_bytes(content + b" ")
    assert not openssh_accepts(release, allowed)
    certificate.write_bytes(content)

    for purpose, hash, holds in [
        ("shoal-certificate", "sha512", True),
        ("shoal-certificate", "sha256", True),
        ("file", "sha512", False),
    ]:
        (release / SIGNATURE).unlink()
        made = ["-Y", "sign", "-O", f"hashalg={hash}", "-f", str(signed / "ann"), "-n", purpose, str(certificate)]
        subprocess.run([str(KEYGEN), *made], check=True, capture_output=True)
        assert bool(verify(release, signer=signed / "ann.pub")) == holds


@WITH_OPENSSH
def test_a_key_that_ssh_keygen_made_and_locked_signs(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOAL_PASSPHRASE", raising=False)
    key = tmp_path / "locked"
    subprocess.run([str(KEYGEN), "-q", "-t", "ed25519", "-N", "tide pool", "-f", str(key)], check=True)
    with pytest.raises(InputError, match="is locked with a passphrase"):
        sign(release, key=key, force=True)
    with pytest.raises(InputError, match="does not open"):
        sign(release, key=key, passphrase="low tide", force=True)
    sign(release, key=key, passphrase=lambda: "tide pool", force=True)
    monkeypatch.setenv("SHOAL_PASSPHRASE", "tide pool")
    sign(release, key=key, force=True)
    assert verify(release, signer=key.with_suffix(".pub"))


def test_without_the_library_a_signature_is_not_checked_and_that_is_said(signed: Path, release: Path) -> None:
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "import shoal\n"
        f"result = shoal.verify({str(release)!r})\n"
        "assert result and 'not checked' in result.signature\n"
        f"for call in (lambda: shoal.verify({str(release)!r}, signer={str(signed / 'ann.pub')!r}),"
        f" lambda: shoal.sign({str(release)!r}, key={str(signed / 'ann')!r}, force=True)):\n"
        "    try: call()\n"
        "    except shoal.ShoalError as problem: print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install 'shoal[sign]'") == 2
