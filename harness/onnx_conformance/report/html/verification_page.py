# SPDX-License-Identifier: Apache-2.0
"""The results of `verify` as one HTML page, which loads nothing from the network."""

from __future__ import annotations

import itertools
import math
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.base.verdict import line
from onnx_conformance.case.compare import differing
from onnx_conformance.report import verification
from onnx_conformance.repro import bug_report
from onnx_conformance.repro.bug_report import Issue

if TYPE_CHECKING:
    from onnx_conformance.verification.verified import OfBackend, Verified

MOST_VALUES = 12
"""Maximum number of differing elements in the table of values."""
MOST_RIGHT = 5
"""Maximum number of right nodes in a row that are not folded, so that the other nodes of a large model are found."""
DECADES = 6
"""The bar of a node has its full length if the difference is 10**-DECADES of the allowed one or larger by that much."""


def page(done: Verified) -> str:
    """Return the page."""
    environment = Environment(
        loader=PackageLoader("onnx_conformance.report.html", "."), undefined=StrictUndefined, autoescape=True
    )
    style = resources.files("onnx_conformance.report.html").joinpath("style.css").read_text("utf-8")
    return environment.get_template("verification.html.jinja").render(
        done=done,
        version=VERSION,
        repository=REPOSITORY,
        style=Markup(style),  # noqa: S704 - our own file
        tools=[" ".join(text.split()) for text in verification.of_tools(done)],
        backends=[_backend(item) for item in done.backends],
    )


def _backend(item: OfBackend) -> dict[str, Any]:
    nodes = [
        {
            "index": other.step.index,
            "label": other.step.label,
            "operator": other.step.operator,
            "judgement": str(other.judgement),
            "times": verification.times(other.times) if other.times else "",
            "length": _length(other.times),
            "message": line(other.message, 300),
        }
        for other in item.nodes
    ]
    return {
        "item": item,
        "name": verification.named(item),
        "runs": [_run(list(run)) for _, run in itertools.groupby(nodes, lambda node: node["judgement"] == "right")],
        "first": None if item.first is None else verification.node(item.first),
        "sentence": item.first.sentence if item.first else "",
        "values": _values(item),
        "script": _script(item),
    }


def _run(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return neighbouring nodes, and whether the page folds them: they are many, and right."""
    return {"nodes": nodes, "folded": nodes[0]["judgement"] == "right" and len(nodes) > MOST_RIGHT}


def _length(times: float | None) -> int:
    """Return the length of a node's bar in percent: logarithmic, half of it if the difference is just allowed."""
    if not times:
        return 0
    if math.isinf(times):
        return 100
    return round(max(2.0, min(100.0, 50 + 50 * math.log10(times) / DECADES)))


def _values(item: OfBackend) -> list[tuple[str, str, str]]:
    """Return places where the smallest case differs: the place, the expected and the actual value."""
    if item.smallest is None or item.smallest[0].expected is None:
        return []
    case, _, answer = item.smallest
    assert case.expected is not None  # noqa: S101 - see above
    return list(differing(case.expected, answer.outputs, case.allowance))[:MOST_VALUES] if answer.outputs else []


def _script(item: OfBackend) -> str:
    if item.smallest is None:
        return ""
    case, result, answer = item.smallest
    return bug_report.script_text(Issue(case, result, answer), shared=False)
