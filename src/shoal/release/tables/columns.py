"""What becomes of each column, and so which method the table needs."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.data.files import shown, unknown_column
from shoal.data.kinds.number_forms import Doubles, NumberForm
from shoal.data.parts import AgreedColumns, PartSchema
from shoal.data.recoding import Bands, rule_of
from shoal.data.roles import ColumnChoices, Roles
from shoal.errors import InputError, Note
from shoal.methods.categorical import CategoricalMicroaggregation
from shoal.methods.masking import Noise, RankSwap
from shoal.methods.mixed import CATEGORICAL, MixedMicroaggregation
from shoal.methods.numeric import Microaggregation
from shoal.release.private_mapping import Earlier
from shoal.release.tables.generalised import Generalised
from shoal.release.tables.labels import Concepts
from shoal.release.tables.numbers import Columnwise, Means, attribute_groups
from shoal.release.tables.rows import TableMethod
from shoal.request.method_options import FOR_LABELS, FOR_NUMBERS, MASKING, MethodOptions
from shoal.request.options import AVERAGE, BLANK, GENERALISE, KEEP, GroupPromises
from shoal.terms.hierarchy import Hierarchy, ontologies_of
from shoal.terms.value_mapping import check_mapping

FOR_TABLES = (Microaggregation, CategoricalMicroaggregation, MixedMicroaggregation, RankSwap, Noise)


def estimator_of(asked: MethodOptions, numbers: Sequence[str], labels: Sequence[str]) -> Any:
    """The method for a table whose quasi-identifiers are these numbers and labels."""
    name = asked.method
    if not isinstance(name, str | None):
        return name
    if name == "rank-swap":
        return RankSwap(_strength(asked.percent, numbers))
    if name in MASKING:
        return Noise(_strength(asked.percent, numbers), correlated=name == "correlated-noise")
    # Microaggregation: by meaning for labels, by means for numbers, by both for a table of both.
    search: dict[str, Any] = {"refine": asked.refine, "time_budget": asked.time_budget}
    meaning: dict[str, Any] = {"ontology": asked.ontology, "mapping": asked.mapping}
    if name in FOR_LABELS or (name is None and not numbers):
        asked.check_taken("a table of labels")
        return CategoricalMicroaggregation(**meaning, **search)
    if not labels or name not in (None, "mdav"):
        asked.check_taken("a table of numbers")
        return Microaggregation(method=name or "mdav", attribute_groups=asked.attribute_groups, **search)
    if not numbers:
        raise InputError(f"mdav averages numbers, and these are labels; use {', '.join(FOR_LABELS)}", "method")
    asked.check_taken("a table with labels")
    return MixedMicroaggregation(weights=asked.importance, **meaning, **search)


def _strength(percent: float | Mapping[str, float] | None, numbers: Sequence[str]) -> float | list[float]:
    """How strongly numbers are masked: all alike, or each as it was given."""
    if not isinstance(percent, Mapping):
        return percent or 0.0
    odd = sorted(set(numbers) ^ set(percent))
    if odd:
        problem = "is no number that is protected" if odd[0] in percent else "has no strength"
        raise InputError(f"{{option}}: column {shown(odd[0])} {problem}; name every protected number once", "percent")
    return [percent[name] for name in numbers]


def table_method(asked: MethodOptions) -> MethodOptions:
    """The method that was asked for, checked as far as that can be done without the columns; its ontology is read."""
    if not isinstance(asked.method, str | None):
        if not isinstance(asked.method, FOR_TABLES):
            names = ", ".join(kind.__name__ for kind in FOR_TABLES)
            raise InputError(f"{type(asked.method).__name__} cannot protect a table; use {names}")
        ontology, mapping = (getattr(asked.method, name, None) for name in ("ontology", "mapping"))
        return replace(asked, ontology=ontology, mapping=mapping)
    name, known = asked.method, (*FOR_NUMBERS, *FOR_LABELS, *MASKING)
    if name is not None and name not in known:
        raise InputError(f"{{option}} cannot protect a table; use {', '.join(known)}", f"method {name}")
    if name in MASKING and asked.percent is None:
        raise InputError(f"{name} needs a strength; give {{option}}, such as 5", "percent")
    return asked if asked.ontology is None else replace(asked, ontology=ontologies_of(asked.ontology))


@dataclass(frozen=True)
class TableOptions:
    """What is asked for a table beside k."""

    method: MethodOptions  # as `table_method` gives it
    promises: GroupPromises
    missing: str
    coarsen: Mapping[str, int]
    attack: bool
    choices: ColumnChoices = field(default_factory=ColumnChoices)
    id_column: str | None = None  # that names the records, privately
    after: Earlier | None = None  # the release that this one follows
    allow: tuple[str, ...] = ()  # columns released as they are although they single records out
    calibrate: tuple[str, ...] = ()  # columns whose weighted totals hold
    visible: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # values that keep their share, by column


@dataclass(frozen=True)
class ColumnPlan:
    """What becomes of the columns, from the schemas of all files."""

    schema: PartSchema  # of the first file
    method: TableMethod
    forms: Mapping[str, NumberForm]  # of quasi-identifiers that are taken for numbers
    categories: frozenset[str]  # plain ones: the most frequent value stands for a group
    kept: tuple[str, ...] = ()  # quasi-identifiers that are true in every row
    treat: Mapping[str, str] = field(default_factory=dict)  # columns that are kept, generalised or blanked
    not_averaged: tuple[str, ...] = ()  # of those, the ones with numbers behind them
    periods: Mapping[str, NumberForm] = field(default_factory=dict)  # of dates that are released as periods
    visible: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # values that groups never cross, by column


def column_plan(agreed: AgreedColumns, k: int, options: TableOptions) -> ColumnPlan:
    """The method for the columns that all files have."""
    schema, choices = agreed.parts[0], options.choices
    if options.method.mapping is not None:
        check_mapping(options.method.mapping, schema.columns)
    _check_promised_columns(options.promises, schema.columns, schema.roles)
    kept, masked, forms, categories = agreed.kept, agreed.masked, agreed.forms, agreed.categories
    treat = _treatments(masked, forms, categories, choices, options)
    if {GENERALISE, BLANK} & {*treat.values()} or not masked:
        generalising = _generalising(treat, forms, choices, k, options, schema.columns)
        averaged_forms = {name: form for name, form in forms.items() if treat[name] == AVERAGE}
        treated = {name: treatment for name, treatment in treat.items() if treatment != AVERAGE}
        treated = dict.fromkeys(kept, KEEP) | treated
        measured = tuple(name for name in treated if name in forms or schema.outlines[name].forms)
        _check_visible(options.visible, agreed.masked, averaged_forms, generalising)
        return ColumnPlan(
            schema, generalising, averaged_forms, frozenset(), kept, treated, measured, agreed.periods, options.visible
        )
    labels = tuple(name for name in masked if name not in forms)
    asked = options.method
    if isinstance(asked.ontology, Mapping):  # other hierarchies were only needed to recode columns
        beside = {*kept, *({*schema.roles.confidential} & {*choices.recode})}
        ontology = {name: one for name, one in asked.ontology.items() if name not in beside}
        asked = replace(asked, ontology=ontology or None)
    estimator = estimator_of(asked, tuple(forms), labels)
    numbers = averaged(estimator, masked, tuple(forms))
    for name in numbers:
        if name in categories and not isinstance(estimator, RankSwap):
            kind = next(part.outlines[name].kind for part in agreed.parts if not part.outlines[name].forms).in_words
            raise InputError(
                f"column {shown(name)} is a {kind}, which {type(estimator).__name__} would take for an amount; choose "
                f"another method, or say {{option}}",
                f"kinds {shown(name)}=number",
            )
    method = method_of(estimator, k, numbers)
    if kept and not method.k_anonymous:
        raise InputError(
            f"{{option}} needs groups over all quasi-identifiers, and {method.name} makes none; leave it out",
            f"treat {shown(kept[0])}={choices.treat[kept[0]]}",
        )
    _check_visible(options.visible, agreed.masked, numbers, method)
    return ColumnPlan(
        schema,
        method,
        {name: forms.get(name, Doubles()) for name in numbers},
        frozenset(categories) - {*numbers},
        kept,
        dict.fromkeys(kept, KEEP),
        tuple(name for name in kept if schema.outlines[name].forms),
        agreed.periods,
        options.visible,
    )


def _check_visible(
    visible: Mapping[str, tuple[str, ...]], masked: Collection[str], averaged: Collection[str], method: TableMethod
) -> None:
    """Values that keep their share are those of columns that are masked, and not averaged."""
    for name, values in visible.items():
        asked = f"keep_visible {shown(name)}={'|'.join(values)}"
        if name not in masked or name in averaged:
            problem = "is averaged" if name in averaged else "is not protected"
            raise InputError(f"{{option}}: column {shown(name)} {problem}; name one that is generalised", asked)
        if not method.k_anonymous:
            raise InputError(f"{{option}} needs groups, and {method.name} makes none; leave it out", asked)


def _treatments(
    masked: Sequence[str],
    forms: Mapping[str, NumberForm],
    categories: Collection[str],
    choices: ColumnChoices,
    options: TableOptions,
) -> dict[str, str]:
    """The treatment of each column: as asked, else labels and bands are generalised and other numbers averaged.

    A named method averages all, and so does a release that follows one, or one with labels that have a meaning.
    """
    named = options.method.method is not None or options.after is not None
    by_meaning = [name for name in masked if name not in categories and name not in forms]
    asked = {choices.treat.get(name) for name in masked}
    usual = AVERAGE if named or (by_meaning and not {GENERALISE, BLANK} & asked) else GENERALISE
    bands = {name for name, rule in choices.recode.items() if isinstance(rule_of(rule), Bands)}
    amounts = {*forms} - bands
    return {name: choices.treat.get(name) or (AVERAGE if name in amounts else usual) for name in masked}


def _generalising(
    treat: Mapping[str, str],
    forms: Mapping[str, NumberForm],
    choices: ColumnChoices,
    k: int,
    options: TableOptions,
    columns: Sequence[str],
) -> Generalised:
    """The method for tables of which columns are generalised or blanked: it makes groups of its own."""
    asked, ontology = options.method, options.method.ontology
    if asked.method is not None or options.after is not None:
        raise InputError(
            "generalising and blanking make groups of their own; leave out {option}",
            "method" if asked.method is not None else "after",
        )
    asked.check_taken("generalised or blanked columns")
    for name in ontology if isinstance(ontology, Mapping) else ():
        if name not in columns:
            raise unknown_column(name, columns, "the table")
    named = ontology if isinstance(ontology, Mapping) else dict.fromkeys(treat, ontology)
    meaning = {name: named[name] for name in treat if treat[name] == GENERALISE and named.get(name) is not None}
    for name in meaning:
        if not isinstance(meaning[name], Hierarchy):
            raise InputError(
                f"column {shown(name)}: only a hierarchy can generalise it; give one, or average it: {{option}}",
                f"treat {shown(name)}={AVERAGE}",
            )
    rules = {name: rule_of(rule) for name, rule in choices.recode.items()}
    return Generalised(
        k,
        asked,
        {name: form for name, form in forms.items() if treat[name] == GENERALISE},
        {name: hierarchy for name, hierarchy in meaning.items() if name not in forms},
        {name: rule for name, rule in rules.items() if isinstance(rule, Bands)},
        treat,
        even=asked.importance is None and not {GENERALISE, BLANK} & {choices.treat.get(name) for name in treat},
    )


def _check_promised_columns(promises: GroupPromises, columns: Sequence[str], roles: Roles) -> None:
    """The columns that promises speak of are there, and are not released."""
    if not roles.confidential and promises.of_values:
        asked = promises.asked.replace(" ", "=", 1)
        raise InputError(f"{asked} needs a confidential column; name it", "confidential")
    for option, name in (
        ("household", promises.household),
        ("person", promises.person),
        ("k_column", promises.k_column),
    ):
        if name is None:
            continue
        if name not in columns:
            raise unknown_column(name, columns, "the table")
        if name in (*roles.quasi, *roles.confidential, *roles.insensitive, *roles.weight):
            raise InputError(
                f"column {shown(name)} is for {{option}} and would be released, too; take it out of the other roles",
                option,
            )
    if promises.household is not None and promises.person is not None:
        message = "households are grouped whole, and with them the people in them: households are counted, not people"
        warnings.warn(Note(message + "; to count people leave out {option}", "household"), stacklevel=2)
    if promises.unit is not None and promises.unit == promises.k_column:
        unit = "person" if promises.household is None else "household"
        raise InputError(f"column {shown(promises.unit)} is named for two things; name two columns", [unit, "k_column"])


def averaged(method: Any, quasi: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[str, ...]:
    """The quasi-identifiers that an estimator takes for numbers."""
    if isinstance(method, CategoricalMicroaggregation):
        return ()
    if not isinstance(method, MixedMicroaggregation):
        return quasi
    roles = method.roles or {}
    kinds = roles if isinstance(roles, Mapping) else dict.fromkeys(roles, CATEGORICAL)
    return tuple(name for name in numbers if kinds.get(name) != CATEGORICAL)


def method_of(method: Any, k: int, numbers: tuple[str, ...]) -> TableMethod:
    """The method that an estimator stands for, of a table with these numbers."""
    if isinstance(method, CategoricalMicroaggregation | MixedMicroaggregation):
        return Concepts(method, k)
    if isinstance(method, Microaggregation):
        plain = method.method == "mdav" and method.attribute_groups is None
        if plain or len(attribute_groups(method, numbers)) == 1:
            return Means(method, k)
    return Columnwise(method, k)
