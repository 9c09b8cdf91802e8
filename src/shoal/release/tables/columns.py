"""What becomes of each quasi-identifier: averaged as a number, a date or a rank, kept as a category, or by meaning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from shoal.data.columns import holds_numbers, is_text
from shoal.data.files import shown
from shoal.data.kinds.dates import DateForm, check_period
from shoal.data.kinds.number_forms import DateColumn, Doubles, NumberForm, Ranks, Wholes, date_forms, unit_of
from shoal.data.kinds.recognition import Recognised, recognise
from shoal.data.roles import CATEGORIES, MODE, ColumnChoices, Kind
from shoal.errors import InputError
from shoal.terms.value_mapping import explained_columns


@dataclass(frozen=True)
class ColumnOutline:
    """A quasi-identifier in one part."""

    kind: Kind
    forms: tuple[Any, ...] = ()  # as which it can be read as numbers; none for labels
    empty: bool = False  # it holds nothing there, and so may be anything
    said: bool = False  # somebody gave it that kind
    categories: bool = False  # its type says that its values are categories

    @property
    def is_number(self) -> bool:
        return self.kind in (Kind.NUMBER, Kind.WHOLE)


@dataclass(frozen=True)
class ProtectedColumns:
    """The quasi-identifiers of all parts."""

    forms: dict[str, NumberForm]  # of those with numbers behind them
    categories: dict[str, str]  # plain ones, and what stands for a group: the most frequent value, or the set
    kinds: dict[str, Kind]

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(self.forms)


@dataclass(frozen=True)
class OntologyColumns:
    """The columns of labels of which an ontology or a mapping says what they mean."""

    columns: frozenset[str] = frozenset()
    all_texts: bool = False

    @classmethod
    def by(cls, ontology: Any, mapping: Any) -> OntologyColumns:
        """Those that are named; an ontology or a mapping without names is for every column of text."""
        for_all = ontology is not None and not isinstance(ontology, Mapping)
        for_all |= mapping is not None and not explained_columns(None, mapping)
        return cls(frozenset(explained_columns(ontology, mapping)), for_all)

    def kind_of(self, name: str, stored: pa.DataType) -> Kind | None:
        """A label, if it is explained."""
        values = stored.value_type if pa.types.is_dictionary(stored) else stored
        return Kind.LABEL if name in self.columns or (self.all_texts and is_text(values)) else None


def outline_column(name: str, column: Any, choices: ColumnChoices, explained: OntologyColumns) -> ColumnOutline:
    """The kind of a quasi-identifier in one part, as it was given or by what it holds."""
    given, spelling = choices.kind_of(name)
    empty = column.null_count == len(column)
    found = recognise(name, column)
    kind = given or explained.kind_of(name, column.type) or _by_itself(column.type, found)
    said = given is not None
    categories = pa.types.is_dictionary(column.type) and explained.kind_of(name, column.type) is None
    if not said and explained.kind_of(name, column.type) is None:
        _warn_of_doubts(name, kind, found)
    if empty and not said:
        return ColumnOutline(Kind.NUMBER, (Doubles(),), empty=True)
    if name in choices.rounded and kind not in (Kind.NUMBER, Kind.WHOLE):
        raise InputError(f"--round {shown(name)}: the column is a {kind.in_words}, not a number; leave it out")
    if kind is Kind.DATE:
        return ColumnOutline(
            kind, tuple(date_forms(name, column, spelling, choices.generalise.get(name), said)), empty, said
        )
    if kind is Kind.ORDERED:
        order = choices.order.get(name) or found.order
        if not order:
            raise InputError(
                f"column {shown(name)} is an ordered label without an order; give it: --order {shown(name)}=low<…<high"
            )
        return ColumnOutline(kind, (Ranks(order),), empty, said)
    if kind in (Kind.NUMBER, Kind.WHOLE):
        form = Wholes(said) if name in choices.rounded else Doubles(said)
        return ColumnOutline(kind, (form,), empty, said)
    return ColumnOutline(kind, (), empty, said, categories)


def _warn_of_doubts(name: str, kind: Kind, found: Recognised) -> None:
    """Tell the owner what is averaged, or compared by meaning, that looks like something else."""
    if found.kind is Kind.IDENTIFIER and kind is Kind.NUMBER:
        warnings.warn(
            f"{shown(name)} has {found.reason} and is averaged; if it names the record, drop it: --drop {shown(name)}",
            stacklevel=2,
        )
    if found.kind is Kind.ORDERED and kind is Kind.LABEL:
        warnings.warn(
            f"{shown(name)} {found.reason} and is compared by meaning; for the median of each group give its order: "
            f"--order {shown(name)}=lowest<…<highest",
            stacklevel=2,
        )


def _by_itself(stored: pa.DataType, found: Recognised) -> Kind:
    """What a column is taken for when nobody says so."""
    kind = found.kind if found.certain else Kind.LABEL
    if pa.types.is_dictionary(stored):
        return kind
    if holds_numbers(stored):
        return kind if kind in (Kind.CODE, Kind.DATE) else Kind.WHOLE if kind is Kind.WHOLE else Kind.NUMBER
    return kind if kind in (Kind.CODE, Kind.DATE, Kind.YES_NO) else Kind.LABEL


def agreed_columns(
    quasi: Sequence[str], outlines: Sequence[Mapping[str, ColumnOutline]], choices: ColumnChoices
) -> ProtectedColumns:
    """What all parts agree on."""
    forms: dict[str, NumberForm] = {}
    categories: dict[str, str] = {}
    kinds: dict[str, Kind] = {}
    for name in quasi:
        found = [outline[name] for outline in outlines]
        filled = [one for one in found if not one.empty] or found
        if all(one.is_number for one in filled):
            forms[name], kinds[name] = filled[0].forms[0], _finest(filled)
        elif len({one.kind for one in filled}) > 1 and not all(one.is_number or not one.forms for one in filled):
            listed = " and ".join(sorted({one.kind.in_words for one in filled}))
            raise InputError(f"column {shown(name)} is {listed} in different parts; say which: --kind {shown(name)}=…")
        elif all(one.forms for one in filled):
            forms[name], kinds[name] = _agreed_form(name, filled, choices), filled[0].kind
        else:
            kinds[name] = next((one.kind for one in filled if not one.is_number), Kind.LABEL)
            if kinds[name] in CATEGORIES or any(one.categories for one in filled):
                categories[name] = choices.categorical.get(name, MODE)
    return ProtectedColumns(forms, categories, kinds)


def _finest(outlines: Sequence[ColumnOutline]) -> Kind:
    return Kind.NUMBER if any(one.kind is Kind.NUMBER for one in outlines) else Kind.WHOLE


def _agreed_form(name: str, outlines: Sequence[ColumnOutline], choices: ColumnChoices) -> NumberForm:
    """The one form that fits all parts."""
    together = [one for one in outlines[0].forms if all(_among(one, other.forms) for other in outlines)]
    if not together:
        raise InputError(f"column {shown(name)} is not written alike in all parts; write it in one form")
    spellings = {one.form.spelling.replace("%m", "%d") for one in together if isinstance(one, DateColumn)}
    if len(spellings) < len(together) and len(spellings) > 0:
        raise InputError(
            f"column {shown(name)}: day and month cannot be told apart; say which comes first: "
            f"--kind {shown(name)}=date:{together[0].form.spelling}, or the other way round"
        )
    form: NumberForm = together[0]
    if isinstance(form, DateColumn):
        same = [one.form for outline in outlines for one in outline.forms if one.form.spelling == form.form.spelling]
        form = replace(form, form=_merged(same))
    unit = unit_of(form)
    period = getattr(form, "period", None)
    if period is not None and not check_period(unit, period):
        raise InputError(f"--generalise {shown(name)}={period}: its dates are by the {unit}; take a longer period")
    return form


def _among(form: Any, others: Sequence[Any]) -> bool:
    if isinstance(form, DateColumn):
        return any(isinstance(one, DateColumn) and one.form.spelling == form.form.spelling for one in others)
    return form in others


def _merged(forms: Sequence[DateForm]) -> DateForm:
    zones = {form.zone for form in forms}
    return DateForm(
        forms[0].spelling,
        all(form.padded for form in forms),
        zones.pop() if len(zones) == 1 else "+00:00",
        max(form.digits for form in forms),
    )
