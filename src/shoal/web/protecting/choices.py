"""What is chosen on the page, from the fields of its form and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.data.files import shown
from shoal.data.kinds.inspection import ColumnInspection
from shoal.data.roles import AVERAGED, Kind, Role
from shoal.errors import InputError
from shoal.request.options import DISTINCT
from shoal.web.protecting.look import Look
from shoal.web.protecting.reading import Reading
from shoal.web.requests import Fields

K = 5
ENGLISH = "english"  # of documents, unless said
ROLES = (Role.QUASI, Role.CONFIDENTIAL, Role.INSENSITIVE, Role.IDENTIFIER)  # as pages show them
PLAIN, BY_MEANING, BY_GROUPS, BY_FILE = "plain", "meaning", "groups", "file"
Groups = Mapping[str, tuple[str, ...]]  # the values of each group


@dataclass(frozen=True)
class Choices:
    """Columns are known by their place, since their names may be anything."""

    roles: Mapping[int, str] = field(default_factory=dict)
    kinds: Mapping[int, str] = field(default_factory=dict)  # "code" where numbers are names of categories
    labels: Mapping[int, str] = field(default_factory=dict)  # how labels of protected columns are compared
    groups: Mapping[int, Groups] = field(default_factory=dict)
    files: Mapping[int, str] = field(default_factory=dict)  # uploads of hierarchies
    text: str = ""
    identity: str = ""
    label: str = ""
    language: str = ENGLISH
    k: int = K
    l: float | None = None
    diversity: str = DISTINCT
    c: float | None = None
    missing: str = "refuse"
    method: str = ""
    percent: float | None = None
    refine: bool = True
    attack: bool = True
    t: float | None = None
    person: str = ""
    k_column: str = ""
    after: str = ""  # the upload of an earlier release
    earlier_private: str = ""
    whole: bool = False  # whole numbers stay whole
    reading: Reading = field(default_factory=dict)  # as the look has it

    @property
    def apart(self) -> dict[str, str]:
        """Columns that are needed for the release and never in it, whatever their role."""
        return {"id_column": self.identity, "person": self.person, "k_column": self.k_column}

    def columns(self, look: Look, role: str) -> tuple[str, ...]:
        """The names of the columns that have this role."""
        return tuple(column.name for _, column in self._with_role(look, role))

    def protected(self, look: Look) -> list[tuple[int, ColumnInspection]]:
        """The quasi-identifiers."""
        return self._with_role(look, Role.QUASI)

    def _with_role(self, look: Look, role: str) -> list[tuple[int, ColumnInspection]]:
        found = [(place, column) for place, column in enumerate(look.columns) if self.roles.get(place) == role]
        return [(place, column) for place, column in found if column.name not in self.apart.values()]

    def compared(self, look: Look, *ways: str) -> list[tuple[int, ColumnInspection]]:
        """Protected columns of labels that are compared in one of these ways."""
        if not look.is_table or self.method:
            return []
        labels = [(place, column) for place, column in self.protected(look) if self.are_labels(place, column)]
        return [(place, column) for place, column in labels if self.labels.get(place, PLAIN) in ways]

    def are_labels(self, place: int, column: ColumnInspection) -> bool:
        """Whether values of a protected column are compared, not averaged: by what they are, or are said to be."""
        return column.kind not in AVERAGED or self.kinds.get(place) == Kind.CODE

    def groups_of(self, place: int) -> Groups:
        """The groups of a column; none if its labels are plain categories."""
        return self.groups.get(place, {}) if self.labels.get(place) == BY_GROUPS else {}

    @classmethod
    def suggested(cls, look: Look) -> Choices:
        """What the page shows at first."""
        if not look.is_table:
            return cls(text=look.text)
        roles = {place: column.role.value for place, column in enumerate(look.columns)}
        gaps = any(column.missing for column in look.columns if column.role is Role.QUASI)
        watched = any(column.role is Role.CONFIDENTIAL for column in look.columns)
        missing = "withhold" if gaps else "refuse"
        return cls(roles=roles, l=2 if watched else None, missing=missing, reading=look.reading)

    @classmethod
    def from_fields(cls, fields: Fields, look: Look) -> Choices:
        """What somebody chose; a field that is not there stands as it was suggested."""
        places = range(len(look.columns))
        roles = {place: fields.text(f"role-{place}") for place in places}
        for place, role in roles.items():
            if role not in list(Role):
                raise InputError(f"column {shown(look.columns[place].name)} has no role; choose one")
        return cls(
            roles=roles,
            kinds={place: Kind.CODE.value for place in places if fields.text(f"kind-{place}") == Kind.CODE},
            labels={place: fields.text(f"labels-{place}") or PLAIN for place in places},
            groups={place: _groups(text) for place in places if (text := fields.text(f"groups-{place}"))},
            files={place: fields.text(f"file-{place}") for place in places},
            text=fields.text("text"),
            identity=fields.text("identity"),
            label=fields.text("label"),
            language=fields.text("language") or ENGLISH,
            k=fields.whole("k", 2) or K,
            l=_above(fields.text("l"), "l", 1),
            diversity=fields.text("diversity") or DISTINCT,
            c=_above(fields.text("c"), "c"),
            missing=fields.text("missing") or "refuse",
            method=fields.text("method"),
            percent=_above(fields.text("percent"), "strength"),
            refine=fields.text("refine") == "yes",
            attack=fields.text("attack") == "yes",
            t=_above(fields.text("t"), "t", most=1),
            person=fields.text("person"),
            k_column=fields.text("k_column"),
            after=fields.text("after"),
            earlier_private=fields.text("earlier_private"),
            whole=fields.text("whole") == "yes",
            reading=look.reading,
        )

    def with_query(self, fields: Fields, look: Look) -> Choices:
        """What an address says, such as ?k=7&quasi=age&quasi=income: columns that it names no role for are dropped."""
        listed = {name: role.value for role in Role for name in fields.all(role.value)}
        roles = {place: listed.get(column.name, Role.IDENTIFIER.value) for place, column in enumerate(look.columns)}
        return replace(
            self,
            roles=roles if listed else self.roles,
            text=fields.text("text") or self.text,
            k=fields.whole("k", 2) or self.k,
            l=_above(fields.text("l"), "l", 1) or self.l,
            method=fields.text("method") or self.method,
            percent=_above(fields.text("percent"), "strength") or self.percent,
        )

    def as_data(self) -> dict[str, Any]:
        """For the job to remember."""
        return {name: _plain(value) for name, value in vars(self).items()}

    @classmethod
    def from_data(cls, kept: Mapping[str, Any], look: Look) -> Choices:
        """What was chosen for an earlier job, as far as it fits this file."""
        chosen = cls(**{name: value for name, value in kept.items() if name in cls.__dataclass_fields__})
        by_place: dict[str, Any] = {
            name: {int(place): one for place, one in getattr(chosen, name).items()} for name in _BY_PLACE
        }
        if set(by_place["roles"]) != set(range(len(look.columns))):
            return cls.suggested(look)
        return replace(chosen, **by_place)


_BY_PLACE = ("roles", "kinds", "labels", "groups", "files")


def are_numbers(column: ColumnInspection) -> bool:
    """Whether only the owner can say that these are codes."""
    return column.kind in (Kind.NUMBER, Kind.WHOLE)


def _plain(value: Any) -> Any:
    return {str(place): one for place, one in value.items()} if isinstance(value, Mapping) else value


def _above(text: str, what: str, least: int = 0, most: float = 1e9) -> float | None:
    """A number above the least, None if nothing was entered."""
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = least
    if not least < number <= most:
        raise InputError(f"{what} {shown(text[:20])} must be a number above {least} and at most {most:g}")
    return int(number) if number.is_integer() else number


def _groups(text: str) -> Groups:
    """Values by the name of their group, as the editor of the page writes them."""
    try:
        found = json.loads(text)
        return {str(name): tuple(map(str, values)) for name, values in found.items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise InputError("the groups of a column cannot be read; open its editor and save them again") from None
