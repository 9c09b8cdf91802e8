"""The page for a disclosure board: what it asks, answered in one print-out with lines to sign."""

from __future__ import annotations

from shoal.language import N_, _
from shoal.pages.assessments import verdict
from shoal.pages.words import guarantee, number, page, percent, said, value_promises
from shoal.results.assessment import Board
from shoal.results.summary import TableFigures

ROLES = {
    "quasi": N_("others may know it of a person"),
    "confidential": N_("what nobody should learn of a person"),
    "insensitive": N_("called harmless by the owner"),
    "weight": N_("sampling weight"),
    "unit": N_("numbers people or households"),
}
AS_IT_IS = {
    "confidential": N_("released as it is"),
    "insensitive": N_("released as it is"),
    "weight": N_("one for each group"),
    "unit": N_("numbered anew"),
}
TREATED = {
    "keep": N_("kept: true in every row"),
    "generalise": N_("a band, set or concept that the original is in"),
    "blank": N_("true, or blank"),
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
    reason = board.reasons.get(name, _("decided by the owner") if board.audit else "")
    cells = next((cells for cells in figures.cells if cells.name == name), None)
    shares = (
        ""
        if cells is None
        else ", ".join(
            f"{percent(share)} {_(what)}"
            for what in ("true", "coarser", "changed", "blank")
            if (share := getattr(cells, what))
        )
    )
    return name, _(ROLES.get(role, role)), reason, _done(board, name, role), shares


def _done(board: Board, name: str, role: str) -> str:
    figures = board.summary.figures
    assert isinstance(figures, TableFigures)
    if role != "quasi":
        return _(AS_IT_IS.get(role, ""))
    coarsened = dict(figures.coarsened).get(name)
    more = ""
    if coarsened is not None:
        more = _(", then coarsened to classes of {least} or more").format(least=number(coarsened))
    treated = dict(figures.treated)
    if name in treated:
        return _(TREATED[treated[name]]) + more
    if not board.summary.promises_k:
        return said(board.summary.method) + more
    if name in figures.medians_of:
        return _("the middle label of its group") + more
    is_number = name in {column.name for column in figures.columns}
    return _("the mean of its group" if is_number else "one value for its whole group") + more
