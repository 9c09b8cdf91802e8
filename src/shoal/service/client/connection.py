"""Requests to the server: repeated until they are answered, and every refusal one line."""

from __future__ import annotations

import ipaddress
import json
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

import httpx

from shoal.errors import InputError
from shoal.io.files import shown

__all__ = ["JSON", "OCTETS", "Connection", "Refusal", "new_key"]

TIMEOUT = httpx.Timeout(60.0, connect=10.0)  # seconds
TRIES = 6
PAUSE = 0.25  # seconds before the second try; twice as long before each that follows
LONGEST_PAUSE = 30.0
COME_BACK = (429, 502, 503, 504)  # the server, or a proxy before it, cannot answer now
OCTETS, JSON = "application/octet-stream", "application/json"


NO_TOKEN = "the server does not know this token, or it was revoked; set SHOAL_TOKEN to the one you were given"


class Refusal(InputError):
    """The server does not do what was asked."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def new_key() -> str:
    """An idempotency key. It is drawn, not made of the content, about which it would tell something."""
    return secrets.token_urlsafe(18)


class Connection:
    """A server, and who is asking. Its methods may be called from several threads."""

    def __init__(self, server: str, token: str) -> None:
        _check_address(server)
        if not token.isascii() or not token.isprintable() or not token:
            raise InputError("the token is not one of this kind of server; give it in SHOAL_TOKEN as you were given it")
        self.server = server.rstrip("/")
        self._token = token
        # No environment: a proxy or a .netrc of the machine is none that the user chose for this.
        self._http = httpx.Client(
            base_url=self.server, headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT, trust_env=False
        )

    def __repr__(self) -> str:
        return f"Connection({self.server!r})"

    @property
    def account(self) -> str:
        """The public half of the token."""
        return self._token.rpartition("_")[0]

    def close(self) -> None:
        self._http.close()

    def get(self, path: str) -> httpx.Response:
        """An answer to a question that changes nothing."""
        return self._asked("GET", path, {}, None)

    def get_json(self, path: str) -> dict[str, Any]:
        """The same as an object of JSON."""
        return _object(self.get(path))

    def post_json(self, path: str, content: Any) -> dict[str, Any]:
        """Send an object."""
        return self.post(path, json.dumps(content).encode(), JSON, new_key())

    def post(self, path: str, body: bytes, kind: str, key: str) -> dict[str, Any]:
        """Send bytes; with the same key they count once, however often they are sent."""
        return _object(self._asked("POST", path, {"Content-Type": kind, "Idempotency-Key": key}, body))

    def delete(self, path: str) -> None:
        """Remove something."""
        self._asked("DELETE", path, {"Idempotency-Key": new_key()}, None)

    def _asked(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> httpx.Response:
        """The answer; tried again while the server cannot be reached or says to come back."""
        problem = ""
        for number in range(TRIES):
            pause = PAUSE * 2**number
            try:
                answer = self._http.request(method, path, headers=headers, content=body)
            except httpx.TransportError as failed:
                problem = f"no server answers at {shown(self.server)} ({type(failed).__name__}); is it running?"
            else:
                if answer.status_code not in COME_BACK:
                    return _accepted(answer)
                problem = f"the server is too busy, or being restarted (status {answer.status_code}); try again later"
                pause = max(pause, _seconds(answer.headers.get("Retry-After", "")))
            if number < TRIES - 1:
                time.sleep(min(pause, LONGEST_PAUSE))
        raise InputError(problem)


def _accepted(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    if answer.status_code == 401:
        raise Refusal(401, NO_TOKEN)
    try:
        detail = answer.json()["detail"]
        said = detail if isinstance(detail, str) else "the request is not valid"
    except (ValueError, KeyError, TypeError):
        remedy = "is this the address of an index?" if answer.is_client_error else "try again later"
        said = f"no reason is given; {remedy}"
    verb = "refuses" if answer.is_client_error else "fails"
    raise Refusal(answer.status_code, f"the server {verb} ({answer.status_code}): {shown(said[:300])}")


def _object(answer: httpx.Response) -> dict[str, Any]:
    try:
        content = answer.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InputError("the server's answer is not the JSON that an index gives; is this the address of an index?")
    return content


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() else 0.0


def _check_address(server: str) -> None:
    wrong = InputError(f"{shown(server)} is no address of a server; give one such as http://127.0.0.1:8750")
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError:  # a port that is no number, half a bracket
        raise wrong from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.username or parts.query:
        raise wrong
    if parts.scheme == "http" and not _is_this_machine(parts.hostname):
        raise InputError(f"{shown(server)} would send your token for all to read; use https://")


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: 127.example.org is not on this machine
        return host == "localhost"
