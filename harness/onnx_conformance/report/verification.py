# SPDX-License-Identifier: Apache-2.0
"""The results of `verify` as lines on a terminal of 80 columns, and as JSON."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from onnx_conformance.base import under_test
from onnx_conformance.base.package import VERSION
from onnx_conformance.base.printing import clipped, guilt, quoted
from onnx_conformance.base.verdict import line
from onnx_conformance.case.value_text import brief
from onnx_conformance.report import json_text
from onnx_conformance.verification.verified import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.findings.finding import Finding
    from onnx_conformance.verification.verified import Fusion, NodeResult, OfBackend, OfTool, Verified

WIDTH = 80
MOST_ROWS = 10
"""Maximum number of nodes in a list."""
FORMAT_VERSION = 1
"""The version of the JSON; see the schema `verification`."""


def lines(done: Verified, findings: Mapping[str, Sequence[Finding]] | None = None) -> Iterator[str]:
    """Yield the model, a table of the backends, and the faults of each.

    Args:
        done: the results.
        findings: by backend, the published findings that concern its first node at fault.
    """
    count = len(done.model.steps)
    taken = "" if done.seconds is None else f"; the oracle took {done.seconds:.1f} s"
    yield from _wrapped(f"{line(done.model.name, 60)}: {count} {'node' if count == 1 else 'nodes'}{taken}")
    for note in (*done.inputs.notes, *done.notes):
        yield from _wrapped(note, "  ")
    yield ""
    if done.backends:
        yield _table(done)
    for text in _who_is_right(done):
        yield from _wrapped(text)
    for item in done.backends:
        if not item.ok:
            yield ""
            yield from _of_backend(item, (findings or {}).get(item.backend, ()))
        if item.outputs is not None and item.outputs.changed:
            yield from _wrapped(f"{named(item)}: its outputs change if all values are outputs (other fusions)")
        for kind in (Judgement.ROUNDING, Judgement.HARMLESS, Judgement.FORBIDDEN, Judgement.OPEN, Judgement.UNKNOWN):
            yield from _others(item, kind)
    for text in of_tools(done):
        yield from _wrapped(text)


def named(item: OfBackend | OfTool) -> str:
    """Return a backend and its version, from its hello; of the path of an adapter only the last part."""
    if under_test.is_foreign(item.backend):
        return line(item.backend.rpartition("/")[2], 60)
    return line(f"{item.backend} {item.hello.get('version', '')}".strip(), 60)


def node(item: NodeResult) -> str:
    """Return the place, name and operator version of a node."""
    return f"node {item.step.index} {line(item.step.label, 60)} ({line(item.step.operator, 60)})"


def times(value: float | None) -> str:
    """Return how large a difference is, as a multiple of the allowed one."""
    if value is None:
        return ""
    return "no difference is allowed" if math.isinf(value) else f"{value:.3g} times the allowed difference"


def _table(done: Verified) -> str:
    rows = []
    for item in done.backends:
        right, faults = len(item.of(Judgement.RIGHT)), len(item.faults)
        outputs = "none" if item.outputs is None else str(item.outputs.judgement)
        taken = "" if item.seconds is None else f"{item.seconds:.2g} s"
        counts = [right, faults or "", len(item.nodes) - right - faults or ""]
        rows.append([clipped(named(item), 28), "ok" if item.ok else "fault", *counts, outputs, taken])
    heads = ["backend", "result", "nodes\nright", "at\nfault", "other", "outputs", "time"]
    return tabulate(rows, heads, tablefmt="simple", disable_numparse=True)


def _who_is_right(done: Verified) -> Iterator[str]:
    """Yield which backends have right outputs, if several were asked and one of them is wrong."""
    judged = [(item, item.outputs) for item in done.backends if item.outputs is not None]
    right = [named(item) for item, outputs in judged if outputs.judgement is Judgement.RIGHT]
    wrong = [named(item) for item, outputs in judged if outputs.judgement is Judgement.WRONG]
    if right and wrong:
        verb = "is" if len(right) == 1 else "are"
        yield f"the outputs differ: {', '.join(right)} {verb} right, and not {', '.join(wrong)}"


def of_tools(done: Verified) -> Iterator[str]:
    """Yield for each tool whether it returns a right model."""
    for item in done.tools:
        size = "" if item.nodes_made is None else f" ({item.nodes} nodes before, {item.nodes_made} after)"
        if item.result is None or item.problem:
            text = f"it is not known whether the returned model is right{size}: {item.problem}"
        elif item.ok:
            text = f"the returned model has the values of the original one{size}"
        else:
            by = f"; {guilt(item.guilty)}" if item.guilty else ""
            text = f"{item.result.verdict}{size}: {line(item.result.message, 400)}{by}"
        yield f"{named(item)}: {text}"


HOW = {Judgement.WRONG: "is wrong", Judgement.FAILED: "does not run"}
OTHERS = {
    Judgement.ROUNDING: "rounded less carefully than usual, or with other zeros",
    Judgement.HARMLESS: "wrong without an effect on the nodes that read the values",
    Judgement.FORBIDDEN: "forbidden by the text",
    Judgement.OPEN: "not defined by the text",
    Judgement.UNKNOWN: "not judged",
}


def _others(item: OfBackend, kind: Judgement) -> Iterator[str]:
    """Yield how many nodes have a judgement that is no fault, and the reason of the first."""
    found = item.of(kind)
    if found:
        count = f"{len(found)} {'node' if len(found) == 1 else 'nodes'}"
        first = f"{found[0].step.index} {line(found[0].step.label, 40)}: {line(found[0].message, 160)}"
        yield from _wrapped(f"{named(item)}: {count} {OTHERS[kind]}: {first}")


def _of_backend(item: OfBackend, findings: Sequence[Finding]) -> Iterator[str]:
    name = named(item)
    if item.problem:
        yield from _wrapped(f"{name}: the model does not run: {item.problem}")
    if item.outputs is not None and item.outputs.judgement is Judgement.WRONG:
        yield from _wrapped(f"{name}: its outputs are wrong: {item.outputs.message}")
    first = item.first
    if first is not None:
        others = len(item.faults) - 1
        more = f", and the first of {others + 1}" if others else ""
        how = "is not supported" if first.unsupported else HOW[first.judgement]
        yield from _wrapped(f"{name}: {node(first)} {how}{more}")
        yield from _described(first)
    if item.fusion is not None:
        yield from _fused(name, item.fusion)
    yield from _smallest(item)
    for finding in findings[:3]:
        yield from _wrapped(f"finding  {line(finding.title, 200)}", "  ")
    if len(item.faults) > 1:
        yield "  all nodes at fault, those with the greatest excess first:"
        for other in item.ranked[:MOST_ROWS]:
            yield from _wrapped(f"{node(other)}: {times(other.times) or line(other.message, 100)}", "    ")
        if len(item.faults) > MOST_ROWS:
            yield f"    and {len(item.faults) - MOST_ROWS} more"


def _described(item: NodeResult) -> Iterator[str]:
    if item.sentence:
        yield from _wrapped(f"text     {quoted(line(item.sentence, 300))}", "  ")
    yield from _wrapped(f"differs  {item.message}", "  ")
    if item.times and math.isfinite(item.times) and item.times > 1:
        excess = times(item.times)
        yield from _wrapped(f"excess   {excess}", "  ")


def _fused(name: str, fusion: Fusion) -> Iterator[str]:
    labels = ", ".join(f"{step.index} {step.node.op_type}" for step in fusion.steps)
    yield from _wrapped(
        f"{name}: each node alone is right, but these nodes together are wrong: {line(labels, 300)}", ""
    )
    yield from _wrapped(f"differs  {line(fusion.result.message, 300)}", "  ")
    if fusion.levels:
        right = [level for level, ok in fusion.levels.items() if ok]
        wrong = [level for level, ok in fusion.levels.items() if not ok]
        yield from _wrapped(
            f"levels   right with the optimizer at {', '.join(right) or 'no level'}, "
            f"wrong at {', '.join(wrong) or 'no level'}",
            "  ",
        )


def _smallest(item: OfBackend) -> Iterator[str]:
    if item.smallest is not None:
        case, result, _ = item.smallest
        fed = ", ".join(f"{name} = {brief([value])}" for name, value in case.inputs.items())
        yield from _wrapped(f"smallest {line(fed, 300)}", "  ")
        yield from _wrapped(f"returns  {line(result.message, 300)}", "  ")
    elif item.reduced_by:
        yield from _wrapped(f"alone    {item.reduced_by}", "  ")


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Return a text in lines of the width of a terminal; following lines are indented further."""
    later = indent + " " * 9 if indent else "  "
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=later, break_on_hyphens=False) or [""]


def as_json(done: Verified) -> str:
    """Return the results as JSON; the schema `verification` describes it."""
    return json_text.text(data(done))


def data(done: Verified) -> dict[str, Any]:
    """Return the results as data; see `as_json`."""
    return {
        "format": FORMAT_VERSION,
        "onnx_conformance": VERSION,
        "model": done.model.name,
        "ok": done.ok,
        "inputs": list(done.inputs.notes),
        "sizes": dict(done.inputs.sizes),
        "notes": list(done.notes),
        "backends": [_backend_data(item) for item in done.backends],
        "tools": [_tool_data(item) for item in done.tools],
    }


def _backend_data(item: OfBackend) -> dict[str, Any]:
    outputs = item.outputs
    return {
        "backend": item.backend,
        "runtime": str(item.hello.get("runtime", "")),
        "version": str(item.hello.get("version", "")),
        "ok": item.ok,
        "problem": item.problem,
        "seconds": item.seconds,
        "outputs": None
        if outputs is None
        else {
            "judgement": str(outputs.judgement),
            "message": outputs.message,
            "times_allowed": _number(outputs.times),
            "changed_by_more_outputs": outputs.changed,
        },
        "nodes": [
            {
                "index": other.step.index,
                "name": other.step.node.name,
                "operator": other.step.operator,
                "outputs": list(other.step.outputs),
                "judgement": str(other.judgement),
                "message": other.message,
                "times_allowed": _number(other.times),
                "sentence": other.sentence,
            }
            for other in item.nodes
        ],
        "fusion": None
        if item.fusion is None
        else {
            "nodes": [step.index for step in item.fusion.steps],
            "message": item.fusion.result.message,
            "right_by_level": dict(item.fusion.levels),
        },
    }


def _tool_data(item: OfTool) -> dict[str, Any]:
    return {
        "tool": item.backend,
        "version": str(item.hello.get("version", "")),
        "ok": item.ok,
        "verdict": "" if item.result is None else str(item.result.verdict),
        "message": item.problem if item.result is None else item.result.message,
        "nodes_before": item.nodes,
        "nodes_after": item.nodes_made,
        "guilty_passes": list(item.guilty),
    }


def _number(value: float | None) -> float | str | None:
    return "infinity" if value is not None and math.isinf(value) else value
