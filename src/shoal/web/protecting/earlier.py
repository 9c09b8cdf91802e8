"""The release that the new one is to follow, and its private side, where the job works."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import InputError
from shoal.web.archives import unpack, unpack_release
from shoal.web.protecting.choices import Choices
from shoal.web.workspace import Workspace

__all__ = ["earlier_release"]

PLACES = {"after": "earlier", "earlier_private": "earlier-private"}


def earlier_release(chosen: Choices, workspace: Workspace, folder: Path) -> dict[str, str]:
    """Where both are, by the name of the option; nothing if the release follows none."""
    given = {"after": chosen.after, "earlier_private": chosen.earlier_private}
    if not any(given.values()):
        return {}
    if not all(given.values()):
        raise InputError("a release that follows another needs that release and its private part; choose both")
    if not chosen.identity:
        raise InputError("who is who in two releases goes by an id; choose the column that names the records")
    found = {}
    for option, upload in given.items():
        path, place = workspace.upload(upload).path, folder / "work" / PLACES[option]
        if path.is_dir():
            found[option] = workspace.lend_apart(path, folder, place.name)
            continue
        place.mkdir(mode=0o700)
        unpacked = unpack_release(path, place) if option == "after" else unpack(path, place)
        found[option] = unpacked.relative_to(folder / "work").as_posix()
    return found
