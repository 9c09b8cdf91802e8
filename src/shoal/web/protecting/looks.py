"""Looks that were taken, so that a reload or a second tab need not wait."""

from __future__ import annotations

from collections import OrderedDict

from shoal.web.aside import Aside
from shoal.web.protecting.look import Look, look_at
from shoal.web.protecting.reading import Reading
from shoal.web.workspace import Upload

MOST = 16


class Looks:
    """The last few, in memory: they quote the data."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside
        self._kept: OrderedDict[tuple[str, ...], Look] = OrderedDict()

    async def at(self, upload: Upload, text_column: str = "", reading: Reading | None = None) -> Look:
        """What was uploaded, as documents if a column of text is named; `reading` says how to read a table."""
        which = upload.id, text_column, *(f"{name}={value}" for name, value in sorted((reading or {}).items()))
        if which not in self._kept:
            self._kept[which] = await self._aside.call(look_at, upload.path, text_column or None, reading)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
        return self._kept[which]
