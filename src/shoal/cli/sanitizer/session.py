"""A review in the terminal: an item in its context, a key, the next item."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from shoal.cli.terminal import printable, say
from shoal.data.files import counted
from shoal.errors import InputError
from shoal.results.sanitizing import KINDS
from shoal.sanitizer.review.review import Group, Order, Review
from shoal.sanitizer.review.work import BLOCK

AROUND = 70  # characters shown before and after a mention
PLACES = 3  # shown at first
LONGEST = 1500  # characters of a block
KEYS = {
    "a": "accept: mask it, and all equal ones",
    "r": "reject: leave it, and all equal ones",
    "A": "accept only the one shown",
    "R": "reject only the one shown",
    "s": "shrink it, and all equal ones, to the part that you type",
    "+": "add a string that nobody proposed, in all documents",
    "w": "write down a reason for the next decision",
    "d": "show all places",
    "n": "next: decide later",
    "u": "undo your last step",
    "y": "redo what you undid last",
    "?": "show these keys",
    "q": "quit; everything decided is kept",
}
END = ("q", "\x03", "\x04", "")


class Session:
    """One reviewer at the keyboard."""

    def __init__(self, review: Review, adjudicates: bool) -> None:
        self.review = review
        self.adjudicates = adjudicates
        self.reason = ""
        self._console = Console(highlight=False)

    def run(self) -> None:
        """Until nothing is open, or the reviewer quits. The queue is made anew when it is through, and after undo."""
        self.review.work.check_unlocked()
        later = 0  # put off since something was last decided
        queue = self._queue()
        while queue and later < len(queue):
            group = queue[0]
            self._show(group, len(queue))
            while True:
                key = _key()
                if key in END:
                    self._say(f"{len(queue):,} left; go on with the same command")
                    return
                if key == "n":
                    queue = [*queue[1:], group]
                    later += 1
                    break
                if key in "uy":
                    self._step_back(undo=key == "u")
                    queue, later = self._queue(), 0
                    break
                if self._act(key, group):
                    alone = key in "AR" and len(group) > 1
                    queue = [group[1:], *queue[1:]] if alone else queue[1:]
                    queue, later = queue or self._queue(), 0
                    break
        left = f"{later:,} put off" if later else "nothing is open"
        self._say(f"{left} for {self.review.reviewer}; see what is left: shoal review --list")

    def _queue(self) -> list[Group]:
        if not self.adjudicates:
            return self.review.queue()
        return [(item,) for item, _ in self.review.differences()]

    def _act(self, key: str, group: Group) -> bool:
        """Whether the group is decided now; otherwise the question is asked again."""
        if key in ("a", "r", "A", "R"):
            keys = [item.key for item in group]
            action = "accept" if key in "aA" else "reject"
            return self._decided(
                lambda reason: self.review.decide(
                    keys if key in "ar" else keys[:1], action, reason=reason, adjudicates=self.adjudicates
                )
            )
        if key == "s":
            return self._shrink(group)
        if key == "+":
            self._add()
        elif key == "w":
            self.reason = _typed("Reason")
        elif key == "d":
            self._console.print(self._places(group, None))
        elif key == "?":
            for name, meaning in KEYS.items():
                self._console.print(Text(f"  {name}  {meaning}"))
        return False

    def _decided(self, decide: Callable[[str], object]) -> bool:
        """Whether it could be decided; a mistake is reported. The reason is used up."""
        reason, self.reason = self.reason, ""
        try:
            decide(reason)
        except InputError as problem:
            say(str(problem))
            self.review.work.check_unlocked()
            return False
        return True

    def _step_back(self, undo: bool) -> None:
        reason, self.reason = self.reason, ""
        made = self.review.undo(reason=reason) if undo else self.review.redo(reason=reason)
        done = "taken back" if undo else "brought back"
        self._say(f"{len(made):,} {done}" if made else f"you have nothing to {'undo' if undo else 'redo'}")

    def _shrink(self, group: Group) -> bool:
        item = group[0]
        part = _typed("Part to mask")
        text = self.review.text(item.document)
        starts = (text.find(part, mention.start, mention.end) for mention in item.mentions)
        start = next((start for start in starts if start >= 0), -1) if part else -1
        if start < 0:
            self._say("no place shown has that part; type it as it is written there")
            return False
        keys, span = [item.key for item in group], (start, start + len(part))
        return self._decided(lambda reason: self.review.shrink(keys, span, reason=reason, adjudicates=self.adjudicates))

    def _add(self) -> None:
        """Stays at the same question: what was added is one more mask."""
        string = _typed("String to mask")
        documents = self.review.places_of(string)
        if not documents:
            self._say("no document has that string")
            return
        kind = _typed(f"Kind ({', '.join(KINDS)}, {BLOCK})").upper()
        orders = [Order(document, "", "add", span, kind, self.reason) for document, span in documents.items()]
        if self._decided(lambda _: self.review.decide_all(orders)):
            self._say(f"added in {counted(len(documents), 'document')}")

    def _say(self, line: str) -> None:
        self._console.print(Text(printable(line)))

    def _show(self, group: Group, left: int) -> None:
        """An item, and how many are equal to it."""
        item = group[0]
        body = Text()
        body.append(f"{item.kind}  ", style="bold cyan")
        body.append(_plain(item.name), style="bold")
        if item.kind != BLOCK:
            body.append(f"   probability {item.probability:.2f}", style="dim")
        places = counted(sum(len(other.mentions) for other in group), "place")
        documents = counted(len({other.document for other in group}), "document")
        body.append(f"   {places} in {documents}\n", style="dim")
        body.append(self._places(group, PLACES))
        self._console.print(Panel(body, title=f"{left:,} to decide · {item.document} {item.id}", title_align="left"))
        self._console.print(Text("a accept  r reject  s shrink  n next  u undo  ? keys  q quit", style="dim"))

    def _places(self, group: Group, most: int | None) -> Text:
        """Mentions in their context. Texts are escaped: a document cannot move the cursor or change the colours."""
        body = Text()
        places = [(item.document, mention) for item in group for mention in item.mentions]
        for document, mention in places[:most]:
            text = self.review.text(document)
            body.append(f"{document}  ", style="dim")
            body.append("…" + _plain(text[max(mention.start - AROUND, 0) : mention.start]))
            body.append(_plain(text[mention.start : mention.end])[:LONGEST], style="bold reverse")
            body.append(_plain(text[mention.end : mention.end + AROUND]) + "…\n")
        if most is not None and len(places) > most:
            body.append(f"… and {len(places) - most:,} more: d\n", style="dim")
        return body


def _plain(text: str) -> str:
    """On one line, and nothing that a terminal would obey."""
    return printable("".join(" " if character.isspace() else character for character in text))


def _key() -> str:
    """A key of the keyboard; from a pipe, a character that is not a blank."""
    if sys.stdin.isatty():
        return str(typer.getchar())
    while (character := sys.stdin.read(1)).isspace():
        pass
    return character


def _typed(question: str) -> str:
    """A line; from a pipe, the rest of the line."""
    if sys.stdin.isatty():
        return str(typer.prompt(question, default="", show_default=False, err=True))
    return sys.stdin.readline().strip()
