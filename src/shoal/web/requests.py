"""What routes ask of a request: the workspace, the jobs, and the fields of a form."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import Depends, Request

from shoal.data.files import shown
from shoal.errors import InputError
from shoal.web.desk import Desks
from shoal.web.index_session import IndexSession
from shoal.web.jobs import Job, Jobs
from shoal.web.look import PreviewCache
from shoal.web.worker_process import WorkerProcess
from shoal.web.workspace import Upload, Workspace

LARGEST_FORM = 4 << 20  # bytes: a table may have thousands of columns
MOST_FIELDS = 100_000


def _of_app(name: str) -> Any:
    """A dependency on what all requests share."""

    async def shared(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(shared)


TheWorkspace = Annotated[Workspace, _of_app("workspace")]
TheWorker = Annotated[WorkerProcess, _of_app("worker")]
TheDesks = Annotated[Desks, _of_app("desks")]
TheIndex = Annotated[IndexSession, _of_app("index")]
TheJobs = Annotated[Jobs, _of_app("jobs")]
ThePreviews = Annotated[PreviewCache, _of_app("previews")]


async def _upload(upload: str, workspace: TheWorkspace) -> Upload:
    return workspace.upload(upload)


async def _job(job: str, jobs: TheJobs) -> Job:
    return jobs.get(job)


# Those that the address of a page names.
TheUpload = Annotated[Upload, Depends(_upload)]
TheJob = Annotated[Job, Depends(_job)]


class Fields:
    """The fields of a form; a field that is not there is empty."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        return self._fields.get(name, [""])[0].strip()

    def has(self, name: str) -> bool:
        return name in self._fields

    def last(self, name: str) -> str:
        """Of a box to tick, whose empty value is sent before it."""
        return self._fields[name][-1].strip()

    def secret(self, name: str) -> str:
        """A key or a passphrase: to the last space as it is."""
        return self._fields.get(name, [""])[0]

    def all(self, name: str) -> list[str]:
        return self._fields.get(name, [])

    def whole(self, name: str, least: int, called: str = "") -> int | None:
        """A whole number, None if nothing was entered; `called` as on the page."""
        text = self.text(name)
        if not text:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < least:
            given = f"{called} '{shown(text[:20])}'" if called else f"{name}={shown(text[:20])}"
            raise InputError(f"{given} must be a whole number of at least {least}")
        return int(text)


async def _query(request: Request) -> Fields:
    return Fields({name: request.query_params.getlist(name) for name in request.query_params})


async def read_body(request: Request, most: int) -> bytes:
    """The body of a request, of so many bytes at most."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise InputError(f"the form has more than {most:,} bytes; send less at once")
    return body


async def _form(request: Request) -> Fields:
    body = await read_body(request, LARGEST_FORM)
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise InputError("the form cannot be read; load the page again and fill it in again") from None
    return Fields(fields)


Form = Annotated[Fields, Depends(_form)]
Query = Annotated[Fields, Depends(_query)]
