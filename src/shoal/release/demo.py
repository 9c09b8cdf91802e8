"""The demonstration: letters and patients that nobody has, protected and ready to verify."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from shoal.data.roles import Roles
from shoal.release.folders import PUBLIC_FOLDER, check_free, folders_written_aside
from shoal.release.protect import Protected, protect
from shoal.sample import write_sample

PARTS = {"sample", "letters", "letters-private", "subjects", "subjects-private", "snapshot"}
PARTS |= {"review", "sanitized", "sanitized-private"}


def run_demo(out: Path, k: int = 5, force: bool = False) -> tuple[Protected, Protected]:
    """Write the sample to `out`/sample and make the releases `out`/letters and `out`/subjects."""
    check_free(out, force, lambda content: set(content) <= PARTS)
    roles = Roles(
        quasi=("age", "height_cm", "weight_kg", "systolic_bp", "heart_rate", "income", "length_of_stay"),
        confidential=("diagnosis",),
        identifier=("name", "patient_id", "town", "speciality"),
    )
    with folders_written_aside((out, PUBLIC_FOLDER)) as (aside,):
        sample = write_sample(aside / "sample")
        made = (
            protect(sample.letters, k, aside / "letters", label_column="speciality"),
            protect(sample.subjects, k, aside / "subjects", roles=roles, l=2),
        )
    letters, subjects = (replace(one, folder=out / one.folder.name, private=out / one.private.name) for one in made)
    return letters, subjects
