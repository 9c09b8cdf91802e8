"""Documents in parts to a release in parts: nothing but counts, samples and figures ever comes together in one place.

The schedule is a Dask client, or this process. Every step is a function of what came before, so a lost worker costs
time and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from shoal import progress
from shoal.errors import InputError, MissingExtra
from shoal.microaggregation import SphericalMicroaggregation
from shoal.microaggregation.blocks import Plan, block_count, group_in_blocks
from shoal.microaggregation.schedule import Here, Schedule
from shoal.release import part_work as work
from shoal.release.bundle import MAPPING_FOLDER, write_csv
from shoal.release.distances import NOT_TOLD, cosine_distances
from shoal.release.documents import (
    NO_TERM,
    TERM_COLUMNS,
    TERMS_SHOWN,
    too_few,
    warn_of_rare_terms,
    words,
    words_left_out,
)
from shoal.release.draft import Draft
from shoal.release.groups import FEW, sizes_of, stated_loss
from shoal.release.released_parts import part_name
from shoal.release.summary import Distances, Summary, TermUse
from shoal.results import Diversity, Loss, Withheld
from shoal.vectors import VectorSpace

__all__ = ["draft_parts", "schedule_of"]


def draft_parts(
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
    n_rows = space.n_documents_ - len(empty)
    if n_rows < k:
        raise too_few(k, n_rows, len(empty), len(skipped))

    model = clone(method).set_params(k=k)
    most = -(-n_rows // block_count(model.blocks, n_rows, k))
    plan = Plan(k, most, True, model.refine, model.time_budget, model.random_state)
    blocks = group_in_blocks(rows, n_rows, plan, schedule)
    if l is not None:
        blocks = [submit(work.diverse, block, l) for block in blocks]
    blocks = [submit(work.arranged, block) for block in blocks]
    first = gather([submit(work.first_row, block) for block in blocks])
    private, release = folders
    (release / part_name("documents", 0)).parent.mkdir()
    (private / MAPPING_FOLDER).mkdir()
    written = []
    for number, place in enumerate(sorted(range(len(blocks)), key=first.__getitem__)):
        target = part_name("documents", number)
        mapping = private / MAPPING_FOLDER / Path(target).name
        written.append(submit(work.write_part, blocks[place], space.terms_, label, str(release / target), str(mapping)))
    facts: list[work.Facts] = gather(written)
    progress.step("writing", len(facts), len(facts))

    reasons = Counter(one.reason for one in skipped)
    withheld = [Withheld(reason, count) for reason, count in sorted(reasons.items())]
    withheld += [Withheld(NO_TERM, len(empty))] if empty else []
    sizes = sum((Counter(fact.sizes) for fact in facts), Counter())  # equal representatives are one to the reader
    summary = Summary(
        kind="documents",
        k=k,
        method="spherical microaggregation (MDAV)" + (", refined" if model.refine else ""),
        promises_k=True,
        rows=n_rows,
        smallest_group=min(sizes.values()),
        group_sizes=sizes_of(np.array(list(sizes.values()))),
        loss=stated_loss(_loss(facts, n_rows), n_rows >= FEW),
        distances=_distances(facts, n_rows) if n_rows >= FEW else NOT_TOLD,
        withheld=tuple(withheld),
        diversity=() if label is None else (_diversity(label, facts),),
        l_promised=l,
        terms=_most_used(facts, space.terms_),
        vocabulary=len(space.terms_),
        stemmed=space.stem,
        words_read=space.words_read_,
        words_left_out=words_left_out(space),
        files=(
            (
                "vectors",
                "folder of parts, one row a document: its terms and weights" + (", its label" if label else ""),
            ),
            ("terms.txt", "every term of the release, one a line"),
        ),
    )
    described = [{"name": "terms", "role": "quasi", "type": "list of text"}]
    described += [{"name": "weights", "role": "quasi", "type": "list of numbers"}]
    described += [] if label is None else [{"name": label, "role": "confidential", "type": "text"}]
    listed = "".join(f"{term}\n" for term in space.terms_.tolist())
    return Draft(
        summary=summary,
        columns=tuple(described),
        shared_columns=(TERM_COLUMNS,),
        parameters={"vector_space": space.get_params(), "microaggregation": model.get_params()},
        files={"terms.txt": lambda path: _write_text(path, listed)},
        private_files={
            "withheld.csv": write_csv(
                ("document", "reason"), [(s.name, s.reason) for s in skipped] + [(name, NO_TERM) for name in empty]
            ),
            "words_left_out.csv": write_csv(("step", "word", "occurrences"), words(space)),
        },
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
    total = np.sum([fact.total for fact in facts], axis=0)
    centre = total / np.linalg.norm(total)
    released = np.sum([fact.released for fact in facts], axis=0)
    return Loss(sse=sum(fact.sse for fact in facts), ssa=max(n_rows - float(released @ centre), 0.0))


def _distances(facts: list[work.Facts], n_rows: int) -> Distances:
    keys = np.concatenate([fact.sample[0] for fact in facts])
    shown = np.argsort(keys, kind="stable")[: work.SHOWN]
    before = sp.csr_matrix(sp.vstack([fact.sample[1] for fact in facts], format="csr"))[shown]
    after = sp.csr_matrix(sp.vstack([fact.sample[2] for fact in facts], format="csr"))[shown]
    return cosine_distances(before, np.arange(len(shown)), after, n_rows)


def _diversity(column: str, facts: list[work.Facts]) -> Diversity:
    values: dict[bytes, frozenset[str]] = {}
    for fact in facts:
        for digest, found in fact.values.items():
            values[digest] = values.get(digest, frozenset()) | found
    distinct = [len(found) for found in values.values()]
    different = frozenset().union(*values.values())
    single = sum(count <= 1 for count in distinct)
    return Diversity(column, min(distinct), single, len(distinct), len(different))


def _most_used(facts: list[work.Facts], terms: Any) -> tuple[TermUse, ...]:
    weight = np.sum([fact.released for fact in facts], axis=0)
    documents = np.sum([fact.documents for fact in facts], axis=0)
    heaviest = np.lexsort((terms, -weight))[:TERMS_SHOWN]
    return tuple(
        TermUse(str(terms[term]), int(documents[term]), round(float(weight[term] / documents[term]), 6))
        for term in heaviest
    )


@contextmanager
def schedule_of(client: Any) -> Iterator[Schedule]:
    """A Dask client as it is, one made for the address of a scheduler, or for None this process."""
    if client is None:
        with Here() as here:
            yield here
    elif not isinstance(client, str):
        yield client
    else:
        try:
            from dask.distributed import Client
        except ImportError:
            raise MissingExtra("cluster", "running on a Dask cluster") from None
        try:
            connected: Any = Client(client, timeout="10s")  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as problem:
            reason = type(problem).__name__
            raise InputError(f"no Dask scheduler answers at {client} ({reason}); check the address") from None
        with connected:
            yield connected
