# SPDX-License-Identifier: Apache-2.0
"""`minimize` as text: the case before and after, and the steps that reduced it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import line
from onnx_conformance.case.value_text import brief

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.minimize.reducer import Minimized


def lines(minimized: Minimized) -> Iterator[str]:
    """Yield the case before and after, and the steps between."""
    before, after = minimized.before, minimized.after
    steps = f"{minimized.steps} step{'' if minimized.steps == 1 else 's'}"
    if not minimized.applied:
        yield f"{before.case.id}: cannot be reduced ({steps})"
    else:
        result = minimized.result
        signal = f" ({result.signal})" if result.signal else ""
        yield line(f"{before.case.id} on {result.backend}: still {result.verdict}{signal} after {steps}", 1000)
        rows = [[name, count, after.counts[name]] for name, count in before.counts.items()]
        rows.append(["form", before.case.form, after.case.form])
        yield tabulate(rows, ["", "before", "after"], tablefmt="simple", disable_numparse=True)
        for when, case in (("before", before.case), ("after", after.case)):
            yield f"{when}: {line(brief(list(case.inputs.values()), 200))}"
        done = Counter(minimized.applied)
        reductions = "; ".join(f"{why}{f' ({count} times)' if count > 1 else ''}" for why, count in done.items())
        yield f"reductions: {reductions}"
    if minimized.stopped:
        yield "stopped at the limit of steps; with more --steps the case may become smaller"
