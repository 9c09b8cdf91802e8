"""Jobs: commands that run beside the pages, and go on when a tab is closed.

A job is a call of the command line, the very one that its page shows, so that a page can do nothing that a shell
cannot. Its progress comes as lines of JSON, its result as the JSON that the command prints.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from shoal.data.private_files import private_file
from shoal.errors import InputError
from shoal.web.workspace import Workspace, write_json

AT_ONCE = 2
PATIENCE = 10.0  # seconds between asking a command to end and ending it
LONGEST_LINE = 1 << 20
WAITING, RUNNING, DONE, BROKEN, FAILED, CANCELLED, STOPPED = (
    "waiting",
    "running",
    "done",
    "broken",  # a promise does not hold
    "failed",
    "cancelled",
    "stopped",  # the workbench ended before the job did
)
ENDED_BY = {0: DONE, 1: BROKEN}


@dataclass(frozen=True)
class Command:
    """What to type in a shell, after "shoal", and the Python that does the same."""

    words: tuple[str, ...]
    python: str

    @property
    def line(self) -> str:
        return shlex.join(("shoal", *self.words))


@dataclass(frozen=True)
class Step:
    """A step of the work, how much of it is done, and since when it runs."""

    name: str
    done: int
    total: int | None
    since: float

    @property
    def seconds_left(self) -> float | None:
        """If it goes on as it began; None as long as that is no more than a guess."""
        passed = time.time() - self.since
        if not self.total or self.done >= self.total or self.done == 0 or passed < 1:
            return None
        return passed / self.done * (self.total - self.done)


@dataclass
class Job:
    """A command, and how far it is."""

    id: str
    page: str  # whose it is, such as "protect"
    title: str
    command: Command
    folder: Path
    about: Mapping[str, Any] = field(default_factory=dict)  # what its page wants to remember
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    then: Callable[[Job], None] | None = field(default=None, repr=False)
    state: str = WAITING
    ending: str | None = None  # what it will have been, once the command has ended
    steps: dict[str, Step] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what the command said
    begun: float = field(default_factory=time.time)
    ended: float | None = None

    @property
    def work(self) -> Path:
        """Where the command runs."""
        return self.folder / "work"

    @property
    def uploads(self) -> set[str]:
        """What it was given, as far as that is still there."""
        return {str(upload) for upload in (self.about.get("upload"), *self.about.get("uploads", ())) if upload}

    @property
    def over(self) -> bool:
        return self.state not in (WAITING, RUNNING)

    @property
    def seconds(self) -> float:
        return (self.ended or time.time()) - self.begun

    @property
    def error(self) -> str:
        """Why it failed, in the command's own line."""
        return self.notes[-1] if self.state == FAILED and self.notes else ""

    @property
    def result(self) -> Any:
        """What the command printed."""
        try:
            return json.loads((self.folder / "result.json").read_bytes())
        except (OSError, ValueError):
            return None

    def as_data(self) -> dict[str, Any]:
        """For the page that waits."""
        steps = [
            {"name": step.name, "done": step.done, "total": step.total, "left": step.seconds_left}
            for step in self.steps.values()
        ]
        known = {"id": self.id, "state": self.state, "over": self.over, "seconds": self.seconds, "notes": self.notes}
        return {**known, "steps": steps}

    def write(self) -> None:
        kept: dict[str, Any] = {"page": self.page, "title": self.title, "about": dict(self.about)}
        kept |= {"command": asdict(self.command)}
        kept |= {"state": self.state, "notes": self.notes, "begun": self.begun, "ended": self.ended}
        write_json(self.folder / "job.json", kept)

    @classmethod
    def read(cls, folder: Path) -> Job:
        """A job of an earlier run of the workbench; what ran then runs no more."""
        kept = json.loads((folder / "job.json").read_bytes())
        command = Command(tuple(kept["command"]["words"]), kept["command"]["python"])
        job = cls(folder.name, kept["page"], kept["title"], command, folder, kept["about"], state=kept["state"])
        job.notes, job.begun, job.ended = kept["notes"], kept["begun"], kept["ended"]
        if not job.over:
            job.state, job.ended = STOPPED, job.begun
        return job


class Jobs:
    """All jobs of a workspace, a few of which run at once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._jobs = {folder.name: Job.read(folder) for folder in workspace.job_folders()}
        self._room = asyncio.Semaphore(AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._processes: dict[str, asyncio.subprocess.Process] = {}

    def __iter__(self) -> Any:
        """The newest first."""
        return iter(sorted(self._jobs.values(), key=lambda job: -job.begun))

    def get(self, name: str) -> Job:
        self._workspace.job(name)
        return self._jobs[name]

    def start(
        self,
        folder: Path,
        page: str,
        title: str,
        command: Command,
        about: Mapping[str, Any],
        secrets: Mapping[str, str] | None = None,
        then: Callable[[Job], None] | None = None,
    ) -> Job:
        """Run the command in a folder of the workspace; it waits if others run.

        `secrets` are variables of its environment, which are written nowhere; `then` is called when it is done.
        """
        job = Job(folder.name, page, title, command, folder, about, secrets or {}, then)
        self._jobs[job.id] = job
        job.write()
        self._tasks[job.id] = asyncio.create_task(self._run(job))
        return job

    def start_again(self, name: str) -> Job:
        """The same command, after it was cancelled, stopped or failed; what is half made is not there."""
        job = self.get(name)
        if not job.over or job.state == DONE:
            raise InputError("this job is under way or done; start a new one")
        job.state, job.begun, job.ended = WAITING, time.time(), None
        job.steps.clear()
        job.notes.clear()
        job.write()
        self._tasks[job.id] = asyncio.create_task(self._run(job))
        return job

    async def cancel(self, name: str, state: str = CANCELLED) -> None:
        """End the command, first by asking."""
        job = self.get(name)
        if job.over:
            return
        job.ending = state
        process = self._processes.get(name)
        if process is None:
            self._tasks[name].cancel()
            self._end(job, state)
            return
        _signal(process, signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
        except TimeoutError:
            _signal(process, signal.SIGKILL)
        await asyncio.wait([self._tasks[name]])

    async def close(self, name: str) -> None:
        """End a job, and remove all that it made, and what was uploaded for it unless another job has that, too."""
        await self.cancel(name)
        closed = self._jobs.pop(name)
        self._workspace.remove(closed.folder)
        kept = {upload for job in self._jobs.values() for upload in job.uploads}
        for upload in closed.uploads - kept:
            with suppress(LookupError):
                self._workspace.remove(self._workspace.upload(upload).folder)

    async def stop(self) -> None:
        """The workbench ends."""
        await asyncio.gather(*(self.cancel(job.id, STOPPED) for job in self if not job.over))

    async def _run(self, job: Job) -> None:
        async with self._room:
            with open(job.folder / "result.json", "wb", opener=private_file) as result:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *("-m", "shoal", *job.command.words, "--json"),
                    cwd=job.work,
                    env={**os.environ, **job.secrets, "SHOAL_PROGRESS": "json"},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=result,
                    stderr=asyncio.subprocess.PIPE,
                    limit=LONGEST_LINE,
                    start_new_session=True,  # so that its workers end with it
                )
                self._processes[job.id] = process
                if job.over:  # cancelled before it began
                    _signal(process, signal.SIGKILL)
                else:
                    job.state = RUNNING
                job.begun = time.time()
                assert process.stderr is not None
                async for line in process.stderr:
                    _take(job, line.decode("utf-8", "replace").rstrip("\n"))
                code = await process.wait()
            del self._processes[job.id]
            self._end(job, job.state if job.over else ENDED_BY.get(code, job.ending or FAILED))

    @staticmethod
    def _end(job: Job, state: str) -> None:
        if state in (DONE, BROKEN) and job.result is None:
            state = FAILED  # it died on its way; its page has nothing to show
        job.state, job.ending, job.ended = state, None, time.time()
        if job.folder.is_dir():  # else it was closed
            job.write()
        if state == DONE and job.then is not None:
            job.then(job)


def _take(job: Job, line: str) -> None:
    """Progress, or something that the command says to people."""
    if line.startswith("{"):
        try:
            step = json.loads(line)
            name, done, total = str(step["step"]), int(step["done"]), step["total"]
        except (ValueError, KeyError, TypeError):
            return
        since = job.steps[name].since if name in job.steps else time.time()
        job.steps[name] = Step(name, done, total, since)
    elif line.strip():
        job.notes.append(line.removeprefix("shoal: "))


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
