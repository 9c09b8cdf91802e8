"""Numbers and labels together: Adult in groups of 10, against what a tool that only generalises would release."""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import data, measure

K, L = 10, 2
NUMBERS = ("age", "hours-per-week")
LABELS = ("education", "occupation", "native-country")
CONFIDENTIAL = "income"
WIDTHS = (1, 5, 10, 20, 40)  # of the intervals that numbers are generalised to, level by level; then: any
SUPPRESSED = 0.05  # share of the rows that generalisation may leave out

# What each label is generalised to, one level a list: {general: values below}.
EDUCATION = [
    {
        "primary": ("Preschool", "1st-4th", "5th-6th"),
        "middle": ("7th-8th", "9th"),
        "high school, unfinished": ("10th", "11th", "12th"),
        "high school": ("HS-grad",),
        "college": ("Some-college", "Assoc-voc", "Assoc-acdm"),
        "bachelor": ("Bachelors",),
        "graduate": ("Masters", "Prof-school", "Doctorate"),
    },
    {
        "no diploma": ("primary", "middle", "high school, unfinished"),
        "school or college": ("high school", "college"),
        "university": ("bachelor", "graduate"),
    },
]
OCCUPATION = [
    {
        "management": ("Exec-managerial",),
        "professional": ("Prof-specialty", "Tech-support"),
        "office": ("Adm-clerical", "Sales"),
        "crafts": ("Craft-repair", "Machine-op-inspct"),
        "labour": ("Handlers-cleaners", "Transport-moving", "Farming-fishing"),
        "personal service": ("Other-service", "Priv-house-serv"),
        "protection": ("Protective-serv", "Armed-Forces"),
    },
    {
        "white-collar": ("management", "professional", "office"),
        "blue-collar": ("crafts", "labour"),
        "service": ("personal service", "protection"),
    },
]
COUNTRY = [
    {
        "North America": ("United-States", "Canada", "Outlying-US(Guam-USVI-etc)"),
        "Central America": ("Mexico", "Guatemala", "El-Salvador", "Honduras", "Nicaragua"),
        "Caribbean": ("Cuba", "Jamaica", "Haiti", "Dominican-Republic", "Puerto-Rico", "Trinadad&Tobago"),
        "South America": ("Columbia", "Ecuador", "Peru"),
        "Western Europe": ("England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands"),
        "Southern Europe": ("Italy", "Portugal", "Greece", "Yugoslavia"),
        "Eastern Europe": ("Poland", "Hungary"),
        "East Asia": ("China", "Japan", "Taiwan", "Hong", "South"),
        "South-East Asia": ("Philippines", "Vietnam", "Laos", "Cambodia", "Thailand"),
        "South and West Asia": ("India", "Iran"),
    },
    {
        "America": ("North America", "Central America", "Caribbean", "South America"),
        "Europe": ("Western Europe", "Southern Europe", "Eastern Europe"),
        "Asia": ("East Asia", "South-East Asia", "South and West Asia"),
    },
]
LEVELS = dict(zip(LABELS, (EDUCATION, OCCUPATION, COUNTRY), strict=True))

Ints = NDArray[np.int64]


def run() -> dict[str, Any]:
    rows = [microaggregated(refine) for refine in (False, True)] + generalised()
    measure.show("Adult, 5 quasi-identifiers, k=10, l=2", rows)
    release = released()
    measure.show("The whole release", [release])
    return {"generalisation": rows, "release": [release]}


def adult() -> pd.DataFrame:
    columns = (*NUMBERS, *LABELS, CONFIDENTIAL)
    return pd.DataFrame(data.adult(columns), columns=list(columns)).astype(dict.fromkeys(NUMBERS, "int64"))


def hierarchies() -> dict[str, Any]:
    """The same hierarchies as ontologies."""
    from shoal import Hierarchy

    found = {}
    for name, levels in LEVELS.items():
        pairs = [(value, general) for level in levels for general, below in level.items() for value in below]
        found[name] = Hierarchy.from_pairs([*pairs, *((general, "any") for general in levels[-1])])
    return found


def method(refine: bool) -> Any:
    from shoal import MixedMicroaggregation

    return MixedMicroaggregation(K, ontology=hierarchies(), refine=refine)


def microaggregated(refine: bool) -> dict[str, Any]:
    """Our groups, merged until each has two incomes."""
    from shoal.promises.diversity import Distinct
    from shoal.promises.joining import join_until

    people = adult()
    quasi, income = people.drop(columns=CONFIDENTIAL), np.unique(people[CONFIDENTIAL], return_inverse=True)[1]
    start = time.perf_counter()
    model = method(refine).fit(quasi)
    groups = join_until(model.groups_, [Distinct(income, L)], model.distance_to_groups(quasi))
    model.fit_groups(quasi, groups)
    seconds = time.perf_counter() - start
    released = {name: model.representatives_[groups, 2 + place] for place, name in enumerate(LABELS)}
    name = "microaggregation, refined" if refine else "microaggregation (MDAV)"
    everyone = np.ones(len(people), dtype=bool)
    row = described(name, people, groups, released, everyone, 100 * model.information_loss_)
    return row | {"seconds": seconds}


def generalised() -> list[dict[str, Any]]:
    """The best of all full-domain generalisations that leave out few rows, by each of the two measures."""
    people = adult()
    income = np.unique(people[CONFIDENTIAL], return_inverse=True)[1]
    codes, texts = {}, {}
    for name in NUMBERS:
        values = people[name].to_numpy()
        codes[name] = [(values - values.min()) // width for width in WIDTHS] + [np.zeros(len(people), dtype=np.int64)]
    for name in LABELS:
        codes[name], texts[name] = label_levels(people[name], LEVELS[name])
    start = time.perf_counter()
    best: dict[str, tuple[float, dict[str, Any]]] = {}
    n_nodes = 0
    rows_of = squares_of(people)
    for node in itertools.product(*(range(len(levels)) for levels in codes.values())):
        n_nodes += 1
        levels = dict(zip(codes, node, strict=True))
        groups = equal_rows([codes[name][level] for name, level in levels.items()])
        kept = (np.bincount(groups) >= K)[groups] & (distinct(groups, income) >= L)[groups]
        if kept.mean() < 1 - SUPPRESSED:
            continue
        groups = np.where(kept, groups, groups.max() + 1)
        released = {name: np.where(kept, texts[name][levels[name]], "any") for name in LABELS}
        loss = 100 * rows_of(groups, released)
        row = described("full-domain generalisation", people, groups, released, kept, loss)
        row["method"] += f", levels {'-'.join(map(str, node))}"
        for measured in ("information loss %", "generalisation loss %"):
            if measured not in best or row[measured] < best[measured][0]:
                best[measured] = (row[measured], row)
    seconds = time.perf_counter() - start
    return [
        row | {"method": f"{row['method']}: least {measured.removesuffix(' %')} of {n_nodes}", "seconds": seconds}
        for measured, (_, row) in best.items()
    ]


def label_levels(column: pd.Series, levels: list[dict[str, tuple[str, ...]]]) -> tuple[list[Ints], list[NDArray[Any]]]:
    """Each row's code and text at every level, the value first and "any" last."""
    texts = [column.to_numpy(dtype=object)]
    for level in levels:
        above = {value: general for general, below in level.items() for value in below}
        texts.append(np.array([above[value] for value in texts[-1]], dtype=object))
    texts.append(np.full(len(column), "any", dtype=object))
    return [np.unique(text.astype(str), return_inverse=True)[1] for text in texts], texts


def equal_rows(columns: list[Ints]) -> Ints:
    """Rows that are equal, as numbers."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        key = key * (codes.max() + 1) + codes
        key = np.cumsum(np.bincount(key) > 0)[key] - 1  # numbered anew, so that the keys stay small
    return key


def distinct(groups: Ints, values: Ints) -> Ints:
    """How many different values each group has."""
    pairs = np.unique(groups * (values.max() + 1) + values) // (values.max() + 1)
    return np.bincount(pairs, minlength=groups.max() + 1)


def squares_of(people: pd.DataFrame) -> Any:
    """A function from a release to its information loss, on the scale on which microaggregation measures it.

    Whoever gets intervals is taken to know the mean of each class: nobody can guess better.
    """
    model = method(refine=False).fit(people.drop(columns=CONFIDENTIAL))
    rows = model._fitted_rows(people.drop(columns=CONFIDENTIAL))
    sst = rows.loss(np.zeros(len(people), dtype=np.int64)).sse
    places = [
        {one.reading.ontology.label(int(concept)): place for place, concept in enumerate(one.concepts)}
        for one in rows.labels
    ]

    def loss(groups: Ints, released: dict[str, NDArray[Any]]) -> float:
        means, _ = rows.centres(equal_rows([groups]))
        centroids = np.column_stack(
            [[places[place][text] for text in released[name]] for place, name in enumerate(LABELS)]
        )
        return float(rows.squared_distances(means[equal_rows([groups])], centroids).sum() / sst)

    return loss


def described(
    name: str,
    people: pd.DataFrame,
    groups: Ints,
    released: dict[str, NDArray[Any]],
    kept: NDArray[np.bool_],
    loss: float,
) -> dict[str, Any]:
    """A row of the table. Generalisation loss: the mean share of a column's values that a released one can mean."""
    shares = []
    for column in NUMBERS:
        values = people[column].to_numpy()
        low, high = (by.reindex(groups).to_numpy() for by in bounds(values, groups))
        shares.append(np.where(kept, (high - low) / (values.max() - values.min()), 1.0))
    for column in LABELS:
        width = stands_for(LEVELS[column])
        lost = [width[value, text] for value, text in zip(people[column], released[column], strict=True)]
        shares.append(np.where(kept, lost, 1.0))
    return {
        "method": name,
        "classes": len(np.unique(groups[kept])),
        "rows left out %": 100 * (1 - kept.mean()),
        "information loss %": loss,
        "generalisation loss %": 100 * float(np.mean(shares)),
    }


def bounds(values: NDArray[Any], groups: Ints) -> tuple[Any, Any]:
    by_group = pd.Series(values).groupby(groups)
    return by_group.min(), by_group.max()


def stands_for(levels: list[dict[str, tuple[str, ...]]]) -> dict[tuple[str, str], float]:
    """For a value and what was released for it: (values below what is above both - 1) / (all values - 1)."""
    values = [value for below in levels[0].values() for value in below]
    chains = {value: [value] for value in values}
    for level in levels:
        above = {value: general for general, below in level.items() for value in below}
        for chain in chains.values():
            chain.append(above[chain[-1]])
    for chain in chains.values():
        chain.append("any")
    below = {one: sum(one in chain for chain in chains.values()) for chain in chains.values() for one in chain}
    parents = {one: chain[place + 1 :] for chain in chains.values() for place, one in enumerate(chain)}
    return {
        (value, text): (below[next(one for one in chains[value] if one == text or one in parents[text])] - 1)
        / (len(values) - 1)
        for value in values
        for text in below
    }


def released() -> dict[str, Any]:
    """Protected with the default search, written and verified, in a process of its own."""
    start = time.perf_counter()
    peak = measure.peak_memory(release)
    return {"rows": len(adult()), "seconds, all": time.perf_counter() - start, "GB": peak, "bar": 2.0, "verified": True}


def release() -> None:
    from shoal import Roles, protect, verify

    roles = Roles(quasi=(*NUMBERS, *LABELS), confidential=(CONFIDENTIAL,))
    with tempfile.TemporaryDirectory() as folder:
        made = protect(adult(), K, Path(folder) / "release", roles=roles, method=method(refine=True), l=L)
        if not verify(made.folder):
            raise SystemExit("the release does not hold what it promises")
