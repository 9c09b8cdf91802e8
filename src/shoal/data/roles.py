"""What an owner decides about columns: role, kind, order of labels, rounding and generalisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from shoal.data.columns import holds_numbers
from shoal.data.files import check_names, counted, shown, unknown_column
from shoal.data.kinds.dates import FORMS, PERIODS
from shoal.data.recoding import Bands, Codes, Level, Period, rule_of
from shoal.errors import InputError
from shoal.request.options import ColumnOptions

if TYPE_CHECKING:
    from shoal.data.table import Table


class Role(StrEnum):
    """What a column means to an intruder, and so what becomes of it."""

    IDENTIFIER = "identifier"  # names a person: dropped
    QUASI = "quasi"  # known from elsewhere: masked
    CONFIDENTIAL = "confidential"  # what the intruder wants: kept, its spread in a group reported
    INSENSITIVE = "insensitive"  # kept
    WEIGHT = "weight"  # says how many people a record stands for: one for each group
    PERSON = "person"  # says whose a record is: counted by, and dropped
    HOUSEHOLD = "household"  # the same of households


LISTED = (Role.IDENTIFIER, Role.QUASI, Role.CONFIDENTIAL, Role.INSENSITIVE, Role.WEIGHT)  # the lists of `Roles`


class Kind(StrEnum):
    """What the values of a column are, and so what may be done with them."""

    NUMBER = "number"  # averaged
    WHOLE = "whole"  # averaged; rounded if asked
    DATE = "date"  # averaged as a date, or generalised
    LABEL = "label"  # a word: compared by meaning, or as a plain category
    CODE = "code"  # digits or letters that are a name: never averaged
    ORDERED = "ordered"  # labels in an order: the median stands for a group
    YES_NO = "yes-no"
    TEXT = "text"  # sentences: no value stands for several of them
    IDENTIFIER = "identifier"  # one value per record

    @property
    def in_words(self) -> str:
        """The kind as people read it."""
        return _IN_WORDS.get(self, self.value)


_IN_WORDS = {
    Kind.WHOLE: "whole number",
    Kind.DATE: "date/time",
    Kind.ORDERED: "ordered label",
    Kind.YES_NO: "yes/no",
    Kind.TEXT: "free text",
}

AVERAGED = (Kind.NUMBER, Kind.WHOLE, Kind.DATE)
CATEGORIES = (Kind.CODE, Kind.YES_NO)  # values that are equal or not, and nothing else


@dataclass(frozen=True)
class Roles:
    """The columns of each role."""

    quasi: tuple[str, ...]
    confidential: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()  # at most one

    def __post_init__(self) -> None:
        for role in LISTED:  # one name stands for itself, and any sequence of names will do
            given = getattr(self, role.value)
            object.__setattr__(self, role.value, (given,) if isinstance(given, str) else tuple(given))

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that have this role."""
        listed: tuple[str, ...] = getattr(self, role.value)
        return listed


def resolve_roles(table: Table, roles: Roles | None) -> Roles:
    """The roles, checked against the table; without any, all columns are quasi-identifiers if all are numbers."""
    columns = table.data.column_names
    check_names(columns, "the table")
    if roles is None:
        text = [shown(field.name) for field in table.data.schema if not holds_numbers(field.type)]
        if text:
            listed = ", ".join(text[:10]) + (", …" if len(text) > 10 else "")
            raise InputError(
                f"{counted(len(text), 'column')} not numeric ({listed}); "
                "give the columns roles with {option}, {option} and {option}",
                ("quasi", "confidential", "drop"),
            )
        return Roles(quasi=tuple(columns))
    if not roles.quasi:
        raise InputError("no column is a quasi-identifier; name at least 1", "quasi")
    if len(roles.weight) > 1:
        raise InputError(f"{len(roles.weight)} columns are weights; name the one that the release has, drop the others")
    role_of: dict[str, Role] = {}
    for role in LISTED:
        for column in roles.columns(role):
            if column not in columns:
                raise unknown_column(column, columns, "the table")
            if column in role_of:
                raise InputError(
                    f"column {shown(column)} is listed twice ({role_of[column]} and {role}); give it one role"
                )
            role_of[column] = role
    return roles


def checked_kinds(given: Any) -> dict[str, str]:
    """The kinds that a user gives columns."""
    if not isinstance(given, Mapping):
        raise InputError(f"kinds={given!r} must be a dict of columns and kinds, such as {{'zip': 'code'}}")
    kinds: dict[str, str] = {}
    for name, kind in given.items():
        plain, _, spelling = str(kind).partition(":")
        if plain not in list(Kind):
            raise InputError(f"kind {shown(str(name))}={kind}: there is no such kind; use one of {', '.join(Kind)}")
        if ":" in str(kind) and (plain != Kind.DATE or spelling not in FORMS):
            raise InputError(
                f"kind {shown(str(name))}={kind}: there is no such form of dates; write it like date:%d/%m/%Y"
            )
        kinds[str(name)] = str(kind)
    return kinds


def kind_and_spelling(given: str) -> tuple[Kind, str | None]:
    """A checked kind, and the form of its dates if that is given: date:%d/%m/%Y."""
    plain, _, spelling = given.partition(":")
    return Kind(plain), spelling or None


def checked_orders(given: Any) -> dict[str, tuple[str, ...]]:
    """The labels of columns from the lowest to the highest, as a user gives them."""
    if not isinstance(given, Mapping):
        raise InputError(f"order={given!r} must be a dict of columns and lists of labels, the lowest first")
    orders: dict[str, tuple[str, ...]] = {}
    for name, labels in given.items():
        where = f"order of {shown(str(name))}"
        if isinstance(labels, str) or not isinstance(labels, Sequence) or len(labels) < 2:
            raise InputError(f"{where} must be a list of at least 2 labels, the lowest first")
        texts = tuple(str(label).strip() for label in labels)
        if not all(texts):
            raise InputError(f"{where}: a label is empty; leave it out, a gap has no place in an order")
        if len(set(texts)) < len(texts):
            raise InputError(f"{where}: a label stands there twice; give each one place")
        orders[str(name)] = texts
    return orders


@dataclass(frozen=True)
class ColumnChoices:
    """Choices for columns, checked for themselves; `check` compares them with the columns of a table."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    categorical: tuple[str, ...] = ()  # plain categories
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rounded: tuple[str, ...] = ()
    recode: Mapping[str, str] = field(default_factory=dict)  # column: a rule
    treat: Mapping[str, str] = field(default_factory=dict)  # column: a treatment

    def named(self) -> set[str]:
        """The columns of which anything is said."""
        return {*self.kinds, *self.categorical, *self.order, *self.rounded, *self.recode, *self.treat}

    def treated(self, treatment: str) -> tuple[str, ...]:
        """The columns that are treated so."""
        return tuple(name for name, given in self.treat.items() if given == treatment)

    def bands_of(self, name: str) -> tuple[str, ...]:
        """The bands to which a column of numbers is recoded, from the lowest to the highest."""
        rule = rule_of(self.recode[name]) if name in self.recode else None
        return rule.labels if isinstance(rule, Bands) else ()

    def period_of(self, name: str) -> str | None:
        """The period to which a column of dates is recoded."""
        return self.recode[name] if self.recode.get(name) in PERIODS else None

    def kind_of(self, name: str) -> tuple[Kind | None, str | None]:
        """The kind given to a column, and the form of its dates; None if none was given."""
        if name in self.categorical:
            return Kind.CODE, None
        rule = rule_of(self.recode[name]) if name in self.recode else None
        if isinstance(rule, Codes | Level):
            return Kind.CODE, None
        if isinstance(rule, Bands):
            return Kind.ORDERED, None
        if isinstance(rule, Period) and name not in self.kinds:
            return Kind.DATE, None
        if name in self.order and name not in self.kinds:
            return Kind.ORDERED, None
        return kind_and_spelling(self.kinds[name]) if name in self.kinds else (None, None)

    @property
    def as_text(self) -> tuple[str, ...]:
        """Columns of a text file that are to be taken as they stand."""
        kinds = {name: self.kind_of(name)[0] for name in self.named()}
        numbers = (None, Kind.NUMBER, Kind.WHOLE)
        return tuple(name for name, kind in kinds.items() if kind not in numbers and not self.bands_of(name))

    def check(self, columns: Sequence[str], roles: Roles) -> None:
        """Refuse columns that are not there, and demands on columns that are not protected.

        Confidential columns can be recoded, too: promises then count what is released.
        """
        recoded = tuple(name for name in roles.confidential if name in self.recode)
        asked: dict[str, Iterable[str]] = {"kinds": self.kinds, "categorical": self.categorical}
        asked |= {"order": self.order, "round": self.rounded, "recode": self.recode, "treat": self.treat}
        for option, names in asked.items():
            for name in names:
                if name not in columns:
                    problem = unknown_column(name, columns, "the table")
                    raise InputError(f"{{option}}: {problem}", f"{option} {shown(name)}")
                if name not in roles.quasi and option != "kinds" and (option != "recode" or name not in recoded):
                    raise InputError(
                        "{option}: the column is not protected; name it in {option}, or leave it out",
                        (f"{option} {shown(name)}", "quasi"),
                    )
        for name in (*roles.quasi, *recoded):
            self._check_kind(name)

    def _check_kind(self, name: str) -> None:
        kind, _ = self.kind_of(name)
        if kind in (Kind.TEXT, Kind.IDENTIFIER):
            raise InputError(
                f"column {shown(name)} is {kind.in_words}, which no value of a group can stand for; "
                "drop it ({option}), or give it another kind",
                "drop",
            )
        if name in self.rounded and kind not in (None, Kind.NUMBER, Kind.WHOLE):
            raise InputError(
                f"{{option}}: the column is a {kind.in_words}, not a number; leave it out", f"round {shown(name)}"
            )
        if self.period_of(name) and kind is not Kind.DATE:
            raise InputError(f"{{option}}: the column is a {kind}, not a date; leave it out", f"recode {shown(name)}")
        if name in self.order and kind is not Kind.ORDERED:
            raise InputError(
                f"{{option}}: the column is given as {kind}; leave out one of the two", f"order {shown(name)}"
            )


def asked_roles(asked: ColumnOptions) -> Roles | None:
    """The roles that a request gives columns, as lists or as a whole; None when it gives none."""
    lists = {"quasi": asked.quasi, "confidential": asked.confidential, "insensitive": asked.insensitive}
    lists |= {"identifier": asked.drop, "weight": None if asked.weight is None else (asked.weight,)}
    given = {name: tuple(columns) for name, columns in lists.items() if columns is not None}
    if asked.roles is None:
        return Roles(**({"quasi": ()} | given)) if given else None
    if not isinstance(asked.roles, Roles):
        raise InputError("roles must be Roles(...); roles in a file are a plan", "roles")
    return asked.roles if asked.weight is None else replace(asked.roles, weight=(asked.weight,))


def listed_roles(asked: ColumnOptions) -> dict[str, Any]:
    """The options that say of columns what the roles of a request say."""
    roles = asked_roles(asked)
    if roles is None or asked.roles is None:
        return {}
    lists = {"quasi": roles.quasi, "confidential": roles.confidential, "insensitive": roles.insensitive}
    lists |= {"drop": roles.identifier}
    return {"roles": None, "weight": "".join(roles.weight) or None} | {name: one or None for name, one in lists.items()}


def asked_choices(asked: ColumnOptions) -> ColumnChoices:
    """What a request says about columns, checked for itself."""
    kinds = checked_kinds(asked.kinds) if asked.kinds else {}
    order = checked_orders(asked.order) if asked.order else {}
    recode = _recodings(asked.recode) if asked.recode else {}
    listed = tuple(asked.categorical or ()), tuple(asked.round or ())
    choices = ColumnChoices(kinds, listed[0], order, listed[1], recode, dict(asked.treat or {}))
    for name in {*choices.categorical} & choices.kinds.keys():
        kind, _ = kind_and_spelling(choices.kinds[name])
        if kind not in (*CATEGORIES, Kind.LABEL):
            raise InputError(
                f"{{option}}: the column is given as {kind}; leave out one of the two", f"categorical {shown(name)}"
            )
    return choices


def _recodings(given: Mapping[str, str]) -> dict[str, str]:
    rules = {str(name): " ".join(str(rule).split()) for name, rule in given.items()}
    for name, rule in rules.items():
        try:
            rule_of(rule)
        except ValueError as problem:
            raise InputError(f"recode {shown(name)}={rule} {problem}") from None
    return rules
