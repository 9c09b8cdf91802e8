"""What a user says about columns: kinds, plain categories, orders, what is rounded and what is generalised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import InputError
from shoal.io.files import shown, unknown_column
from shoal.io.kinds.periods import PERIODS
from shoal.io.kinds.vocabulary import CATEGORIES, Kind, checked_kinds, checked_orders, kind_and_spelling
from shoal.io.table import Roles

__all__ = ["MODE", "SET", "ColumnChoices", "column_choices"]

MODE, SET = "most frequent", "set"


@dataclass(frozen=True)
class ColumnChoices:
    """What was said, checked for itself; `check` compares it with the columns that are there."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    categorical: Mapping[str, str] = field(default_factory=dict)  # column: MODE or SET
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rounded: tuple[str, ...] = ()
    generalise: Mapping[str, str] = field(default_factory=dict)  # column: a period
    of_file: frozenset[str] = frozenset()  # columns that only a roles file speaks of: any role will do

    def with_roles(self, roles: Roles | None) -> ColumnChoices:
        """These, and what the roles say of kinds and orders; what was said by option counts."""
        if roles is None:
            return self
        only = ({*roles.kinds} | {*roles.order}) - self._named()
        kinds = {name: kind for name, kind in roles.kinds.items() if name not in self.order}
        order = {name: labels for name, labels in roles.order.items() if self.kind_of(name)[0] in (None, Kind.ORDERED)}
        return ColumnChoices(
            {**kinds, **self.kinds},
            self.categorical,
            {**order, **self.order},
            self.rounded,
            self.generalise,
            frozenset(only),
        )

    def _named(self) -> set[str]:
        return {*self.kinds, *self.categorical, *self.order, *self.rounded, *self.generalise}

    def kind_of(self, name: str) -> tuple[Kind | None, str | None]:
        """The kind that somebody gave a column, and the form of its dates; None where nobody did."""
        if name in self.categorical:
            return Kind.CODE, None
        if name in self.generalise and name not in self.kinds:
            return Kind.DATE, None
        if name in self.order and name not in self.kinds:
            return Kind.ORDERED, None
        return kind_and_spelling(self.kinds[name]) if name in self.kinds else (None, None)

    @property
    def as_text(self) -> tuple[str, ...]:
        """Columns of a text file that are to be taken as they stand."""
        kinds = {name: self.kind_of(name)[0] for name in self._named()}
        return tuple(name for name, kind in kinds.items() if kind not in (None, Kind.NUMBER, Kind.WHOLE))

    def check(self, columns: Sequence[str], quasi: Sequence[str]) -> None:
        """Refuse columns that are not there, and demands on columns that are not protected."""
        for what, names in self._demands():
            for name in names:
                if name not in columns:
                    raise InputError(f"{what} {shown(name)}: {unknown_column(name, columns, 'the table')}")
                if name not in quasi and name not in self.of_file and what != "--kind":
                    raise InputError(
                        f"{what} {shown(name)}: the column is not protected; name it in --quasi, or leave it out"
                    )
        for name in quasi:
            self._check_kind(name)

    def _demands(self) -> Iterable[tuple[str, Iterable[str]]]:
        yield "--kind", self.kinds
        yield "--categorical", self.categorical
        yield "--order", self.order
        yield "--round", self.rounded
        yield "--generalise", self.generalise

    def _check_kind(self, name: str) -> None:
        kind, _ = self.kind_of(name)
        if kind in (Kind.TEXT, Kind.IDENTIFIER):
            raise InputError(
                f"column {shown(name)} is {kind.in_words}, which no value of a group can stand for; drop it (--drop), "
                "or give it another kind"
            )
        if name in self.rounded and kind not in (None, Kind.NUMBER, Kind.WHOLE):
            raise InputError(f"--round {shown(name)}: the column is a {kind.in_words}, not a number; leave it out")
        if name in self.generalise and kind is not Kind.DATE:
            raise InputError(f"--generalise {shown(name)}: the column is a {kind}, not a date; leave it out")
        if name in self.order and kind is not Kind.ORDERED:
            raise InputError(f"--order {shown(name)}: the column is given as {kind}; leave out one of the two")


def column_choices(
    kinds: Any = None, categorical: Any = None, order: Any = None, rounded: Any = None, generalise: Any = None
) -> ColumnChoices:
    """What a user said, checked for itself."""
    choices = ColumnChoices(
        checked_kinds(kinds),
        _categories(categorical),
        checked_orders(order),
        _names("round", rounded),
        _periods(generalise),
    )
    for name in choices.categorical.keys() & choices.kinds.keys():
        kind, _ = kind_and_spelling(choices.kinds[name])
        if kind not in (*CATEGORIES, Kind.LABEL):
            raise InputError(f"--categorical {shown(name)}: the column is given as {kind}; leave out one of the two")
    return choices


def _categories(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(_names("categorical", given), MODE)
    for name, how in given.items():
        if how not in (MODE, SET):
            raise InputError(
                f"categorical {shown(str(name))}={how}: use {SET!r}, or leave it out for the most frequent"
            )
    return {str(name): str(how) for name, how in given.items()}


def _names(what: str, given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,)
    names: list[Any] = list(given) if isinstance(given, Iterable) else [None]
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{what}={given!r} must be a list of columns, such as ['age']")
    return tuple(dict.fromkeys(names))


def _periods(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"generalise={given!r} must be a dict of columns and periods, such as {{'birth': 'year'}}")
    for name, period in given.items():
        if period not in PERIODS:
            raise InputError(f"generalise {shown(str(name))}={period}: use one of {', '.join(PERIODS)}")
    return {str(name): str(period) for name, period in given.items()}
