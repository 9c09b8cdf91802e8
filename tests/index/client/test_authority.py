"""Servers whose certificate comes from a private authority."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.index.client import IndexClient
from shoal.index.server.database import Database
from tests.index.server.api import accounts_in
from tests.index.server.processes import servers


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate that is its own authority, and its key."""
    key, made = folder / "tls.key", folder / "tls.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-keyout", str(key), "-out", str(made)], check=True, capture_output=True)
    return made, key


def test_a_private_authority_is_trusted_when_it_is_named(
    sqlite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, key = certificate(tmp_path)
    database = Database(sqlite)
    database.create_tables()
    token = accounts_in(database)["user"]
    database.close()
    with servers(1, sqlite, tmp_path, "--tls-cert", str(made), "--tls-key", str(key)) as [server]:
        address = server.url()
        assert address.startswith("https://")
        with pytest.raises(InputError, match="comes from no authority that is known here"):
            IndexClient(address, token, folder=tmp_path).has_index()
        assert not IndexClient(address, token, folder=tmp_path, ca=made).has_index()
        monkeypatch.setenv("SSL_CERT_FILE", str(made))
        assert not IndexClient(address, token, folder=tmp_path).has_index()
    with pytest.raises(InputError, match="no certificates in PEM format"):
        IndexClient("https://127.0.0.1:1", token, folder=tmp_path, ca=key)
