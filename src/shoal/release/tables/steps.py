"""A table in one piece, protected step by step: read, group, join, represent, publish, attack, write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.attacks.disclosure import IntervalDisclosure
from shoal.attacks.distance import DistanceLinkage, linked_by_equality
from shoal.data.columns import values_of
from shoal.data.inputs import TableSource
from shoal.methods.people import crowds_of_people
from shoal.promises.people import PeopleGroups
from shoal.promises.values import check_totals, counted_values, totals_of
from shoal.release.folders import MAPPING
from shoal.release.leaks import find_leaks
from shoal.release.tables.columns import TableOptions
from shoal.release.tables.draft import Findings, TablePublication, draft_of, reasons_of, spread_of
from shoal.release.tables.files import file_name
from shoal.release.tables.following import Following
from shoal.release.tables.grouping import check_strata, join_groups, join_people, represent_people, warn_of_links
from shoal.release.tables.records import TableRecords, read_records
from shoal.release.tables.released import (
    coarse,
    coarse_classes,
    facts_of_rows,
    grid_steps,
    released_rows,
    rounding_error,
    squared_error,
    value_counts,
    write_rows,
)
from shoal.release.tables.rows import Ints, MaskedRows, joined_rows
from shoal.release.writing import Draft

LEARNED = ("linkage learned from known links, tried on others", "linkage learned from all links (worst case)")
TRIED_AT_ONCE = 300  # records that an attacker trains on, so that nobody waits for it
MOST_ATTACKED = 100_000  # rows up to which a release is attacked before it is handed out


@dataclass(frozen=True)
class TableGroups:
    """The group of each row, and the least squared error that any groups could have; 0 if that is not known."""

    group_of_row: Ints
    bound: float
    people: PeopleGroups | None = None  # where whole people are grouped


@dataclass(frozen=True)
class TableSteps:
    """The seven steps for a table in one piece."""

    k: int
    options: TableOptions

    def read(self, source: TableSource) -> TableRecords:
        """The rows, sorted by content, and the method that their columns need."""
        records, promises = read_records(source, self.k, self.options), self.options.promises
        if promises.asked:
            rows, table = records.rows, records.table
            confidential = table.layout.roles.confidential
            values = [values_of(rows.columns[name]) for name in confidential]
            check_totals(totals_of(table.n_rows, values, rows.person, rows.own_k), confidential, self.k, promises)
            if promises.of_values and rows.person is not None:
                warn_of_links(rows, rows.person, (*confidential, *table.layout.roles.insensitive))
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
                people = join_people(method, rows, rows.person, group_of_row, promises, overall)
                group_of_row = people.group_of_row
            elif isinstance(method, Following):
                group_of_row = method.join(rows, promises)
            elif promises.asked:
                group_of_row = join_groups(method, rows, group_of_row, promises, overall)
            joined.append(TableGroups(group_of_row, piece.bound, people))
        if overall is not None:
            check_strata([piece.group_of_row for piece in joined], records.strata, roles, promises, overall)
        return joined

    def represent(self, groups: list[TableGroups], records: TableRecords) -> MaskedRows:
        """The rows with what stands for their groups."""
        method, pieces = records.table.method, []
        for piece, rows in zip(groups, records.strata, strict=True):
            if piece.people is not None and rows.person is not None:
                pieces.append(represent_people(method, rows, rows.person, piece.people))
            else:
                pieces.append(method.represent(rows, piece.group_of_row))
        return pieces[0] if len(pieces) == 1 else joined_rows(pieces)

    def publish(self, masked: MaskedRows, groups: list[TableGroups], records: TableRecords) -> TablePublication:
        """The rows as they will be released, in canonical order, and the figures that may be published."""
        table, layout, method = records.table, records.table.layout, records.table.method
        spread = spread_of(table, records.rows.numbers, records.rows.person)
        for name, least in table.coarsen.items():
            column = layout.numbers.index(name)
            masked = coarse(masked, {column: coarse_classes([value_counts(masked, column)], least)})
        error = squared_error(masked, layout.scale)
        steps = grid_steps(table, error, spread.spread, partial(rounding_error, masked, layout.scale))
        in_text = not file_name(table.schema.format, table.schema.dialect).endswith(".parquet")
        rows = released_rows(masked, method, steps, in_text, self.options.calibrate)
        anew = None
        if table.follow_up is not None and isinstance(method, Following):
            table.follow_up.check_kept(rows.released, rows.before.records, layout.roles.quasi)
            anew = method.loss_anew(records.rows, self.options.promises)
        everything = np.zeros(table.n_rows, dtype=np.uint64), np.arange(table.n_rows)
        facts = [facts_of_rows(rows, method, everything)]
        reasons, publishable = reasons_of(facts, table, spread.dominance)
        bound = sum(piece.bound for piece in groups) if all(piece.bound for piece in groups) else 0.0
        return TablePublication(rows, facts, spread, steps, error, bound, reasons, publishable, anew)

    def attack(self, publication: TablePublication, records: TableRecords) -> Findings:
        """What intruders find who know the originals, and the leak card for the owner."""
        rows, layout, publishable = publication.rows, records.table.layout, publication.publishable
        linked = None
        if publishable and layout.labels and not layout.numbers:
            sides = ([getattr(rows.labels[name], side) for name in layout.labels] for side in ("before", "after"))
            linked = round(linked_by_equality(*(np.column_stack(side) for side in sides)), 6)
        if not self.options.attack:
            return Findings(linked=linked)
        # Dates, ranks and gaps as the numbers behind them: whoever attacks, computes.
        method, quasi = records.table.method, layout.roles.quasi
        attacked = method.attacked_columns(rows.before, rows.labels, rows.released, self.options.method.ontology)
        tables = []
        for columns, values in ((attacked.before, rows.before.numbers), (attacked.after, rows.numbers)):
            of_side = dict(columns) | dict(zip(layout.numbers, map(pa.array, values.T), strict=True))
            of_side |= {name: rows.released[name] for name in layout.kept}
            tables.append(pa.table({name: of_side[name] for name in quasi}))
        numbers = tuple(name for name in quasi if name in (*layout.numbers, *attacked.numbers))
        labels = tuple(name for name in quasi if name not in numbers)
        before, after = tables
        # Where all have a crowd, no attacker finds more than one in its size: a larger crowd is the remedy.
        remedies, meaning = not method.k_anonymous, attacked.ontology
        card = find_leaks(before, after, numbers, labels, ontology=meaning, sample=TRIED_AT_ONCE, remedies=remedies)
        if layout.labels or not layout.numbers or not publishable or len(rows.before) > MOST_ATTACKED:
            return Findings((), card, linked)
        linkage = (
            DistanceLinkage(metric).run(rows.before.numbers, rows.numbers) for metric in ("euclidean", "mahalanobis")
        )
        interval = IntervalDisclosure().run(rows.before.numbers, rows.numbers)
        learned = () if card is None else (card.leak.honest, card.leak.worst)
        # Of a trained attacker it is published how many records they find, not by which columns.
        rates = [replace(rate, about=about) for rate, about in zip(learned, LEARNED, strict=False)]
        return Findings((*linkage, interval, *rates), card, linked)

    def write(
        self, publication: TablePublication, findings: Findings, records: TableRecords, folders: tuple[Path, Path]
    ) -> Draft:
        """Write the rows into the folders (private, release); the draft has the rest."""
        rows, table = publication.rows, records.table
        draft = draft_of(table, publication, findings, self.options)
        write_rows(rows, table.layout.roles.quasi, folders[1] / draft.summary.files[0][0], folders[0] / MAPPING)
        return draft
