"""The ways to protect a table that are tried: methods, k, and the treatment and recoding of each column.

What a plan says of a column stands; the others are varied. First all of them are treated alike, and recoded by the best
node of full-domain recoding; then, next to the best way, one column at a time is treated otherwise or made coarser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.assessment.exploration.recodings import Recoded, cell_losses
from shoal.kernels import Floats
from shoal.methods.recoding import Levels, best_recoding
from shoal.request.options import AVERAGE, BLANK, GENERALISE, KEEP
from shoal.results.exploration import AS_PLANNED, BY_COLUMN, RECODING, Outcome, Trial

KS = (3, 4, 5, 6, 8, 10, 15, 20)
SOME_KS = (3, 5, 10)
ATTRIBUTES = (2, 3, 4, 5, 6)  # Mic2 to Mic6
SWAPS = (1, 2, 3, 5, 7, 10, 15, 20)
NOISES = (1, 2, 5, 10, 15, 20)
MOST_CHANGED = 6  # columns that are varied next to the best way: those that lose most
MOST_KEPT = 200  # values of a column that may be kept
LOST = "lost: "  # the loss of a column, by its name

Pairs = tuple[tuple[str, str], ...]


def usual_ks(least: int, n_rows: int, of: Sequence[int] = KS) -> list[int]:
    """The smallest k that is allowed, and larger ones: three at least, if there are rows enough."""
    ks = {least, *(k for k in of if k > least)}
    ks |= {2 * least, 3 * least} if len(ks) < 3 else set()
    return sorted(k for k in ks if k <= n_rows)


def number_trials(n_rows: int, n_columns: int, least: int) -> list[Trial]:
    """Maskings of a table of numbers: microaggregation of all columns and of some at a time, swapping, noise."""
    some = usual_ks(least, n_rows, SOME_KS)
    trials = [Trial("mdav", k=k) for k in usual_ks(least, n_rows)]
    trials += [Trial("mdav", k=k, attribute_groups=size) for size in ATTRIBUTES if size < n_columns for k in some]
    trials += [Trial(method, k=k) for method in ("ranking", "z-scores", "principal-component") for k in some]
    trials += [Trial("rank-swap", percent=p) for p in SWAPS]
    return trials + [Trial(method, percent=p) for method in ("noise", "correlated-noise") for p in NOISES]


@dataclass(frozen=True, eq=False)
class Ways:
    """How the columns of a plan are treated and recoded, and how they could be."""

    n_rows: int
    least: int  # k of the plan
    planned: Mapping[str, str]  # each quasi-identifier's treatment
    fixed: frozenset[str]  # columns whose treatment is said
    true: frozenset[str]  # columns that must not be averaged
    recodings: Mapping[str, Sequence[Recoded]]  # of columns whose recoding is not said, finer first
    numbers: Mapping[str, Floats]  # behind quasi-identifiers
    method: str | None  # that averages all columns; None where that cannot be
    averaged: bool  # it does so as planned
    masking: bool  # methods that promise no crowd can be tried
    withheld: float  # largest share that recoding withholds

    @property
    def open(self) -> list[str]:
        """The columns whose treatment may be varied."""
        return [name for name in self.planned if name not in self.fixed]

    def first(self) -> list[Trial]:
        """The plan at several k, all columns treated alike, and recoded."""
        ks, some = usual_ks(self.least, self.n_rows), usual_ks(self.least, self.n_rows, SOME_KS)[:3]
        method = self.method if self.averaged else None
        trials = [Trial(method or AS_PLANNED, k=k) for k in ks]
        if self.masking:
            trials = number_trials(self.n_rows, len(self.planned), self.least)
        elif self.method and not self.averaged and all(map(self._may_average, self.open)):
            trials += [Trial(self.method, k=k) for k in some]
        for treatment in (GENERALISE, BLANK) if self.open else ():
            if any(self.planned[name] != treatment for name in self.open):
                treat = tuple((name, treatment) for name in self.open)
                trials += [Trial(BY_COLUMN, k=k, treat=treat) for k in some]
        trials += filter(None, (self._recoding(k) for k in some))
        return list(dict.fromkeys(trials))

    def next_to(self, outcomes: Sequence[Outcome], best: Outcome | None) -> list[Trial]:
        """Trials that treat one column otherwise than the best one does, or make it coarser."""
        crowds = [outcome for outcome in outcomes if outcome.promises_crowd]
        best = best or min(crowds, key=lambda outcome: (outcome.risk, outcome.trial.name), default=None)
        if best is None or self.masking or not best.promises_crowd:
            return []
        trial = best.trial
        now = dict.fromkeys(self.planned, AVERAGE) if trial.method == self.method else dict(self.planned)
        now |= dict(trial.treat)
        by_loss = sorted(self.planned, key=lambda name: (-best.figures.get(LOST + name, 0.0), name))
        changes = (
            change
            for name in by_loss[:MOST_CHANGED]
            for change in self._changes(name, now, dict(trial.recode), trial.k or 2)
        )
        base = replace(trial, method=BY_COLUMN, coarsen=())
        return [
            replace(base, treat=tuple((name, treat[name]) for name in self.open), recode=tuple(recode.items()))
            for treat, recode in changes
            if recode or {*treat.values()} != {AVERAGE}  # which a method does
        ]

    def _changes(
        self, name: str, treat: dict[str, str], recode: dict[str, str], k: int
    ) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
        """What else can become of a column: another treatment, or the next coarser recoding."""
        if name in self.open:
            for treatment in (KEEP, GENERALISE, BLANK, AVERAGE):
                allowed = treatment != AVERAGE or self._may_average(name)
                if treatment != treat[name] and allowed and (treatment != KEEP or self._can_keep(name, k)):
                    yield {**treat, name: treatment}, recode
        rules = [recoding.rule for recoding in self.recodings.get(name, ())]
        coarser = rules[rules.index(recode.get(name, "")) + 1 :] if rules else []
        if coarser:
            yield treat, {**recode, name: coarser[0]}

    def _may_average(self, name: str) -> bool:
        """Not what must stay true, nor labels that the plan leaves true: an average of labels is somebody else's."""
        return name not in self.true and (name in self.numbers or self.planned[name] == AVERAGE)

    def _can_keep(self, name: str, k: int) -> bool:
        counts = np.bincount(self.recodings[name][0].codes) if name in self.recodings else np.zeros(1)
        return len(counts) <= MOST_KEPT and int(counts.min()) >= k

    def _recoding(self, k: int) -> Trial | None:
        """The best node of full-domain recoding: what is recoded is kept, what is at the top generalised in groups."""
        columns = [name for name in self.open if name in self.recodings]
        if not any(len(self.recodings[name]) > 1 for name in columns):
            return None
        levels = []
        for name in columns:
            steps = [recoding.codes for recoding in self.recodings[name]]
            losses = [cell_losses(codes, steps[0], self.numbers.get(name)) for codes in steps]
            levels.append(Levels([*steps, np.zeros_like(steps[0])], [*losses, np.ones(1)]))
        node = best_recoding(levels, k, self.withheld)
        if node is None:
            return None
        treat, recode = [], []
        for name, level in zip(columns, node.levels, strict=True):
            top = level == len(self.recodings[name])
            treat.append((name, GENERALISE if top else KEEP))
            if not top and level:
                recode.append((name, self.recodings[name][level].rule))
        return Trial(RECODING, k=k, treat=tuple(treat), recode=tuple(recode))
