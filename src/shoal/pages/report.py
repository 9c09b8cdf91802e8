"""The two texts people read in a release: report.html, one page for everybody, and README.md, how to load the data.

Both are translations of a `Summary` and nothing else: the same summary gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePosixPath

from shoal.pages import report_charts as plots
from shoal.pages import words
from shoal.pages.templating import page
from shoal.results.summary import SketchFigures, Summary, TextColumn

__all__ = ["readme_text", "report_html"]

# How each format is read without Shoal: the import, and the call on a path.
_READERS = {
    ".npz": ("import scipy.sparse", "scipy.sparse.load_npz({path})"),
    ".parquet": ("import pyarrow.parquet", "pyarrow.parquet.read_table({path})"),
    ".txt": ("from pathlib import Path", 'Path({path}).read_text(encoding="utf-8").splitlines()'),
} | dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), ("import pandas", "pandas.read_csv({options})"))
_DTYPES = {"string": "str", "double": "float64", "int64": "int64"}


def report_html(summary: Summary) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    pictures = {
        "groups": plots.group_sizes(summary) if summary.group_sizes else None,
        "distances": plots.distances(summary.distances, summary.figures.record) if summary.distances.pairs else None,
        "spread": plots.spread(getattr(summary.figures, "columns", ())),
        "lengths": plots.lengths(summary.figures) if isinstance(summary.figures, SketchFigures) else None,
        "terms": plots.terms(getattr(summary.figures, "terms", ())),
    }
    return _render("report.html.jinja", summary, pictures=pictures)


def readme_text(summary: Summary) -> str:
    """README.md: what this is, what it promises, how to check and to load it."""
    return _render("README.md.jinja", summary)


def _render(template: str, summary: Summary, **more: object) -> str:
    return page(
        f"{summary.kind}_{template}",
        s=summary,
        f=summary.figures,
        noun=summary.figures.record,
        guarantee=words.guarantee(summary),
        groups=sum(many for _, many in summary.group_sizes),
        unique=sum(many for size, many in summary.group_sizes if size == 1),
        withheld=sum(one.count for one in summary.withheld),
        loading=_loading(summary),
        **more,
    )


def _loading(summary: Summary) -> str:
    """Python lines that read every data file of the release without Shoal."""
    imports: dict[str, None] = {}
    calls: dict[str, str] = {}
    names = [name for name, _ in summary.files]
    for name in ["table.parquet"] if "table.parquet" in names else names:  # of a table and its copy, the table
        path = PurePosixPath(name)
        if (kind := "".join(path.suffixes)) in _READERS:
            needed, call = _READERS[kind]
            imports[needed] = None
            # One stem may come in two formats.
            stem = path.name.removesuffix(kind)
            variable = stem if stem not in calls else name.replace(".", "_")
            quoted = json.dumps(f"FOLDER/{name}")
            options = _text_options(quoted, getattr(summary.figures, "text_columns", ()))
            calls[variable] = call.format(path=quoted, options=options)
    if not calls:
        return ""
    return "\n".join([*imports, "", *(f"{variable} = {call}" for variable, call in calls.items())])


def _text_options(path: str, columns: Sequence[TextColumn]) -> str:
    """The path, and what pandas must know to read every cell of a text file as it was meant."""
    missing = {column.name: list(column.missing) for column in columns if column.missing}
    options = [path, *(['sep="\\t"'] if ".tsv" in path else [])]
    if columns:
        options += [f"dtype={ {column.name: _dtype(column) for column in columns} }", "keep_default_na=False"]
    options += [f"na_values={missing}"] if missing else []
    return path if len(options) == 1 else "\n    " + ",\n    ".join(options) + ",\n"


def _dtype(column: TextColumn) -> str:
    return "Int64" if column.type == "int64" and column.missing else _DTYPES[column.type]
