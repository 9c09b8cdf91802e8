"""All desks of a workbench. A desk stays open as long as its job: what it has computed is of use to the next page."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from shoal.web.desk.commands import WORK
from shoal.web.desk.desk import Desk
from shoal.web.jobs import DONE, Job

__all__ = ["Desks"]


class Desks:
    """One for each work folder."""

    def __init__(self) -> None:
        self._desks: dict[Path, Desk] = {}
        self._opening = Lock()

    def of(self, job: Job) -> Desk:
        """Of a job that has made its proposals."""
        if job.page != "review" or job.state != DONE:
            raise LookupError(job.id)
        with self._opening:
            for closed in [path for path in self._desks if not path.is_dir()]:
                del self._desks[closed]
            path = job.work / WORK
            if path not in self._desks:
                self._desks[path] = Desk(path)
            return self._desks[path]
