"""The demonstration: letters and patients that nobody has, protected and ready to verify."""

from __future__ import annotations

from pathlib import Path

from shoal.io import Roles
from shoal.release.protect import Protected, protect
from shoal.sample import write_sample

__all__ = ["run_demo"]


def run_demo(out: Path, k: int = 5, force: bool = False) -> tuple[Protected, Protected]:
    """Write the sample to `out`/sample and make the releases `out`/letters and `out`/subjects."""
    sample = write_sample(out / "sample")
    roles = Roles(
        quasi=("age", "height_cm", "weight_kg", "systolic_bp", "heart_rate", "income", "length_of_stay"),
        confidential=("diagnosis",),
        identifier=("name", "patient_id", "town", "speciality"),
    )
    return (
        protect(sample.letters, k, out / "letters", label_column="speciality", force=force),
        protect(sample.subjects, k, out / "subjects", roles=roles, l=2, force=force),
    )
