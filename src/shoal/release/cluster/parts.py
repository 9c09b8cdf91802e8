"""Where parts are worked on, and what documents and tables have in common: diversity and writing.

The schedule is a Dask client, or this process. Every step is a function of what came before, so a lost worker costs
time and nothing else.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.errors import InputError, MissingExtra
from shoal.methods.blocks.block import joined
from shoal.methods.blocks.executors import LocalExecutor, Schedule
from shoal.promises.values import GroupTotals, check_totals, misses_promises
from shoal.release.folders import MAPPING_FOLDER
from shoal.request.options import GroupPromises
from shoal.verification.release_files import part_name

UNFINISHED = ".unfinished"
PATIENCE = 10  # seconds for a scheduler to answer


def join_parts(
    blocks: list[Any],
    totals: list[GroupTotals],
    confidential: tuple[str, ...],
    k: int,
    promises: GroupPromises,
    join: Callable[[Any, list[Counter[str]]], Any],
    schedule: Schedule,
) -> list[Any]:
    """Blocks with groups joined until each has what is promised; where a block has too little, all are joined in pairs.

    All, so that it does not reveal which block it was. `totals` are those of the blocks; `join` gives the future of a
    block whose groups are joined, from the block and how often each confidential value is in all blocks.
    """
    overall = sum(totals[1:], start=totals[0])
    check_totals(overall, confidential, k, promises)
    bundles = [[block] for block in blocks]
    while any(misses_promises(part, k, promises) for part in totals):
        bundles = [[block for bundle in pair for block in bundle] for pair in _in_pairs(bundles)]
        totals = [sum(pair[1:], start=pair[0]) for pair in _in_pairs(totals)]
    whole = (bundle[0] if len(bundle) == 1 else schedule.submit(joined, bundle) for bundle in bundles)
    return [join(block, list(overall.values)) for block in whole]


def _in_pairs(things: list[Any]) -> list[list[Any]]:
    """One and two, three and four, and so on; an odd one goes with the last pair."""
    pairs = [things[place : place + 2] for place in range(0, len(things) - 1, 2)]
    pairs[-1] += things[2 * len(pairs) :]
    return pairs


def write_parts(
    kind: str,
    write: Callable[[int, str, str], Any],
    n_parts: int,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> list[Any]:
    """Have every part written, with its private side; `write(number, file, private file)` gives futures of figures.

    Workers write aside, and what is whole is put in its place here: when a worker is lost, others may do its work again
    at any time, even after all figures have come.
    """
    targets = folders[0] / MAPPING_FOLDER, (folders[1] / part_name(kind, 0)).parent
    private, release = (folder / UNFINISHED for folder in folders)
    for folder in (private, release):
        folder.mkdir()
    names = [Path(part_name(kind, number)).name for number in range(n_parts)]
    written = [write(number, str(release / name), str(private / name)) for number, name in enumerate(names)]
    written.reverse()
    facts: list[Any] = []
    while written:
        progress.step("writing", len(facts), n_parts)
        facts += schedule.gather([written.pop()])
    progress.step("writing", n_parts, n_parts)
    for folder, target in zip((private, release), targets, strict=True):
        target.mkdir()
        for name in names:
            os.replace(folder / name, target / name)
        gone = folder.rename(folder.with_name(f"{UNFINISHED}-no-more"))  # whoever still writes there fails from here on
        shutil.rmtree(gone)
    return facts


@contextmanager
def schedule_of(client: Any) -> Iterator[Schedule]:
    """A Dask client as it is, or one made for the address of a scheduler; for None this process."""
    if client is None:
        with LocalExecutor() as here:
            yield here
    elif not isinstance(client, str):
        yield client
    else:
        try:
            from dask.distributed import Client
        except ImportError:
            raise MissingExtra("cluster", "running on a Dask cluster") from None
        try:
            connected: Any = Client(client, timeout=PATIENCE)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as problem:
            reason = type(problem).__name__
            raise InputError(f"no Dask scheduler answers at {client} ({reason}); check the address") from None
        with connected:
            yield connected
