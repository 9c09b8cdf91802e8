"""What commands say, for people who use no shell: options are called as on the pages, and files by their names."""

from __future__ import annotations

import re

# A file of the private folder: where it lies there is of no interest.
_PLACE = re.compile(r"(?:/[^/;:]+)*/(?:uploads|jobs)/[0-9a-f]{16}/(?:work/)?")
_CALLED = tuple(
    (re.compile(said), called)
    for said, called in (
        (r"give the private folder with --private", "choose its private part"),
        (r"give its private folder with --private", "choose its private part"),
        (r"say --aligned", "say that both are in the same order"),
        (r"pass --missing [\w, ]+", "choose under More what becomes of such rows"),
        (r"if they are codes, pass --categorical .*", "if they are codes, say so beside the column"),
        (r"or say --kind .*=number", "or say that its numbers are amounts"),
        (r"drop it \(--drop\)", "choose Drop for it"),
        (r"if it names the record, drop it: --drop .*", "if it names the record, choose Drop for it"),
        (r"for the median of each group give its order: --order .*", "numbers in that order would give the median"),
        (r"take all as plain categories \(--categorical [^)]*\), ", ""),
        (
            r"; if that is wrong, give --delimiter, --decimal or --encoding",
            "; if that is wrong, say so under How the file is read, or save it as CSV in UTF-8",
        ),
        (r"give another --encoding", "save it as UTF-8"),
        (r"name one with --sheet", "save the one you mean as a file of its own"),
        (r"say which: --delimiter", "save it with commas"),
        (r"say which sign is the decimal one: --decimal comma or --decimal point", "save it with decimal points"),
        (r"use --format text( or html)?", "choose text as the form of the release"),
        (r"give it in SHOAL_PASSPHRASE, or type it", "enter it"),
        (r" \(--[a-z-]+\)", ""),
        (r" (?:with|in) --[a-z-]+(?:(?:,| and) --[a-z-]+)*", ""),
    )
)


def for_people(text: str) -> str:
    """The line of a command, as a page says it.

    >>> for_people("/home/a/uploads/0123456789abcdef/people.csv has 2 sheets (a, b); name one with --sheet")
    'people.csv has 2 sheets (a, b); save the one you mean as a file of its own'
    """
    text = _PLACE.sub("", text)
    for said, called in _CALLED:
        text = said.sub(called, text)
    return text
