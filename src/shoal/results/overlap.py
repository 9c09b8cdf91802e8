"""What two releases of overlapping data show together."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Overlap"]


@dataclass(frozen=True)
class Overlap:
    """The crowds that records have in both releases, and what subtracting one from the other shows."""

    k: int  # the smaller of the two promises
    both: int  # records of both releases
    left: int  # of the earlier one only
    came: int  # of the later one only
    how: str  # records of the two releases were matched
    smallest: int  # fewest records that anyone in both can be; 0 when nobody is in both
    exposed: int  # records of both with fewer than k candidates
    candidates: tuple[tuple[int, int], ...]  # (candidates, records of both), rising
    shown: tuple[str, ...]  # columns that both release as they are
    told_apart: int  # records whose values there are the difference of a published row, or of all, of fewer than k
    cells: float | None  # of the one record that left: the share of its numbers that the sums tell; None: not one left
    by_guessing: float | None  # what the best guess without any release gives

    @property
    def safe(self) -> bool:
        """Whether nobody is found beyond 1/k."""
        return not self.exposed and not self.told_apart

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        crowd = (
            f"Everybody in both releases ({self.both:,}) still has at least {self.smallest:,} candidates"
            if not self.exposed
            else f"{self.exposed:,} of {self.both:,} records in both releases have fewer than k={self.k} candidates "
            f"left, at worst {self.smallest:,}"
        )
        crowd = crowd if self.both else "No record is in both releases"
        changed = self.left + self.came
        if not changed:
            return f"{crowd}; nobody left and nobody came."
        if self.told_apart:
            return (
                f"{crowd}; subtracting the two shows the {', '.join(self.shown)} of {self.told_apart:,} who left or "
                f"came, among fewer than {self.k}."
            )
        return f"{crowd}; subtracting the two shows nobody among fewer than {self.k}."
