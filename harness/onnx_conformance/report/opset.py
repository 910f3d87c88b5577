# SPDX-License-Identifier: Apache-2.0
"""`opset`: changes between two opsets or packages, for a terminal, as Markdown, and as data."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import few, natural
from onnx_conformance.opset.changes import ChangeKind
from onnx_conformance.report.markup import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.opset.changes import Words
    from onnx_conformance.opset.comparison import Comparison, Step

MOST = 8
"""Maximum number of names of one kind on a line."""


def words(parts: Iterable[Words]) -> str:
    """Return a changed sentence, word by word, like `git diff --word-diff`: [-removed-] {+added+}."""
    shown = []
    for part in parts:
        shown += [part.equal] if part.equal else []
        shown += [f"[-{part.went}-]"] if part.went else []
        shown += [f"{{+{part.came}+}}"] if part.came else []
    return " ".join(shown)


def head(comparison: Comparison) -> str:
    """Return the number of new operator versions by kind, and the removed versions."""
    kinds = Counter(step.change.kind for step in comparison.steps)
    listed = ", ".join(f"{kind} {kinds[kind]}" for kind in ChangeKind if kinds[kind])
    text = f"{comparison.before} to {comparison.after}: " + (listed or "no new version and no reworded text")
    return text + (f"; {len(comparison.gone)} removed: {', '.join(comparison.gone)}" if comparison.gone else "")


def _title(step: Step) -> str:
    before = step.change.before
    after = step.change.after
    former = f", after {before.since}" if before and before.since != after.since else ""
    return f"{after}: {step.change.kind}{former}"


def _rows(step: Step) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line about a step."""
    change, effects = step.change, step.effects
    for text in change.signature:
        yield "signature", text
    yield from (("added", f"«{text}»") for text in change.came)
    yield from (("removed", f"«{text}»") for text in change.went)
    yield from (("changed", f"«{words(parts)}»") for parts in change.changed)
    yield "body", change.body
    if effects.clauses:
        text = f"{len(effects.fallen)} of {effects.clauses} clauses of the previous version no longer apply"
        yield "clauses", text + (": " + " ".join(f"«{item}»" for item in effects.fallen) if effects.fallen else "")
    if effects.stale:
        yield "stale", "the operator file quotes sentences that are not in the text: " + _some(effects.stale, "«{}»")
    if effects.former:
        yield "cases", f"{effects.holding} of the {effects.former} cases of the previous version also apply to this one"
    yield "cases", f"{effects.cases} for this version" if effects.declared else "no operator file declares this version"
    if effects.points:
        yield "no case", f"{len(effects.points)} of {effects.of_points} schema points: {_some(effects.points)}"
    for text in effects.sentences:
        yield "no case", f"«{text}»"
    yield "official", f"{len(effects.official)} cases: {_some(effects.official)}" if effects.official else "no cases"


def _some(names: Sequence[str], form: str = "{}") -> str:
    return few(list(map(form.format, names)), MOST)


def _ordered(comparison: Comparison) -> list[Step]:
    return sorted(comparison.steps, key=lambda step: natural(str(step.change.after)))


def _end(comparison: Comparison) -> str:
    lacking = [str(step.change.after) for step in comparison.incomplete]
    if not comparison.steps:
        return ""
    if not lacking:
        return "Every schema point and every binding sentence of these has a case."
    return f"{len(lacking)} of {len(comparison.steps)} lack a case for a point or sentence: {', '.join(lacking)}."


def lines(comparison: Comparison, width: int) -> Iterator[str]:
    """Yield the lines for a terminal of this width."""
    yield textwrap.fill(head(comparison), width, subsequent_indent="  ")
    for step in _ordered(comparison):
        yield ""
        yield _title(step)
        for label, text in _rows(step):
            yield textwrap.fill(
                text, width, initial_indent=f"  {label:<10}", subsequent_indent=" " * 12, break_on_hyphens=False
            )
    if end := _end(comparison):
        yield ""
        yield textwrap.fill(end, width, subsequent_indent="  ", break_on_hyphens=False)


def markdown(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of a Markdown text."""
    yield f"# {plain(comparison.before)} to {plain(comparison.after)}"
    yield ""
    yield f"{plain(head(comparison))}."
    for step in _ordered(comparison):
        yield ""
        yield f"## {plain(_title(step))}"
        yield ""
        for label, text in _rows(step):
            yield f"- **{label}**: {plain(text)}"
    if end := _end(comparison):
        yield ""
        yield plain(end)


def record(comparison: Comparison) -> dict[str, Any]:
    """Return the same as data for JSON."""
    return {
        "before": comparison.before,
        "after": comparison.after,
        "gone": list(comparison.gone),
        "steps": [
            {
                "operator": str(step.change.after),
                "before": str(step.change.before) if step.change.before else None,
                "kind": str(step.change.kind),
                "signature": list(step.change.signature),
                "came": list(step.change.came),
                "went": list(step.change.went),
                "changed": [[asdict(part) for part in parts] for parts in step.change.changed],
                "body": step.change.body,
                **asdict(step.effects),
                "complete": step.effects.complete,
            }
            for step in _ordered(comparison)
        ],
    }
