"""Charts as SVG in Shoal's colours: two axes, marks in their coordinates, and the charts that several pages have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from shoal.language import _, fixed
from shoal.results.attacks import Rate

DEEP = "#0b5d75"  # contrast 7.3 : 1 on white
SAND = "#c9b48a"
INK = "#21343d"
GREY = "#9fb0b8"
GRID = "#e3e9ec"
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WIDTH = 480  # labels included; narrow, so that labels stay readable when a phone scales the picture down
LINE = 18  # height of a line of text
BAR = 0.38  # half a bar, of the distance from name to name
# Widths of Helvetica's characters in thousandths of the font size, from its metrics; all others count as 556.
_WIDTHS = {
    character: width
    for width, characters in (
        (222, "ijl'|"),
        (278, " !,./:;I[]\\ft"),
        (333, "()-`r{}"),
        (500, "Jckvxyzs"),
        (600, "+<=>~FTZ…→≤"),
        (667, "&ABEKPSVXY"),
        (722, "CDHNRUw"),
        (778, "GOQ"),
        (860, "mM%"),
        (980, "W@"),
    )
    for character in characters
}


@dataclass(frozen=True)
class Picture:
    """A drawing, the sentence that describes it to readers who cannot see it, and the figures it was drawn from."""

    svg: str
    description: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def _repr_html_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Axis:
    """What lies between two ends, and the values that are labelled."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    grid: bool = True

    def share(self, value: float) -> float:
        """How far along the axis a value lies."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Block:
    """A filled rectangle between two corners."""

    x: float
    y: float
    x2: float
    y2: float
    colour: str


@dataclass(frozen=True)
class Line:
    """Points joined in their order, or by steps that keep the height of the point before or after."""

    points: Sequence[tuple[float, float]]
    colour: str
    width: float = 2
    dash: str = ""
    steps: str = ""  # "before", "after"


@dataclass(frozen=True)
class Dot:
    """A circle, or a cross."""

    x: float
    y: float
    fill: str
    radius: float = 4.5
    stroke: str = "none"
    cross: bool = False


@dataclass(frozen=True)
class Text:
    """Words in the middle of a point."""

    x: float
    y: float
    words: str
    below: float = 0  # pixels
    bold: bool = False


Mark = Block | Line | Dot | Text
Interval = tuple[float, float, float]  # a figure, and the ends of its interval
Key = tuple[str, Line | Dot]  # of a legend: the mark's place does not matter


def names(labels: Iterable[str], longest: int = 150, title: str = "") -> Axis:
    """An axis with a name at 0, 1, 2, …; names of more pixels than `longest` are cut."""
    shown = tuple((float(place), _cut(label, longest)) for place, label in enumerate(labels))
    return Axis(title, -0.5, len(shown) - 0.5, shown, grid=False)


def amounts(title: str, values: Iterable[float], low: float | None = 0.0, high: float | None = None) -> Axis:
    """An axis of numbers; an end that is not given is a round number beyond all values."""
    return _round_axis(title, list(values), low, high, lambda value, step: fixed(value, f",.{_digits(step)}f"))


def counts(title: str, values: Iterable[float]) -> Axis:
    """An axis of whole numbers from 0."""
    return _round_axis(title, [*values, 1.0], 0.0, None, lambda value, _step: fixed(value, ",.0f"), least_step=1.0)


def shares(title: str, values: Iterable[float], high: float | None = None) -> Axis:
    """An axis of percentages from 0."""
    return _round_axis(title, list(values), 0.0, high, lambda share, step: _percent(100 * share, _digits(100 * step)))


def quarters(title: str) -> Axis:
    """An axis of percentages from 0 to 100."""
    return Axis(title, 0, 1, tuple((quarter / 4, _percent(25 * quarter)) for quarter in range(5)))


def logarithms(title: str, values: Sequence[int], labelled: Iterable[int]) -> Axis:
    """An axis of the decimal logarithms of counts."""
    low, high = math.log10(min(values)), math.log10(max(values))
    return Axis(title, low, max(high, low + 1e-9), tuple((math.log10(value), fixed(value, ",")) for value in labelled))


def _percent(value: float, digits: int = 0) -> str:
    return fixed(value, f".{digits}f") + _("%")


def _round_axis(
    title: str,
    values: list[float],
    low: float | None,
    high: float | None,
    label: Callable[[float, float], str],
    least_step: float = 0.0,
) -> Axis:
    bottom = min(values, default=0.0) if low is None else low
    top = max([*values, bottom]) if high is None else high
    if top <= bottom:
        top = bottom + 1.0
    step = max(_round_step((top - bottom) / 5), least_step)
    if low is None:
        bottom = math.floor(bottom / step + 1e-9) * step
    if high is None:
        top = math.ceil(top / step - 1e-9) * step
    first, last = math.ceil(bottom / step - 1e-9), math.floor(top / step + 1e-9)
    return Axis(title, bottom, top, tuple((tick * step, label(tick * step, step)) for tick in range(first, last + 1)))


def _round_step(rough: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9)))


def _digits(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9))


def width_of(words: str, size: float = 13) -> float:
    """Pixels that a text takes."""
    return sum(_WIDTHS.get(character, 556) for character in words) * size / 1000


def _cut(label: str, longest: float) -> str:
    if width_of(label) <= longest:
        return label
    while label and width_of(f"{label}…") > longest:
        label = label[:-1]
    return f"{label}…"


class _Frame:
    """The room of a chart between its axes, in pixels; without axes it is all of the picture."""

    def __init__(self, x: Axis, y: Axis, height: float, width: int, top: float, bare: bool) -> None:
        labels = max((width_of(label) for _, label in y.ticks), default=0.0)
        self.x, self.y, self.width = x, y, width
        self.left = 0.0 if bare else labels + 10 + (LINE + 4 if y.title else 0)
        self.right = width - (0.0 if bare else max(8.0, width_of(x.ticks[-1][1]) / 2 if x.ticks else 8.0))
        self.top, self.bottom = top, top + height
        self.total = self.bottom + (0 if bare else LINE + 4 + (LINE + 4 if x.title else 0))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Names go down, numbers up."""
        down = self.y.share(y) if _named(self.y) else 1 - self.y.share(y)
        return (
            self.left + self.x.share(x) * (self.right - self.left),
            self.top + down * (self.bottom - self.top),
        )


def _named(axis: Axis) -> bool:
    return not axis.grid


def chart(
    x: Axis,
    y: Axis,
    marks: Iterable[Mark],
    height: float | None = None,
    *,
    legend: Sequence[Key] = (),
    width: int = WIDTH,
    axes: bool = True,
) -> str:
    """The drawing; of an axis of names from top to bottom, the height is that of its names unless given."""
    keys, top = _legend(legend, width)
    frame = _Frame(x, y, 23.0 * len(y.ticks) if height is None else height, width, top, bare=not axes)
    drawn = [*keys, *(_axes(frame) if axes else ()), *(_mark(mark, frame) for mark in marks)]
    return (
        f'class="marks" width="{width}" height="{_n(frame.total)}" viewBox="0 0 {width} {_n(frame.total)}" '
        f'font-family="{FONT}" font-size="13" fill="{INK}">{"".join(drawn)}</svg>'
    )


def picture(drawing: str, description: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Picture:
    """A chart with its description and figures."""
    return Picture(f'<svg role="img" aria-label="{escape(description)}" {drawing}', description, header, tuple(rows))


def _legend(keys: Sequence[Key], width: int) -> tuple[list[str], float]:
    """The keys in lines over the chart, and where the chart begins."""
    drawn, left, middle = [], 4.0, 10.0
    for words, mark in keys:
        room = width_of(words) + 44
        if left + room > width and left > 4:
            left, middle = 4.0, middle + LINE + 2
        if isinstance(mark, Line):
            drawn.append(_path([(left, middle), (left + 20, middle)], mark))
        else:
            drawn.append(_dot(left + 10, middle, mark))
        drawn.append(_text(left + 26, middle + 4.5, words, "start"))
        left += room
    return drawn, middle + 20 if keys else 8.0


def _axes(frame: _Frame) -> Iterable[str]:
    across, x_taken, y_taken = _named(frame.y), -math.inf, math.inf
    for value, label in frame.x.ticks:
        at, _ = frame.place(value, frame.y.low)
        if frame.x.grid:
            yield _path([(at, frame.top), (at, frame.bottom)], Line((), GRID, 1))
        if at - width_of(label) / 2 > x_taken:  # else it has no room beside the one before
            yield _text(at, frame.bottom + LINE, label)
            x_taken = at + width_of(label) / 2 + 4
    for value, label in frame.y.ticks:
        _, at = frame.place(frame.x.low, value)
        if frame.y.grid:
            yield _path([(frame.left, at), (frame.right, at)], Line((), GRID, 1))
        if across or at < y_taken:
            yield _text(frame.left - 6, at + 4.5, label, "end")
            y_taken = at - LINE
    ends = [(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)]
    yield _path(ends if not across else ends[:2], Line((), GREY, 1))
    if frame.x.title:
        yield _text((frame.left + frame.right) / 2, frame.total - 6, frame.x.title)
    if frame.y.title:
        middle = _n((frame.top + frame.bottom) / 2)
        turned = f'transform="translate(13 {middle}) rotate(-90)"'
        yield f'<text {turned} text-anchor="middle">{escape(frame.y.title)}</text>'


def _mark(mark: Mark, frame: _Frame) -> str:
    if isinstance(mark, Block):
        (left, top), (right, bottom) = frame.place(mark.x, mark.y), frame.place(mark.x2, mark.y2)
        left, right, top, bottom = min(left, right), max(left, right), min(top, bottom), max(top, bottom)
        size = f'width="{_n(right - left)}" height="{_n(bottom - top)}"'
        return f'<rect x="{_n(left)}" y="{_n(top)}" {size} fill="{mark.colour}"/>'
    if isinstance(mark, Line):
        return _path([frame.place(*point) for point in _stepped(mark)], mark)
    at = frame.place(mark.x, mark.y)
    return _dot(*at, mark) if isinstance(mark, Dot) else _text(at[0], at[1] + mark.below, mark.words, bold=mark.bold)


def _stepped(line: Line) -> list[tuple[float, float]]:
    if not line.steps:
        return list(line.points)
    points = list(line.points[:1])
    for (x, y), (next_x, next_y) in zip(line.points, line.points[1:], strict=False):
        points += [(next_x, y) if line.steps == "after" else (x, next_y), (next_x, next_y)]
    return points


def _path(points: Sequence[tuple[float, float]], line: Line) -> str:
    placed = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return f'<path d="M{placed}" fill="none" stroke="{line.colour}" stroke-width="{_n(line.width)}"{dash}/>'


def _dot(x: float, y: float, dot: Dot) -> str:
    if dot.cross:
        r = dot.radius
        arms = f"M{_n(x - r)} {_n(y - r)}L{_n(x + r)} {_n(y + r)}M{_n(x - r)} {_n(y + r)}L{_n(x + r)} {_n(y - r)}"
        return f'<path d="{arms}" stroke="{dot.fill}" stroke-width="2.5"/>'
    stroke = "" if dot.stroke == "none" else f' stroke="{dot.stroke}" stroke-width="2"'
    return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(dot.radius)}" fill="{dot.fill}"{stroke}/>'


def _text(x: float, y: float, words: str, anchor: str = "middle", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'


def _n(value: float) -> str:
    """A coordinate: a tenth of a pixel is enough."""
    return f"{value + 0.0:.1f}".removesuffix(".0")


def rates_with_intervals(rates: Sequence[tuple[str, Rate]], title: str) -> str:
    """A dot and a bar for each rate, and a light mark for what it would be without the release."""
    marks: list[Mark] = []
    for row, (_name, rate) in enumerate(rates):
        without = rate.baseline if rate.control is None else rate.control
        low = without if rate.control_low is None else rate.control_low
        high = without if rate.control_high is None else rate.control_high
        marks += [
            Line([(low, row + 0.25), (high, row + 0.25)], SAND, 3),
            Line([(without, row - 0.33), (without, row + 0.33)], SAND, 4),
            Line([(rate.low, row), (rate.high, row)], DEEP, 3),
            Dot(rate.rate, row, DEEP),
        ]
    return chart(quarters(title), names((name for name, _ in rates), 260), marks)


def sideways(bars: Sequence[tuple[str, float]], x: Axis, longest: int = 150, colour: str = DEEP) -> str:
    """A bar for each name, from top to bottom."""
    marks = [Block(0, row - BAR, length, row + BAR, colour) for row, (_, length) in enumerate(bars)]
    return chart(x, names((name for name, _ in bars), longest), marks)


def upright(bars: Sequence[tuple[str, float]], title: str, y: Axis) -> str:
    """A bar for each name, from left to right; a single one stays a bar."""
    half = min(0.42, 0.075 * len(bars))
    marks = [Block(column - half, 0, column + half, height, DEEP) for column, (_, height) in enumerate(bars)]
    return chart(names((name for name, _ in bars), 90, title), y, marks, 190)


def before_and_after(edges: Sequence[float], before: Sequence[float], after: Sequence[float], x: str, y: str) -> str:
    """Two histograms over the same edges: what was is filled, what became of it is a line."""
    bins = zip(edges[:-1], edges[1:], before, strict=True)
    marks: list[Mark] = [Block(start, 0, end, share, SAND) for start, end, share in bins]
    # A step needs the last edge too, at the height of the last bin.
    marks.append(Line(list(zip(edges, (*after, after[-1]), strict=True)), DEEP, 2.5, steps="after"))
    legend = ((_("before"), Line((), SAND, 12)), (_("after"), Line((), DEEP, 2.5)))
    across = replace(amounts(x, (), low=edges[0], high=edges[-1]), grid=False)
    return chart(across, shares(y, (*before, *after)), marks, 220, legend=legend)


def bars_before_and_after(labels: Sequence[str], before: Sequence[float], after: Sequence[float], x: str) -> str:
    """Two bars for each name: above what was, below what became of it."""
    marks = [Block(0, row - BAR, share, row, SAND) for row, share in enumerate(before)]
    marks += [Block(0, row, share, row + BAR, DEEP) for row, share in enumerate(after)]
    legend = [(words, Line((), colour, 12)) for words, colour in ((_("before"), SAND), (_("after"), DEEP))]
    return chart(shares(x, (*before, *after)), names(labels), marks, 28.0 * len(labels), legend=legend)


def shares_before_and_after(pairs: Sequence[tuple[str, Interval | None, Interval | None]], title: str) -> str:
    """For each name two shares with their intervals: above what was, below what became of it."""
    marks: list[Mark] = []
    for row, (_name, *both) in enumerate(pairs):
        for interval, place, colour in zip(both, (row - 0.17, row + 0.17), (SAND, DEEP), strict=True):
            if interval is not None:
                value, low, high = interval
                marks += [Line([(max(0.0, low), place), (high, place)], colour, 3), Dot(value, place, colour)]
    highest = [interval[2] for _, *both in pairs for interval in both if interval]
    legend = [(words, Dot(0, 0, colour)) for words, colour in ((_("before"), SAND), (_("after"), DEEP))]
    labels = names((name for name, *_ in pairs), 300)
    return chart(shares(title, highest), labels, marks, 28.0 * len(pairs), legend=legend, width=600)
