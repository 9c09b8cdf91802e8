"""The options of shoal protect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.request.method_options import METHODS
from shoal.request.options import DIVERSITIES

Source = Annotated[
    Path, typer.Argument(help="Folder of texts, JSONL, CSV, Parquet or .dat; .gz too.", **options.path("INPUT"))
]
Out = Annotated[Path, typer.Option("-o", "--out", help="Folder to make for the release.", **options.path())]
K = Annotated[
    int | None, typer.Option("-k", help="Least number of records that look alike.  [default: 5]", **options.whole(2))
]
TextColumn = Annotated[
    str | None, typer.Option(help="Documents: column with the text, or with lists of items.", **options.named())
]
IdColumn = Annotated[str | None, typer.Option(help="Column that names the records (private).", **options.named())]
LabelColumn = Annotated[
    str | None, typer.Option(help="Documents: confidential label, released as it is.", **options.named())
]
Roles = Annotated[Path | None, typer.Option(help="Table: TOML file with the columns of each role.", **options.path())]
Quasi = Annotated[str | None, typer.Option(help="Table: columns to protect, comma-separated.")]
Confidential = Annotated[str | None, typer.Option(help="Table: columns released as they are, watched.")]
Insensitive = Annotated[str | None, typer.Option(help="Table: columns released as they are.")]
Drop = Annotated[str | None, typer.Option(help="Table: columns to leave out; those without a role are too.")]
Missing = Annotated[
    str,
    typer.Option(
        help="Table: what to do with gaps: refuse, withhold the rows, group (a gap is a value), or impute.",
        **options.one_of("refuse", "withhold", "group", "impute"),
    ),
]
Kind = Annotated[
    str | None, typer.Option(help="Table: what columns hold, such as zip=code,birth=date.  [default: recognised]")
]
Categorical = Annotated[
    str | None, typer.Option(help="Table: plain categories, comma-separated; COLUMN=set releases the set of values.")
]
Order = Annotated[list[str] | None, typer.Option(help="Table: ordered labels.", metavar="COLUMN=LOW<…<HIGH")]
Round = Annotated[str | None, typer.Option(help="Table: numbers to release as whole numbers, comma-separated.")]
Generalise = Annotated[
    str | None, typer.Option(help="Table: dates to release as periods, such as birth=year; month, year or decade.")
]
Method = Annotated[
    str | None,
    typer.Option(help=f"One of {', '.join(METHODS)}.  [default: by the columns]", **options.one_of(*METHODS)),
]
AttributeGroups = Annotated[
    int | None, typer.Option(help="Table: protect so many columns at a time.", **options.whole(1))
]
Ontology = Annotated[list[str] | None, typer.Option(help="Labels: hierarchy, FILE or COLUMN=FILE.  [default: WordNet]")]
Mapping = Annotated[
    Path | None, typer.Option(help="Labels: which concepts the values mean; see shoal map.", **options.path())
]
Weights = Annotated[str | None, typer.Option(help="Numbers and labels: what columns count, such as age=2,job=1.")]
Percent = Annotated[
    float | None, typer.Option(help="Rank swapping and noise: how strong, in per cent.", **options.above_zero())
]
Components = Annotated[
    int | None, typer.Option(help="Crowd sketches: how many numbers each has.  [default: 512]", **options.whole(1))
]
Delta = Annotated[
    float | None, typer.Option(help="Delta sketches: least variance of every attribute.", **options.above_zero())
]
MaxComponents = Annotated[
    int | None, typer.Option(help="Delta and k-variance sketches: longest.  [default: 1024, 64]", **options.whole(1))
]
Key = Annotated[
    Path | None,
    typer.Option(
        help="Sketches: file with the secret key, so that releases can be compared.  [default: a new key, kept as "
        "sketch.key in the private folder; --force replaces that folder, too]",
        **options.path(),
    ),
]
Coarsen = Annotated[
    list[str] | None,
    typer.Option(help="Numbers: then average a column again, at least K records a value.", metavar="COLUMN=K"),
]
Blocks = Annotated[
    int | None,
    typer.Option(help="Group at most so many records at a time.  [default: all up to 50,000]", **options.whole(6)),
]
Refine = Annotated[bool, typer.Option("--refine/--no-refine", help="Search for better groups than MDAV's.")]
TimeBudget = Annotated[
    float | None,
    typer.Option(help="About how many seconds that may take.  [default: by size]", **options.seconds()),
]
L = Annotated[
    float | None,
    typer.Option("--l", help="Least number of values of each confidential column in a group.", **options.diversity()),
]
Diversity = Annotated[
    str,
    typer.Option(
        help="How --l counts: distinct values (also called p-sensitive), entropy or recursive.",
        **options.one_of(*DIVERSITIES),
    ),
]
C = Annotated[
    float | None,
    typer.Option(
        "--c", help="Recursive: the most frequent value at most C times those from the l-th on.", **options.above_zero()
    ),
]
T = Annotated[
    float | None,
    typer.Option(
        "--t",
        help="Largest distance between a group's confidential values and those of all records, 0 to 1.",
        **options.above_zero(),
    ),
]
Beta = Annotated[
    float | None,
    typer.Option(
        "--beta",
        help="How much more frequent a confidential value may be in a group than among all records.",
        **options.above_zero(),
    ),
]
Person = Annotated[
    str | None,
    typer.Option(
        help="Table: column with whose a record is; a crowd is then k people, not k records.", **options.named()
    ),
]
KColumn = Annotated[
    str | None,
    typer.Option(help="Table: column with a larger k that a record asks for.", **options.named()),
]
Language = Annotated[str | None, typer.Option(help="Documents: chooses stop words and stemmer.  [default: english]")]
Wordnet = Annotated[bool | None, typer.Option("--wordnet/--no-wordnet", help="Documents: keep only words in WordNet.")]
Stem = Annotated[
    bool | None, typer.Option("--stem/--no-stem", help="Documents: reduce words to stems.  [default: stem]")
]
MinDf = Annotated[
    int | None, typer.Option(help="Documents: drop terms in fewer documents.  [default: k]", **options.whole(1))
]
MaxTerms = Annotated[int | None, typer.Option(help="Documents: keep the heaviest terms only.", **options.whole(1))]
TermsPerDocument = Annotated[
    int | None,
    typer.Option(help="Documents: of each its heaviest terms.  [default: all; semantic: 50]", **options.whole(1)),
]
Private = Annotated[
    Path | None, typer.Option(help="Folder for the private side.  [default: OUT-private]", **options.path())
]
After = Annotated[
    Path | None, typer.Option(help="Table: earlier release whose crowds this one keeps.", **options.path("<release>"))
]
EarlierPrivate = Annotated[
    Path | None, typer.Option(help="Private folder of that release.  [default: AFTER-private]", **options.path())
]
Scheduler = Annotated[
    str | None, typer.Option(help="Input in parts: address of a Dask scheduler, such as tcp://host:8786.")
]
Sign = Annotated[
    Path | None,
    typer.Option(help="Sign the release with your OpenSSH private key (Ed25519).", **options.path("<file>")),
]
Attack = Annotated[bool, typer.Option("--attack/--no-attack", help="Attack the release before it is handed out.")]
