"""What routes ask of a request: the workspace, the jobs, and the fields of a form."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import Depends, Request

from shoal.data.files import shown
from shoal.errors import InputError
from shoal.web.aside import Aside
from shoal.web.desk.desk import Desks
from shoal.web.index_session import IndexSession
from shoal.web.jobs import Jobs
from shoal.web.protecting.looks import Looks
from shoal.web.workspace import Workspace

LARGEST_FORM = 4 << 20  # bytes: a table may have thousands of columns
MOST_FIELDS = 100_000


def _workspace(request: Request) -> Any:
    return request.app.state.workspace


def _aside(request: Request) -> Any:
    return request.app.state.aside


def _jobs(request: Request) -> Any:
    return request.app.state.jobs


def _looks(request: Request) -> Any:
    return request.app.state.looks


def _index(request: Request) -> Any:
    return request.app.state.index


def _desks(request: Request) -> Any:
    return request.app.state.desks


class Fields:
    """The fields of a form; a field that is not there is empty."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        return self._fields.get(name, [""])[0].strip()

    def secret(self, name: str) -> str:
        """A key or a passphrase: to the last space as it is."""
        return self._fields.get(name, [""])[0]

    def all(self, name: str) -> list[str]:
        return self._fields.get(name, [])

    def names(self) -> list[str]:
        return list(self._fields)

    def whole(self, name: str, least: int, called: str = "") -> int | None:
        """A whole number, None if nothing was entered; `called` as on the page."""
        text = self.text(name)
        if not text:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < least:
            given = f"{called} '{shown(text[:20])}'" if called else f"{name}={shown(text[:20])}"
            raise InputError(f"{given} must be a whole number of at least {least}")
        return int(text)


async def _form(request: Request) -> Fields:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            raise InputError(f"the form has more than {LARGEST_FORM:,} bytes; send less at once")
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise InputError("the form cannot be read; load the page again and fill it in anew") from None
    return Fields(fields)


TheWorkspace = Annotated[Workspace, Depends(_workspace)]
TheAside = Annotated[Aside, Depends(_aside)]
TheDesks = Annotated[Desks, Depends(_desks)]
TheIndex = Annotated[IndexSession, Depends(_index)]
TheJobs = Annotated[Jobs, Depends(_jobs)]
TheLooks = Annotated[Looks, Depends(_looks)]
Form = Annotated[Fields, Depends(_form)]
