"""protect: from raw files to a release that anyone can verify."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from shoal.bundle.earlier import Earlier, read_earlier
from shoal.bundle.folders import (
    CERTIFICATE,
    PUBLIC_FOLDER,
    SEAL,
    check_places,
    folders_written_aside,
    private_beside,
    write_files,
    write_text,
)
from shoal.bundle.signing import SigningKey, write_signature
from shoal.errors import InputError
from shoal.io import Roles
from shoal.io.files import shown
from shoal.io.kinds.choices import ColumnChoices, column_choices
from shoal.io.private_files import PRIVATE_FOLDER
from shoal.microaggregation.blocks.executors import give_back_room
from shoal.protection.coarsening import checked_coarsening
from shoal.protection.documents import document_protection
from shoal.protection.sketches import record_sketches
from shoal.protection.tables import check_method
from shoal.release.cluster import schedule_of
from shoal.release.documents.draft import draft_documents
from shoal.release.draft import Draft
from shoal.release.promises import PROMISES, checked_promises
from shoal.release.sketches.crowd import draft_crowd_sketches
from shoal.release.sketches.records import draft_record_sketches
from shoal.release.sources import DocumentSource, Source, open_source
from shoal.release.tables.draft import draft_table
from shoal.release.tables.source import TableOptions
from shoal.release.writing import write_release
from shoal.results.promised import DISTINCT, GroupPromises, asked_option
from shoal.sketch import CrowdSketch, DeltaSketch, KVarianceSketch
from shoal.sketch.records import check_components
from shoal.vectors import VectorSpace

MISSING = ("refuse", "withhold", "group", "impute")


@dataclass(frozen=True)
class Protected:
    """Where the release and its private side are, and what the certificate says."""

    folder: Path
    private: Path
    certificate: Mapping[str, Any]


class MoreOptions(TypedDict, total=False):
    """What else `protect` takes, by name.

    Parameters
    ----------
    text_column, id_column, label_column : str
        For documents; the label is confidential and released unchanged. The id column names a table's records, too, on
        the private side, so that a later release can follow.
    diversity : {"distinct", "entropy", "recursive"}
        How they are counted: different ones (p-sensitive k-anonymity is the same); as hard to guess as l equally
        frequent ones; or so that the most frequent one is less than `c` times as frequent as all from the l-th on.
    c : number above 0
        For diversity="recursive".
    t : number above 0, at most 1
        How far a group's values of a confidential column may be from those of all records (t-closeness).
    person : str
        For tables: the column that says whose a record is (or which household's). A crowd is then k different people;
        a person's records may be in several groups. The column is not released.
    k_column : str
        For tables: the column with each record's own k, where it is above `k`. It is not released.
    missing : {"refuse", "withhold", "group", "impute"}
        What to do with a table's rows that lack a quasi-identifier that is no label: "group" takes a gap for a value of
        its own, which a group has as a whole or not at all; "impute" fills it with the mean of the group.
    kinds : dict of column: str
        For tables, as all that follow up to `coarsen`: what columns hold, where that is not recognised: "number",
        "whole", "date", "label", "code", "ordered", "yes-no"; dates also with their form, "date:%d/%m/%Y".
    categorical : list of columns, or dict of column: "most frequent" or "set"
        Plain categories: the most frequent value stands for a group, or the set of its values.
    order : dict of column: list of labels, the lowest first
        Ordered labels, whose median stands for a group.
    round : list of columns
        Numbers that are whole in the release.
    generalise : dict of column: "month", "year" or "decade"
        Dates that are released as periods.
    coarsen : dict of column: int
        For tables: columns of numbers that are aggregated once more, each on its own, after the method has masked them,
        so that at least so many records share each value there: {"income": 40}.
    client : dask.distributed.Client or the address of a scheduler
        For documents or a table in parts (a folder, or a pattern such as "letters/*.parquet"; with roles it is a
        table): read, group and write them on the cluster. The release comes in parts as well. A pattern without a
        client is worked on here.
    attack : bool
        Attack the release before it is handed out, and say in the report what was found.
    after, earlier_private : path
        For tables: an earlier release, made with an id column, whose rows this one keeps, and its private side.
        Newcomers have groups of their own, and fewer than k of them wait.
    sign : path
        Your OpenSSH private key (Ed25519), with which the certificate is signed.
    """

    text_column: str | None
    id_column: str | None
    label_column: str | None
    missing: str
    kinds: Mapping[str, str] | None
    categorical: Any
    order: Mapping[str, Any] | None
    round: Any
    generalise: Mapping[str, str] | None
    coarsen: Mapping[str, int] | None
    client: Any
    attack: bool
    after: str | os.PathLike[str] | None
    earlier_private: str | os.PathLike[str] | None
    diversity: str
    c: float | None
    t: float | None
    person: str | None
    k_column: str | None
    sign: str | os.PathLike[str] | SigningKey | None


def protect(
    source: Source,
    k: int = 5,
    out: str | os.PathLike[str] = "release",
    *,
    roles: Roles | None = None,
    space: VectorSpace | None = None,
    method: Any = None,
    l: float | None = None,
    private: str | os.PathLike[str] | None = None,
    force: bool = False,
    **more: Unpack[MoreOptions],
) -> Protected:
    """Make a release of documents or of a table in which every record shares what is protected with k - 1 others.

    Parameters
    ----------
    source : path, list of texts, Corpus, or any dataframe
        A folder of text files, JSONL, or CSV/Parquet with a text column are documents; so are baskets (.dat, JSONL of
        lists, a column of lists named "items"), whose items are their words. Other tables are tables.
    k : int, at least 2
    out : path
        The folder to make. It appears whole or not at all.
    roles : Roles
        For tables: which columns are protected, released, dropped. A column without a role is dropped.
    space : VectorSpace
        For documents: how they become vectors; min_df is k unless given.
    method : an estimator, whose k is replaced
        SphericalMicroaggregation, SemanticMicroaggregation, CrowdSketch, or DeltaSketch or KVarianceSketch, which
        promise no crowd, for documents; Microaggregation, CategoricalMicroaggregation or MixedMicroaggregation for
        tables, or a function of the names of its numbers and of its labels. None: for tables by the columns.
    l : number of at least 2; for entropy, above 1
        How many values of every confidential column a group has at least; groups are joined to reach it.
    private : path
        The private side: which record became which row, words left out. Default: next to `out`, "-private" added.
    force : bool
        Replace an earlier release.
    more
        See `MoreOptions`.
    """
    _check_names(more)
    missing, client, attack = more.get("missing", "refuse"), more.get("client"), more.get("attack", True)
    key = more.get("sign")
    signing = SigningKey.read(key) if isinstance(key, str | os.PathLike) else key
    release = Path(out)
    hidden = private_beside(release) if private is None else Path(private)
    _check_numbers(k, missing)
    k = int(k)
    promises = checked_promises(l, **{name: more[name] for name in PROMISES if name in more})  # type: ignore[literal-required]
    coarsen = checked_coarsening(more.get("coarsen"))
    choices = _choices(more)
    columns: dict[str, Any] = {name: more.get(name) for name in ("text_column", "id_column", "label_column")}
    opened = open_source(source, roles=roles, on_cluster=client is not None, **columns)
    check_places(opened.path, release, hidden, force)
    draft: Callable[..., Draft]
    if isinstance(opened, DocumentSource):
        _check_for_documents(promises, opened.label, missing, coarsen, choices, more.get("after"))
        draft = _draft_of_documents(opened, k, method, space, promises, attack)
    else:
        _check_for_tables(columns, space)
        named, earlier = columns["id_column"], _earlier(more, hidden, release)
        asked = TableOptions(method, promises, missing, coarsen, attack, choices, named, earlier)
        _check_following(asked, opened.whole)
        draft = partial(draft_table, opened, k, asked)
    with schedule_of(client, opened.whole) as schedule:
        sealed = not isinstance(opened, DocumentSource) and columns["id_column"] is not None
        return _write(lambda *folders: draft(folders, schedule), release, hidden, signing, sealed)


def _check_names(more: MoreOptions) -> None:
    for name in more.keys() - MoreOptions.__annotations__.keys():
        raise TypeError(f"protect() got an unexpected keyword argument {name!r}")


def _choices(more: MoreOptions) -> ColumnChoices:
    """What was said about columns."""
    said = {name: more.get(name) for name in ("kinds", "categorical", "order", "generalise")}
    return column_choices(**said, rounded=more.get("round"))


def _draft_of_documents(
    source: DocumentSource, k: int, method: Any, space: VectorSpace | None, promises: GroupPromises, attack: bool
) -> Callable[..., Draft]:
    """What drafts a release of documents: as vectors, or as sketches."""
    if isinstance(method, DeltaSketch | KVarianceSketch):
        protection = record_sketches(method, space, k, source.of_items)
        _check_for_records(protection.name, promises, source.whole)
        return partial(draft_record_sketches, source, protection)
    if isinstance(method, CrowdSketch):
        check_components("components", method.components)
        grouping = document_protection(method.method, space, k, source.of_items)
        return partial(draft_crowd_sketches, source, k, method, grouping, promises, attack)
    return partial(draft_documents, source, k, document_protection(method, space, k, source.of_items), promises, attack)


def _check_for_records(name: str, promises: GroupPromises, whole: bool) -> None:
    if promises:
        asked = asked_option(promises)
        raise InputError(f"{asked} is for groups, and {name} have none; leave it out, or use crowd sketches")
    if not whole:
        raise InputError(f"{name} are made of one file, for parts would tell where a record came from; join them first")


def _check_for_documents(
    promises: GroupPromises,
    label: str | None,
    missing: str,
    coarsen: Mapping[str, int],
    choices: ColumnChoices,
    after: Any,
) -> None:
    if after is not None:
        raise InputError(
            "after is for tables; documents that come and go are kept by the index: shoal index create --from"
        )
    if choices != ColumnChoices():
        raise InputError("kinds of columns are for tables, and this is a collection of documents; leave them out")
    if promises.of_values and label is None:
        value = promises.l if promises.l is not None else promises.t
        raise InputError(
            f"{asked_option(promises)[2:]}={value:g} needs a confidential column; name it with --label-column"
        )
    if promises.of_crowds:
        asked = "--person" if promises.person is not None else "--k-column"
        raise InputError(f"{asked} is for tables, and this is a collection of documents; leave it out")
    if missing != "refuse":
        raise InputError("--missing is for tables, and this is a collection of documents; leave it out")
    for name, least in coarsen.items():
        raise InputError(f"coarsen {shown(name)}={least}: documents have no columns of numbers; leave it out")


def _check_for_tables(columns: dict[str, str | None], space: VectorSpace | None) -> None:
    given = [name for name, column in columns.items() if column is not None and name != "id_column"]
    if given or space is not None:
        raise InputError(
            f"{(given or ['space'])[0]} is for documents, and this is a table; remove it, or remove the roles"
        )


def _earlier(more: MoreOptions, private: Path, release: Path) -> Earlier | None:
    """The release that is followed, read and verified; it must not be replaced by the one that follows."""
    folder, beside = more.get("after"), more.get("earlier_private")
    if folder is None:
        if beside is not None:
            raise InputError("earlier_private is the private side of an earlier release; name that, too: --after")
        return None
    places = {Path(folder).resolve(), (private_beside(Path(folder)) if beside is None else Path(beside)).resolve()}
    if places & {private.resolve(), release.resolve()}:
        raise InputError("the earlier release and its private side must stay as they are; choose other folders")
    return read_earlier(folder, beside)


def _check_following(options: TableOptions, whole: bool) -> None:
    """What can be asked of records with ids, and of a release that follows another."""
    check_method(options.method)
    if options.id_column is not None and not whole:
        raise InputError("id_column is for a table in one piece, and this is in parts; join them, or leave it out")
    if options.after is None:
        return
    if options.id_column is None:
        raise InputError("who is who in two releases goes by an id; name its column with --id-column")
    promises = options.promises
    if promises.of_crowds or promises.t is not None or (promises.l is not None and promises.diversity != DISTINCT):
        raise InputError("a release that follows another keeps k and distinct l; leave out what else is promised")
    if options.missing != "refuse":
        raise InputError("a release that follows another needs all values; fill them, and leave --missing out")
    for name, least in options.coarsen.items():
        raise InputError(f"coarsen {shown(name)}={least}: rows that are kept cannot be coarsened; leave it out")


def _write(
    make_draft: Callable[[Path, Path], Draft],
    release: Path,
    private: Path,
    signing: SigningKey | None,
    seal_beside: bool,
) -> Protected:
    """`seal_beside`: the private side says which release it belongs to, for a release that follows."""
    with folders_written_aside((private, PRIVATE_FOLDER), (release, PUBLIC_FOLDER)) as (private_aside, aside):
        draft = make_draft(private_aside, aside)
        give_back_room()
        write_files(private_aside, draft.private_files)
        content = write_release(draft, aside)
        if seal_beside:
            write_files(private_aside, {SEAL: write_text(content["seal"] + "\n")})
        if signing is not None:
            write_signature(aside, signing, (aside / CERTIFICATE).read_bytes())
    return Protected(release, private, content)


def _check_numbers(k: object, missing: str) -> None:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 2:
        raise InputError(f"k={k!r} must be a whole number of at least 2")
    check_missing(missing)


def check_missing(missing: str) -> None:
    """Refuse anything else."""
    if missing not in MISSING:
        raise InputError(f"missing={missing!r} is not known; use {', '.join(map(repr, MISSING))}")
