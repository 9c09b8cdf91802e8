"""The kind of each quasi-identifier in a file, and the numbers behind it; and what several files agree on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from shoal.data.columns import holds_numbers, is_text, not_numbers, plain, value_type
from shoal.data.files import shown
from shoal.data.kinds.dates import DateForm, check_period
from shoal.data.kinds.missing_codes import is_conventional, suspected_codes
from shoal.data.kinds.number_forms import DateColumn, Doubles, NumberForm, Ranks, Wholes, date_forms, unit_of
from shoal.data.kinds.recognition import Recognised, recognise
from shoal.data.roles import AVERAGED, CATEGORIES, ColumnChoices, Kind
from shoal.errors import InputError, Note

MANY = 20  # rows: of fewer, most columns of text have a value of their own in nearly every row
NUMBERS = (Kind.NUMBER, Kind.WHOLE)


@dataclass(frozen=True)
class ColumnOutline:
    """A quasi-identifier in one part."""

    kind: Kind
    forms: tuple[Any, ...] = ()  # as which it can be read as numbers; none for labels
    empty: bool = False  # it holds nothing there, and so may be anything
    categories: bool = False  # its values are equal or not, and nothing else
    few: bool = False  # categories because these are few; with more values in another part they are numbers


@dataclass(frozen=True)
class OntologyColumns:
    """The columns of labels of which an ontology or a mapping says what they mean."""

    named: frozenset[str] = frozenset()
    all_texts: bool = False  # one for every column of text


def outline_column(name: str, column: Any, choices: ColumnChoices, explained: OntologyColumns) -> ColumnOutline:
    """The kind of a quasi-identifier in one part, as it was given or by what it holds."""
    given, spelling = choices.kind_of(name)
    empty = column.null_count == len(column)
    recognised = recognise(name, column)
    has_meaning = name in explained.named or (explained.all_texts and is_text(value_type(column.type)))
    kind = given or (Kind.LABEL if has_meaning else _kind_by_content(column.type, recognised))
    if given is None and not has_meaning:
        _warn_of_doubts(name, kind, recognised)
        if recognised.kind in (Kind.IDENTIFIER, Kind.TEXT) and is_text(value_type(column.type)) and len(column) >= MANY:
            raise InputError(
                f"column {shown(name)} has {recognised.reason}, and a group of such values names its records; drop it "
                "({option}), or say what it holds ({option})",
                (f"drop {shown(name)}", f"kinds {shown(name)}=code"),
            )
        if recognised.mixed:
            raise not_numbers(
                plain(column).cast(pa.large_string()),
                shown(name),
                "correct them, say which stand for missing values ({option}) or that all are categories ({option})",
                (f"missing_codes {shown(name)}=…", f"categorical {shown(name)}"),
            )
    if kind in AVERAGED and (codes := suspected_codes(column)):
        listed = ",".join(str(code) if is_conventional(code) else "…" for code in codes)
        warnings.warn(
            Note(
                f"column {shown(name)} holds {listed} far from its other values, and they count like these; if "
                "they stand for missing values, say so: {option}",
                f"missing_codes {shown(name)}={listed}",
            ),
            stacklevel=2,
        )
    if empty and given is None:
        return ColumnOutline(Kind.NUMBER, (Doubles(),), empty=True)
    if name in choices.rounded and kind not in NUMBERS:
        raise InputError(
            f"{{option}}: the column is a {kind.in_words}, not a number; leave it out", f"round {shown(name)}"
        )
    if kind is Kind.DATE:
        period = choices.period_of(name)
        return ColumnOutline(kind, tuple(date_forms(name, column, spelling, period, given is not None)), empty)
    if kind is Kind.ORDERED:
        order = choices.order.get(name) or choices.bands_of(name) or recognised.order
        if not order:
            raise InputError(
                f"column {shown(name)} is an ordered label without an order; give it: {{option}}",
                f"order {shown(name)}=low<…<high",
            )
        return ColumnOutline(kind, (Ranks(order),), empty)
    if kind in NUMBERS:
        form = Wholes(given is not None) if name in choices.rounded else Doubles(given is not None)
        return ColumnOutline(kind, (form,), empty)
    return ColumnOutline(kind, (), empty, not has_meaning, given is None and recognised.few)


def _warn_of_doubts(name: str, kind: Kind, recognised: Recognised) -> None:
    """Tell the owner what is averaged, or taken as plain categories, that looks like something else."""
    if recognised.kind is Kind.IDENTIFIER and kind is Kind.NUMBER:
        warnings.warn(
            Note(
                f"{shown(name)} has {recognised.reason} and is averaged; if it names the record, drop it: {{option}}",
                f"drop {shown(name)}",
            ),
            stacklevel=2,
        )
    if recognised.note and kind in NUMBERS:
        warnings.warn(
            Note(
                f"{shown(name)} is averaged; if its numbers are codes, say so: {{option}}",
                f"kinds {shown(name)}=code",
            ),
            stacklevel=2,
        )
    if recognised.kind is Kind.ORDERED and kind is Kind.LABEL:
        warnings.warn(
            Note(
                f"{shown(name)} {recognised.reason}, and its values are taken for plain categories; give their order: "
                f"{{option}}",
                f"order {shown(name)}=lowest<…<highest",
            ),
            stacklevel=2,
        )


def _kind_by_content(stored: pa.DataType, recognised: Recognised) -> Kind:
    """The kind of a column that was given none."""
    kind = recognised.kind if recognised.certain else Kind.LABEL
    if pa.types.is_dictionary(stored):
        return kind
    if holds_numbers(stored):
        return kind if kind in (Kind.CODE, Kind.DATE) else Kind.WHOLE if kind is Kind.WHOLE else Kind.NUMBER
    return kind if kind in (Kind.CODE, Kind.DATE, Kind.YES_NO) else Kind.LABEL


def agreed_columns(
    quasi: Sequence[str], parts: Sequence[Mapping[str, ColumnOutline]], choices: ColumnChoices
) -> tuple[dict[str, NumberForm], list[str]]:
    """The form of every quasi-identifier with numbers behind it; and plain categories."""
    outlines = {name: _agreed_outline(name, [part[name] for part in parts], choices) for name in quasi}
    forms: dict[str, NumberForm] = {name: outline.forms[0] for name, outline in outlines.items() if outline.forms}
    categories = [name for name, outline in outlines.items() if outline.categories and name not in forms]
    return forms, categories


def _agreed_outline(name: str, outlines: Sequence[ColumnOutline], choices: ColumnChoices) -> ColumnOutline:
    """The outline of a column that fits all parts, with one form; parts that hold nothing of it fit any."""
    filled = [outline for outline in outlines if not outline.empty] or outlines
    kinds = {outline.kind for outline in filled}
    if kinds <= {*NUMBERS} or (kinds & {*NUMBERS} and all(o.few or o.kind in NUMBERS for o in filled)):
        forms = next(outline.forms for outline in filled if outline.forms)
        return ColumnOutline(Kind.NUMBER if Kind.NUMBER in kinds else Kind.WHOLE, forms)
    numbers_and_words = Kind.LABEL in kinds and kinds & {*NUMBERS}
    if len(kinds) > 1 and (numbers_and_words or any(o.forms and o.kind not in NUMBERS for o in filled)):
        listed = " and ".join(sorted(kind.in_words for kind in kinds))
        raise InputError(
            f"column {shown(name)} is {listed} in different parts; say which: {{option}}", f"kinds {shown(name)}=…"
        )
    if all(outline.forms for outline in filled):
        return ColumnOutline(filled[0].kind, (_agreed_form(name, filled, choices),))
    kind = next(outline.kind for outline in filled if outline.kind not in NUMBERS)
    return ColumnOutline(kind, categories=kind in CATEGORIES or any(outline.categories for outline in filled))


def _agreed_form(name: str, outlines: Sequence[ColumnOutline], choices: ColumnChoices) -> NumberForm:
    """The one form that fits all parts."""
    common = [form for form in outlines[0].forms if all(_among(form, outline.forms) for outline in outlines)]
    if not common:
        raise InputError(f"column {shown(name)} is not written alike in all parts; write it in one form")
    spellings = {form.form.spelling.replace("%m", "%d") for form in common if isinstance(form, DateColumn)}
    if 0 < len(spellings) < len(common):
        raise InputError(
            f"column {shown(name)}: day and month cannot be told apart; say which comes first: "
            f"{{option}}, or the other way round",
            f"kinds {shown(name)}=date:{common[0].form.spelling}",
        )
    form: NumberForm = common[0]
    if isinstance(form, DateColumn):
        dates = [column.form for outline in outlines for column in outline.forms]
        same = [date for date in dates if date.spelling == form.form.spelling]
        form = replace(form, form=_merged(same))
    unit = unit_of(form)
    period = getattr(form, "period", None)
    if period is not None and not check_period(unit, period):
        raise InputError(
            f"{{option}}: its dates are by the {unit}; take a longer period", f"recode {shown(name)}={period}"
        )
    return form


def _among(form: Any, others: Sequence[Any]) -> bool:
    if isinstance(form, DateColumn):
        return any(isinstance(other, DateColumn) and other.form.spelling == form.form.spelling for other in others)
    return form in others


def _merged(forms: Sequence[DateForm]) -> DateForm:
    zones = {form.zone for form in forms}
    return DateForm(
        forms[0].spelling,
        all(form.padded for form in forms),
        zones.pop() if len(zones) == 1 else "+00:00",
        max(form.digits for form in forms),
        forms[0].months,
    )
