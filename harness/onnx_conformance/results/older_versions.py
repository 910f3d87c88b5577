# SPDX-License-Identifier: Apache-2.0
"""The versions that a runtime has instead of the newest ones: which cases of them belong to a run of the core.

The core has most cases of a meaning in its newest version. A runtime that lacks this version would be tested on hardly
any case of the operator, although its users call it in the previous version. So a run of the core adds, for each
backend, the cases of every version that it lacks, in the newest earlier version with the same meaning that it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import VALID, Result, Verdict, split_operator
from onnx_conformance.specification import meanings

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBES = 3
"""The number of cases, of different element types as far as there are some, that show whether a version is lacking."""
_WITHOUT_ANSWER = frozenset({Verdict.UNSUPPORTED, Verdict.UNSPECIFIED})


@dataclass
class _Version:
    """The results of an operator version.

    Attributes:
        has: whether the runtime answered a call of it, in any way.
        cases: the ids of its cases, while it has not.
        probes: by element type, the id of an unsupported plain case with a valid model.
    """

    has: bool = False
    cases: list[str] = field(default_factory=list)
    probes: dict[str, str] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        if self.has:
            return
        if result.outcome in VALID and result.verdict not in _WITHOUT_ANSWER:
            self.has = True
            self.cases.clear()
            return
        self.cases.append(result.case)
        if result.is_plain and result.outcome in VALID and result.verdict is Verdict.UNSUPPORTED:
            first = self.probes.setdefault(result.element_type, result.case)
            self.probes[result.element_type] = min(first, result.case)  # Whatever the order of the results is.


class OlderVersions:
    """The cases in older versions that one backend is to run, as its results show it."""

    def __init__(self) -> None:
        """Start without results."""
        self._versions: dict[str, _Version] = {}
        self._asked: set[str] = set()

    def add(self, result: Result) -> None:
        """Add a result, whether of the core or of an older version."""
        self._asked.add(result.case)
        self._versions.setdefault(result.operator, _Version()).add(result)

    def wanted(self) -> frozenset[str]:
        """Return the ids of the next cases to run; empty at the end.

        Some of them may not exist. To be called again when their results were added: the first cases of a version may
        only show that the runtime lacks it, too.
        """
        ids = {case for name in list(self._versions) for case in self._instead(name)}
        self._asked |= ids
        return frozenset(ids)

    def _instead(self, name: str) -> Iterator[str]:
        """Yield the cases to run instead of those in a version that the runtime lacks."""
        operator, since = split_operator(name)
        lacking = self._versions[name]
        newest = meanings.newest_of(operator).get(since or 0)
        if since is None or newest != since or lacking.has or not lacking.probes:
            return
        for earlier in meanings.earlier(operator, since):
            version = self._versions.get(f"{operator}/{earlier}", _Version())
            cases = lacking.cases if version.has else sorted(lacking.probes.values())[:PROBES]
            missing = [twin for case in cases if (twin := _in_version(case, earlier)) not in self._asked]
            yield from missing
            if version.has or missing:
                return


def _in_version(case: str, since: int) -> str:
    """Return the id of a case in another version of its operator."""
    domain, name, _, rest = case.split("/", 3)
    return f"{domain}/{name}/{since}/{rest}"
