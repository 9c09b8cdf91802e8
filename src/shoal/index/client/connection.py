"""A server of an index: how the user names it, and requests that are repeated until they are answered."""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import ssl
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from shoal.data.files import check_private, reading, shown
from shoal.data.private_files import config_folder
from shoal.errors import InputError

SETTINGS = "index.toml"
SETTING_TYPES = {"server": str, "token": str, "key": str, "recipients": list, "ca": str}
DEFAULT_SERVER, DEFAULT_KEY = "http://127.0.0.1:8750", "key.txt"

TIMEOUT = httpx.Timeout(60.0, connect=10.0)  # seconds
TRIES = 6
PAUSE = 0.25  # seconds before the second try; twice as long before each further one
LONGEST_PAUSE = 30.0
TRY_AGAIN = (429, 502, 503, 504)  # the server, or a proxy in front of it, cannot answer now
OCTETS, JSON = "application/octet-stream", "application/json"
NOT_TRUSTED = "the certificate of {} comes from no authority that is known here; name its certificates with {{option}}"
NO_TOKEN = "the server does not know this token, or it has expired or was revoked; set SHOAL_TOKEN to a valid one"


@dataclass(frozen=True)
class Settings:
    """The server, the user's token, and the keys to encrypt with."""

    server: str
    token: str = field(repr=False)
    key: Path
    recipients: tuple[str, ...]  # who may read the documents, besides the owner of the key
    ca: Path | None = None  # certificates of a private authority


def read_settings(
    server: str | None = None,
    token: str | None = None,
    key: Path | None = None,
    recipients: Sequence[str] = (),
    ca: Path | None = None,
) -> Settings:
    """Arguments come first, then the user's settings file, then the defaults."""
    folder = config_folder()
    stored = _read_settings_file(folder / SETTINGS)
    return Settings(
        server or stored.get("server", DEFAULT_SERVER),
        token or stored.get("token", ""),
        key or folder / stored.get("key", DEFAULT_KEY),
        tuple(recipients) or tuple(stored.get("recipients", ())),
        ca or (folder / stored["ca"] if "ca" in stored else None),
    )


def _read_settings_file(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    with reading(file):
        check_private(file, "a token")
        try:
            stored = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError:
            raise InputError(f'{shown(file)} is not TOML; write lines such as server = "https://…"') from None
    for name, value in stored.items():
        if not isinstance(value, SETTING_TYPES.get(name, ())):
            known = ", ".join(SETTING_TYPES)
            raise InputError(f"{shown(file)}: {shown(name)} is unknown or has the wrong type; use {known}")
    if not all(isinstance(recipient, str) for recipient in stored.get("recipients", ())):
        raise InputError(f"{shown(file)}: recipients must be a list of public keys, each in quotes")
    return stored


class Refusal(InputError):
    """The server refused a request, or failed to answer it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def new_key() -> str:
    """A random idempotency key: one derived from the content would reveal something about it."""
    return secrets.token_urlsafe(18)


class Connection:
    """A server and the token to use there. Its methods may be called from several threads."""

    def __init__(self, server: str, token: str, ca: Path | None = None) -> None:
        _check_address(server)
        if not token.isascii() or not token.isprintable() or not token:
            raise InputError("this is not a token of a Shoal server; set SHOAL_TOKEN to the one you were given")
        self.server = server.rstrip("/")
        self._token = token
        # The environment is ignored: the user did not choose its proxy or .netrc for this server.
        self._http = httpx.Client(
            base_url=self.server,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT,
            trust_env=False,
            verify=_trusted(ca) if self.server.startswith("https:") else False,
        )

    def __repr__(self) -> str:
        return f"Connection({self.server!r})"

    @property
    def account(self) -> str:
        """The public half of the token."""
        return self._token.rpartition("_")[0]

    def close(self) -> None:
        self._http.close()

    def get(self, path: str) -> bytes:
        """The body of an answer."""
        return self._request("GET", path, {}, None).content

    def get_json(self, path: str) -> dict[str, Any]:
        """An answer that is a JSON object."""
        return _json_object(self._request("GET", path, {}, None))

    def post_json(self, path: str, content: Any) -> dict[str, Any]:
        """Send a JSON object once."""
        return self.post(path, json.dumps(content).encode(), JSON, new_key())

    def post(self, path: str, body: bytes, content_type: str, key: str) -> dict[str, Any]:
        """Send a body; the server handles it once per idempotency key, however often it is sent."""
        return _json_object(self._request("POST", path, {"Content-Type": content_type, "Idempotency-Key": key}, body))

    def delete(self, path: str) -> None:
        """Delete a resource."""
        self._request("DELETE", path, {"Idempotency-Key": new_key()}, None)

    def _request(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> httpx.Response:
        """The answer; repeated while the server cannot be reached or asks to try again."""
        problem = ""
        for number in range(TRIES):
            pause = PAUSE * 2**number
            try:
                answer = self._http.request(method, path, headers=headers, content=body)
            except httpx.TransportError as failure:
                if "CERTIFICATE_VERIFY_FAILED" in str(failure):
                    raise InputError(NOT_TRUSTED.format(shown(self.server)), "ca") from None
                problem = f"no server answers at {shown(self.server)} ({type(failure).__name__}); is it running?"
            else:
                if answer.status_code not in TRY_AGAIN:
                    return _accepted(answer)
                problem = f"the server is too busy, or being restarted (status {answer.status_code}); try again later"
                retry_after = answer.headers.get("Retry-After", "")
                pause = max(pause, float(retry_after) if retry_after.isdecimal() else 0.0)
            if number < TRIES - 1:
                time.sleep(min(pause, LONGEST_PAUSE))
        raise InputError(problem)


def _trusted(ca: Path | None) -> ssl.SSLContext | bool:
    """The authorities that certificates may come from: given ones, those of SSL_CERT_FILE, or the usual ones."""
    file = ca or os.environ.get("SSL_CERT_FILE")
    try:
        return ssl.create_default_context(cafile=file) if file else True
    except (OSError, ssl.SSLError):
        message = f"{shown(str(file))} has no certificates in PEM format; name a file that does with {{option}}"
        raise InputError(message, "ca") from None


def _accepted(answer: httpx.Response) -> httpx.Response:
    """The answer, unless it is a refusal."""
    if answer.is_success:
        return answer
    if answer.status_code == 401:
        raise Refusal(401, NO_TOKEN)
    try:
        detail = answer.json()["detail"]
        reason = detail if isinstance(detail, str) else "the request is not valid"
    except (ValueError, KeyError, TypeError):
        remedy = "is this the address of an index?" if answer.is_client_error else "try again later"
        reason = f"no reason is given; {remedy}"
    verb = "refuses" if answer.is_client_error else "fails"
    raise Refusal(answer.status_code, f"the server {verb} ({answer.status_code}): {shown(reason[:300])}")


def _json_object(answer: httpx.Response) -> dict[str, Any]:
    try:
        content = answer.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InputError("the server's answer is not the JSON of an index; is this the address of an index?")
    return content


def _check_address(server: str) -> None:
    invalid = InputError(f"{shown(server)} is not the address of a server; give one such as {DEFAULT_SERVER}")
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError:  # a port that is not a number, an unclosed bracket
        raise invalid from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.username or parts.query:
        raise invalid
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise InputError(f"{shown(server)} would send your token unencrypted; use https://")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: 127.example.org is another machine
        return host == "localhost"
