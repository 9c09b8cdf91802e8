"""A table in one piece, protected step by step: read, group, join, represent, publish, attack, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.attacks.disclosure import IntervalDisclosure
from shoal.attacks.distance import DistanceLinkage, linked_by_equality
from shoal.data.columns import values_of
from shoal.data.inputs import TableSource
from shoal.methods.people import crowds_of_people
from shoal.pages.leak_card import learned_rates
from shoal.promises.people import PeopleGroups
from shoal.promises.values import check_totals, counted_values, crowd_figures, totals_of
from shoal.release.folders import MAPPING
from shoal.release.leaks import leaks_of_release
from shoal.release.tables.columns import TableOptions
from shoal.release.tables.draft import Findings, Publication, draft_of, reasons_of, spread_of
from shoal.release.tables.files import copy_of, file_name, text_columns
from shoal.release.tables.following import Following
from shoal.release.tables.generalised import Generalised
from shoal.release.tables.grouping import check_strata, join_groups, join_people, represent_people
from shoal.release.tables.records import TableRecords, read_records
from shoal.release.tables.released import (
    ReleasedRows,
    coarse,
    coarse_classes,
    estimates_csv,
    facts_of_rows,
    grid_steps,
    released_rows,
    rounding_error,
    squared_error,
    value_counts,
    write_rows,
)
from shoal.release.tables.rows import Floats, Ints, MaskedRows, joined_rows
from shoal.release.writing import Draft
from shoal.terms.wordnet import WordNet

MOST_ATTACKED = 100_000  # rows up to which a release is attacked before it is handed out


@dataclass(frozen=True)
class TableGroups:
    """The group of each row, and the least squared error that any groups could have; 0 if that is not known."""

    group_of_row: Ints
    bound: float
    people: PeopleGroups | None = None  # where whole people are grouped


@dataclass(frozen=True)
class TablePublication:
    """The rows that will be released, and what may be said of them."""

    rows: ReleasedRows
    figures: Publication


@dataclass(frozen=True)
class TableSteps:
    """The seven steps for a table in one piece."""

    k: int
    options: TableOptions

    def read(self, source: TableSource) -> TableRecords:
        """The rows, sorted by content, and the method that their columns need."""
        records = read_records(source, self.k, self.options)
        rows = records.rows
        if rows.person is not None or rows.own_k is not None:
            check_totals(totals_of(len(rows), (), rows.person, rows.own_k), (), self.k, self.options.promises)
        return records

    def group(self, records: TableRecords) -> list[TableGroups]:
        """The group of each row, in each stratum: at least k rows. Of people: the crowd, of at least k of them."""
        method = records.table.method
        groups = []
        for number, rows in enumerate(records.strata):
            progress.step("grouping", number, len(records.strata))
            if rows.person is not None and method.k_anonymous:
                points, plan = method.block_coordinates(rows), method.block_plan(len(np.unique(rows.person)))
                groups.append(TableGroups(crowds_of_people(points, rows.person, plan), 0.0))
            else:
                groups.append(TableGroups(*method.group(rows)))
        return groups

    def join(self, groups: list[TableGroups], records: TableRecords) -> list[TableGroups]:
        """Groups joined until each has what is promised."""
        promises, method, roles = self.options.promises, records.table.method, records.table.layout.roles
        overall = None  # how often each confidential value occurs, where a stratum is not all
        if len(records.strata) > 1 and promises.of_values:
            overall = [counted_values(values_of(records.rows.columns[name])) for name in roles.confidential]
        joined = []
        for piece, rows in zip(groups, records.strata, strict=True):
            people, group_of_row = None, piece.group_of_row
            if rows.person is not None:
                people = join_people(method, rows, rows.person, group_of_row, roles, promises, overall)
                group_of_row = people.group_of_row
            elif isinstance(method, Following):
                group_of_row = method.join(rows, promises)
            elif promises.asked:
                group_of_row = join_groups(method, rows, group_of_row, roles, promises, overall)
            joined.append(TableGroups(group_of_row, piece.bound, people))
        if overall is not None:
            check_strata([piece.group_of_row for piece in joined], records.strata, roles, promises, overall)
        return joined

    def represent(self, groups: list[TableGroups], records: TableRecords) -> MaskedRows:
        """The rows with what stands for their groups."""
        table, pieces = records.table, []
        for piece, rows in zip(groups, records.strata, strict=True):
            if piece.people is not None and rows.person is not None:
                pieces.append(represent_people(table.method, rows, rows.person, piece.people, table.layout))
            else:
                pieces.append(table.method.represent(rows, piece.group_of_row))
        return pieces[0] if len(pieces) == 1 else joined_rows(pieces)

    def publish(self, masked: MaskedRows, groups: list[TableGroups], records: TableRecords) -> TablePublication:
        """The rows as they will be released, in canonical order, and the figures that may be published."""
        table, layout, method = records.table, records.table.layout, records.table.method
        spread = spread_of(table, records.rows.numbers, records.rows.person)
        for name, least in table.coarsen.items():
            column = layout.numbers.index(name)
            masked = coarse(masked, {column: coarse_classes([value_counts(masked, column)], least)})
        error = squared_error(masked, layout)
        steps = grid_steps(table, error, spread.spread, partial(rounding_error, masked, layout))
        schema = table.schema
        name = file_name(schema.format, schema.dialect)
        in_text = not name.endswith(".parquet")
        rows = released_rows(masked, layout, method, steps, in_text, self.options.calibrate)
        anew = None
        if table.follow_up is not None and isinstance(method, Following):
            table.follow_up.check_kept(rows.released, rows.before.records, layout.roles.quasi)
            anew = method.loss_anew(records.rows, self.options.promises)
        everything = np.zeros(table.n_rows, dtype=np.uint64), np.arange(table.n_rows)
        facts = [facts_of_rows(rows, layout, method, everything)]
        crowds = crowd_figures(facts[0].groups, self.options.promises)
        reasons, publishable = reasons_of(facts, table, spread.dominance)
        figures = Publication(
            facts=facts,
            crowds=crowds,
            spread=spread,
            steps=steps,
            error=error,
            bound=sum(piece.bound for piece in groups) if all(piece.bound for piece in groups) else 0.0,
            name=name,
            copy=copy_of(rows.released, schema.format, schema.dictionary, schema.dialect),
            text=text_columns(rows.released, layout.roles) if in_text else (),
            anew=anew,
            reasons=reasons,
            publishable=publishable,
            weights=rows.weights,
        )
        return TablePublication(rows, figures)

    def attack(self, publication: TablePublication, records: TableRecords) -> Findings:
        """What intruders find who know the originals, and the leak card for the owner."""
        rows, layout, publishable = publication.rows, records.table.layout, publication.figures.publishable
        linked = None
        if publishable and layout.labels and not layout.numbers:
            sides = ([getattr(rows.labels[name], side) for name in layout.labels] for side in ("before", "after"))
            linked = round(linked_by_equality(*(np.column_stack(side) for side in sides)), 6)
        if not self.options.attack:
            return Findings(linked=linked)
        # Dates, ranks and gaps as the numbers behind them: whoever attacks, computes.
        method, kept = records.table.method, {name: rows.released[name] for name in layout.kept}
        ontology, numbers = self.options.method.ontology, layout.numbers
        if isinstance(method, Generalised):
            columns = method.attacked_columns(rows.before, rows.labels)
            before, after = dict(columns.before), dict(columns.after)
            ontology, numbers = columns.meaning, (*numbers, *columns.numbers)
        else:
            before = dict(rows.before.columns)
            after = {name: rows.released[name] for name in layout.labels}
            if layout.categories:
                ontology = _by_meaning(ontology, [name for name in layout.labels if name not in layout.categories])
        card = leaks_of_release(
            _quasi(before | kept, rows.before.numbers, records),
            _quasi(after | kept, rows.numbers, records),
            tuple(name for name in layout.roles.quasi if name in numbers),
            ontology,
        )
        if layout.labels or not layout.numbers or not publishable or len(rows.before) > MOST_ATTACKED:
            return Findings((), card, linked)
        linkage = (
            DistanceLinkage(metric).run(rows.before.numbers, rows.numbers) for metric in ("euclidean", "mahalanobis")
        )
        interval = IntervalDisclosure().run(rows.before.numbers, rows.numbers)
        return Findings((*linkage, interval, *learned_rates(card)), card, linked)

    def write(
        self, publication: TablePublication, findings: Findings, records: TableRecords, folders: tuple[Path, Path]
    ) -> Draft:
        """Write the rows into the folders (private, release); the draft has the rest."""
        private, release = folders
        target = str(release / str(publication.figures.name))
        write_rows(publication.rows, records.table.layout.roles.quasi, target, str(private / MAPPING))
        draft = draft_of(records.table, publication.figures, findings, self.options)
        if records.table.layout.roles.weight:
            estimates = {"estimates.csv": estimates_csv(publication.rows, records.table.layout)}
            draft = replace(draft, private_files={**draft.private_files, **estimates})
        return draft


def _quasi(labels: Mapping[str, Any], numbers: Floats, records: TableRecords) -> pa.Table:
    """The quasi-identifiers as a table, numbers as numbers."""
    layout = records.table.layout
    columns = dict(labels) | dict(zip(layout.numbers, map(pa.array, numbers.T), strict=True))
    return pa.table({name: columns[name] for name in layout.roles.quasi})


def _by_meaning(ontology: Any, names: Sequence[str]) -> dict[str, Any]:
    """The ontologies of columns that have one; plain categories are equal or not."""
    if isinstance(ontology, Mapping):
        return {name: ontology.get(name) or WordNet() for name in names}
    return dict.fromkeys(names, WordNet() if ontology is None else ontology) if names else {}
