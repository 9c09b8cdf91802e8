"""protect: from raw files to a release that anyone can verify."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from shoal.data.files import shown
from shoal.data.inputs import DocumentSource, Source, source_of
from shoal.data.private_files import PRIVATE_FOLDER
from shoal.data.roles import ColumnChoices
from shoal.errors import InputError
from shoal.language import speaking
from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch
from shoal.methods.sketches.sketches import check_components
from shoal.release.cluster.documents import draft_documents_in_parts
from shoal.release.cluster.parts import schedule_of
from shoal.release.cluster.tables import draft_table_in_parts
from shoal.release.documents.methods import document_method, document_space, method_of
from shoal.release.documents.sketches import CrowdSketches, RecordSketchSteps
from shoal.release.documents.steps import DocumentSteps
from shoal.release.folders import (
    CERTIFICATE,
    PUBLIC_FOLDER,
    SEAL,
    check_places,
    folders_written_aside,
    private_beside,
    write_files,
)
from shoal.release.private_mapping import Earlier, read_earlier
from shoal.release.signing import SigningKey, write_signature
from shoal.release.tables.columns import TableOptions, table_method
from shoal.release.tables.steps import TableSteps
from shoal.release.writing import Draft, write_release
from shoal.request.options import DISTINCT, Publication
from shoal.request.plan import request_of
from shoal.request.request import Request, not_default
from shoal.results.notebook import html_table
from shoal.results.summary import CellShares


@dataclass(frozen=True)
class Protected:
    """Where the release and its private side are, and what the certificate says."""

    folder: Path
    private: Path
    certificate: Mapping[str, Any]
    # For the owner alone; the certificate has what may be published of these.
    measured_loss: float | None = None
    cells: tuple[CellShares, ...] = ()  # of a table: what is released of each protected column

    def _repr_html_(self) -> str:
        promises, stated = self.certificate["promises"], self.certificate["stated"]
        crowd = promises["anonymity"]
        others = (
            f"each like at least {crowd['smallest_group'] - 1:,} others" if crowd["whole_rows"] else "without a crowd"
        )
        rows = [
            ("Method", stated["method"]),
            ("Loss, measured", "" if self.measured_loss is None else f"{self.measured_loss:.1%}"),
            *((f"Column {one.name}", f"{one.true:.0%} true, {one.changed:.0%} changed") for one in self.cells),
            ("Seal", self.certificate["seal"]),
            ("Private side", self.private),
        ]
        return html_table(f"{promises['rows']:,} rows in {self.folder}, {others}.", ("", ""), rows)


def protect(
    source: Source,
    k: int = 5,
    out: str | os.PathLike[str] = "release",
    *,
    quasi: Sequence[str] | None = None,
    confidential: Sequence[str] | None = None,
    insensitive: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    weight: str | None = None,
    calibrate: Sequence[str] | None = None,
    roles: Any = None,
    text_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    kinds: Mapping[str, str] | None = None,
    categorical: Any = None,
    order: Mapping[str, Any] | None = None,
    round: Any = None,
    recode: Mapping[str, str] | None = None,
    treat: Mapping[str, str] | None = None,
    keep_visible: Mapping[str, str] | None = None,
    coarsen: Mapping[str, int] | None = None,
    allow: Sequence[str] | None = None,
    missing: str = "refuse",
    l: float | None = None,
    diversity: str = "distinct",
    c: float | None = None,
    t: float | None = None,
    beta: float | None = None,
    person: str | None = None,
    household: str | None = None,
    pseudonym: bool = False,
    k_column: str | None = None,
    method: Any = None,
    refine: bool = True,
    time_budget: float | None = None,
    attribute_groups: int | None = None,
    percent: float | Mapping[str, float] | None = None,
    ontology: Any = None,
    mapping: Any = None,
    importance: Mapping[str, float] | None = None,
    components: int | None = None,
    delta: float | None = None,
    max_components: int | None = None,
    key: Any = None,
    space: Any = None,
    language: str | None = None,
    wordnet: bool | None = None,
    stem: bool | None = None,
    min_df: int | None = None,
    max_terms: int | None = None,
    terms_per_document: int | None = None,
    attack: bool = True,
    force: bool = False,
    private: str | os.PathLike[str] | None = None,
    after: str | os.PathLike[str] | None = None,
    earlier_private: str | os.PathLike[str] | None = None,
    lang: str = "en",
    sign: Any = None,
    client: Any = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    skip_rows: int | None = None,
    header_rows: int | None = None,
    missing_codes: Mapping[str, Any] | None = None,
    query: str | None = None,
) -> Protected:
    """Make a release of documents or of a table in which every record shares what is protected with k - 1 others.

    The options are those of `shoal protect`; docs/cli.md has a sentence on each.

    Parameters
    ----------
    source : path, list of texts, Corpus, or any dataframe
        A folder of text files, JSONL, or CSV/Parquet with a text column are documents; so are baskets (.dat, JSONL of
        lists, a column of lists named "items"), whose items are their words. Other tables are tables. A pattern such as
        "letters/*.parquet" stands for parts. A plan (.toml) has its own source and options; what is given here wins.
    k : int, at least 2
    out : path
        The folder to make. It appears whole or not at all.
    roles : Roles
        The columns of each role, in place of `quasi`, `confidential`, `insensitive` and `drop`.
    method : str or estimator
        A name, with its parameters beside it, or an estimator, which has them itself and whose k is replaced. None: by
        the columns.
    space : VectorSpace
        How documents become vectors, in place of `language`, `stem` and the other steps.
    sign : path or SigningKey
    client : dask.distributed.Client or the address of a scheduler
    """
    options = dict(locals())  # all of them, before any other name is bound
    return make_release(request_of(options.pop("source"), not_default(options)))


class Steps(Protocol):
    """What a kind of data and a method do at each step; each is a function of plain values."""

    def read(self, source: Any) -> Any:
        """The records, checked, in the order of their content."""

    def group(self, records: Any) -> Any:
        """The group of each record: at least k of them."""

    def join(self, groups: Any, records: Any) -> Any:
        """Groups joined until each has what is promised beside k."""

    def represent(self, groups: Any, records: Any) -> Any:
        """What stands for each group."""

    def publish(self, masked: Any, groups: Any, records: Any) -> Any:
        """The rows as they will be released, and the figures that may be published."""

    def attack(self, publication: Any, records: Any) -> Any:
        """What the strongest known attackers find in them."""

    def write(self, publication: Any, findings: Any, records: Any, folders: tuple[Path, Path]) -> Draft:
        """The rows written into the folders (private, release), and the draft of all other files."""


def carry_out(steps: Steps, source: Any, folders: tuple[Path, Path]) -> Draft:
    """All seven steps, for records in one piece."""
    # Memory freed in small pieces goes back to the system: half a gigabyte once a million baskets were read.
    return_memory = pa.system_memory_pool().release_unused
    records = steps.read(source)
    return_memory()
    groups = steps.group(records)
    groups = steps.join(groups, records)
    return_memory()
    masked = steps.represent(groups, records)
    publication = steps.publish(masked, groups, records)
    findings = steps.attack(publication, records)
    return_memory()
    return steps.write(publication, findings, records, folders)


def make_release(request: Request) -> Protected:
    """Make the release that is asked for."""
    columns, publication = request.columns, request.publication
    opened, choices = source_of(request)
    release = Path(publication.out)
    hidden = private_beside(release) if publication.private is None else Path(publication.private)
    key = publication.sign
    signing = SigningKey.read(key) if isinstance(key, str | os.PathLike) else key
    check_places(opened.path, release, hidden, publication.force)
    steps: Any
    draft: Callable[..., Draft]
    if isinstance(opened, DocumentSource):
        steps = _document_steps(opened, request)
        draft = partial(draft_documents_in_parts, steps, opened)
    else:
        follows = publication.after is not None or publication.earlier_private is not None
        asked = table_options(request, choices, _earlier(publication, hidden, release) if follows else None)
        if follows or columns.id_column is not None:
            _check_following(asked, opened.whole, opened.roles is not None and bool(opened.roles.weight))
        steps = TableSteps(request.k, asked)
        draft = partial(draft_table_in_parts, opened, request.k, asked)
    if opened.whole:
        sealed = isinstance(steps, TableSteps) and columns.id_column is not None
        return _write(
            lambda *folders: carry_out(steps, opened, folders), release, hidden, signing, sealed, publication.lang
        )
    with schedule_of(publication.client) as schedule:
        return _write(lambda *folders: draft(folders, schedule), release, hidden, signing, False, publication.lang)


def table_options(request: Request, choices: ColumnChoices, after: Earlier | None = None) -> TableOptions:
    """What a request asks for a table; `after` is the release that it follows."""
    columns = request.columns
    return TableOptions(
        table_method(request.method),
        request.promises,
        columns.missing,
        columns.coarsen or {},
        request.attack,
        choices,
        columns.id_column,
        after,
        tuple(columns.allow or ()),
        tuple(columns.calibrate or ()),
        {
            name: tuple(value.strip() for value in values.split("|"))
            for name, values in (columns.keep_visible or {}).items()
        },
    )


def _document_steps(source: DocumentSource, request: Request) -> DocumentSteps | RecordSketchSteps:
    """The steps to a release of documents: as vectors, or as sketches."""
    k, promises = request.k, request.promises
    if source.label is None and promises.of_values:
        asked = promises.asked.replace(" ", "=", 1)
        raise InputError(f"{asked} needs a confidential column; name it", "label_column")
    method = document_method(request.method)
    space = document_space(request.words, method, k, source.of_items, request.method.ontology)
    if isinstance(method, DeltaSketch | KVarianceSketch):
        steps = RecordSketchSteps(space, method, k)
        if promises.asked:
            problem = f"{{option}} is for groups, and {steps.name} have none; leave it out, or use crowd sketches"
            raise InputError(problem, promises.asked)
        if not source.whole:
            raise InputError(
                f"{steps.name} need one file: parts would reveal where a record came from; join them first"
            )
        return steps
    if isinstance(method, CrowdSketch):
        check_components("components", method.components)
        sketched = method_of(method.method, space, k)
        return DocumentSteps(sketched, promises, request.attack, CrowdSketches(method))
    return DocumentSteps(method_of(method, space, k), promises, request.attack)


def _earlier(asked: Publication, private: Path, release: Path) -> Earlier:
    """The release that is followed, read and verified; it must not be replaced by the one that follows."""
    folder, beside = asked.after, asked.earlier_private
    if folder is None:
        raise InputError("the private side of an earlier release needs that release as well; name it", "after")
    places = {Path(folder).resolve(), (private_beside(Path(folder)) if beside is None else Path(beside)).resolve()}
    if places & {private.resolve(), release.resolve()}:
        raise InputError("the earlier release and its private side must stay as they are; choose other folders")
    return read_earlier(folder, beside)


def _check_following(options: TableOptions, whole: bool, weighted: bool) -> None:
    """What can be asked of records with ids, and of a release that follows another."""
    if options.id_column is not None and not whole:
        raise InputError("id_column is for a table in one piece, and this is in parts; join them, or leave it out")
    if options.after is None:
        return
    if options.id_column is None:
        raise InputError("matching records across releases needs an id column; name it", "id_column")
    if weighted:
        raise InputError("a release that follows another cannot keep weights; leave them out", "weight")
    promises = options.promises
    others = (promises.t, promises.beta, promises.unit, promises.k_column)
    if promises.diversity != DISTINCT or any(asked is not None for asked in others):
        raise InputError("a release that follows another keeps k and distinct l; leave out what else is promised")
    if options.missing != "refuse":
        raise InputError(
            "a release that follows another needs all values; fill them, and leave {option} out", "missing"
        )
    for name, least in options.coarsen.items():
        raise InputError(f"coarsen {shown(name)}={least}: rows that are kept cannot be coarsened; leave it out")


def _write(
    make_draft: Callable[[Path, Path], Draft],
    release: Path,
    private: Path,
    signing: SigningKey | None,
    seal_beside: bool,
    language: str,
) -> Protected:
    """`seal_beside`: the private side says which release it belongs to, for a release that follows."""
    with folders_written_aside((private, PRIVATE_FOLDER), (release, PUBLIC_FOLDER)) as (private_aside, aside):
        with speaking(language):
            draft = make_draft(private_aside, aside)
        write_files(private_aside, draft.private_files)
        content = write_release(replace(draft, summary=replace(draft.summary, language=language)), aside)
        if seal_beside:
            write_files(private_aside, {SEAL: content["seal"] + "\n"})
        if signing is not None:
            write_signature(aside, signing, (aside / CERTIFICATE).read_bytes())
    return Protected(release, private, content, draft.measured_loss, draft.cells)
