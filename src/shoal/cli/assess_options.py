"""The options of shoal assess."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options

Original = Annotated[
    Path, typer.Argument(help="The table, the documents or the texts as they were.", **options.path("ORIGINAL"))
]
Protected = Annotated[
    Path, typer.Argument(help="The same, protected or sanitized, or a release.", **options.path("PROTECTED"))
]
Out = Annotated[Path, typer.Option("-o", "--out", help="Folder to make for the assessment.", **options.path())]
Key = Annotated[str | None, typer.Option(help="Column of both tables that names rows.", **options.named())]
Private = Annotated[
    Path | None, typer.Option(help="Private folder of the release.  [default: PROTECTED-private]", **options.path())
]
Columns = Annotated[str | None, typer.Option(help="Columns to compare, comma-separated.")]
Control = Annotated[
    Path | None, typer.Option(help="Table of people who are not in the original, for comparison.", **options.path())
]
Target = Annotated[
    str | None, typer.Option(help="Column for models to learn from the protected table.", **options.named())
]
Aligned = Annotated[bool, typer.Option("--aligned", help="Do not check that the rows belong together.")]
Ontology = Annotated[
    list[str] | None, typer.Option(help="Labels: hierarchy, FILE or COLUMN=FILE, for trained attackers.")
]
Prove = Annotated[
    float | None, typer.Option(help="Time to prove how many records a distance can find.", **options.seconds())
]
Distance = Annotated[
    str | None,
    typer.Option(
        help="What to prove it of: weighted-mean, owa, choquet, bilinear, ...  [default: weighted-mean]",
        metavar="<name>",
    ),
]
Differencing = Annotated[
    int | None,
    typer.Option(help="Repeat the protection without so many records, one at a time.", **options.whole(1)),
]
With = Annotated[
    Path | None,
    typer.Option("--with", help="Earlier release of the same people: judges the pair.", **options.path("<release>")),
]
WithPrivate = Annotated[
    Path | None, typer.Option(help="Private folder of that release.  [default: WITH-private]", **options.path())
]
TextColumn = Annotated[str | None, typer.Option(help="Documents: column with the text.", **options.named())]
IdColumn = Annotated[str | None, typer.Option(help="Documents: column that names them.", **options.named())]
Queries = Annotated[
    Path | None,
    typer.Option(help="Texts: searches of readers, one per line.  [default: one per subject]", **options.path()),
]
Policy = Annotated[
    str | None, typer.Option(help="Texts: what is risky, name or file.  [default: eo13526]", **options.named())
]
Relevance = Annotated[
    float | None,
    typer.Option(help="Texts: least relevance of what a search finds.  [default: the knee]", **options.above_zero()),
]
Background = Annotated[
    Path | None,
    typer.Option(help="Texts: where originals are searched for.  [default: the originals]", **options.path()),
]
Language = Annotated[str | None, typer.Option(help="Texts: their language.  [default: english]", **options.named())]
