"""The form that edits a plan, made from the option table: an option that is declared there has its field here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.data.files import shown
from shoal.data.kinds.inspection import ColumnInspection
from shoal.data.roles import AVERAGED, Kind
from shoal.errors import InputError
from shoal.request.method_options import MASKING, RECORD_SKETCHES, SKETCHES
from shoal.request.option import BASKETS, DOCUMENTS, TABLES, Option
from shoal.request.options import RECURSIVE
from shoal.request.request import OPTIONS, Request
from shoal.request.values import Column, Columns, File, Files, Number, OneOf, Pairs, Switch, Whole
from shoal.terms.language import languages
from shoal.web.look import Look
from shoal.web.requests import Fields
from shoal.web.wording import FOLDS, OF_CHOICES
from shoal.web.workspace import Upload

BESIDE_K = ("k", "l", "person", "missing")
UNITS = ("person", "household", "weight")
KINDS = {"table": TABLES, "documents": DOCUMENTS, "baskets": BASKETS}
# The roles that many columns may have, and the parts that one column has, such as the person's: each is a field, too.
ROLES = {name: one for name, one in OPTIONS.items() if one.about.role and isinstance(one.about.value, Columns)}
PARTS = {
    name: one.about.role.replace("-", " ").capitalize()
    for name, one in OPTIONS.items()
    if one.about.role and isinstance(one.about.value, Column)
}
OF_COLUMNS = {name: one for name, one in OPTIONS.items() if one.about.column}
DROP = "drop"
# Fields that only another field's value makes sense of.
NEEDS = {"percent": ("method", MASKING), "c": ("diversity", (RECURSIVE,))}
METHODS = {
    TABLES: ("ranking", "z-scores", "principal-component", *MASKING),
    DOCUMENTS: ("semantic", *(name for name in SKETCHES if name not in RECORD_SKETCHES)),
    BASKETS: tuple(name for name in SKETCHES if name not in RECORD_SKETCHES),
}
_NUMBERS, _LABELS = (Kind.NUMBER, Kind.WHOLE), (Kind.LABEL, Kind.CODE, Kind.ORDERED, Kind.YES_NO)
# The kinds of columns that an option is for, where these are not all.
_FOR_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "round": _NUMBERS,
    "coarsen": AVERAGED,
    "categorical": _LABELS,
    "order": _LABELS,
    "ontology": _LABELS,
}
_FOR_RELEASED = ("allow",)  # columns that are released as they are; all others are for protected ones


@dataclass(frozen=True)
class Field:
    """An option as a field, with its value as text."""

    name: str  # of the field
    option: Option
    text: str = ""
    choices: tuple[tuple[str, str], ...] = ()  # value and words; none: it is entered
    file: Path | None = None  # of a field for a file, what was chosen

    @property
    def kind(self) -> str:
        """How the page shows it."""
        value = self.option.about.value
        if isinstance(value, Switch) or (isinstance(value, Columns) and self.option.about.column):
            return "switch"
        if isinstance(value, Files):
            return "hierarchy"
        if isinstance(value, File):
            return "file"
        if self.choices:
            return "choice"
        return "number" if isinstance(_single(self.option), Whole | Number) else "text"

    @property
    def upload(self) -> Upload | None:
        """Of a field for a file, the upload that was chosen."""
        return None if self.file is None else Upload(self.file.parent)

    @property
    def place(self) -> str:
        """Of a column's field, the place of the column."""
        return self.name.rpartition("-")[2]

    @property
    def label(self) -> str:
        return self.option.about.label or self.option.key.replace("_", " ").capitalize()

    @property
    def help(self) -> str:
        """What it means, where its label and its choices do not say it."""
        about = self.option.about
        in_words = len(OF_CHOICES.get(self.option.name, ())) > 1
        if in_words or (about.column and self.kind not in ("number", "text")):
            return ""
        return about.help.replace(", comma-separated", "")

    @property
    def part(self) -> str:
        """Of a field for a column with a part of its own: what that column is."""
        return PARTS.get(self.option.name, "")

    @property
    def bounds(self) -> dict[str, str]:
        """Of a number: its least, its largest and its steps, as a page has them."""
        value = _single(self.option)
        if isinstance(value, Whole):
            return {"min": str(value.least), "step": "1"}
        most = {"max": f"{value.most:g}"} if isinstance(value, Number) and value.most <= 100 else {}
        return {"min": f"{getattr(value, 'above', 0):g}", "step": "any", **most}

    @property
    def needs(self) -> tuple[str, str] | None:
        """The field, and its values, that this one is for."""
        found = NEEDS.get(self.option.name)
        return None if found is None else (found[0], " ".join(found[1]))


class PlanForm:
    """A plan as a page shows it: each option's value, and the role of each column."""

    def __init__(self, plan: Request, look: Look) -> None:
        self.plan, self.look = plan, look
        self._values = {name: known.default for name, known in OPTIONS.items()} | plan.given
        listed = {column: name for name in ROLES for column in self._values[name] or ()}
        listed |= {self._values[name]: name for name in PARTS if self._values[name]}
        self._named = {column for name in OF_COLUMNS for column in _listed(self._values[name])}
        self._role_of = {column.name: listed.get(column.name, DROP) for column in look.columns}

    def role_of(self, column: str) -> str:
        """The option that names the column; a column that none names is left out."""
        return self._role_of[column]

    @property
    def beside_k(self) -> list[Field]:
        """What everybody decides: how large a crowd, and of whom."""
        return [field for name in BESIDE_K if (field := self._field(OPTIONS[name])) is not None]

    @property
    def units(self) -> list[Field]:
        """Whom the records stand for."""
        return [field for name in UNITS if (field := self._field(OPTIONS[name])) is not None]

    @property
    def folds(self) -> dict[str, list[Field]]:
        """All other fields, by the heading that the command line has them under."""
        found: dict[str, list[Field]] = {}
        for name, known in OPTIONS.items():
            if name not in BESIDE_K and known.about.heading != "Reading files":
                field = self._field(known)
                heading = known.about.heading
                if field is not None:
                    own = heading != "Documents" or not self.look.is_table  # a table has names of records, too
                    found.setdefault(heading if own else "Tables", []).append(field)
        return {heading: found[heading] for heading in sorted(found, key=_order_of)}

    def _field(self, known: Option) -> Field | None:
        """An option's field; None where it is said of columns, or not for this input."""
        of_columns = known.name in ROLES or known.name in OF_COLUMNS
        is_for_input = KINDS[self.look.inspection.kind] in known.about.of
        return field_of(known, self._values[known.name], self.look) if is_for_input and not of_columns else None

    def column_fields(self, place: int) -> list[Field]:
        """What can be said of one column, given its role and kind."""
        column = self.look.columns[place]
        fields = []
        for name, known in OF_COLUMNS.items():
            if not _is_for(known, self.role_of(column.name), column, self._values["kinds"]):
                continue
            given, field = self._values[name] or (), f"{name}-{place}"
            if isinstance(known.about.value, Columns):
                fields.append(Field(field, known, "yes" if column.name in given else ""))
                continue
            value = given.get(column.name) if isinstance(given, Mapping) else None
            if isinstance(known.about.value, Files):
                is_file = value is not None and str(value).lower() not in Files.WORDS
                fields.append(Field(field, known, str(value or ""), file=Path(str(value)) if is_file else None))
            else:
                text = "" if value is None else _written(known, value)
                fields.append(Field(field, known, text, _choices(known, self.look)))
        return fields

    def said_of(self, place: int) -> str:
        """What was chosen of a column, in a line."""
        words = []
        for field in self.column_fields(place) if self.look.columns[place].name in self._named else ():
            chosen = field.file.name if field.file else dict(field.choices).get(field.text, field.text)
            if field.text:
                words.append(field.label if field.kind == "switch" else f"{field.label} {chosen}")
        return "; ".join(words)


def field_of(known: Option, value: Any, look: Look) -> Field | None:
    """The field of an option that has one on a page."""
    if not known.about.label or (isinstance(known.about.value, Column) and not look.column_names):
        return None
    if isinstance(known.about.value, File):
        return Field(known.name, known, file=None if value is None else Path(value))
    if isinstance(value, bool):
        return Field(known.name, known, "yes" if value else "")
    if isinstance(value, tuple | list):
        return Field(known.name, known, ", ".join(value))
    text = "" if value is None else known.about.value.write(value)[0]
    return Field(known.name, known, text, _choices(known, look))


def own_options(table: Mapping[str, Option], fields: Fields) -> dict[str, Any]:
    """The options of a command that a form has, where they are given."""
    given = {name: fields.last(name) for name, known in table.items() if known.about.label and fields.has(name)}
    return {
        name: text == "yes" if isinstance(table[name].about.value, Switch) else _parsed(table[name], text)
        for name, text in given.items()
        if text
    }


def edited(request: Request, fields: Fields, look: Look, file_of: Callable[[str], Path]) -> Request:
    """The request with what a form says; a field that is not in it stands as it was. `file_of` knows uploads."""
    options = {**request.given}
    for name, known in OPTIONS.items():
        if name in ROLES or name in OF_COLUMNS or not fields.has(name) or not known.about.label:
            continue
        text = fields.last(name)
        if isinstance(known.about.value, File):
            options[name] = str(file_of(text)) if text else None
        elif isinstance(known.about.value, Switch):
            options[name] = text == "yes"
        else:
            options[name] = _parsed(known, text) if text else None
    if look.is_table:
        _take_roles(options, fields, PlanForm(request, look))
        _take_columns(options, fields, look, file_of)
        _settle_columns(options, look)
    if options.get("method") not in NEEDS["percent"][1]:
        options.pop("percent", None)
    if options.get("diversity") != RECURSIVE:
        options.pop("c", None)
    return Request.of(request.source, options)


def _take_roles(options: dict[str, Any], fields: Fields, before: PlanForm) -> None:
    """The lists of columns. One with a part of its own, such as the person's, is in none until it has another role."""
    columns_of: dict[str, list[str]] = {name: [] for name in ROLES}
    for place, column in enumerate(before.look.columns):
        known = before.role_of(column.name)
        role = fields.last(f"role-{place}") if fields.has(f"role-{place}") else known
        if role not in ROLES and role not in PARTS:
            raise InputError(f"column {shown(column.name)} has no role; choose one")
        if known in PARTS and role in ROLES and options.get(known) == column.name:
            options[known] = None
        if column.name not in {options.get(name) for name in PARTS}:
            columns_of[role if role in ROLES else DROP].append(column.name)
    options |= {name: columns or None for name, columns in columns_of.items()}


def _take_columns(options: dict[str, Any], fields: Fields, look: Look, file_of: Callable[[str], Path]) -> None:
    """What is said of single columns."""
    for name, known in OF_COLUMNS.items():
        value, given = known.about.value, options.get(name)
        if isinstance(given, str):  # one hierarchy for all columns
            continue
        pairs = dict.fromkeys(given, True) if isinstance(value, Columns) and given else dict(given or {})
        for place, column in enumerate(look.columns):
            field = f"{name}-{place}"
            if not fields.has(field):
                continue
            text, sent = fields.last(field), fields.text(f"upload-{field}")
            pairs.pop(column.name, None)
            if sent:
                pairs[column.name] = str(file_of(sent))
            elif isinstance(value, Columns):
                pairs |= {column.name: True} if text == "yes" else {}
            elif text and isinstance(value, Pairs):
                pairs[column.name] = _parsed(known, text, value.of)
            elif text:
                pairs[column.name] = text if isinstance(value, Files) else _parsed(known, f"x={text}")["x"]
            if isinstance(value, Files) and column.name in pairs:
                for other in ("categorical", "order"):
                    (options.get(other) or {}).pop(column.name, None)
        options[name] = (tuple(pairs) if isinstance(value, Columns) else pairs) or None


def _settle_columns(options: dict[str, Any], look: Look) -> None:
    """What no longer fits the roles goes; a column that is protected now gets what suits it."""
    form = PlanForm(Request.of("", {name: options.get(name) for name in (*ROLES, "kinds")}), look)
    for name, known in OF_COLUMNS.items():
        given, kinds = options.get(name), options.get("kinds")
        if given is None or isinstance(given, str):
            continue
        left = [column.name for column in look.columns if _is_for(known, form.role_of(column.name), column, kinds)]
        listed = [column for column in given if column in left]
        options[name] = (
            listed if isinstance(known.about.value, Columns) else {one: given[one] for one in listed}
        ) or None
    explained = {column for name in ("ontology", "order", "categorical", "kinds") for column in options.get(name) or ()}
    bare = {*(options.get("quasi") or ())} - explained
    ordered = {column.name: column.order for column in look.columns if column.order and column.name in bare}
    options["order"] = {**(options.get("order") or {}), **ordered} or None


def _is_for(known: Option, role: str, column: ColumnInspection, kinds: Mapping[str, str] | None) -> bool:
    if known.name in _FOR_RELEASED:
        return role in ("confidential", "insensitive")
    if known.about.heading == "Reading files":
        return True
    kind = (kinds or {}).get(column.name, column.kind).partition(":")[0]
    return role == "quasi" and kind in _FOR_KINDS.get(known.name, tuple(Kind))


def _order_of(heading: str) -> int:
    return [*FOLDS, heading].index(heading)


def _listed(value: Any) -> tuple[str, ...]:
    """The columns of an option; one hierarchy for all columns names none."""
    return () if value is None or isinstance(value, str) else tuple(value)


def _written(known: Option, value: Any) -> str:
    """The value of one column, as somebody enters it."""
    whole = known.about.value
    return str(whole.of.write(value)[0] if isinstance(whole, Pairs) else whole.write({"x": value})[0].partition("=")[2])


def _single(known: Option) -> Any:
    """The value of one column, or of the whole option."""
    return known.about.value.of if isinstance(known.about.value, Pairs) else known.about.value


def _choices(known: Option, look: Look) -> tuple[tuple[str, str], ...]:
    """What can be chosen, with the words for it; nothing where anything can be entered."""
    value = _single(known)
    names: Sequence[str] = ()
    if known.name == "method":
        names = METHODS[KINDS[look.inspection.kind]]
    elif isinstance(value, OneOf):
        names = value.names
    elif isinstance(value, Column):
        names = look.column_names
    elif known.name in _MORE_CHOICES:
        names = _MORE_CHOICES[known.name]()
    if not names:
        return ()
    words = OF_CHOICES.get(known.name, {})
    chosen = tuple((name, words.get(name, name)) for name in names)
    is_needed = known.default in names and not known.about.column
    return chosen if is_needed else (("", words.get("", known.about.otherwise or "–")), *chosen)


_MORE_CHOICES: Mapping[str, Callable[[], Sequence[str]]] = {
    "language": languages,
    "kinds": lambda: [kind.value for kind in Kind if kind not in (Kind.TEXT, Kind.IDENTIFIER)],
}


def _parsed(known: Option, text: str, value: Any = None) -> Any:
    try:
        return (value or known.about.value).parse(text)
    except ValueError as problem:
        raise InputError(f"{known.about.label or known.key}: {shown(text[:20])} {problem}") from None
