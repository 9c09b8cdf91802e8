"""What a certificate promises and states, as plain data: made of a summary, and the summary made of it again.

The report of a release is a function of this and of the counted rows, so that whoever has them can make it again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from shoal.request.options import DISTINCT, GroupPromises
from shoal.results.attacks import Rate
from shoal.results.claims import Closeness, Crowd, Diversity, FurtherPromise, Withheld, likeness_in_words
from shoal.results.sanitizing import MaskedKind, PeopleFound, SanitizedSummary
from shoal.results.summary import (
    Distances,
    DocumentFigures,
    SketchFigures,
    StatedLoss,
    Summary,
    TableFigures,
    WeightFigures,
)
from shoal.results.wordings import worded, worded_figures, worded_parameters

MOST_NUMBERS = 101  # of a list of numbers: the edges of bins
FIGURES: dict[str, Any] = {"documents": DocumentFigures, "sketches": SketchFigures, "table": TableFigures}
# Stated elsewhere than in the report.
ELSEWHERE = {"form", "lengths", "loss_of_means", "linked", "above_optimum", "insensitive", "gaps", "weights"}


def promises_of(
    summary: Summary,
    columns: Sequence[dict[str, str]],
    shared_columns: Sequence[Sequence[str]],
    copy: dict[str, Any] | None,
) -> dict[str, Any]:
    """What the release promises; promises that were not asked for are absent."""
    figures, asked = summary.figures, summary.promised
    promises: dict[str, Any] = {
        "rows": summary.rows,
        "columns": list(columns),
        "anonymity": {
            "k": summary.k if summary.k > 1 else None,  # null: no crowd is promised
            "whole_rows": summary.promises_k,
            "shared_columns": [list(part) for part in shared_columns],
            "smallest_group": summary.smallest_group,
        },
        "form": getattr(figures, "form", None),
        "diversity": {
            "l": asked.l,
            "columns": [
                {name: value for name, value in asdict(column).items() if value is not None}
                for column in summary.diversity
            ],
        },
    }
    if copy is not None:
        promises["copy"] = copy
    if isinstance(figures, SketchFigures):
        promises["lengths"] = {"shortest": figures.lengths[0][0], "longest": figures.lengths[-1][0]}
    if asked.diversity != DISTINCT:
        promises["diversity"] |= {"kind": asked.diversity} | ({} if asked.c is None else {"c": asked.c})
    if asked.t is not None:
        promises["closeness"] = {"t": asked.t, "columns": [asdict(column) for column in summary.closeness]}
    for further in summary.further:
        gains = [{"column": column, "gain": value} for column, value in further.columns]
        promises[further.name] = {"bound": further.bound, "columns": gains}
    if asked.unit is not None or asked.k_column is not None:
        promises["crowds"] = [asdict(crowd) for crowd in summary.crowds]
    return promises


def stated_of(summary: Summary, columns: Collection[str], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What only the owner can know: figures, and how the release was made, in words of Shoal's own."""
    figures, loss = summary.figures, summary.loss
    shown = {name: value for name, value in asdict(figures).items() if name not in ELSEWHERE}
    # The loss as measured, or the tenths between which one lies that may not be published so; null: there is none.
    lost: dict[str, Any] = dict.fromkeys(("sse", "ssa", "information_loss", "loss_range"))
    if loss is not None and loss.reason is None:
        lost |= {"sse": loss.sse, "ssa": loss.ssa, "information_loss": round(loss.low, 6)}
    elif loss is not None:
        between = {"low": loss.low, "high": loss.high, "reason": worded(str(loss.reason))}
        lost |= {"sse": loss.sse, "ssa": loss.ssa, "loss_range": between}
    return {
        "method": worded(summary.method),
        "parameters": worded_parameters(_plain(parameters), columns),
        "report": _plain(
            {
                "attacked": summary.attacked,
                "distances": asdict(summary.distances),
                "figures": worded_figures(shown, columns),
                "files": [[name, worded(meaning)] for name, meaning in summary.files],
            }
        ),
        **lost,
        "loss_of_means": getattr(figures, "loss_of_means", None),
        "above_optimum": getattr(figures, "above_optimum", None),
        "linked": getattr(figures, "linked", None),
        "attacks": [
            {"about": worded(attack.about), "n": attack.n}
            | {name: round(getattr(attack, name), 4) for name in ("rate", "low", "high", "baseline")}
            for attack in summary.attacks
        ],
        "closeness": [asdict(closeness) for closeness in summary.closeness],
        "withheld": [{"reason": worded(reason.reason), "count": reason.count} for reason in summary.withheld],
    }


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: NumPy's numbers as numbers, sequences as lists, an object by its kind alone."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, str | int | float) else type(value).__name__


def typed(kind: Any, value: Any, name: str = "") -> Any:
    """A value of JSON as the type says, dataclasses by their fields; ValueError if it is none."""
    origin = get_origin(kind)
    if origin is UnionType:
        options = get_args(kind)
        if value is None and NoneType in options:
            return None
        return typed(next(option for option in options if option is not NoneType), value, name)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        known = [field for field in fields(kind) if field.name not in ELSEWHERE]
        if type(value) is not dict or {field.name for field in known} != value.keys():
            raise ValueError(f"{name} must have the fields of {kind.__name__}")
        given = {field.name: typed(hints[field.name], value[field.name], field.name) for field in known}
        needed = [field.name for field in fields(kind) if field.name not in given and field.default is MISSING]
        return kind(**given, **dict.fromkeys(needed))
    if origin is tuple:
        inner = get_args(kind)
        if type(value) is not list or (inner[-1] is not ... and len(value) != len(inner)):
            raise ValueError(f"{name} must be a list")
        if inner[-1] is not ...:
            return tuple(typed(one, entry, name) for one, entry in zip(inner, value, strict=True))
        if inner[0] in (int, float) and len(value) > MOST_NUMBERS:
            raise ValueError(f"{name} must have at most {MOST_NUMBERS} numbers")
        return tuple(typed(inner[0], entry, name) for entry in value)
    if kind is float and type(value) in (int, float) and abs(value) < 1e300:
        return value
    if type(value) is not kind or (kind is int and abs(value) >= 2**53):
        raise ValueError(f"{name} must be {getattr(kind, '__name__', kind)}")
    return value


def summary_of(
    kind: str,
    promises: Mapping[str, Any],
    stated: Mapping[str, Any],
    group_sizes: tuple[tuple[int, int], ...],
    lengths: tuple[tuple[int, int], ...] = (),
) -> Summary:
    """The release in figures, as its report shows them; ValueError where a figure is of another type."""
    report, crowd = stated["report"], promises["anonymity"]
    return Summary(
        k=crowd["k"] or 1,
        method=stated["method"],
        promises_k=crowd["whole_rows"],
        rows=promises["rows"],
        smallest_group=crowd["smallest_group"],
        group_sizes=group_sizes,
        loss=_loss(stated),
        distances=typed(Distances, report["distances"], "distances"),
        withheld=tuple(Withheld(**reason) for reason in stated["withheld"]),
        diversity=tuple(Diversity(**column) for column in promises["diversity"]["columns"]),
        figures=_figures(kind, promises, stated, lengths),
        attacks=tuple(Rate(**attack) for attack in stated["attacks"]),
        attacked=typed(bool, report["attacked"], "attacked"),
        closeness=tuple(Closeness(**column) for column in stated["closeness"]),
        further=_further(promises),
        files=typed(tuple[tuple[str, str], ...], report["files"], "files"),
        promised=_promised(promises),
        crowds=tuple(Crowd(**group) for group in promises.get("crowds", ())),
    )


def _figures(kind: str, promises: Mapping[str, Any], stated: Mapping[str, Any], lengths: tuple[Any, ...]) -> Any:
    figures = typed(FIGURES[kind], stated["report"]["figures"], "figures")
    columns, weights = promises["columns"], stated["parameters"].get("sampling_weights")
    if kind == "documents":
        return replace(figures, form=promises["form"], loss_of_means=stated["loss_of_means"])
    if kind == "sketches":
        return replace(figures, form=promises["form"], lengths=lengths)
    return replace(
        figures,
        linked=stated["linked"],
        above_optimum=stated["above_optimum"],
        insensitive=tuple(column["name"] for column in columns if column["role"] == "insensitive"),
        gaps=tuple((column["name"], column["gaps"]) for column in columns if "gaps" in column),
        weights=None if weights is None else typed(WeightFigures, weights, "sampling_weights"),
    )


def _loss(stated: Mapping[str, Any]) -> StatedLoss | None:
    if (between := stated["loss_range"]) is not None:
        return StatedLoss(between["low"], between["high"], reason=between["reason"])
    share = stated["information_loss"]
    return None if share is None else StatedLoss(share, share, stated["sse"], stated["ssa"])


def _further(promises: Mapping[str, Any]) -> tuple[FurtherPromise, ...]:
    if "likeness" not in promises:
        return ()
    bound = promises["likeness"]["bound"]
    columns = tuple((column["column"], column["gain"]) for column in promises["likeness"]["columns"])
    return (FurtherPromise("likeness", bound, columns, likeness_in_words(bound)),)


def _promised(promises: Mapping[str, Any]) -> GroupPromises:
    """What was asked for, as far as a report shows it: that people are counted, not by which column."""
    asked, crowds = promises["diversity"], promises.get("crowds", ())
    return GroupPromises(
        l=asked["l"],
        diversity=asked.get("kind", DISTINCT),
        c=asked.get("c"),
        t=promises.get("closeness", {}).get("t"),
        beta=promises.get("likeness", {}).get("bound"),
        person="person" if any(group["people"] is not None for group in crowds) else None,
        k_column="k" if any(group["own_k"] is not None for group in crowds) else None,
    )


def sanitized_summary(promises: Mapping[str, Any], stated: Mapping[str, Any]) -> SanitizedSummary:
    """A release of sanitized documents in figures, as its report shows them."""
    masked = tuple(MaskedKind(kind, **counts) for kind, counts in stated["masked"].items())
    own = {name: stated[name] for name in ("hidden_share", "model", "policy", "threshold", "blocks", "kept")}
    own |= {name: stated[name] for name in ("reviewers", "unseen", "rejected", "withheld")}
    own |= {name: promises[name] for name in ("documents", "form", "style", "scope")}
    dial = typed(tuple[tuple[float, int], ...], stated["dial"], "dial")
    found = PeopleFound(**stated["reidentification"]) if "reidentification" in stated else None
    return SanitizedSummary(
        kinds=masked, decisions=promises["log"]["decisions"], dial=dial, reidentification=found, **own
    )
