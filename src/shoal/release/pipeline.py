"""A release in seven steps: read, group, join, represent, publish, attack, write. The same for tables and documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from shoal.release.writing import Draft

Records = TypeVar("Records")
Groups = TypeVar("Groups")
Masked = TypeVar("Masked")
Publication = TypeVar("Publication")
Findings = TypeVar("Findings")


class Steps(Protocol[Records, Groups, Masked, Publication, Findings]):
    """What a kind of data and a method do at each step; each is a function of plain values."""

    def read(self, source: Any) -> Records:
        """The records, checked, in the order of their content."""

    def group(self, records: Records) -> Groups:
        """The group of each record: at least k of them."""

    def join(self, groups: Groups, records: Records) -> Groups:
        """Groups joined until each has what is promised beside k."""

    def represent(self, groups: Groups, records: Records) -> Masked:
        """What stands for each group."""

    def publish(self, masked: Masked, groups: Groups, records: Records) -> Publication:
        """The rows as they will be released, and the figures that may be published."""

    def attack(self, publication: Publication, records: Records) -> Findings:
        """What the strongest known attackers find in them."""

    def write(
        self, publication: Publication, findings: Findings, records: Records, folders: tuple[Path, Path]
    ) -> Draft:
        """The rows written into the folders (private, release), and the draft of all other files."""


def carry_out(steps: Steps[Any, Any, Any, Any, Any], source: Any, folders: tuple[Path, Path]) -> Draft:
    """All seven steps, for records in one piece."""
    # Memory freed in small pieces goes back to the system: half a gigabyte once a million baskets were read.
    return_memory = pa.system_memory_pool().release_unused
    records = steps.read(source)
    return_memory()
    groups = steps.group(records)
    groups = steps.join(groups, records)
    return_memory()
    masked = steps.represent(groups, records)
    publication = steps.publish(masked, groups, records)
    findings = steps.attack(publication, records)
    return_memory()
    return steps.write(publication, findings, records, folders)
