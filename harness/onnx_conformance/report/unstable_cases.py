# SPDX-License-Identifier: Apache-2.0
"""Names the failed cases whose answers differ from run to run; `--repeat` finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.results.summary import Summary

CAUSES = {
    "memory": ("uninitialized", "failed cases whose answers depend on uninitialized memory"),
    "values": ("unstable", "failed cases whose answers to the same inputs differ"),
}
"""By cause, as in Result.unstable: a label, and the meaning of the number of cases."""


def rows(summary: Summary, backend: str) -> Iterator[tuple[str, str, str]]:
    """Yield a label, the number of cases, and a text that names some of them, for each cause that was found."""
    for cause, (label, meaning) in CAUSES.items():
        found = summary.unstable.get((backend, cause))
        if found is not None:
            more = ", ..." if found.count > len(found.cases) else ""
            yield label, f"{found.count:,}", f"{meaning}: {', '.join(map(line, found.cases))}{more}"
