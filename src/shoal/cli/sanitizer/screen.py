"""What a reviewer sees: an item in its context, and the keys."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from shoal.cli.terminal import printable
from shoal.io.files import counted
from shoal.results.sanitizing import Mention
from shoal.sanitizer.review.items import BLOCK, Item
from shoal.sanitizer.review.reviewing import Group
from shoal.sanitizer.review.work import WorkFolder

__all__ = ["Screen"]

AROUND = 70  # characters before and after a mention
PLACES = 3  # shown at first
LONGEST = 1500  # characters of a block


class Screen:
    """The terminal. Texts are escaped: a document cannot move the cursor or change the colours."""

    def __init__(self, work: WorkFolder) -> None:
        self._work = work
        self._proposals = {proposals.document: proposals for proposals in work.proposals}
        self._console = Console(highlight=False)

    def text(self, document: str) -> str:
        return self._work.text(self._proposals[document])

    def show(self, group: Group, left: int) -> None:
        """An item, and how many are equal to it."""
        item = group.items[0]
        body = Text()
        body.append(f"{item.kind}  ", style="bold cyan")
        body.append(_plain(item.name), style="bold")
        if item.kind != BLOCK:
            body.append(f"   probability {item.probability:.2f}", style="dim")
        places = sum(len(other.mentions) for other in group.items)
        documents = len({other.document for other in group.items})
        body.append(f"   {counted(places, 'place')} in {counted(documents, 'document')}\n", style="dim")
        self._add_places(body, group.items, PLACES)
        self._console.print(Panel(body, title=f"{left:,} to decide · {item.document} {item.id}", title_align="left"))
        self._console.print(Text("a accept  r reject  s shrink  n next  u undo  ? keys  q quit", style="dim"))

    def show_all(self, group: Group) -> None:
        body = Text()
        self._add_places(body, group.items, None)
        self._console.print(body)

    def show_keys(self, keys: Mapping[str, str]) -> None:
        for key, meaning in keys.items():
            self._console.print(Text(f"  {key}  {meaning}"))

    def say(self, line: str) -> None:
        self._console.print(Text(printable(line)))

    def _add_places(self, body: Text, items: tuple[Item, ...], most: int | None) -> None:
        places = [(item, mention) for item in items for mention in item.mentions]
        for item, mention in places[:most]:
            self._add_place(body, item, mention)
        if most is not None and len(places) > most:
            body.append(f"… and {len(places) - most:,} more: d\n", style="dim")

    def _add_place(self, body: Text, item: Item, mention: Mention) -> None:
        text = self.text(item.document)
        body.append(f"{item.document}  ", style="dim")
        body.append("…" + _plain(text[max(mention.start - AROUND, 0) : mention.start]))
        body.append(_plain(text[mention.start : mention.end])[:LONGEST], style="bold reverse")
        body.append(_plain(text[mention.end : mention.end + AROUND]) + "…\n")


def _plain(text: str) -> str:
    """On one line, and nothing that a terminal would obey."""
    return printable("".join(" " if character.isspace() else character for character in text))
