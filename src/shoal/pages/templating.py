"""Templates to text: figures in words, and nothing that data could break out of."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.pages import words

__all__ = ["page"]


def page(template: str, **values: object) -> str:
    """The template with these values; HTML is escaped, a value that is not given is a mistake."""
    environment = Environment(
        loader=PackageLoader("shoal.pages", "templates"),
        autoescape=lambda name: name is not None and name.endswith(".html.jinja"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": words.number,
        "percent": words.percent,
        "count": words.count,
        "share_in_words": words.share_in_words,
        "loss_in_figures": words.loss_in_figures,
        "loss_in_words": words.loss_in_words,
        "value_promises": words.value_promises,
        "code": _markdown_code,
    }
    return environment.get_template(template).render(**values)


def _markdown_code(text: str) -> str:
    """A code span that whatever is in the text cannot leave: fenced by more backticks than it holds."""
    line = " ".join(text.split())
    fence = "`"
    while fence in line:
        fence += "`"
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"
