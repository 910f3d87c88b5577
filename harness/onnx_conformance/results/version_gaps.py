# SPDX-License-Identifier: Apache-2.0
"""Version gaps: operator versions that a runtime lacks, although it runs an earlier version with the same meaning.

Users meet them when they upgrade an exporter: the same call in a newer opset is no longer supported. A gap is shown by
two cases with the same declaration and types: one passes, and one in the later version is unsupported.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import VALID, Result, Verdict, line, natural, split_operator
from onnx_conformance.specification import meanings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Passing = Callable[[frozenset[str]], Mapping[str, bool]]

EXAMPLES = 3
"""Maximum number of unsupported cases of an operator version and a type that are compared with earlier versions."""


@dataclass(frozen=True)
class Gap:
    """An operator version that a runtime lacks.

    Attributes:
        operator: the operator, such as ai.onnx/RoiAlign.
        lacks: the version without support.
        runs: an earlier version with the same meaning that the runtime runs.
        types: the element types for which this is so; empty: the cases have only one possible type.
        case: the id of an unsupported case.
        passing: the id of the same case in the earlier version, which passes.
        message: why the runtime does not support the case.
    """

    operator: str
    lacks: int
    runs: int
    types: tuple[str, ...]
    case: str
    passing: str
    message: str

    @property
    def name(self) -> str:
        """The operator version, such as ai.onnx/RoiAlign/22."""
        return f"{self.operator}/{self.lacks}"


@dataclass
class VersionGaps:
    """The plain cases of one backend that show which versions it supports.

    Attributes:
        newest: the newest opset that the runtime knows; None: its adapter does not report it. Newer versions are no
            gaps, because the whole runtime is older.
    """

    newest: int | None = None
    _unsupported: dict[str, dict[str, list[Result]]] = field(default_factory=dict)
    _passes: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, hello: Mapping[str, Any]) -> VersionGaps:
        """Start empty, for a backend with this description in the header of its results."""
        newest = hello.get("opset")
        return cls(newest if isinstance(newest, int) and not isinstance(newest, bool) else None)

    def add(self, result: Result) -> None:
        """Count a result; only plain cases with valid models matter."""
        if not result.is_plain or result.outcome not in VALID:
            return
        self._passes[result.case] = result.verdict is Verdict.PASS
        if result.verdict is Verdict.UNSUPPORTED:
            examples = self._unsupported.setdefault(result.operator, {}).setdefault(result.element_type, [])
            examples.append(result)
            examples.sort(key=lambda item: item.as_example)
            del examples[EXAMPLES:]

    def found(self, ask: Passing | None = None) -> list[Gap]:
        """Return the gaps, by operator and version.

        Args:
            ask: a function that runs cases of earlier versions that have no result, and returns for each existing one
                whether it passes; None: only results count.
        """
        known = dict(self._passes)
        # The newest earlier version first; older ones if it has no such case.
        while ask is not None and (wanted := frozenset(self._next(known))):
            known |= dict.fromkeys(wanted, False) | dict(ask(wanted))
        return sorted(self._gaps(known), key=lambda gap: natural(gap.name))

    def too_new(self) -> list[str]:
        """Return the unsupported operator versions that are newer than the newest known opset."""
        return sorted(filter(self._is_too_new, self._unsupported), key=natural)

    def _is_too_new(self, name: str) -> bool:
        since = split_operator(name)[1]
        return name.startswith("ai.onnx/") and self.newest is not None and since is not None and since > self.newest

    def _pairs(self) -> Iterator[tuple[Result, list[str]]]:
        """Yield each unsupported example with its ids in earlier versions of the same meaning, the newest first."""
        for name, by_type in self._unsupported.items():
            operator, since = split_operator(name)
            if since is None or self._is_too_new(name):
                continue
            earlier = meanings.earlier(operator, since)
            for result in (result for examples in by_type.values() for result in examples):
                stem = result.case.removeprefix(f"{name}/")
                yield result, [f"{operator}/{other}/{stem}" for other in earlier]

    def _next(self, known: Mapping[str, bool]) -> Iterator[str]:
        """Yield, of each example without an answer yet, the id in the newest version that was not asked."""
        for _, twins in self._pairs():
            if not any(known.get(twin) for twin in twins):
                yield from itertools.islice((twin for twin in twins if twin not in known), 1)

    def _gaps(self, known: Mapping[str, bool]) -> Iterator[Gap]:
        shown: dict[tuple[str, int], list[tuple[Result, str]]] = {}
        for result, twins in self._pairs():
            passing = next((twin for twin in twins if known.get(twin)), None)
            if passing is not None:
                runs = split_operator("/".join(passing.split("/", 3)[:3]))[1] or 0
                shown.setdefault((result.operator, runs), []).append((result, passing))
        for (name, runs), items in shown.items():
            operator, lacks = split_operator(name)
            result, passing = min(items, key=lambda item: item[0].as_example)
            types = tuple(sorted({item.element_type for item, _ in items} - {""}))
            yield Gap(operator, lacks or 0, runs, types, result.case, passing, line(result.message))
