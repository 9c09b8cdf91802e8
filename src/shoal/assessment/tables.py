"""A protected table judged against its original: every measure and attack, and the models that can be trained on it."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import progress
from shoal.assessment.aligned import AlignedTables, align_tables, control_records
from shoal.assessment.confidential import confidential_of, people_of, unattacked_columns
from shoal.assessment.labels import loss_of_labels, pairs_of, risk_of_all
from shoal.assessment.minimality import minimality_of
from shoal.assessment.several_releases import overlap_of, protection_of
from shoal.attacks.differencing import Differencing
from shoal.attacks.disclosure import DisclosureRisk
from shoal.attacks.distance import linked_by_equality
from shoal.attacks.gdpr import AttributeInference, Linkability, SinglingOut
from shoal.attacks.labels import LabelPair
from shoal.attacks.proof.families import check_distance
from shoal.attacks.proof.optimum import load_solver
from shoal.data.columns import equal_rows
from shoal.data.files import shown
from shoal.errors import InputError
from shoal.release.leaks import find_leaks
from shoal.request.judging_options import AssessOptions
from shoal.results.assessment import TableAssessment
from shoal.results.attacks import Disclosure, LeakCard, Rate
from shoal.results.survey import SurveyUtility
from shoal.results.utility import Distribution, ModelUtility
from shoal.utility.loss import table_loss
from shoal.utility.survey_estimates import SurveyOptions, survey_utility

BINS, MOST_LABELS = 20, 12  # of a column's distribution
SAMPLE = 400  # records that trained attackers learn from, unless asked otherwise


def assess_tables(original: Any, protected: Any, options: AssessOptions) -> TableAssessment:
    """Put the rows side by side, then measure and attack."""
    _check_proof(options)
    private, random_state = options.private, options.random_state
    pair = align_tables(original, protected, options)
    _check_ontology(options.ontology, pair)
    distance = options.distance or "weighted-mean"
    check_distance(distance, len(pair.numbers + pair.labels), bool(pair.labels))
    protection = protection_of(protected, pair.numbers) if options.differencing else None
    overlap = None
    if options.earlier is not None:
        if pair.release is None or not isinstance(protected, str | os.PathLike):
            raise InputError(
                "{option} needs two releases, and the protected table is not one; give a release", "earlier"
            )
        overlap = overlap_of(protected, private, options.earlier, options.earlier_private, pair.before)
    control, notes = (None, ()) if options.control is None else control_records(options.control, pair)
    minimality, untried = minimality_of(original, pair, options.ontology)
    notes = (*pair.notes, *notes, *untried)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    loss = differencing = None
    gdpr: tuple[Rate, ...] = ()
    if pair.numbers:
        with progress.stage("measuring the loss"):
            loss = table_loss(pair.original, pair.protected)
        with progress.stage("singling out"):
            gdpr = _gdpr(pair, control, random_state)
    alike = np.bincount(equal_rows(pair.after, pair.after.column_names))
    leaks = find_leaks(
        pair.before,
        pair.after,
        pair.numbers,
        pair.labels,
        ontology=options.ontology,
        sample=options.sample or SAMPLE,
        proof_seconds=options.prove or 0.0,
        proof_distance=distance,
        # Where all have a crowd, no attacker finds more than one in its size: a larger crowd is the remedy.
        remedies=int(alike.min()) == 1,
        random_state=random_state,
    )
    labels = pairs_of(pair)
    if protection is not None:
        with progress.stage("differencing"):
            attack = Differencing(removals=options.differencing or 0, random_state=random_state)
            differencing = attack.run(pair.original, protection)
    confidential, people = confidential_of(pair, random_state), people_of(pair)
    return TableAssessment(
        rows=pair.before.num_rows,
        numbers=pair.numbers,
        labels=pair.labels,
        how=pair.how,
        left_out=pair.left_out,
        smallest_group=int(alike.min()),
        unique=int(np.sum(alike == 1)),
        loss=loss,
        label_loss=loss_of_labels(pair, labels, options.ontology) if labels else None,
        risk=_risk(pair, labels, leaks, options.ontology, random_state),
        gdpr=gdpr,
        labels_changed=tuple((name, _changed(pair.before[name], pair.after[name])) for name in pair.labels),
        labels_linked=_linked_by_equality(pair) if labels else None,
        models=_models(pair, labels, options.target, random_state),
        survey=_survey(pair, options),
        leaks=leaks,
        minimality=minimality,
        differencing=differencing,
        overlap=overlap,
        confidential=confidential,
        people=people,
        unattacked=unattacked_columns(pair),
        distributions=(
            *(_of_numbers(name, pair.before[name], pair.after[name]) for name in pair.numbers),
            *(_of_labels(name, pair.before[name], pair.after[name]) for name in pair.labels),
        ),
        notes=notes,
    )


def _risk(
    pair: AlignedTables, labels: Sequence[LabelPair], leaks: LeakCard | None, ontology: Any, random_state: int
) -> Disclosure:
    with progress.stage("linking records"):
        if labels:
            return risk_of_all(pair, labels, leaks, ontology, random_state)
        return DisclosureRisk(random_state).run(pair.original, pair.protected)


def _models(
    pair: AlignedTables, labels: Sequence[LabelPair], target: str | None, random_state: int
) -> ModelUtility | None:
    if target is None:
        return None
    from shoal.assessment.targets import models_of_target  # only here, and it takes a while to load

    with progress.stage("training models"):
        return models_of_target(pair, labels, target, random_state)


def _survey(pair: AlignedTables, options: AssessOptions) -> SurveyUtility | None:
    asked = SurveyOptions(options.weight, options.strata, options.cluster, options.tabulate or (), options.model or ())
    if pair.release is not None and asked.weight is None:  # a release says which column has weights
        roles = pair.release.certificate["promises"]["columns"]
        weights = [column["name"] for column in roles if column["role"] == "weight"]
        known = [name for name in weights if name in pair.whole[0].column_names]
        asked = replace(asked, weight=known[0] if known else None)
    if not asked.asked:
        return None
    rows_named_by = [name for name in (options.key, options.person) if name is not None]
    with progress.stage("estimating"):
        return survey_utility(*pair.whole, asked, rows_named_by, pair.coded)


def _check_proof(options: AssessOptions) -> None:
    if options.prove:
        load_solver()  # refused now, not after the work
    if options.distance is not None:
        check_distance(options.distance)
        if not options.prove:
            raise InputError("distance says what to prove; give prove, a number of seconds, as well")
    if options.earlier_private is not None and options.earlier is None:
        raise InputError(
            "earlier_private is the private side of an earlier release; name that, too: {option}", "earlier"
        )


def _check_ontology(ontology: Any, pair: AlignedTables) -> None:
    """Refuse an ontology of columns that are not compared, or not labels."""
    if ontology is None:
        return
    if not pair.labels:
        raise InputError("an ontology is for labels, and no labels are compared; leave it out")
    for name in ontology if isinstance(ontology, Mapping) else ():
        if name not in pair.labels:
            raise InputError(
                f"ontology of {shown(name)}: no such column of labels is compared; there are: "
                + ", ".join(map(shown, pair.labels))
            )


def _gdpr(pair: AlignedTables, control: Any, random_state: int) -> tuple[Rate, ...]:
    """Singling out, linkability and inference, as far as there are columns enough."""
    tables = pair.original, pair.protected, control
    n_columns = len(pair.numbers)
    attacks: list[Rate] = [SinglingOut(1, random_state=random_state).run(*tables)]
    if n_columns > 1:
        attacks.append(SinglingOut(min(n_columns, 4), random_state=random_state).run(*tables))
        attacks.append(Linkability(random_state=random_state).run(*tables))
        attacks += AttributeInference(random_state=random_state).run(*tables)
    return tuple(attacks)


def _linked_by_equality(pair: AlignedTables) -> float:
    """RL, from 0 to 1."""
    sides = (
        np.array([table[name].to_pylist() for name in pair.labels], dtype=object).T
        for table in (pair.before, pair.after)
    )
    return linked_by_equality(*sides)


def _changed(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float:
    """The share of cells that are not what they were; missing in both is the same."""
    same = pc.fill_null(pc.equal(before, after), False)
    both_missing = pc.and_(pc.is_null(before), pc.is_null(after))
    return 1.0 - float(pc.sum(pc.or_(same, both_missing)).as_py() or 0) / len(before)


def _of_numbers(name: str, *sides: pa.ChunkedArray) -> Distribution:
    """Both sides in bins of equal width over all numbers."""
    values = [side.drop_null().to_numpy() for side in sides]
    values = [side[np.isfinite(side)] for side in values]
    edges = np.histogram_bin_edges(np.concatenate(values), BINS)
    before, after = (tuple((np.histogram(side, edges)[0] / max(1, len(side))).tolist()) for side in values)
    return Distribution(name, tuple(edges.tolist()), (), before, after)


def _of_labels(name: str, *sides: pa.ChunkedArray) -> Distribution:
    """The labels that are most frequent on both sides together; all others as one."""
    counts = [Counter("(missing)" if label is None else label for label in side.to_pylist()) for side in sides]
    listed = [label for label, _ in (counts[0] + counts[1]).most_common(MOST_LABELS)]
    before, after = ([count[label] / count.total() for label in listed] for count in counts)
    if any(len(count.keys() - set(listed)) for count in counts):
        listed.append("(all others)")
        before.append(max(0.0, 1.0 - sum(before)))
        after.append(max(0.0, 1.0 - sum(after)))
    return Distribution(name, (), tuple(listed), tuple(before), tuple(after))
