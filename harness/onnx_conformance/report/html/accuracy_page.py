# SPDX-License-Identifier: Apache-2.0
"""The results of `accuracy` as one HTML page with a chart of each function, which loads nothing from the network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.report import accuracy as texts
from onnx_conformance.verification.accuracy.measured import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_conformance.verification.accuracy.measured import Accuracy

WIDTH, HEIGHT = 720, 180
"""Size of a chart, in its own units."""
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 10, 24
"""Margins of a chart, for labels."""
LEAST = 0.1
"""The least error on a chart, in ULP. Errors below it are drawn there."""
MOST_LABELS = 6
"""The number of inputs that are named below a chart."""
COLOURS = 5
"""The number of colours of lines in the style sheet: .line0, .line1, ..."""


@dataclass(frozen=True)
class Line:
    """The line of one runtime: its label, the number of its colour, and points in SVG syntax."""

    label: str
    colour: int
    points: str


@dataclass(frozen=True)
class Chart:
    """A chart of errors on a logarithmic scale.

    Attributes:
        title: the function and the type.
        facts: a sentence for each runtime.
        lines: a line for each runtime.
        ticks: errors with their height.
        labels: inputs, or numbers of terms, with their place.
    """

    title: str
    facts: tuple[str, ...]
    lines: tuple[Line, ...]
    ticks: tuple[tuple[str, float], ...]
    labels: tuple[tuple[str, float], ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    bottom: int = BOTTOM


def page(of: Sequence[Accuracy]) -> str:
    """Return the page."""
    environment = Environment(
        loader=PackageLoader("onnx_conformance.report.html", "."), undefined=StrictUndefined, autoescape=True
    )
    style = resources.files("onnx_conformance.report.html").joinpath("style.css").read_text("utf-8")
    return environment.get_template("accuracy.html.jinja").render(
        runtimes=[item.label for item in of],
        notes=[note for item in of for note in item.notes],
        functions=functions(of),
        sums=sums(of),
        version=VERSION,
        repository=REPOSITORY,
        style=Markup(style),  # noqa: S704 - our own file
    )


def functions(of: Sequence[Accuracy]) -> list[Chart]:
    """Return the charts of elementwise functions, the least accurate first."""
    keys = {
        (name_of(row.operator, row.attributes), row.type): None
        for item in of
        for row in texts.worst_first(item.elementwise)
    }
    charts = []
    for name, type_ in keys:
        rows = [
            (number, item.label, row)
            for number, item in enumerate(of)
            for row in item.elementwise
            if (name_of(row.operator, row.attributes), row.type) == (name, type_) and row.chart
        ]
        if not rows:
            continue
        height, ticks = _scale(max(error for _, _, row in rows for _, error in row.chart))
        lines, facts = [], []
        for number, label, row in rows:
            step = (WIDTH - LEFT - RIGHT) / max(1, len(row.chart) - 1)
            points = " ".join(
                f"{LEFT + index * step:.1f},{height(error):.1f}" for index, (_, error) in enumerate(row.chart)
            )
            lines.append(Line(label, number % COLOURS, points))
            worst = row.normal.worst if row.normal else None
            place = f"at {worst.input}: exact {worst.expected}, actual {worst.actual}" if worst else ""
            largest = "a wrong special value" if row.special_count else f"{texts.number(row.ulp)} ULP {place}"
            facts.append(f"{label}: {largest}; {texts.number(row.of_bound)} of the bound ({row.bound})")
        labels = _labels([f"{float(text):.4g}" for text, _ in rows[0][2].chart])
        charts.append(Chart(f"{name}, {type_}", tuple(facts), tuple(lines), ticks, labels))
    return charts


def sums(of: Sequence[Accuracy]) -> list[Chart]:
    """Return the charts of operators with many terms."""
    keys = {(name_of(row.operator, {}), row.type): None for item in of for row in item.growth}
    charts = []
    for name, type_ in keys:
        rows = [
            (number, item.label, row)
            for number, item in enumerate(of)
            for row in item.growth
            if (name_of(row.operator, {}), row.type) == (name, type_)
        ]
        finite = [one.ulp for _, _, row in rows for one in row.terms if math.isfinite(one.ulp)]
        height, ticks = _scale(max(finite, default=1.0))
        lines, facts = [], []
        for number, label, row in rows:
            step = (WIDTH - LEFT - RIGHT) / max(1, len(row.terms) - 1)
            points = " ".join(f"{LEFT + index * step:.1f},{height(one.ulp):.1f}" for index, one in enumerate(row.terms))
            lines.append(Line(label, number % COLOURS, points))
            adds = texts.adds_in(row.accumulator, row.type)
            order = row.accumulator.order if row.accumulator else ""
            how = f", adds in {adds} {f'({order})' if order else ''}".rstrip() if adds else ""
            grows = "does not grow" if row.exponent is None else f"grows with K^{row.exponent:.2f}"
            facts.append(f"{label}: the error {grows}{how}")
        counts = [f"K={one.terms:,}" for one in rows[0][2].terms]
        charts.append(Chart(f"{name}, {type_}", tuple(facts), tuple(lines), ticks, _labels(counts)))
    return charts


def _scale(most: float) -> tuple[Callable[[float], float], tuple[tuple[str, float], ...]]:
    """Return the height of an error on the chart, and errors with their heights."""
    decades = max(1, math.ceil(math.log10(max(most, 1.0) / LEAST)))
    room = HEIGHT - TOP - BOTTOM

    def height(error: float) -> float:
        above = math.log10(max(error, LEAST) / LEAST) if math.isfinite(error) else decades
        return TOP + room * (1 - min(above, decades) / decades)

    every = -(-decades // 5)
    ticks = [(10.0**power * LEAST, power) for power in range(0, decades + 1, every)]
    return height, tuple((f"{error:g}", height(error)) for error, _ in ticks)


def _labels(names: Sequence[str]) -> tuple[tuple[str, float], ...]:
    count = min(MOST_LABELS, len(names))
    places = [round(number * (len(names) - 1) / max(1, count - 1)) for number in range(count)]
    step = (WIDTH - LEFT - RIGHT) / max(1, len(names) - 1)
    return tuple((names[place], LEFT + place * step) for place in places)
