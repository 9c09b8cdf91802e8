"""Which concept each value of a column means: proposals for a person to check and correct."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shoal.errors import InputError
from shoal.io import read_table
from shoal.io.files import shown, unknown_column
from shoal.io.private_files import private_file
from shoal.ontology import WordNet
from shoal.ontology import value_mapping as mapping
from shoal.ontology.value_mapping import ABSENT_VALUE, UNCONFIRMED

__all__ = ["Proposal", "propose_mapping", "write_proposals"]

HEADER = (*mapping.HEADER, "gloss", "records", "other concepts")
ALTERNATIVES = 5


@dataclass(frozen=True)
class Proposal:
    """A value, the concept it means or may mean, and what else it may mean."""

    column: str
    value: str
    concept: str  # its name; "" when nothing comes near
    gloss: str
    records: int  # that have the value
    found: bool  # the ontology has the value, and its meaning is clear; else the concept is a guess
    others: tuple[str, ...]  # "name: gloss"


def propose_mapping(source: Any, columns: Sequence[str], ontology: Any = None) -> list[Proposal]:
    """What each value of the columns means in the ontology (WordNet unless given; or one for each column by name).

    Values that are not found come first, each with the concept that comes nearest: a guess, to be confirmed. So are the
    meanings of words that may well mean something else. Codes (2, F) are left to a person, unless a hierarchy has them.
    """
    table = read_table(source, verbatim=columns).data
    proposals: list[Proposal] = []
    for column in columns:
        if column not in table.column_names:
            raise unknown_column(column, table.column_names, "the table")
        chosen = ontology.get(column) if isinstance(ontology, Mapping) else ontology
        meant = WordNet() if chosen is None else chosen
        counts = Counter(str(value) for value in table[column].to_pylist() if value is not None and str(value).strip())
        proposals += sorted(
            (_proposal(column, value, records, meant) for value, records in counts.items()),
            key=lambda proposal: (proposal.found, proposal.value),
        )
    return proposals


def _proposal(column: str, value: str, records: int, ontology: Any) -> Proposal:
    clear = ontology.is_clear(value)
    concepts = ontology.suggest(value, ALTERNATIVES)
    named = [(ontology.taxonomy.names[concept], ontology.gloss(concept)) for concept in concepts]
    name, gloss = named[0] if named else ("", "")
    if not any(map(str.isalnum, value)):  # such as ? or --
        name, gloss = ABSENT_VALUE, "the value says that there is none"
    others = tuple(f"{other}: {meaning}" for other, meaning in named[1:])
    return Proposal(column, value, name, gloss, records, clear, others)


def write_proposals(
    path: str | os.PathLike[str],
    proposals: Sequence[Proposal],
    force: bool = False,
    keep: Sequence[str | os.PathLike[str]] = (),
) -> None:
    """The mapping file, never in place of what is in `keep`. A guess has a ? before it until somebody confirms it.

    It has values of the original: only its owner may read it.
    """
    place = Path(path)
    if any(place.exists() and Path(source).exists() and place.samefile(source) for source in keep):
        raise InputError(f"{shown(place)} is what the proposals are made from; give another name")
    if place.is_dir() or (place.exists() and not force):
        raise InputError(f"{shown(place)} exists; give another name, or --force to replace the file")
    try:
        # Its owner's alone, in a folder that others may write to as well: nobody can have put a file in its way.
        with TemporaryDirectory(dir=place.parent, prefix=f".{place.name}-") as folder:
            aside = Path(folder) / place.name
            with open(aside, "w", encoding="utf-8", newline="", opener=private_file) as file:
                lines = csv.writer(file)
                lines.writerow(HEADER)
                for proposal in proposals:
                    guess = UNCONFIRMED if proposal.concept and not proposal.found else ""
                    others = " | ".join(proposal.others)
                    cells = guess + proposal.concept, proposal.gloss, proposal.records, others
                    lines.writerow((proposal.column, proposal.value, *cells))
            os.replace(aside, place)
    except OSError as problem:
        raise InputError(f"{shown(place)} cannot be written ({problem.strerror}); choose another place") from None
