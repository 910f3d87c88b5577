# SPDX-License-Identifier: Apache-2.0
"""Finds the smallest part of a model that a backend computes wrongly although each of its nodes alone is right.

Runtimes fuse nodes. A fused node may be wrong, and more outputs may keep a runtime from fusing. The search cuts the
unmodified graph instead: the first nodes are left out, and their values are inputs. Then the last nodes are left out.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from onnx_conformance.base import under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.declare import NoAnswer
from onnx_conformance.environments import backend_names
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.asker import Asker
from onnx_conformance.verification import parts
from onnx_conformance.verification.node_oracle import NodeOracle, NoOracleError
from onnx_conformance.verification.user_model import size
from onnx_conformance.verification.verified import Fusion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.specification.signature import TypedValue
    from onnx_conformance.verification.user_model import UserModel


class Search:
    """The search in one model on one backend."""

    def __init__(
        self, model: UserModel, inputs: Mapping[str, TypedValue], target: Target, limits: Limits, memory: int
    ) -> None:
        """Take the model and its inputs; `memory` limits the bytes of all values of the model."""
        self.model, self.inputs, self.target, self.limits, self.memory = model, inputs, target, limits, memory
        self._oracle = NodeOracle(model)
        self._values: dict[str, TypedValue] = {}

    def found(self) -> Fusion | None:
        """Return the smallest part that is wrong only as a whole; None if none is found."""
        if not self._computed():
            return None
        count = len(self.model.steps)
        with Asker(self.target, self.limits) as asker:

            def is_wrong(first: int, end: int) -> bool:
                made = self._judged(asker, first, end)
                return made is not None and made[1].verdict is not Verdict.PASS

            if not is_wrong(0, count):
                return None
            end = _least(1, count, lambda end: is_wrong(0, end))
            first = end - _least(1, end, lambda length: is_wrong(end - length, end))
            made = self._judged(asker, first, end)
        if made is None or made[1].verdict is Verdict.PASS:  # The fault does not appear in every larger part.
            return None
        return Fusion(tuple(self.model.steps[first:end]), *made, levels=self._levels(asker.process.hello, made[0]))

    def _computed(self) -> bool:
        """Compute the values of all nodes with the oracle; return whether it knows them and they fit the memory."""
        self._values = {**self.model.constants, **self.inputs}
        total = 0
        for step in self.model.steps:
            try:
                found = self._oracle.values(step, self._values)
            except (NoOracleError, NoAnswer):
                return False
            total += sum(size(item.value) for item in found.values())
            if total > self.memory:
                return False
            self._values.update(found)
        return True

    def _case(self, first: int, end: int) -> Case | None:
        """Return some nodes as a case; None if there is more than one right answer, or no output is used."""
        steps = self.model.steps[first:end]
        later = {name for step in self.model.steps[end:] for name in step.reads} | set(self.model.outputs)
        outputs = [name for step in steps for name in step.outputs if name in later]
        if not outputs:
            return None
        return parts.case(self.model, steps, self._values, outputs, self._oracle.types)

    def _judged(self, asker: Asker, first: int, end: int) -> tuple[Case, Result] | None:
        case = self._case(first, end)
        if case is None:
            return None
        return case, judge(case, self.target.name, asker.ask(case))

    def _levels(self, hello: Mapping[str, object], case: Case) -> dict[str, bool]:
        """Return for each level of the backend's optimizer whether the part is right with it."""
        levels = hello.get("levels")
        found: dict[str, bool] = {}
        for level in levels if isinstance(levels, list) else ():
            try:
                target = _with_level(self.target, str(level))
                with Asker(target, self.limits) as asker:
                    found[str(level)] = judge(case, target.name, asker.ask(case)).verdict is Verdict.PASS
            except HarnessError:
                continue
        return found


def _with_level(target: Target, level: str) -> Target:
    """Return the backend with another level of its optimizer; the other words of its option stay."""
    option = under_test.parts(target.name).option
    words = [word for word in option.split(",") if "=" in word]
    name = under_test.with_option(target.name, ",".join([level, *words]))
    made = backend_names.resolve(name, passes=target.passes)
    return dataclasses.replace(made, sandbox=target.sandbox)


def _least(low: int, high: int, accepted: Callable[[int], bool]) -> int:
    """Return the least number that is accepted, if all greater ones are accepted, too; `high` is."""
    while low < high:
        middle = (low + high) // 2
        if accepted(middle):
            high = middle
        else:
            low = middle + 1
    return high
