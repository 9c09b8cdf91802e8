"""The page for a disclosure board: what it asks, answered in one print-out with lines to sign."""

from __future__ import annotations

from shoal.pages.assessments import verdict
from shoal.pages.words import guarantee, page, percent, value_promises
from shoal.results.assessment import Board
from shoal.results.summary import TableFigures

ROLES = {
    "quasi": "others may know it of a person",
    "confidential": "what nobody should learn of a person",
    "insensitive": "called harmless by the owner",
    "weight": "sampling weight",
    "unit": "numbers people or households",
}
AS_IT_IS = {
    "confidential": "released as it is",
    "insensitive": "released as it is",
    "weight": "one for each group",
    "unit": "numbered anew",
}
TREATED = {
    "keep": "kept: true in every row",
    "generalise": "a band, set or concept that the original is in",
    "blank": "true, or blank",
}
MOST_ESTIMATES = 8  # the worst ones; all are in the assessment


def board_html(board: Board) -> str:
    """The whole page: style inside, nothing to fetch, nothing to run."""
    assessment, survey = board.assessment, board.assessment and board.assessment.survey
    return page(
        "board.html.jinja",
        b=board,
        s=board.summary,
        a=board.audit,
        guarantee=guarantee(board.summary),
        promises=value_promises(board.summary),
        columns=[_column(board, name, role) for name, role in board.columns],
        withheld=sum(reason.count for reason in board.summary.withheld),
        verdict=None if assessment is None else verdict(assessment),
        survey=survey,
        worst=sorted(survey.estimates, key=lambda estimate: estimate.overlap)[:MOST_ESTIMATES] if survey else (),
    )


def _column(board: Board, name: str, role: str) -> tuple[str, str, str, str, str]:
    """Name, who knows it, why that was assumed, what was done, and what is true of its cells."""
    figures = board.summary.figures
    assert isinstance(figures, TableFigures)
    reason = board.reasons.get(name, "decided by the owner" if board.audit else "")
    cells = next((cells for cells in figures.cells if cells.name == name), None)
    shares = (
        ""
        if cells is None
        else ", ".join(
            f"{percent(share)} {what}"
            for what in ("true", "coarser", "changed", "blank")
            if (share := getattr(cells, what))
        )
    )
    return name, ROLES.get(role, role), reason, _done(board, name, role), shares


def _done(board: Board, name: str, role: str) -> str:
    figures = board.summary.figures
    assert isinstance(figures, TableFigures)
    if role != "quasi":
        return AS_IT_IS.get(role, "")
    coarsened = dict(figures.coarsened).get(name)
    more = "" if coarsened is None else f", then coarsened to classes of {coarsened:,} or more"
    treated = dict(figures.treated)
    if name in treated:
        return TREATED[treated[name]] + more
    if not board.summary.promises_k:
        return board.summary.method + more
    if name in figures.medians_of:
        return "the middle label of its group" + more
    is_number = name in {column.name for column in figures.columns}
    return ("the mean of its group" if is_number else "one value for its whole group") + more
