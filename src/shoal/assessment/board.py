"""board: one page with what a disclosure board asks of a release, each answer a count or the owner's stated word."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.assessment.assess import assess
from shoal.assessment.audit.audit import audit
from shoal.data.kinds.inspection import inspect
from shoal.data.private_files import PRIVATE_FOLDER
from shoal.data.sources import table_source
from shoal.errors import InputError
from shoal.language import speaking
from shoal.pages.board import board_html
from shoal.release.folders import PUBLIC_FOLDER, check_free, folders_written_aside, private_beside
from shoal.release.load import load
from shoal.release.verifying import verify
from shoal.request.judging_options import BoardOptions
from shoal.request.options import Reading
from shoal.request.plan import planned
from shoal.request.request import checked_part
from shoal.results.assessment import Board, TableAssessment
from shoal.results.stated import summary_of

PAGE = "report.html"


def board(
    release: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    lang: str = "en",
    original: Any = None,
    private: str | os.PathLike[str] | None = None,
    person: str | None = None,
    weight: str | None = None,
    population: int | None = None,
    household: str | None = None,
    tabulate: Sequence[str] | None = None,
    model: Sequence[str] | None = None,
    force: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    skip_rows: int | None = None,
    header_rows: int | None = None,
    missing_codes: Mapping[str, Any] | None = None,
    query: str | None = None,
) -> Board:
    """What a disclosure board asks of a release of a table, on one page to print and sign.

    From the release alone: what is promised and counted, what was done to each column, what the owner states. With
    the original also the risk before, why each column has its role, and which analyses hold; keep that page to
    yourself.

    The options are those of `shoal board`; docs/cli.md has a sentence on each.

    Parameters
    ----------
    release : path
        The folder of a release of a table.
    out : path
        A folder to make for the page. None: nothing is written.
    original : path, or any dataframe
        The table behind the release, or the plan (.toml) that it was made by.
    """
    options = dict(locals())  # all of them, before any other name is bound
    original, options = planned(original, options)
    options["original"] = original
    asked, reading = checked_part(BoardOptions, options), checked_part(Reading, options)
    if out is not None:
        check_free(Path(out), force, lambda content: content == [PAGE])
    found = _answers(Path(release), asked, reading)
    if out is not None:
        with speaking(asked.lang):
            page = board_html(found)
        with folders_written_aside((Path(out), PUBLIC_FOLDER if found.audit is None else PRIVATE_FOLDER)) as (aside,):
            (aside / PAGE).write_text(page, encoding="utf-8", newline="\n")
    return found


def _answers(release: Path, asked: BoardOptions, reading: Reading) -> Board:
    checked = verify(release)
    content = load(release, check=not checked).certificate  # which refuses what does not hold
    if content["kind"] != "table":
        raise InputError(
            f"{str(release)!r} is a release of {content['kind']}; the board's page is for tables, so read its report"
        )
    summary = summary_of("table", content["promises"], content["stated"], ())
    columns = tuple((column["name"], column["role"]) for column in content["promises"]["columns"])
    found = Board(summary, columns, content["seal"], len(checked.claims), checked.signature)
    if asked.original is None:
        for name in ("private", "person", "weight", "population", "household", "tabulate", "model"):
            if getattr(asked, name) is not None:
                raise InputError("{option} is about the original; give that as well", name)
        return found
    source = table_source(asked.original, reading)
    with speaking(asked.lang):
        reasons = {column.name: (column.role, column.reason) for column in inspect(source).columns}
    quasi, confidential = ([name for name, its in columns if its == role] for role in ("quasi", "confidential"))
    before = audit(
        source,
        quasi=quasi,
        confidential=confidential,
        person=asked.person,
        weight=asked.weight,
        population=asked.population,
        household=asked.household,
    )
    after = assess(
        source,
        release,
        private=asked.private or private_beside(release),
        person=asked.person,
        weight=asked.weight,
        tabulate=asked.tabulate,
        model=asked.model,
    )
    assert isinstance(after, TableAssessment)
    proposed = {name: reasons[name][1] for name, role in columns if reasons.get(name, ("", ""))[0] == role}
    return replace(found, reasons=proposed, audit=before, assessment=after)
