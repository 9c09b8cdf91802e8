"""Charts: where marks lie, what axes are labelled with, and that no text becomes markup."""

from __future__ import annotations

import re

from shoal.pages.charts import (
    Dot,
    Line,
    amounts,
    chart,
    counts,
    names,
    picture,
    quarters,
    shares,
    sideways,
    upright,
    width_of,
)


def labels(axis) -> list[str]:
    return [label for _, label in axis.ticks]


def test_an_axis_ends_at_a_round_number_beyond_all_values():
    assert labels(amounts("loss", [3.0, 8.3])) == ["0", "2", "4", "6", "8", "10"]
    assert labels(amounts("change", [-75.0, 12.0], low=None)) == ["-80", "-60", "-40", "-20", "0", "20"]
    assert labels(shares("share", [0.004, 0.021])) == ["0.0%", "0.5%", "1.0%", "1.5%", "2.0%", "2.5%"]


def test_an_axis_of_counts_has_whole_numbers_only():
    assert labels(counts("groups", [1, 2])) == ["0", "1", "2"]
    assert labels(counts("groups", [0])) == ["0", "1"]
    assert labels(counts("groups", [12_345])) == ["0", "5,000", "10,000", "15,000"]


def test_an_axis_without_values_still_has_a_length():
    assert amounts("loss", [0.0]).share(0.5) == 0.5


def test_bars_are_as_long_as_their_values():
    drawing = sideways([("one", 1.0), ("half", 0.5)], quarters("share"))
    whole, half = (float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', drawing))
    assert abs(whole - 2 * half) <= 0.1  # coordinates have one decimal


def test_upright_bars_stand_on_the_axis():
    drawing = upright([("5", 3), ("6", 1)], "Size", counts("Groups", [3, 1]))
    ends = {
        float(y) + float(height) for y, height in re.findall(r'<rect [^>]*y="([\d.]+)"[^>]*height="([\d.]+)"', drawing)
    }
    assert ends == {198.0}  # 8 above the chart, 190 high


def test_steps_keep_the_height_of_the_point_before_or_after():
    def path(steps: str) -> str:
        line = Line([(0, 0), (1, 1)], "red", steps=steps)
        drawing = chart(amounts("x", [], high=1), amounts("y", [], high=1), [line], 100, axes=False, width=100)
        return re.findall(r'd="([^"]+)"', drawing)[0]

    assert path("after") == "M0 108L100 108L100 8"
    assert path("before") == "M0 108L0 8L100 8"


def test_a_long_name_is_cut_and_no_name_becomes_markup():
    drawing = sideways([("<script>alert(1)</script>" * 9, 1.0)], quarters("share & share"))
    assert "<script" not in drawing
    assert "&lt;script&gt;" in drawing and "…" in drawing and "share &amp; share" in drawing
    (label,) = labels(names(["w" * 200], longest=150))
    assert width_of(label) <= 150


def test_names_that_have_no_room_are_left_out():
    many = [f"name number {i}" for i in range(40)]
    drawing = upright([(name, 1) for name in many], "", counts("", [1]))
    assert 2 <= drawing.count("name number") < 10


def test_a_picture_says_what_it_shows():
    drawn = picture(chart(quarters("x"), quarters("y"), [Dot(0.5, 0.5, "red")], 100), 'a "dot"', ("x",), [("1",)])
    assert drawn.svg.startswith('<svg role="img" aria-label="a &quot;dot&quot;" class="marks"')
    assert "http" not in drawn.svg
