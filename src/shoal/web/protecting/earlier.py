"""The release that the new one is to follow, and its private side, where the job works."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import InputError
from shoal.web.archives import lend_unpacked, unpack, unpack_release
from shoal.web.protecting.choices import Choices
from shoal.web.workspace import Workspace

PARTS = {"after": ("earlier", unpack_release), "earlier_private": ("earlier-private", unpack)}


def earlier_release(chosen: Choices, workspace: Workspace, folder: Path) -> dict[str, str]:
    """Where both are, by the name of the option; nothing if the release follows none."""
    given = {"after": chosen.after, "earlier_private": chosen.earlier_private}
    if not any(given.values()):
        return {}
    if not all(given.values()):
        raise InputError("a release that follows another needs that release and its private part; choose both")
    if not chosen.identity:
        raise InputError("who is who in two releases goes by an id; choose the column that names the records")
    return {
        option: lend_unpacked(workspace, workspace.upload(upload).path, folder, *PARTS[option])
        for option, upload in given.items()
    }
