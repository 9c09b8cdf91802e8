"""What was chosen, as `shoal protect …` and as the Python that makes the same release."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.data.files import shown
from shoal.data.roles import Kind, Role
from shoal.errors import InputError
from shoal.request.options import DISTINCT, ENTROPY, RECURSIVE
from shoal.terms.language import check_language
from shoal.web.commands import options
from shoal.web.jobs import Command
from shoal.web.protecting.choices import ENGLISH, PLAIN, Choices
from shoal.web.protecting.look import Look
from shoal.web.protecting.reading import opened_in_python, reading_words

RELEASE = "release"

# What the page offers: name, and what it is. Those of WITHOUT_CROWD need to know how strong.
METHODS = {
    "table": {
        "": "Chosen by the columns: means of numbers, common concepts of labels",
        "ranking": "One column after the other: no crowd for whole records",
        "rank-swap": "Swap values of similar rank: no crowd is promised",
        "noise": "Add noise: no crowd is promised",
    },
    "documents": {
        "": "By words: every document gets the words of its group",
        "semantic": "By meaning: words are generalised with WordNet",
        "crowd-sketch": "As sketches: words are hidden, similarities stay",
    },
    "baskets": {
        "": "By items: every basket gets the items of its group",
        "crowd-sketch": "As sketches: items are hidden, similarities stay",
    },
}
GAPS = {  # what becomes of rows that lack a value of a protected column
    "refuse": "stop and tell me",
    "withhold": "leave them out of the release",
    "group": "keep them: a gap is a value of its own",
    "impute": "keep them: fill gaps with the mean of the group",
}
COUNTED = {  # how values are counted for l
    DISTINCT: "different values",
    ENTROPY: "values as hard to guess as l equally frequent ones (entropy)",
    RECURSIVE: "the most frequent less than c times those from the l-th on (recursive)",
}
WITHOUT_CROWD = {"rank-swap": "RankSwap({})", "noise": "Noise({})"}
OF_DOCUMENTS = {
    "semantic": ("SemanticMicroaggregation()", "VectorSpace(min_df={k}, stem=False, terms_per_document=50)"),
    "crowd-sketch": ("CrowdSketch()", None),
}


def protect_command(
    choices: Choices,
    look: Look,
    source: str,
    hierarchies: Mapping[str, str],
    work: Path,
    earlier: Mapping[str, str] | None = None,
) -> Command:
    """`hierarchies`: the file of each column whose labels WordNet does not compare. A roles file is put into `work`.

    `earlier`: where the release is that this one follows, and its private side.
    """
    _check(choices, look)
    if look.is_table:
        words, calls = _of_table(choices, look, hierarchies, work)
    else:
        words, calls = _of_documents(choices, look)
    more = {**_of_groups(choices), **(earlier or {})}
    given = ("protect", source, "-k", str(choices.k), "-o", RELEASE, *reading_words(look.reading), *words)
    given += options({f"--{name.replace('_', '-')}": value for name, value in more.items()})
    given += options({"--no-attack": not choices.attack})
    calls = {"k": str(choices.k), "out": repr(RELEASE)} | calls
    calls |= {name: repr(value) for name, value in more.items() if value}
    calls |= {} if choices.attack else {"attack": "False"}
    return Command(given, _python(opened_in_python(source, look.reading), calls))


def _of_groups(choices: Choices) -> dict[str, Any]:
    """What every group must have of confidential values."""
    kind = choices.diversity if choices.l and choices.diversity != DISTINCT else ""
    return {"l": choices.l, "diversity": kind, "c": choices.c if kind == RECURSIVE else None, "t": choices.t}


def source_words(
    choices: Choices, look: Look, hierarchies: Mapping[str, str], work: Path
) -> tuple[tuple[str, ...], str]:
    """Roles and hierarchies of columns, for a shell and for Python; what a shell cannot list is written to `work`."""
    if not look.is_table:
        words, calls = _of_documents(choices, look)
        return words, ", ".join(f"{name}={value}" for name, value in calls.items())
    if not choices.columns(look, Role.QUASI):
        raise InputError("no column is protected; choose Protect for at least one that others may know of a person")
    roles, said = _columns(replace(choices, whole=False), look)
    said |= {"missing": choices.missing if choices.missing != "refuse" else ""}
    python = [f"roles={_roles(roles)}", *(f"{name}={value!r}" for name, value in said.items() if value)]
    python += [_ontology(hierarchies)] if hierarchies else []
    words = _role_words(roles, work) + _ontology_words(hierarchies) + _column_words(said)
    return reading_words(look.reading) + words, ", ".join(python)


def _check(choices: Choices, look: Look) -> None:
    if look.is_table and not choices.columns(look, Role.QUASI):
        raise InputError("no column is protected; choose Protect for at least one that others may know of a person")
    if choices.method not in METHODS[look.inspection.kind]:
        raise InputError(f"method {shown(choices.method)} is not for {look.inspection.kind}; choose another")
    if choices.method == "semantic" and choices.language != ENGLISH:
        raise InputError("only English words have a meaning here; choose another method, or English")
    if choices.missing not in GAPS:
        raise InputError(f"missing={shown(choices.missing)} is not known; choose one of {', '.join(GAPS)}")
    if choices.diversity not in COUNTED:
        raise InputError(f"diversity={shown(choices.diversity)} is not known; choose one of {', '.join(COUNTED)}")
    if choices.diversity != ENTROPY and isinstance(choices.l, float):
        raise InputError(f"l={choices.l:g} counts values; enter a whole number, or choose entropy")
    if choices.l and choices.diversity == RECURSIVE and choices.c is None:
        raise InputError("recursive diversity needs to know how frequent a value may be; enter c, such as 3")
    if choices.method in WITHOUT_CROWD and choices.percent is None:
        raise InputError("this method needs to know how strong it shall be; enter the strength in per cent, such as 5")


def _of_table(
    choices: Choices, look: Look, hierarchies: Mapping[str, str], work: Path
) -> tuple[tuple[str, ...], dict[str, str]]:
    roles, columns = _columns(choices, look)
    words = _role_words(roles, work) + _ontology_words(hierarchies)
    calls = {"roles": _roles(roles)}
    more = columns | choices.apart
    more |= {"missing": choices.missing if choices.missing != "refuse" else ""}
    calls |= {name: repr(value) for name, value in more.items() if value}
    words += _column_words(more)
    if choices.method in WITHOUT_CROWD:
        words += ("--method", choices.method, "--percent", f"{choices.percent:g}")
        return words, calls | {"method": WITHOUT_CROWD[choices.method].format(f"{choices.percent:g}")}
    words += options({"--method": choices.method, "--no-refine": not choices.refine})
    return words, calls | _estimator(choices, look, hierarchies)


def _columns(choices: Choices, look: Look) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the roles say of columns, and what options do: plain categories, ordered labels, what stays whole.

    An option lists names between commas. Categories and labels with a name that it cannot list are told with the roles.
    """
    plain = [column for _, column in choices.compared(look, PLAIN)]
    ordered = {column.name: list(column.order) for column in plain if column.order}
    averaged = [column for place, column in choices.protected(look) if not choices.are_labels(place, column)]
    whole = [column.name for column in averaged if choices.whole and column.kind == Kind.WHOLE]
    codes = [column.name for place, column in choices.protected(look) if choices.kinds.get(place) and choices.method]
    categories = codes or [column.name for column in plain if not column.order]
    for name in whole:
        if not _can_be_listed(name):
            raise InputError(f"column {shown(name)} has a comma or = in its name and cannot stay whole; rename it")
    roles: dict[str, Any] = {role.value: choices.columns(look, role) for role in Role}
    roles["kinds"] = {name: Kind.CODE.value for name in categories if not _can_be_listed(name)}
    roles["order"] = {name: labels for name, labels in ordered.items() if not _can_be_listed(name)}
    return roles, {
        "categorical": [name for name in categories if name not in roles["kinds"]],
        "order": {name: labels for name, labels in ordered.items() if name not in roles["order"]},
        "round": [] if choices.method else whole,
    }


def _can_be_listed(name: str, signs: str = ",=") -> bool:
    return name == name.strip() and not set(name) & set(signs) and name.isprintable()


def _column_words(said: Mapping[str, Any]) -> tuple[str, ...]:
    listed = {name: ",".join(value) if isinstance(value, list) else value for name, value in said.items()}
    words = options({f"--{name.replace('_', '-')}": value for name, value in listed.items() if name != "order"})
    for column, labels in said.get("order", {}).items():
        words += ("--order", f"{column}={'<'.join(labels)}")
    return words


def _roles(roles: Mapping[str, Any]) -> str:
    """For Python."""
    return f"Roles({', '.join(f'{name}={value!r}' for name, value in roles.items() if value)})"


def _role_words(roles: Mapping[str, Any], work: Path) -> tuple[str, ...]:
    """For a shell: as lists where the names can be listed, else as a file."""
    lists = {role.value: roles[role.value] for role in Role}
    names = [name for columns in lists.values() for name in columns]
    if all(_can_be_listed(name, ",") for name in names) and not roles["kinds"] and not roles["order"]:
        flags = {"quasi": "--quasi", "confidential": "--confidential", "insensitive": "--insensitive"}
        flags |= {"identifier": "--drop"}
        return options({flags[role]: ",".join(columns) for role, columns in lists.items()})
    lines = [f"{role} = {_toml(columns)}" for role, columns in lists.items()]
    for table in ("kinds", "order"):
        lines += [f"\n[{table}]", *(f"{_toml(name)} = {_toml(value)}" for name, value in roles[table].items())]
    (work / "roles.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ("--roles", "roles.toml")


def _toml(value: Any) -> str:
    """A name, a word or a list of them: what JSON writes of these is TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _ontology_words(hierarchies: Mapping[str, str]) -> tuple[str, ...]:
    for column in hierarchies:
        if "=" in column:
            raise InputError(f"column {shown(column)} has an = in its name, and labels; rename the column")
    return tuple(word for column, file in hierarchies.items() for word in ("--ontology", f"{column}={file}"))


def _ontology(hierarchies: Mapping[str, str]) -> str:
    """The same for Python."""
    known = ", ".join(f"{column!r}: Hierarchy.from_file({file!r})" for column, file in hierarchies.items())
    return f"ontology={{{known}}}"


def _estimator(choices: Choices, look: Look, hierarchies: Mapping[str, str]) -> dict[str, str]:
    """Only where it is not the one that is taken by itself."""
    if not hierarchies and not choices.method and choices.refine:
        return {}
    refine = "" if choices.refine else "refine=False"
    ranked = [place for place, column in choices.compared(look, PLAIN) if column.order]  # as numbers
    protected = choices.protected(look)
    labels = [choices.are_labels(place, column) and place not in ranked for place, column in protected]
    if not any(labels):
        method = f"method={choices.method!r}" if choices.method else ""
        return {"method": f"Microaggregation({', '.join(filter(None, (method, refine)))})"}
    ontology = _ontology(hierarchies) if hierarchies else ""
    if not all(labels):
        return {"method": f"MixedMicroaggregation({', '.join(filter(None, (ontology, refine)))})"}
    refine = refine or "refine=True"
    return {"method": f"CategoricalMicroaggregation({', '.join(filter(None, (ontology, refine)))})"}


def _of_documents(choices: Choices, look: Look) -> tuple[tuple[str, ...], dict[str, str]]:
    columns = {"text-column": choices.text, "id-column": choices.identity, "label-column": choices.label}
    words = options({f"--{name}": column for name, column in columns.items()})
    calls = {name.replace("-", "_"): repr(column) for name, column in columns.items() if column}
    words += options({"--method": choices.method, "--no-refine": not choices.refine and choices.method != "semantic"})
    if choices.method in OF_DOCUMENTS:
        method, space = OF_DOCUMENTS[choices.method]
        calls["method"] = method
        if choices.method == "crowd-sketch" and not choices.refine:
            calls["method"] = "CrowdSketch(method=SphericalMicroaggregation(refine=False))"
        calls |= {"space": space.format(k=choices.k)} if space else {}
    elif not choices.refine:
        calls["method"] = "SphericalMicroaggregation(refine=False)"
    if choices.language != ENGLISH:
        words += ("--language", check_language(choices.language))
        calls["space"] = f"VectorSpace(min_df={choices.k}, language={choices.language!r})"
    return words, calls


_NAMES = (
    *("CategoricalMicroaggregation", "CrowdSketch", "Hierarchy", "Microaggregation", "MixedMicroaggregation", "Noise"),
    *("RankSwap", "Roles", "SemanticMicroaggregation", "SphericalMicroaggregation", "TableFile"),
    "VectorSpace",
)


def _python(source: str, calls: Mapping[str, str]) -> str:
    """The import and the call, one argument per line."""
    code = "".join((source, *calls.values()))
    imports = [name for name in _NAMES if re.search(rf"\b{name}\b", code)]
    lines = "".join(f"    {name}={value},\n" for name, value in calls.items())
    return f"from shoal import {', '.join([*imports, 'protect'])}\n\nprotect(\n    {source},\n{lines})"
