"""Index: documents are put, searched, read and deleted; a server stores them encrypted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

from shoal.errors import InputError
from shoal.web.commands import index_command
from shoal.web.rendering import page
from shoal.web.requests import Form, TheIndex, TheJobs, TheWorkspace
from shoal.web.wording import message_of

if TYPE_CHECKING:
    from shoal.index.client import IndexClient, SearchHit

router = APIRouter(prefix="/index")
SHOWN = 20  # hits


@router.get("")
async def show(
    request: Request, workspace: TheWorkspace, index: TheIndex, query: str = "", upload: str = ""
) -> Response:
    """How to connect; once connected, the index in figures and the results of a query."""
    if not index.connected:
        return page(request, "index_connect.html.jinja", has_key=index.key_file.exists(), problem="", server="")
    given = workspace.upload(upload) if upload else None
    if not await index.ask(lambda client: client.has_index()):
        return page(request, "index_create.html.jinja", index=index, given=given)
    figures = await index.ask(lambda client: client.status())
    hits = await index.ask(partial(_search, query)) if query.strip() else []
    return page(request, "index.html.jinja", index=index, figures=figures, query=query, hits=hits, given=given)


def _search(query: str, client: IndexClient) -> list[SearchHit]:
    """Search at home, however large the index is."""
    client.sync()
    return client.search(query, SHOWN)


@router.post("/connect")
async def connect(request: Request, form: Form, index: TheIndex) -> Response:
    server = form.text("server")
    try:
        await index.connect(server, form.text("token"), form.text("key"), form.text("passphrase"))
    except InputError as problem:
        shown = {"has_key": index.key_file.exists(), "problem": message_of(problem), "server": server}
        return page(request, "index_connect.html.jinja", status=422, **shown)
    return RedirectResponse("/index", 303)


@router.post("/try")
async def try_here(index: TheIndex) -> Response:
    """Start a server on this machine, for as long as the workbench runs."""
    await index.try_here()
    return RedirectResponse("/index", 303)


@router.post("/disconnect")
async def disconnect(index: TheIndex) -> Response:
    await index.disconnect()
    return RedirectResponse("/index", 303)


@router.get("/key")
async def key(index: TheIndex) -> Response:
    """Download the key, to keep a copy."""
    if not index.key_file.is_file():
        raise LookupError("key")
    return FileResponse(index.key_file, filename="shoal-index-key.txt", media_type="application/octet-stream")


@router.post("/put")
async def put(form: Form, workspace: TheWorkspace, jobs: TheJobs, index: TheIndex) -> Response:
    """Add documents; if k is given, create an index with them."""
    k = form.whole("k", 2)
    if not index.connected:
        raise InputError("no index is connected; enter its address and your token first")
    upload = workspace.upload(form.text("upload"))
    with workspace.new_job() as folder:
        name = workspace.lend(upload, folder)
    command = index_command(index.server, name, k)
    job = jobs.start(folder, "index", upload.name, command, {}, index.secrets)
    workspace.remove(upload.folder)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.get("/documents/{document}")
async def read(document: str, request: Request, index: TheIndex) -> Response:
    """Show a document, fetched and decrypted here."""
    text = await index.ask(lambda client: client.get(document))
    name = await index.ask(lambda client: client.name_of(document))
    return page(request, "index_document.html.jinja", document=document, name=name or document, text=text)


@router.post("/documents/{document}/delete")
async def delete(document: str, index: TheIndex) -> Response:
    await index.ask(lambda client: client.delete(document))
    return RedirectResponse("/index", 303)
