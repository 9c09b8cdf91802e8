"""Reviews that are ready for the desk, made by hand and without a model, in the private folder of a workbench."""

from __future__ import annotations

import json
from pathlib import Path

from shoal.results.sanitizing import Entity, Mention
from shoal.web.workspace import Workspace


def review_folder(workbench: Path, job: str, title: str) -> Path:
    """Where the work folder of a finished `shoal sanitize` belongs; its page is /review/JOB."""
    folder = Workspace(workbench).jobs / job
    (folder / "work").mkdir(parents=True)
    command = {"words": ["sanitize", "input", "-o", "review"], "python": ""}
    about = {"page": "review", "title": title, "about": {}, "command": command, "state": "done", "notes": []}
    (folder / "job.json").write_text(json.dumps({**about, "begun": 0.0, "ended": 1.0}))
    figures = {"work": "review", "documents": 1, "entities": 1, "blocks": 0, "left_out": 0}
    (folder / "result.json").write_text(json.dumps(figures))
    return folder / "work" / "review"


def long_report(characters: int, marks: int) -> tuple[str, tuple[Entity, ...]]:
    """A long text with people in it, each of whom stands there three times."""
    filler = "The committee met again, read what had been written, and put off what was left until later.\n"
    parts, entities, length = [], [], 0
    for number in range(marks):
        stretch = filler * max(round((characters / marks - 20) / len(filler)), 1)
        name = f"Berta Amsel{number // 3:03}"
        start = length + len(stretch)
        entities.append(Entity("PERSON", (Mention(start, start + len(name)),), name, "direct", 0.2 + number % 60 / 100))
        parts += [stretch, name, "\n"]
        length = start + len(name) + 1
    return "".join(parts), tuple(entities)
