"""The operators that a model uses, and the findings that concern it, as lines on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.findings.model_use import Concern
    from onnx_conformance.specification.model_use import Use


def lines(used: Sequence[Use], concerns: Sequence[Concern], runtime: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Yield a table of the used operators, then the findings, most severe first.

    Args:
        used: operators in the model.
        concerns: findings of the runtime that concern it.
        runtime: name and version, from the folder.
        folder: of the findings.
    """
    count = {id(use): sum(concern.use is use for concern in concerns) for use in used}
    rows = [
        [
            line(f"{use.operator}/{use.version}" if use.version else f"{use.operator} (not of ONNX)", 80),
            use.nodes,
            line(", ".join(sorted(use.types)) or "unknown", 40),
            line(", ".join(sorted(use.attributes)), 60),
            count[id(use)] or "",
        ]
        for use in used
    ]
    yield tabulate(rows, ["operator version", "nodes", "types", "attributes", "findings"], tablefmt="simple")
    name = line(f"{runtime.get('runtime', '')} {runtime.get('version', '')}", 120)
    if not concerns:
        yield f"\nno finding of {name} concerns this model"
        return
    yield f"\n{name}: {len(concerns)} {'finding concerns' if len(concerns) == 1 else 'findings concern'} this model"
    for concern in concerns:
        item = concern.finding
        yield f"  {item.identity.kind}  {line(item.title, 160)}"
        if item.cases.conditions:
            yield f"      when {line(' and '.join(item.cases.conditions), 200)}"
        if item.cases.clause:
            yield f"      text «{line(item.cases.clause, 200)}»"
        yield f"      {folder / item.script}"
