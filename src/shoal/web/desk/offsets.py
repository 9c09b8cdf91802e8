"""Places in a text: Python counts characters, a browser counts UTF-16 units, in which an emoji has two."""

from __future__ import annotations

from bisect import bisect_left

__all__ = ["Offsets"]

LARGEST_SINGLE = "\uffff"


class Offsets:
    """Places of one text, from Python to the browser and back.

    >>> offsets = Offsets("🙂 Ann 🙂 Bob")
    >>> offsets.to_browser(2), offsets.from_browser(3)
    (3, 2)
    """

    def __init__(self, text: str) -> None:
        large = () if text.isascii() else (place for place, letter in enumerate(text) if letter > LARGEST_SINGLE)
        self._pairs = tuple(large)  # where characters of two units are, for Python
        self._in_browser = tuple(place + number for number, place in enumerate(self._pairs))

    def to_browser(self, place: int) -> int:
        return place + bisect_left(self._pairs, place)

    def from_browser(self, place: int) -> int:
        return place - bisect_left(self._in_browser, place)
