"""Documents in parts to a release in parts: only counts, samples and figures ever come together in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from shoal import progress
from shoal.assessment.unmixing import GROUPS_TRIED, over_parts
from shoal.bundle.folders import write_csv
from shoal.microaggregation import SphericalMicroaggregation
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.diversity import JOINED
from shoal.protection.distances import NOT_TOLD, cosine_distances
from shoal.protection.documents import for_pools, form_of
from shoal.protection.groups import FEW, sizes_of, stated_loss
from shoal.release import document_part as work
from shoal.release.cluster import diverse_parts, grouped_parts, write_parts
from shoal.release.documents import (
    NO_TERM,
    TERM_COLUMNS,
    TERMS_SHOWN,
    described,
    too_few,
    warn_of_copies,
    warn_of_rare_terms,
    words,
    words_left_out,
)
from shoal.release.draft import Draft
from shoal.release.part_facts import SHOWN, diversity_of, sizes_over
from shoal.results.claims import Withheld
from shoal.results.loss import Loss
from shoal.results.summary import Distances, Summary, TermUse
from shoal.vectors import VectorSpace

__all__ = ["draft_document_parts"]


def draft_document_parts(
    parts: Sequence[str],
    columns: dict[str, str | None],
    k: int,
    space: VectorSpace,
    method: SphericalMicroaggregation,
    l: int | None,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> Draft:
    """Protect the parts and write the rows into the folders (private, release) at hand; the draft has the rest."""
    submit, gather = schedule.submit, schedule.gather
    label = columns["label_column"]
    space = clone(space)
    warn_of_rare_terms(space, k)
    progress.step("reading", 0, len(parts))
    read = [submit(work.read_part, part, columns, space) for part in parts]
    readings = gather([submit(work.reading_of, part) for part in read])
    skipped = [one for _, skipped in readings for one in skipped]
    space.settle(tally for tally, _ in readings)
    progress.step("reading", len(parts), len(parts))
    weights = _without_words(space)
    rows = [submit(work.rows_of, part, weights) for part in read]
    empty = [name for names in gather([submit(work.without_terms, part, weights) for part in read]) for name in names]
    read.clear()  # what nobody holds any more need not be kept
    n_rows = space.n_documents_ - len(empty)
    if n_rows < k:
        raise too_few(k, n_rows, len(empty), len(skipped))

    model, idf = clone(method).set_params(k=k), space.idf_
    blocks = grouped_parts(rows, n_rows, for_pools(model, n_rows), schedule)
    blocks = [submit(work.settled, block, idf) for block in blocks]
    if l is not None:
        blocks = diverse_parts(blocks, {str(label): "label"}, l, lambda block: submit(work.diverse, block, l), schedule)
    blocks = [submit(work.arranged, block, idf) for block in blocks]
    first = gather([submit(work.first_row, block, idf) for block in blocks])
    order = sorted(range(len(blocks)), key=first.__getitem__)

    frequency = None
    if space.weighting == "tf-idf":
        frequency = np.sum(gather([submit(work.frequency_in, block, idf) for block in blocks]), axis=0)
    tried = -(-GROUPS_TRIED // len(blocks))
    whole = work.Whole(space.terms_, idf, frequency, n_rows, space.min_df, tried)

    def write(number: int, target: str, mapping: str) -> Any:
        return submit(work.write_part, blocks[order[number]], whole, label, target, mapping)

    facts: list[work.Facts] = write_parts("documents", write, len(blocks), folders, schedule)

    reasons = Counter(one.reason for one in skipped)
    withheld = [Withheld(reason, count) for reason, count in sorted(reasons.items())]
    withheld += [Withheld(NO_TERM, len(empty))] if empty else []
    groups = [fact.groups for fact in facts]
    sizes = sizes_over(groups)
    enough = n_rows >= FEW
    attacks = over_parts([fact.attacks for fact in facts]) if enough else ()
    if attacks:
        warn_of_copies(attacks)
    summary = Summary(
        kind="documents",
        k=k,
        method="spherical microaggregation (MDAV)" + (", refined" if model.refine else ""),
        promises_k=True,
        form=form_of(space),
        rows=n_rows,
        smallest_group=int(sizes.min()),
        group_sizes=sizes_of(sizes),
        loss=stated_loss(_loss(facts, n_rows), enough, digits=4),
        loss_of_means=round(_loss_of_means(facts, n_rows).information_loss, 4) if enough else None,
        distances=_distances(facts, n_rows) if enough else NOT_TOLD,
        withheld=tuple(withheld),
        diversity=() if label is None else (diversity_of(label, groups),),
        l_promised=l,
        attacks=attacks,
        terms=_most_used(facts, space.terms_),
        vocabulary=len(space.terms_),
        stemmed=space.stem,
        words_read=space.words_read_,
        words_left_out=words_left_out(space),
        files=(
            (
                "vectors",
                "folder of parts, one row per document: terms, how often the documents of its group have each of them, "
                "and weights" + (", its label" if label else ""),
            ),
            ("terms.txt", "every term of the release, one per line"),
        ),
    )
    listed = "".join(f"{term}\n" for term in space.terms_.tolist())
    return Draft(
        summary=summary,
        columns=described(() if label is None else (label,)),
        shared_columns=(TERM_COLUMNS,),
        parameters={"vector_space": space.get_params(), "microaggregation": model.get_params()}
        | ({} if l is None else {"diversity": JOINED}),
        files={"terms.txt": lambda path: _write_text(path, listed)},
        private_files={
            "withheld.csv": write_csv(
                ("document", "reason"), [(s.name, s.reason) for s in skipped] + [(name, NO_TERM) for name in empty]
            ),
            "words_left_out.csv": write_csv(("step", "word", "occurrences"), words(space)),
        },
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _without_words(space: VectorSpace) -> VectorSpace:
    """The fitted space as the workers need it: terms and weights, not the words that were left out."""
    bare: VectorSpace = clone(space)
    bare.terms_, bare.document_frequency_, bare.n_documents_ = (
        space.terms_,
        space.document_frequency_,
        space.n_documents_,
    )
    return bare


def _loss(facts: list[work.Facts], n_rows: int) -> Loss:
    released = np.sum([fact.released for fact in facts], axis=0)
    return Loss(sse=sum(fact.sse for fact in facts), ssa=_between(facts, released, n_rows))


def _loss_of_means(facts: list[work.Facts], n_rows: int) -> Loss:
    means = np.sum([fact.means for fact in facts], axis=0)
    return Loss(sse=sum(fact.sse_of_means for fact in facts), ssa=_between(facts, means, n_rows))


def _between(facts: list[work.Facts], rows: Any, n_rows: int) -> float:
    """The distance of rows with this sum to the direction of all original rows."""
    total = np.sum([fact.total for fact in facts], axis=0)
    return max(n_rows - float(rows @ (total / np.linalg.norm(total))), 0.0)


def _distances(facts: list[work.Facts], n_rows: int) -> Distances:
    keys = np.concatenate([fact.sample[0] for fact in facts])
    shown = np.argsort(keys, kind="stable")[:SHOWN]
    before = sp.csr_matrix(sp.vstack([fact.sample[1] for fact in facts], format="csr"))[shown]
    after = sp.csr_matrix(sp.vstack([fact.sample[2] for fact in facts], format="csr"))[shown]
    return cosine_distances(before, np.arange(len(shown)), after, n_rows)


def _most_used(facts: list[work.Facts], terms: Any) -> tuple[TermUse, ...]:
    weight = np.sum([fact.released for fact in facts], axis=0)
    documents = np.sum([fact.documents for fact in facts], axis=0)
    heaviest = np.lexsort((terms, -weight))[:TERMS_SHOWN]
    return tuple(
        TermUse(str(terms[term]), int(documents[term]), round(float(weight[term] / documents[term]), 6))
        for term in heaviest
    )
