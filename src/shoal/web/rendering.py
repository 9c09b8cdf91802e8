"""Templates to pages. What data holds stays text: everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.data.kinds.inspection import Band
from shoal.pages import words
from shoal.web.form import PARTS
from shoal.web.result import attack_in_words, figures, has_leaks, open_points, signed_by
from shoal.web.wording import PROMISES, for_people

# Every page of the menu: address, name, and what it is for.
PAGES = (
    ("protect", "Protect", "Make a release of a table or of documents in which every record hides in a crowd."),
    ("audit", "Audit", "Count how many records of a table are one of a kind, before anything is done with it."),
    ("verify", "Verify", "Check every promise of a release you received, by counting."),
    ("assess", "Assess", "Compare an original with its protected version: what was lost, what still leaks."),
    ("explore", "Explore", "Try many protections of a table and see what each costs and risks."),
    ("review", "Review", "Find names, places and risky passages in documents, decide, and redact."),
    ("index", "Index", "Store encrypted documents and find them again."),
)
THEMES = ("system", "light", "dark")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("shoal.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": words.number, "percent": words.percent, "count": words.count}
    environment.filters |= {"seconds": _seconds, "clock": _clock, "sentence": _sentence, "for_people": for_people}
    environment.globals |= {"bars": _bars, "pages": PAGES, "themes": THEMES, "promises": PROMISES}
    environment.globals |= {
        "figures": figures,
        "open_points": open_points,
        "attack_in_words": attack_in_words,
        "leaks": has_leaks,
        "parts_of_columns": PARTS,
        "signed_by": signed_by,
    }
    return environment


def page(request: Request, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """The template with these values, within the frame that all pages share."""
    theme = request.cookies.get("shoal-theme", "system")
    here = values["job"].page if "job" in values else request.url.path.split("/")[1]
    here = "review" if here == "redact" else here  # its release belongs to a review
    frame = {"here": here, "theme": theme if theme in THEMES else "system"}
    return HTMLResponse(_environment().get_template(template).render(**frame, **values), status)


def _seconds(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _clock(begun: float) -> str:
    """When something began: the time of today, or the day and the time."""
    then = datetime.fromtimestamp(begun)
    return f"{then:%H:%M}" if then.date() == datetime.now().date() else f"{then:%d %b %H:%M}"


def _sentence(text: str) -> str:
    """With a capital at the front; names and paths in it stay as they are, a file's at the front, too."""
    return text if "." in text.partition(" ")[0].rstrip(".:") else text[:1].upper() + text[1:]


def _bars(bands: Sequence[Band]) -> str:
    """The bars of a histogram of 120 by 32, as a path."""
    most, width = max((band.count for band in bands), default=0) or 1, 120 / (len(bands) or 1)
    heights = enumerate(round(30 * band.count / most, 1) for band in bands)
    return "".join(f"M{place * width:.1f} 32v-{height}h{width * 0.86:.1f}v{height}z" for place, height in heights)
