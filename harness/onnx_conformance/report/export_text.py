# SPDX-License-Identifier: Apache-2.0
"""The verdicts on an exporter, as lines on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import Verdict, line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from onnx_conformance.base.verdict import Result

MEANINGS: Mapping[Verdict, str] = {
    Verdict.PASS: "the model has the results of the framework",
    Verdict.WRONG_VALUE: "an output of the model has other elements",
    Verdict.WRONG_SHAPE: "an output of the model has another shape",
    Verdict.WRONG_TYPE: "an output of the model has another type",
    Verdict.WRONG_COUNT: "the model has more or fewer outputs",
    Verdict.INVALID_MODEL: "ONNX forbids the model",
    Verdict.REFUSED: "the exporter raised an error",
    Verdict.CRASH: "the exporter ended its process",
    Verdict.TIMEOUT: "the exporter did not finish in time",
    Verdict.UNSUPPORTED: "the exporter reported that it cannot export it",
    Verdict.UNSPECIFIED: "no verdict: ONNX leaves the result open",
    Verdict.ADAPTER_ERROR: "the adapter is at fault",
}
"""By verdict, its meaning for an exported program."""
LENGTH = 200
"""Characters of a message that are shown."""


def failures(results: Iterable[Result]) -> Iterator[str]:
    """Yield two lines for each operation and verdict with failures: the first program, and the reason."""
    grouped: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.verdict.failed or result.verdict is Verdict.ADAPTER_ERROR:
            grouped.setdefault((result.operator, str(result.verdict)), []).append(result)
    for (_, verdict), found in grouped.items():
        first = min(found, key=lambda result: result.as_example)
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        yield f"{verdict}: {line(first.case)}{more}"
        reason = f"{first.error}: {first.message}" if first.error else first.message
        yield f"  {line(reason, LENGTH)}"


def counts(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table of the verdicts, and the number of judged programs that passed."""
    counted = Counter(result.verdict for result in results)
    rows = [
        (str(verdict), f"{counted[verdict]:,}", MEANINGS.get(verdict, "")) for verdict in Verdict if counted[verdict]
    ]
    yield tabulate(rows, ("verdict", "programs", "meaning"), colalign=("left", "right", "left"))
    judged = sum(count for verdict, count in counted.items() if verdict.scored)
    yield f"\n{counted[Verdict.PASS]:,} of {judged:,} judged programs passed"


def title(name: str, hello: Mapping[str, Any], count: int) -> str:
    """Return a line that names the exporter, its version, and the number of programs."""
    runtime, version = (line(hello.get(key, ""), 60) for key in ("runtime", "version"))
    return f"{line(name)}: {' '.join(filter(None, (runtime, version)))}, {count:,} programs"
