"""protect: from raw files to a release that anyone can verify."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal import progress
from shoal.bundle.folders import CERTIFICATE, check_places, folders_written_aside, private_beside, write_files
from shoal.bundle.formulas import warn_of_formulas
from shoal.errors import InputError
from shoal.io import Corpus, Roles, looks_like_documents, read_table
from shoal.io.files import shown
from shoal.io.parts import in_parts, list_parts
from shoal.io.private_files import PRIVATE_FOLDER
from shoal.microaggregation import Microaggregation, SphericalMicroaggregation
from shoal.microaggregation.blocks.executors import Schedule
from shoal.ontology.value_mapping import check_mapping, explained_columns
from shoal.pages.report import readme_text, report_html
from shoal.protection.coarsening import checked_coarsening
from shoal.protection.documents import document_method
from shoal.release.certificate import certificate, dump
from shoal.release.cluster import schedule_of
from shoal.release.documents import draft_documents
from shoal.release.documents_in_parts import draft_document_parts
from shoal.release.draft import Draft
from shoal.release.tables import draft_table, table_method
from shoal.release.tables_in_parts import draft_table_parts
from shoal.vectors import VectorSpace

__all__ = ["Protected", "in_parts", "is_documents", "protect"]

EPOCH = 315_532_800  # the beginning of 1980, the first time that every archive can hold

Source = str | os.PathLike[str] | Corpus | Iterable[str] | Any


@dataclass(frozen=True)
class Protected:
    """Where the release and its private side are, and what the certificate says."""

    folder: Path
    private: Path
    certificate: Mapping[str, Any]


def protect(
    source: Source,
    k: int = 5,
    out: str | os.PathLike[str] = "release",
    *,
    text_column: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    roles: Roles | None = None,
    space: VectorSpace | None = None,
    method: Any = None,
    l: int | None = None,
    missing: str = "refuse",
    coarsen: Mapping[str, int] | None = None,
    private: str | os.PathLike[str] | None = None,
    force: bool = False,
    client: Any = None,
) -> Protected:
    """Make a release of documents or of a table in which every record shares what is protected with k - 1 others.

    Parameters
    ----------
    source : path, list of texts, Corpus, or any dataframe
        A folder of text files, JSONL, or CSV/Parquet with a text column are documents; other tables are tables.
    k : int, at least 2
    out : path
        The folder to make. It appears whole or not at all.
    text_column, id_column, label_column : str
        For documents; the label is confidential and released unchanged.
    roles : Roles
        For tables: which columns are protected, released, dropped. A column without a role is dropped.
    space : VectorSpace
        For documents: how they become vectors; min_df is k unless given.
    method : an estimator, whose k is replaced
        SphericalMicroaggregation or SemanticMicroaggregation for documents; Microaggregation,
        CategoricalMicroaggregation or MixedMicroaggregation for tables. For a table it may also be a function that gets
        the names of its numbers and of its labels, and gives the estimator. None: for tables by the columns.
    l : int
        Least number of distinct values of every confidential column in a group; groups are merged to reach it.
    missing : {"refuse", "withhold"}
        What to do with a table's rows that lack a quasi-identifier.
    coarsen : dict of column: int
        For tables: columns of numbers that are aggregated once more, each on its own, after the method has masked them,
        so that at least so many records share each value there: {"income": 40}.
    private : path
        The private side: which record became which row, words left out. Default: next to `out`, "-private" added.
    force : bool
        Replace an earlier release.
    client : dask.distributed.Client or the address of a scheduler
        For documents or a table in parts (a folder, or a pattern such as "letters/*.parquet"; with roles it is a
        table): read, group and write them on the cluster. The release comes in parts as well. A pattern without a
        client is worked on here.
    """
    if isinstance(source, Iterator):
        source = list(source)
    release = Path(out)
    hidden = private_beside(release) if private is None else Path(private)
    path = Path(source) if isinstance(source, str | os.PathLike) and "://" not in str(source) else None
    _check_numbers(k, l, missing)
    l = None if l is None else int(l)
    coarser = checked_coarsening(coarsen)
    check_places(path, release, hidden, force)
    columns = {"text_column": text_column, "id_column": id_column, "label_column": label_column}
    _check_label(label_column, text_column, id_column)
    if client is not None or in_parts(source):
        if not isinstance(source, str | os.PathLike):
            raise InputError("a cluster reads files; give a folder or a pattern such as letters/*.parquet")
        _refuse(
            coarser, "all values of a column are sorted at once, and the input is in parts; give a table in one file"
        )
        make_draft = _drafted_in_parts(str(source), int(k), columns, roles, space, method, l, missing)
        with schedule_of(client) as schedule:
            return _write(lambda *folders: make_draft(folders, schedule), release, hidden)
    draft: Draft
    if is_documents(source, roles, text_column):
        _check_for_documents(l, label_column, missing)
        _refuse(coarser, "documents have no columns of numbers; leave it out")
        if roles is not None:
            raise InputError("roles are for tables, and this is a collection of documents; leave them out")
        draft = draft_documents(
            _corpus(source, **columns),
            int(k),
            document_method(method, space, int(k)),
            l,
            label_column,
        )
    else:
        _check_for_tables(columns, space)
        method = table_method(method)
        ontology, mapping = _meanings(method, roles)
        unchanged = () if roles is None else (*roles.confidential, *roles.insensitive)
        table = read_table(source, verbatim=(*unchanged, *explained_columns(ontology, mapping)))
        check_mapping(mapping, table.data.column_names)
        draft = draft_table(table, int(k), roles, method, l, missing, coarser)
    return _write(lambda *_: draft, release, hidden)


def _meanings(method: Any, roles: Roles | None) -> tuple[Any, Any]:
    """The ontology and the mapping that the user gave for labels, if any; a chooser is asked as if all were labels."""
    labels = ("",) if roles is None else roles.quasi
    for numbers in ((), labels[:1]):
        try:
            chosen = method(numbers, labels) if callable(method) else method
        except InputError:  # what it has is for numbers
            continue
        return getattr(chosen, "ontology", None), getattr(chosen, "mapping", None)
    return None, None


def _drafted_in_parts(
    source: str,
    k: int,
    columns: dict[str, str | None],
    roles: Roles | None,
    space: VectorSpace | None,
    method: SphericalMicroaggregation | Microaggregation | None,
    l: int | None,
    missing: str,
) -> Callable[[tuple[Path, Path], Schedule], Draft]:
    """What drafts the release of a source in parts, once it has folders and a schedule: with roles it is a table."""
    if roles is not None:
        _check_for_tables(columns, space)
        # In parts there are no labels yet: a column that is none of numbers is refused when it is read.
        numeric = _fitting(
            method(roles.quasi, ()) if callable(method) else method, Microaggregation, "a table in parts"
        )
        parts = list_parts(source)
        return lambda folders, schedule: draft_table_parts(parts, k, roles, numeric, l, missing, folders, schedule)
    _check_for_documents(l, columns["label_column"], missing)
    spherical = _fitting(method, SphericalMicroaggregation, "documents in parts")
    chosen = VectorSpace(min_df=k) if space is None else space
    parts = list_parts(source)
    return lambda folders, schedule: draft_document_parts(parts, columns, k, chosen, spherical, l, folders, schedule)


def _refuse(coarsen: Mapping[str, int], why: str) -> None:
    for name, least in coarsen.items():
        raise InputError(f"coarsen {shown(name)}={least}: {why}")


def _check_for_documents(l: int | None, label: str | None, missing: str) -> None:
    if l is not None and label is None:
        raise InputError(f"l={l} needs a confidential column; name it with --label-column")
    if missing != "refuse":
        raise InputError("--missing is for tables, and this is a collection of documents; leave it out")


def _check_for_tables(columns: dict[str, str | None], space: VectorSpace | None) -> None:
    given = [name for name, column in columns.items() if column is not None]
    if given or space is not None:
        raise InputError(f"{(given or ['space'])[0]} is for documents, and this is a table; leave out it or the roles")


def _write(make_draft: Callable[[Path, Path], Draft], release: Path, private: Path) -> Protected:
    umask = os.umask(0)
    os.umask(umask)
    with folders_written_aside((private, PRIVATE_FOLDER), (release, 0o777 & ~umask)) as (private_aside, aside):
        draft = make_draft(private_aside, aside)
        warn_of_formulas((column["name"] for column in draft.columns), draft.formulas)
        progress.step("writing", 0, 2)
        write_files(private_aside, draft.private_files)
        write_files(aside, draft.files)
        progress.step("writing", 1, 2)
        (aside / "report.html").write_text(report_html(draft.summary), encoding="utf-8", newline="\n")
        (aside / "README.md").write_text(readme_text(draft.summary), encoding="utf-8", newline="\n")
        content = certificate(draft, aside)
        (aside / CERTIFICATE).write_bytes(dump(content))
        for path in aside.rglob("*"):
            os.utime(path, (EPOCH, EPOCH))  # when files were written is nobody's business
        progress.step("writing", 2, 2)
    return Protected(release, private, content)


def is_documents(source: Source, roles: Roles | None, text_column: str | None) -> bool:
    """Whether the source is recognised as documents; else it is a table."""
    if isinstance(source, str | os.PathLike):
        return roles is None and looks_like_documents(source, text_column)
    return isinstance(source, Corpus) or (isinstance(source, list | tuple) and all(isinstance(t, str) for t in source))


def _corpus(source: Source, **columns: str | None) -> Corpus:
    if isinstance(source, str | os.PathLike):
        return Corpus(source, **columns)
    return source if isinstance(source, Corpus) else Corpus.from_texts(source)


def _fitting(method: Any, kind: type, what: str) -> Any:
    if method is None:
        return kind()
    if not isinstance(method, kind):
        raise InputError(f"{type(method).__name__} cannot protect {what}; use {kind.__name__}")
    return method


def _check_label(label: str | None, text: str | None, identity: str | None) -> None:
    """The label is published: it must be neither the text nor the id, nor be called like what is released beside it."""
    if label is None:
        return
    if label in (text or "text", identity or "id"):
        raise InputError(
            f"the label column {shown(label)} is also the text or the id, which stay private; name another"
        )
    if label in ("terms", "weights"):
        raise InputError(f"a label column named {shown(label)} would clash with the release's own; rename the column")


def _check_numbers(k: object, l: object, missing: str) -> None:
    for name, value in (("k", k), ("l", l)):
        if name == "l" and value is None:
            continue
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 2:
            raise InputError(f"{name}={value!r} must be a whole number of at least 2")
    if missing not in ("refuse", "withhold"):
        raise InputError(f"missing={missing!r} is not known; use 'refuse' or 'withhold'")
