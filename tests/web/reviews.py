"""Reviews that are ready for the desk, made by hand and without a model, in the private folder of a workbench."""

from __future__ import annotations

import json
from pathlib import Path

from shoal.results.sanitizing import Block, Entity, Hit, Mention
from shoal.sanitizer.review.work import Proposals, text_digest
from shoal.web.workspace import Workspace
from tests.sanitizer.review.folders import entity, work_folder


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


CASES = {
    "discharge.docx": (
        "Dear Dr. Weber,\n\nwe discharged Marta Oliveira on 12 March 2019 from the St. Elmo Clinic in Lindenau. She "
        "was admitted after a fall at home.\n\nShe is treated with lithium for a bipolar disorder since 2011. The dose "
        "was halved after her renal function declined. Mrs. Oliveira works as a bell founder.\n\n"
        "Please see her within two weeks, and write to ward4@stelmo.example if the tremor returns.\n\nYours sincerely,"
        "\nJonas Krämer\n"
    ),
    "referral.md": "Marta Oliveira was sent to us by Dr. Weber. She asked to be seen in Lindenau before Easter.\n",
    "minutes.txt": "Present: Jonas Krämer, Dr. Weber. The clinic in Lindenau needs a second room for dialysis.\n",
}
FOUND = {
    "PERSON": {"Dr. Weber": 0.74, "Marta Oliveira": 0.97, "Jonas Krämer": 0.93},
    "DATE": {"12 March 2019": 0.58, "Easter": 0.14, "2011": 0.33},
    "ORG": {"St. Elmo Clinic": 0.82},
    "LOC": {"Lindenau": 0.55},
    "EMAIL": {"ward4@stelmo.example": 0.99},
    "PROFESSION": {"bell founder": 0.47},
}
RISKY = "She is treated with lithium for a bipolar disorder since 2011."


def cases(path: Path) -> None:
    """Three invented documents of a clinic."""
    proposals = []
    for number, (source, text) in enumerate(CASES.items(), start=1):
        entities = tuple(
            entity(text, kind, name, probability=probability)
            for kind, names in FOUND.items()
            for name, probability in names.items()
            if name in text
        )
        start = text.find(RISKY)
        hits = tuple(Hit(text.find(term), text.find(term) + len(term), term, term, "health") for term in ("bipolar",))
        blocks = (Block(start, start + len(RISKY), hits, 0.2),) if start >= 0 else ()
        proposals.append(Proposals(f"d{number}", source, text_digest(text), "", False, entities, blocks))
    work_folder(path, tuple(CASES.values()), proposals)
