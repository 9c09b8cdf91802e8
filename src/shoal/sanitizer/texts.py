"""Texts in memory, or in a column of a table, masked by a rule without a reviewer, and put back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.data.files import PathLike, kind_of, shown, unknown_column
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.sanitizer.entities.finder import EntityFinder
from shoal.sanitizer.entities.judging import Weights
from shoal.sanitizer.propose import Proposing, check_proposing
from shoal.sanitizer.reading.language import foreign_language
from shoal.sanitizer.redact import decide_rest
from shoal.sanitizer.release.masking import plan
from shoal.sanitizer.release.vault import Vault
from shoal.sanitizer.review.outcome import current
from shoal.sanitizer.review.work import Proposals, Unfinished, text_digest

THRESHOLD = 0.15  # docs/sanitizer/tuning.md has the curve


@dataclass(frozen=True)
class SanitizedTexts:
    """Masked texts, which may be shown, and the vault, which may not."""

    texts: tuple[str | None, ...]
    held: tuple[int, ...]  # texts in a language that the model does not read; None stands for them
    vault: Vault = field(repr=False)

    def unmask(self) -> tuple[str | None, ...]:
        """The originals, exactly; None for what was None or held back."""
        return tuple(
            text if text is None or str(number) not in self.vault.entries else self.vault.unmask(str(number), text)
            for number, text in enumerate(self.texts)
        )


def sanitize(
    texts: Iterable[str | None],
    *,
    threshold: float = THRESHOLD,
    style: str = "numbered",
    scope: str = "document",
    model: str | None = None,
    weights: PathLike | None = None,
    stays: Iterable[str] | None = None,
) -> SanitizedTexts:
    """Mask every entity that identifies somebody with at least this probability; nobody reviews it.

    The texts lie in a private temporary folder while they are worked on.

    Parameters
    ----------
    texts : strings, or a column of a pandas, polars or Arrow table
    style : {"numbered", "category", "general"}
    scope : {"document", "collection"}
        Where an entity keeps its pseudonym.
    """
    check_proposing(Proposing(threshold=threshold, style=style, scope=scope))
    given = [_text(text) for text in texts]
    finder = EntityFinder(model, stays, None if weights is None else Weights.read(Path(weights)))
    held = tuple(n for n, text in enumerate(given) if text and foreign_language(text, finder.language) is not None)
    chosen = {n: text for n, text in enumerate(given) if text and text.strip() and n not in set(held)}
    masked = [None if n in set(held) else text for n, text in enumerate(given)]
    if not chosen:
        return SanitizedTexts(tuple(masked), held, Vault({}))
    settings = {"threshold": threshold, "style": style, "scope": scope, "reviewers": 1}
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
        unfinished = Unfinished(Path(folder) / "work", settings)
        for (number, text), entities in zip(chosen.items(), finder.find(chosen.values()), strict=True):
            name = unfinished.next_document
            unfinished.add(Proposals(name, str(number), text_digest(text), "", False, entities, ()), text, None)
        work = unfinished.finish()
        decide_rest(work, threshold)
        planned = plan(work, list(current(work).outcomes()))
        done = {document.proposals.source: document.masked for document in planned}
    for source, document in done.items():
        masked[int(source)] = document.text
    return SanitizedTexts(tuple(masked), held, Vault.of(done))


def sanitize_table(
    source: PathLike,
    out: PathLike,
    column: str,
    *,
    threshold: float = THRESHOLD,
    style: str = "numbered",
    scope: str = "document",
    model: str | None = None,
) -> SanitizedTexts:
    """A table with one column of texts sanitized, as CSV or Parquet; the other columns stay as they are."""
    from pyarrow import csv, parquet

    kind = kind_of(out)
    if kind not in ("csv", "parquet"):
        raise InputError(f"{shown(out)} must be .csv or .parquet; name it so")
    if Path(out).exists():
        raise InputError(f"{shown(out)} exists; choose another name")
    names = read_table(source).data.column_names
    if column not in names:
        raise unknown_column(column, names, shown(source))
    table = read_table(source, verbatim=names).data
    sanitized = sanitize(table[column].to_pylist(), threshold=threshold, style=style, scope=scope, model=model)
    table = table.set_column(names.index(column), column, [list(sanitized.texts)])
    if kind == "parquet":
        parquet.write_table(table.replace_schema_metadata(None), out)
    else:
        csv.write_csv(table, out)
    return sanitized


def _text(given: Any) -> str | None:
    """A string, or None for what is missing in a column."""
    value = given.as_py() if hasattr(given, "as_py") else given
    if value is None or value != value:  # NaN of pandas
        return None
    if not isinstance(value, str):
        raise InputError(f"a text is a string, not {type(value).__name__}; give the column of texts")
    return value
