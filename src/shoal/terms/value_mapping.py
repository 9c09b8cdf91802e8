"""Which concept each value of a column means: mappings in CSV files, and proposals for a person to check and correct.

The file has the columns column, value and concept. A concept that begins with a question mark is a proposal not
confirmed yet.
"""

from __future__ import annotations

import csv
import difflib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shoal.data.delimited import stream_rows
from shoal.data.files import counted, is_folder, kind_of, open_text, reading, shown, unknown_column
from shoal.data.kinds.outlines import OntologyColumns
from shoal.data.private_files import private_file
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.terms.wordnet import WordNet

HEADER = ("column", "value", "concept")
UNCONFIRMED = "?"
ABSENT_VALUE = "(missing)"  # in place of a concept: the value says that there is none

ByColumn = dict[str, dict[str, str]]
PROPOSAL_HEADER = (*HEADER, "gloss", "records", "other concepts")
ALTERNATIVES = 5


def read_mapping(path: str | os.PathLike[str]) -> ByColumn:
    """The concept of each value, column by column. Messages give rows and counts, never values."""
    name = shown(path)
    if is_folder(path):
        raise InputError(f"{name} is a folder; give a CSV file with the columns {', '.join(HEADER)}")
    concepts: ByColumn = {}
    unconfirmed, empty, twice = [], [], []
    with reading(path), open_text(path, newline="") as stream:
        header, rows = stream_rows(stream, kind_of(path) or "csv", name)
        if tuple(header[:3]) != HEADER:
            raise InputError(f"{name} must begin with the columns {', '.join(HEADER)}; correct its first line")
        for row in rows:
            if row is None or len(row) < len(HEADER):
                raise InputError(f"{name}: row {rows.number} has no column, value and concept; correct it")
            column, value, concept = row[0], row[1], row[2].strip()
            if not concept:
                empty.append(rows.number)
            elif concept.startswith(UNCONFIRMED):
                unconfirmed.append(rows.number)
            elif concepts.setdefault(column, {}).setdefault(value, concept) != concept:
                twice.append(rows.number)
    if unconfirmed:
        raise InputError(
            f"{name}: {counted(len(unconfirmed), 'proposal')} not confirmed (first in row {unconfirmed[0]}); "
            f"check each, correct it if need be, and remove its {UNCONFIRMED}"
        )
    if empty:
        raise InputError(
            f"{name}: {counted(len(empty), 'row')} without a concept (first: row {empty[0]}); fill them in"
        )
    if twice:
        raise InputError(
            f"{name}: {counted(len(twice), 'value')} with two concepts (first in row {twice[0]}); keep one"
        )
    return concepts


def mappings_of(mapping: Any, columns: Iterable[str]) -> ByColumn:
    """The concepts of each column's values, from what the user gave.

    That is a file, a dict of value: concept for all columns, a dict of column: such a dict, or None.
    """
    names = list(columns)
    if mapping is None:
        return {name: {} for name in names}
    if isinstance(mapping, str | os.PathLike):
        mapping = read_mapping(mapping)
    if not isinstance(mapping, Mapping):
        raise InputError("a mapping is a CSV file, a dict of value: concept, or a dict of column: such a dict")
    nested = [isinstance(concept, Mapping) for concept in mapping.values()]
    if any(nested) and not all(nested):
        raise InputError("the mapping mixes concepts and dicts; give value: concept, or column: {value: concept}")
    return {name: _checked(mapping.get(name, {}) if any(nested) else mapping, name) for name in names}


def mapped_columns(mapping: Any) -> tuple[str, ...]:
    """The columns that a mapping names: they hold labels, even where these look like numbers."""
    if isinstance(mapping, str | os.PathLike):
        mapping = read_mapping(mapping)
    nested = isinstance(mapping, Mapping) and all(isinstance(concept, Mapping) for concept in mapping.values())
    return tuple(map(str, mapping)) if nested else ()


def ontology_columns(ontology: Any, mapping: Any) -> OntologyColumns:
    """The columns of labels that have a meaning; an ontology or a mapping without names is for every column of text."""
    mapped = mapped_columns(mapping)
    named = map(str, ontology) if isinstance(ontology, Mapping) else ()
    for_all = (ontology is not None and not isinstance(ontology, Mapping)) or (mapping is not None and not mapped)
    return OntologyColumns(frozenset([*named, *mapped]), for_all)


def check_mapping(mapping: Any, columns: Sequence[str]) -> None:
    """Refuse a mapping of columns that the table does not have."""
    unknown = [name for name in mapped_columns(mapping) if name not in columns]
    if unknown:
        more = f" and {counted(len(unknown) - 1, 'other column')}" if len(unknown) > 1 else ""
        of = f"{shown(mapping)}: rows" if isinstance(mapping, str | os.PathLike) else "the mapping: values"
        close = difflib.get_close_matches(unknown[0], columns, n=1)
        meant = f"; did you mean {shown(close[0])}?" if close else "; correct the name, or take them out"
        raise InputError(f"{of} for column {shown(unknown[0])}{more}, which the table does not have{meant}")


def _checked(mapping: Mapping[Any, Any], column: str) -> dict[str, str]:
    wrong = sum(
        not isinstance(concept, str) or not concept.strip() or concept.startswith(UNCONFIRMED)
        for concept in mapping.values()
    )
    if wrong:
        raise InputError(
            f"the mapping of column {shown(column)} has {counted(wrong, 'value')} without a confirmed concept; "
            "give each the name of one"
        )
    return {str(value): concept.strip() for value, concept in mapping.items()}


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
    """The mapping file, never in place of what is in `keep`. A guess has a ? before it until it is confirmed.

    It has values of the original: only its owner may read it.
    """
    target = Path(path)
    if any(target.exists() and Path(source).exists() and target.samefile(source) for source in keep):
        raise InputError(f"{shown(target)} is what the proposals are made from; give another name")
    if target.is_dir() or (target.exists() and not force):
        raise InputError(f"{shown(target)} exists; give another name, or {{option}} to replace the file", "force")
    try:
        # Its owner's alone, in a folder that others may write to as well: nobody can have put a file in its way.
        with TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
            aside = Path(folder) / target.name
            with open(aside, "w", encoding="utf-8", newline="", opener=private_file) as file:
                lines = csv.writer(file)
                lines.writerow(PROPOSAL_HEADER)
                for proposal in proposals:
                    guess = UNCONFIRMED if proposal.concept and not proposal.found else ""
                    others = " | ".join(proposal.others)
                    cells = guess + proposal.concept, proposal.gloss, proposal.records, others
                    lines.writerow((proposal.column, proposal.value, *cells))
            os.replace(aside, target)
    except OSError as problem:
        raise InputError(f"{shown(target)} cannot be written ({problem.strerror}); choose another place") from None
