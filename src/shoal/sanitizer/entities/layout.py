"""What the layout of a text shows: labelled fields, columns of tables, who is greeted and signs, where lines end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from shoal.sanitizer.entities.named import GENERIC
from shoal.sanitizer.entities.names import is_given_name, name_words
from shoal.sanitizer.entities.rules import Candidate, RuleTable, still_names, trimmed
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word

_TABLE = RuleTable("layout")
_CELL = {kind: re.compile(label.pattern, re.IGNORECASE) for kind, label in _TABLE.by_kind("labels").items()}
_FIELD = {
    kind: re.compile(
        r"(?mi)(?:^[ \t>*•|-]{0,6}(?:\d{1,2}[.)][ \t]?)?|[ \t]{2}|[|;][ \t]?)"
        rf"(?P<label>{label.pattern})(?:[ \t](?:at[ \t]birth|\([^()\n]{{1,40}}\)|and[ \t][\w-]{{1,20}})){{0,2}}"
        r"[ \t]{0,3}[:=][ \t]{0,40}(?P<value>\S(?:(?![ ]{3})[^\n;|\t]){0,79})"
    )
    for kind, label in _CELL.items()
}
_SALUTATION, _SIGNED, _LISTED, _NAME_CELL = map(_TABLE.pattern, ("salutation", "signed", "listed", "name_cell"))
_COORDINATED, _NAME = map(_TABLE.pattern, ("coordinated", "name"))
_SPEAKER, _JOINED, _TOWN, _ADDRESS_LINE = map(_TABLE.pattern, ("speaker", "joined", "town", "address_line"))
_TO_POSTCODE = _TABLE.pattern("to_postcode")
_NOBODY = _TABLE.words("nobody")

_VALUE = re.compile(r"[^<(,\d@]{2,60}")  # of a person: up to an address or a remark
_NAMES = ("PERSON", "ORG", "LOC", "MISC", "PROFESSION")
_DELIMITERS = [re.compile(mark) for mark in (r"\t", r"\|", ";", ",", "[ ]{2,}")]
_FIRST_CELL = re.compile(r"(?P<cell>\S(?:[^ \n]|[ ](?![ ]))*)[ ]{2,}\S")
_GAP = re.compile("(?<=[ ]{2})[^ ]")  # a column begins
_JOINED_HEADER = re.compile("_|(?<=[a-z])(?=[A-Z])")  # last_name, lastName
_AMOUNT = re.compile(r"-?\d{1,3}(?:,?\d{3})*\.\d\d(?:[ ]?[A-Z]{2})?")  # of money, in a column
_AROUND = ' \t\r"'  # a cell
_DIRECT = ("PERSON", "ID", "PHONE", "ADDRESS")
_LABEL = re.compile(r"[A-Z][\w-]*(?:[ \t][\w-]+){0,3}(?=[ \t]?:)")
_LIST_NUMBER = re.compile(r"(?:\(?\d{1,3}[.)]{1,2}|\d{1,3}|[ivx]{1,5}[.)]|\([a-z]\))(?=[ \t]|\.[ \t])")
_FREE_FORM = {"ADDRESS": "address", "ORG": "built"}  # values of any form
_FEWEST_LISTED = 3  # lines
_FEWEST_KNOWN = 2  # cells of a column that are known to be people, or numbers
_SHORTEST_CODE = 3  # characters
_MOST_NAMES = 4  # words after "Name:"
_LONGEST_ADDRESS = 4  # lines above the town
_SHORTEST, _LONGEST_LINE = 45, 110  # a line that was broken to fit a width has so many characters


def layout_candidates(text: str) -> Iterator[Candidate]:
    """Values of labelled fields, cells of columns with a telling header, who is greeted and who signs."""
    for kind, field in _FIELD.items():
        for match in field.finditer(text):
            if kind == "PERSON" and "name" in match["label"].lower() and len(match["value"].split()) <= _MOST_NAMES:
                yield Candidate(*match.span("value"), kind, "labelled", 11)
            yield from _valued(text, kind, *match.span("value"))
    for pattern in (_SALUTATION, _SIGNED):
        for match in pattern.finditer(text):
            words = match["name"].split()
            if len(words) == 1 and not _names_no_person(match["name"]):
                yield Candidate(*match.span("name"), "PERSON", "labelled", 11)
            else:
                yield from _valued(text, "PERSON", *match.span("name"))
    yield from _cells(text)
    yield from _listed_names(text)
    yield from _speakers(text)
    yield from _address_blocks(text)


def _speakers(text: str) -> Iterator[Candidate]:
    """Who speaks in a log of messages, and names joined by underscores, of which no dictionary has one."""
    speakers = list(_SPEAKER.finditer(text))
    for match in speakers if len(speakers) >= _FEWEST_KNOWN else ():
        yield Candidate(*match.span("name"), "PERSON", "labelled", 5)
    for match in _JOINED.finditer(text):
        parts = re.findall("[a-z]{4,}", match[0].lower())
        if any(is_given_name(part) or not is_common_word(part) for part in parts):
            yield Candidate(*match.span(), "ID", "handle", 6)


def _address_blocks(text: str) -> Iterator[Candidate]:
    """The lines of an address above its town and postcode, up to the name: "The Old Granary", "7 Church Walk"."""
    for town in _TOWN.finditer(text):
        start = town.start()
        for _ in range(_LONGEST_ADDRESS):
            line = _ADDRESS_LINE.search(text, max(0, start - _LONGEST_LINE), start)
            if line is None:
                break
            start = line.start()
            yield Candidate(*line.span("line"), "ADDRESS", "address", 12)


def _valued(text: str, kind: str, start: int, end: int) -> Iterator[Candidate]:
    """The value of a field or a cell, if it may be of its kind."""
    value = text[start:end].rstrip()
    if kind == "PERSON":
        named = _VALUE.match(value)
        words = re.findall(r"[^\W\d_]+", named[0]) if named else []
        ordinary = sum(word.islower() and is_common_word(word) and not is_given_name(word) for word in words)
        if named and words and len(words) <= 5 and not ordinary and not _names_no_person(named[0]):
            yield Candidate(start, start + len(named[0].rstrip()), kind, "labelled", 11)
    elif kind in _FREE_FORM:
        if re.search(r"\d|[A-Z]", value):
            yield Candidate(start, start + len(value), kind, _FREE_FORM[kind], 8)
    elif re.search(r"\d", value) and not (kind == "ID" and _AMOUNT.fullmatch(value)):
        forms = {"DATE": "day", "PHONE": "phone", "ID": "labelled"}
        code = re.match(r"[\w(+#][\w ./()+#-]*" if kind != "ID" else r"[\w#][\w./#-]*", value)
        if code and re.search(r"\d", code[0]) and len(code[0]) >= _SHORTEST_CODE:
            yield Candidate(start, start + len(code[0].rstrip(" .(-")), kind, forms[kind], 6 if kind != "DATE" else 19)


def _names_no_person(value: str) -> bool:
    """Whether these are titles and ordinary words alone: "Sir or Madam", "Mr. President"."""
    words = [word.lower() for word in name_words(value)]
    return all(word in _NOBODY or word in FUNCTION_WORDS or word in GENERIC for word in words)


def _tables(text: str) -> Iterator[list[list[tuple[int, int]]]]:
    """Lines with one delimiter equally often, as rows of cells: where each begins and ends."""
    lines = list(re.finditer(r"[^\n]+", text))
    for delimiter in _DELIMITERS:
        split = [[*delimiter.finditer(text, *line.span())] for line in lines]
        for count, run in groupby(zip(lines, split, strict=True), key=lambda pair: len(pair[1])):
            rows = [
                [
                    _stripped(text, start, end)
                    for start, end in zip(
                        (line.start(), *(mark.end() for mark in marks)),
                        (*(mark.start() for mark in marks), line.end()),
                        strict=True,
                    )
                ]
                for line, marks in run
            ]
            if count and len(rows) > 1:
                yield rows
    yield from _aligned(text, lines)
    yield from _first_cells(text, lines)


def _first_cells(text: str, lines: Sequence[re.Match[str]]) -> Iterator[list[list[tuple[int, int]]]]:
    """What lines in cells begin with, however many cells they have."""
    cells = [_FIRST_CELL.match(text, *line.span()) for line in lines]
    for is_row, run in groupby(cells, key=bool):
        if is_row:
            yield [[(0, 0)], *([cell.span("cell")] for cell in run if cell)]


def _aligned(text: str, lines: Sequence[re.Match[str]]) -> Iterator[list[list[tuple[int, int]]]]:
    """Lines whose cells begin below those of a header, some of them empty."""
    rest = list(lines)
    while rest:
        header = rest.pop(0)
        columns = [0, *(gap.start() for gap in _GAP.finditer(header[0]))]
        count = next((n for n, line in enumerate(rest) if not _fits(line[0], columns)), len(rest)) if columns[1:] else 0
        rows = [header, *rest[:count]]
        if count and 2 * sum("  " in row[0] for row in rows) > len(rows):
            yield [
                [
                    _stripped(text, min(row.start() + begin, row.end()), min(row.start() + end, row.end()))
                    for begin, end in pairwise((*columns, len(row[0]) + columns[-1]))
                ]
                for row in rows
            ]
            rest = rest[count:]


def _fits(line: str, columns: Sequence[int]) -> bool:
    """Whether no word of a line runs over the beginning of a column, and one stands at a beginning."""
    return len(line) > columns[1] and all(line[column - 1 : column] in ("", " ") for column in columns[1:])


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """A cell without blanks and quotes around it."""
    cell = text[start:end]
    start += len(cell) - len(cell.lstrip(_AROUND))
    return start, max(start, end - len(cell) + len(cell.rstrip(_AROUND)))


def _cells(text: str) -> Iterator[Candidate]:
    """Cells of columns whose header tells their kind, or that are names one and all."""
    for header, *rows in _tables(text):
        for column, (start, end) in enumerate(header):
            title = _JOINED_HEADER.sub(" ", text[start:end].strip("*_"))
            kind = next((kind for kind, label in _CELL.items() if label.fullmatch(title)), "")
            if not kind and _are_names([text[slice(*row[column])] for row in rows]):
                kind = "PERSON"
            for row in rows if kind else ():
                yield from _valued(text, kind, *row[column])


def column_candidates(text: str, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """All cells of a column of which most are people, or most are numbers of somebody."""
    starting = {candidate.start: candidate for candidate in found}
    for _, *rows in _tables(text):
        for cells in zip(*rows, strict=True):
            filled = [(start, end) for start, end in cells if start < end]
            kinds = Counter(
                starting[start].kind
                for start, end in filled
                if start in starting and 2 * (starting[start].end - start) >= end - start
            )
            kind = max(_DIRECT, key=lambda kind: kinds[kind])
            enough = 2 * kinds[kind] >= len(filled)
            if kind == "PERSON" and kinds[kind] >= kinds["LOC"] + kinds["ORG"]:
                enough = enough or all(_NAME_CELL.fullmatch(text, start, end) for start, end in filled)
            if enough and len(filled) >= _FEWEST_LISTED and kinds[kind] >= _FEWEST_KNOWN:
                for start, end in filled:
                    yield from _valued(text, kind, start, end)


def coordinated_candidates(text: str, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Names that are listed with people: "Hope" in "Peg, Hope and Bill"."""
    kind_at = {candidate.start: candidate.kind for candidate in found}
    for match in _COORDINATED.finditer(text):
        names = list(_NAME.finditer(text, *match.span()))
        kinds = [kind_at.get(name.start(), "") for name in names]
        if 2 * kinds.count("PERSON") > len(names):
            yield from (
                Candidate(*name.span(), "PERSON", "labelled", 45)
                for name, kind in zip(names, kinds, strict=True)
                if kind in ("", "MISC")
            )


def address_spans(text: str, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Addresses from their first part to the code of the town in their line: "8, 3.º izda., 47003 Valladolid"."""
    for candidate in found:
        town = _TO_POSTCODE.match(text, candidate.end) if candidate.kind == "ADDRESS" else None
        if town is not None:
            yield Candidate(candidate.start, town.end(), "ADDRESS", "address", 3)


def _are_names(values: Sequence[str]) -> bool:
    """Whether all look like names, half of them begin with no ordinary word, and one with a common given name."""
    first = [value.split()[0].lower() for value in values if _LISTED.fullmatch(value)]
    unusual = sum(is_given_name(word) or not is_common_word(word) for word in first)
    return len(first) == len(values) >= _FEWEST_LISTED and 2 * unusual >= len(first) and any(map(is_given_name, first))


def _listed_names(text: str) -> Iterator[Candidate]:
    """Names that stand one per line."""
    run: list[re.Match[str]] = []
    for match in (*_LISTED.finditer(text), None):
        if run and (match is None or match.start() > run[-1].end() + 1):
            if _are_names([listed["name"] for listed in run]):
                yield from (Candidate(*listed.span("name"), "PERSON", "labelled", 11) for listed in run)
            run = []
        run += [match] if match else []


def is_label(text: str, candidate: Candidate) -> bool:
    """Whether a candidate is the label of a field ("Organization:") or the number of a list ("3.")."""
    line = text.rfind("\n", 0, candidate.start) + 1
    if text[line : candidate.start].strip(" \t>*•-"):
        return False
    number = _LIST_NUMBER.match(text, candidate.start)
    if candidate.kind == "QUANTITY" and number is not None and number.end() >= candidate.end:
        return text[number.end() - 1 : number.end() + 1].rstrip(" \t")[-1:] in (".", ")")
    label = _LABEL.match(text, candidate.start)
    if label is None or label.end() < candidate.end or candidate.kind not in _NAMES:
        return False
    words = re.findall(r"[^\W\d_]+", label[0])
    return all(is_common_word(word.lower()) and not is_given_name(word.lower()) for word in words)


def within_lines(text: str, candidate: Candidate) -> Iterator[Candidate]:
    """A name ends with its line, unless the line was broken to fit a width, and with its cell of a table."""
    bounds = [candidate.start]
    if candidate.kind in _NAMES and candidate.form != "titled":
        breaks = re.finditer("\n| {3,}", text[candidate.start : candidate.end])
        for at, mark in ((candidate.start + match.start(), match[0]) for match in breaks):
            if mark != "\n" or not _SHORTEST <= at - text.rfind("\n", 0, at) - 1 <= _LONGEST_LINE:
                bounds.append(at)
    for start, end in pairwise((*bounds, candidate.end)):
        part = trimmed(text, candidate._replace(start=start, end=end))
        if part is not None and (len(bounds) == 1 or still_names(part, text[part.start : part.end])):
            yield part
