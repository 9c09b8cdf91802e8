"""A review in the terminal: a question, a key, the next question."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from shoal.cli.sanitizer.screen import Screen
from shoal.cli.terminal import say
from shoal.errors import InputError
from shoal.results.sanitizing import KINDS
from shoal.sanitizer.review.items import BLOCK
from shoal.sanitizer.review.reviewing import Group, Review

__all__ = ["Session"]

KEYS = {
    "a": "accept: mask it, and all equal ones",
    "r": "reject: leave it, and all equal ones",
    "A": "accept only the one shown",
    "R": "reject only the one shown",
    "s": "shrink it, and all equal ones, to the part that you type",
    "+": "add a string of this document that nobody proposed",
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
        self.screen = Screen(review.work)
        self.reason = ""
        self._actions: dict[str, Callable[[Group], bool]] = {
            "a": lambda group: self._decide(group, "accept"),
            "r": lambda group: self._decide(group, "reject"),
            "A": lambda group: self._decide(Group(group.items[:1]), "accept"),
            "R": lambda group: self._decide(Group(group.items[:1]), "reject"),
            "s": self._shrink,
            "+": self._add,
            "w": self._write_reason,
            "d": self._show_all,
            "?": self._help,
        }

    def run(self) -> None:
        """Until nothing is open, or the reviewer quits. The queue is made anew when it is through, and after undo."""
        self.review.work.check_unlocked()
        later = 0  # put off since something was last decided
        queue = self._queue()
        while queue and later < len(queue):
            group = queue[0]
            self.screen.show(group, len(queue))
            while True:
                key = _key()
                if key in END:
                    self.screen.say(f"{len(queue):,} left; go on with the same command")
                    return
                if key == "n":
                    queue = [*queue[1:], group]
                    later += 1
                    break
                if key in "uy":
                    self._undo() if key == "u" else self._redo()
                    queue, later = self._queue(), 0
                    break
                if key in self._actions and self._actions[key](group):
                    alone = key in "AR" and len(group.items) > 1
                    queue = [Group(group.items[1:]), *queue[1:]] if alone else queue[1:]
                    queue, later = queue or self._queue(), 0
                    break
        left = f"{later:,} put off" if later else "nothing is open"
        self.screen.say(f"{left} for {self.review.reviewer}; see what is left: shoal review --list")

    def _queue(self) -> list[Group]:
        if not self.adjudicates:
            return self.review.queue()
        return [Group((difference.item,), disputed=True) for difference in self.review.differences()]

    def _decide(self, group: Group, action: str) -> bool:
        keys = [item.key for item in group.items]
        return self._told(
            lambda: self.review.decide(keys, action, reason=self._taken_reason(), adjudicates=self.adjudicates)
        )

    def _undo(self) -> None:
        undone = self.review.undo(reason=self._taken_reason())
        self.screen.say(f"{len(undone):,} taken back" if undone else "there is nothing of yours to undo")

    def _redo(self) -> None:
        redone = self.review.redo(reason=self._taken_reason())
        self.screen.say(f"{len(redone):,} brought back" if redone else "there is nothing of yours to redo")

    def _shrink(self, group: Group) -> bool:
        item = group.items[0]
        part = _typed("Part to mask")
        text = self.screen.text(item.document)
        places = (text.find(part, mention.start, mention.end) for mention in item.mentions)
        place = next((place for place in places if place >= 0), -1) if part else -1
        if place < 0:
            self.screen.say("no place shown has that part; type it as it is written there")
            return False
        keys, span = [item.key for item in group.items], (place, place + len(part))
        return self._told(
            lambda: self.review.shrink(keys, span, reason=self._taken_reason(), adjudicates=self.adjudicates)
        )

    def _add(self, group: Group) -> bool:
        """Stays at the same question: what was added is one more mask."""
        document = group.items[0].document
        string = _typed("String to mask")
        place = self.screen.text(document).find(string) if string else -1
        kind = _typed(f"Kind ({', '.join(KINDS)}, {BLOCK})").upper() if place >= 0 else ""
        if place < 0:
            self.screen.say("the document does not have that string")
        elif self._told(
            lambda: self.review.add(document, (place, place + len(string)), kind, reason=self._taken_reason())
        ):
            self.screen.say("added")
        return False

    def _write_reason(self, group: Group) -> bool:
        self.reason = _typed("Reason")
        return False

    def _taken_reason(self) -> str:
        reason, self.reason = self.reason, ""
        return reason

    def _show_all(self, group: Group) -> bool:
        self.screen.show_all(group)
        return False

    def _help(self, group: Group) -> bool:
        self.screen.show_keys(KEYS)
        return False

    def _told(self, decide: Callable[[], object]) -> bool:
        """A mistake is told, and the question asked again."""
        try:
            decide()
        except InputError as problem:
            say(str(problem))
            self.review.work.check_unlocked()
            return False
        return True


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
