"""What can go wrong, as a tree.

    ShoalError
    ├── InputError (ValueError)      the user's data or parameters: exit code 2
    └── MissingExtra (ImportError)   a part of Shoal that is not installed: exit code 2

    Note (UserWarning)               something that the owner of the data should know
    SearchStopped (UserWarning)      Ctrl-C ended a search for better groups early, and the work goes on

Every message is one line: the value, the bound, the remedy. A message that speaks of options carries their names, and
each front end spells them: `missing=` in Python, `--missing` on the command line, a field's label in the workbench.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Spelling = Callable[[str, str], str]  # an option's name and the value that is meant, or "", as people read it
PLACE = "{option}"


def spelled(message: str, options: Iterable[str], spelling: Spelling) -> str:
    """The message with its options: where it says {option}, each in its place or all in one, or in brackets at its end.

    An option may come with a value, after a blank: "missing withhold".

    >>> spelled("the table has gaps; fill them", ["missing withhold"], as_keyword)
    "the table has gaps; fill them (missing='withhold')"
    """
    listed = [spelling(*option.partition(" ")[::2]) for option in options]
    if len(listed) > 1 and message.count(PLACE) == len(listed):
        return "".join(part for pair in zip(message.split(PLACE), [*listed, ""], strict=True) for part in pair)
    together = " or ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))
    if PLACE in message:
        return message.replace(PLACE, together)
    return f"{message} ({together})" if together else message


def as_keyword(name: str, value: str) -> str:
    """As Python spells an option.

    >>> as_keyword("kinds", "zip=code"), as_keyword("l", "2"), as_keyword("drop", "")
    ("kinds={'zip': 'code'}", 'l=2', 'drop')
    """
    column, pair, word = value.rpartition("=")
    if pair:
        return f"{name}={ {column: word} }"
    return f"{name}={value if value.replace('.', '', 1).isdigit() else repr(value)}" if value else name


class _Spelled(Exception):
    """A message and the options it speaks of."""

    def __init__(self, message: str, option: str | Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.options = (option,) if isinstance(option, str) else tuple(option)

    def spelled(self, spelling: Spelling) -> str:
        """The message as a front end says it."""
        return spelled(self.message, self.options, spelling)

    def __str__(self) -> str:
        return self.spelled(as_keyword)


class ShoalError(Exception):
    """Anything Shoal reports on purpose."""


class InputError(_Spelled, ShoalError, ValueError):
    """Data or a parameter cannot be used as given.

    `option` names the options that the message speaks of.
    """


class MissingExtra(ShoalError, ImportError):
    """An optional part of Shoal is needed and not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the extra '{extra}'; install it with: pip install 'shoal[{extra}]'")


class Note(_Spelled, UserWarning):
    """Something that the owner of the data should know; `option` as for an InputError."""


class SearchStopped(UserWarning):
    """Less was searched than was asked for."""
