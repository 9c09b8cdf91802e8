"""report.html and README.md of sanitized documents: figures in words, and no word of a document."""

from __future__ import annotations

from shoal.language import N_, _, fixed, speaking
from shoal.pages.charts import DEEP, SAND, Line, Picture, amounts, chart, counts, picture, sideways
from shoal.pages.words import count, number, page
from shoal.results.sanitizing import MaskedKind, SanitizedSummary

NOUNS = {
    "PERSON": N_("people"),
    "ORG": N_("organisations"),
    "LOC": N_("places"),
    "DATE": N_("dates"),
    "ADDRESS": N_("addresses"),
    "EMAIL": N_("e-mail addresses"),
    "PHONE": N_("phone numbers"),
    "ACCOUNT": N_("account numbers"),
    "ID": N_("identifiers"),
    "CASE": N_("case numbers"),
    "MONEY": N_("amounts of money"),
    "QUANTITY": N_("quantities"),
    "PROFESSION": N_("professions"),
    "AGE": N_("ages"),
    "NATIONALITY": N_("nationalities"),
    "URL": N_("web addresses"),
    "MISC": N_("other details"),
}


def sanitized_pages(summary: SanitizedSummary) -> dict[str, str]:
    """The pages of a release of sanitized documents by their names."""
    with speaking(summary.language):
        return {"report.html": sanitized_report(summary), "README.md": sanitized_readme(summary)}


def sanitized_report(summary: SanitizedSummary) -> str:
    """The page for everybody."""
    pictures = {"kinds": _kinds(summary.kinds), "dial": _dial(summary)}
    return page("sanitized_report.html.jinja", s=summary, pictures=pictures, **_words(summary))


def sanitized_readme(summary: SanitizedSummary) -> str:
    return page("sanitized_README.md.jinja", s=summary, **_words(summary))


def _words(summary: SanitizedSummary) -> dict[str, object]:
    return {
        "places": sum(kind.places for kind in summary.kinds),
        "entities": sum(kind.entities for kind in summary.kinds),
        "nouns": NOUNS,
    }


def _kinds(kinds: tuple[MaskedKind, ...]) -> Picture | None:
    """How many places of each kind are masked."""
    if not kinds:
        return None
    ordered = sorted(kinds, key=lambda kind: (-kind.places, kind.kind))
    most = ", ".join(f"{_(NOUNS[kind.kind])} {number(kind.places)}" for kind in ordered[:3])
    description = _("Bar chart of masked places by kind: {most}").format(most=most)
    bars = [(_(NOUNS[kind.kind]), kind.places) for kind in ordered]
    drawing = sideways(bars, counts(_("Places masked"), [kind.places for kind in ordered]))
    rows = ((_(NOUNS[kind.kind]), number(kind.entities), number(kind.places)) for kind in ordered)
    return picture(drawing, description, (_("Kind"), _("Different ones"), _("Places")), rows)


def _dial(summary: SanitizedSummary) -> Picture | None:
    """How many entities the owner would have been shown at each threshold."""
    if not summary.dial or not summary.dial[0][1]:
        return None
    entities = count(summary.dial[0][1], "entity", "entities")
    description = _(
        "Curve of the entities that reach each threshold, from {entities} at 0; the threshold of this release is "
        "{threshold}."
    ).format(entities=entities, threshold=fixed(summary.threshold, "g"))
    x, y = amounts(_("Threshold"), (), high=1.0), counts(_("Entities at or above it"), [summary.dial[0][1]])
    marks = (
        Line(summary.dial, DEEP, steps="before"),
        Line([(summary.threshold, 0), (summary.threshold, y.high)], SAND, 3),
    )
    rows = ((fixed(threshold, ".2f"), number(entities)) for threshold, entities in summary.dial)
    return picture(chart(x, y, marks, 200), description, (_("Threshold"), _("Entities")), rows)
