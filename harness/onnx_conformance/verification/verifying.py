# SPDX-License-Identifier: Apache-2.0
"""Runs a user's model on backends, and judges every node by the backend's own values.

The model first runs unmodified. Then it runs with all values as outputs, in as many parts as the memory demands. This
may keep a runtime from computing several nodes at once, so the outputs of both are compared. If they differ, and every
node is right, the fault is in a part that is computed at once, and `fusion` looks for it by cutting the graph.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.compare import compare, times_allowed
from onnx_conformance.case.elements import is_float
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, Died, Late, Refused
from onnx_conformance.specification.signature import TypedValue
from onnx_conformance.tolerance import several_nodes
from onnx_conformance.tolerance.allowance import is_narrow_float
from onnx_conformance.verification import parts, running
from onnx_conformance.verification.node_oracle import NodeOracle, NoOracleError
from onnx_conformance.verification.user_model import size
from onnx_conformance.verification.verified import Judgement, NodeResult, OfBackend, Outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.values import Array, Drawn, Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.verification.inputs import Inputs
    from onnx_conformance.verification.oracle_run import OracleRun
    from onnx_conformance.verification.user_model import Step, UserModel

UNKNOWN_SIZE = 1 << 22
"""Assumed size of a value whose size the oracle does not know, in bytes."""
ROOM = 1 << 26
"""How much larger than expected an answer may be, in bytes."""
MOST_ALONE, MOST_FUSED = 50, 12
"""Maximum number of wrong nodes that run alone, and number of nodes at which a part that may be fused grows no more."""
MOST_MOVED = 4
"""Maximum number of inputs that are moved to see whether an integer is near a tie."""
EVALUATIONS = 2 * several_nodes.QUICK_RUNS + 1
"""How often the oracle runs to find, quickly, how far the outputs of a model may be from its own."""


@dataclass(frozen=True)
class Settings:
    """How a model is verified.

    Attributes:
        memory: the most bytes of values that a backend returns at once.
        nodes: globs over the nodes that are judged; all without one.
        seconds: the most seconds that the error of the whole model may take to compute.
        limits: the limits of the backend's process.
        progress: called with a phrase and the number of finished and of all nodes.
    """

    memory: int
    nodes: tuple[str, ...]
    seconds: float
    limits: Limits
    progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None


def verify_backend(
    model: UserModel, inputs: Inputs, target: Target, oracle: OracleRun, settings: Settings
) -> OfBackend:
    """Return the results of one backend.

    Raises:
        HarnessError: the backend does not start.
    """
    with Asker(target, settings.limits) as asker:
        return _OfBackend(model, inputs, asker, oracle, settings).results()


class _OfBackend:
    """The work on one backend."""

    def __init__(self, model: UserModel, inputs: Inputs, asker: Asker, oracle: OracleRun, settings: Settings) -> None:
        self.model, self.asker, self.oracle, self.settings = model, asker, oracle, settings
        self.inputs, self.name = inputs.values, asker.process.target.name
        self.fed = {name: item.value for name, item in self.inputs.items()}
        self.node_oracle = NodeOracle(model)
        self.node_oracle.types.update(oracle.types)
        self.alone = 0
        """The number of wrong nodes that ran alone."""
        self.seen: dict[str, Value] = {}
        """The outputs of the model, from the model with more outputs."""

    def results(self) -> OfBackend:
        done = OfBackend(self.name, dict(self.asker.process.hello))
        plain = self._run(self.model.proto, self.fed, self.model.outputs)
        done = replace(done, seconds=plain.seconds)
        if plain.values is None:
            return self._without_values(done, plain)
        nodes, problem = self._nodes(len(self.model.steps))
        done = replace(done, nodes=nodes, problem=problem)
        return done if problem else replace(done, outputs=self._outputs(plain.values, nodes))

    def _run(self, model: Any, inputs: Mapping[str, Any], outputs: Sequence[str]) -> running.Reached:  # noqa: ANN401
        expected = sum(self.oracle.sizes.get(name, UNKNOWN_SIZE) for name in outputs)
        return running.run(self.asker, model, inputs, outputs, expected + ROOM)

    def _returned(self, names: Sequence[str], end: int) -> running.Reached:
        """Return the values with some names, from a model of the nodes before an index."""
        return self._run(parts.with_outputs(self.model, names, self.node_oracle.types, end), self.fed, names)

    # The nodes.

    def _nodes(self, end: int) -> tuple[list[NodeResult], str]:
        """Return the results of the chosen nodes before an index, and why they do not run with more outputs, or ""."""
        chosen = self.model.chosen(self.settings.nodes) & set(range(end))
        found: list[NodeResult] = []
        for steps in self._batches(sorted(chosen)):
            names = self._wanted(steps)
            reached = self._returned(names, end)
            if reached.values is None:
                return found, f"the model runs, but not with more outputs: {reached.problem}"
            self.seen.update({name: value for name, value in reached.values.items() if name in self.model.outputs})
            local = {**self.model.constants, **self.inputs, **self._typed(reached.values)}
            first = len(found)
            for step in steps:
                found.append(self._judged(step, local, reached.values, found))
                self.settings.progress(f"{self.name}: nodes", len(found), len(chosen))
            judged = found[first:]
            found[first:] = [self._harmless(item, judged, local, reached.values) for item in judged]
        return found, ""

    def _batches(self, chosen: Sequence[int]) -> Iterator[list[Step]]:
        """Yield the chosen nodes in groups whose inputs and outputs fit the memory together."""
        group: list[Step] = []
        names: set[str] = set()
        for index in chosen:
            step = self.model.steps[index]
            more = names | set(self._wanted([step]))
            if group and sum(self.oracle.sizes.get(name, UNKNOWN_SIZE) for name in more) > self.settings.memory:
                yield group
                group, more = [], set(self._wanted([step]))
            group.append(step)
            names = more
        if group:
            yield group

    def _wanted(self, steps: Sequence[Step]) -> list[str]:
        """Return the names of the values that nodes read and return, if a model can return them."""
        known = self.model.constants.keys() | self.inputs.keys()
        return list(dict.fromkeys(name for step in steps for name in (*step.reads, *step.outputs) if name not in known))

    def _typed(self, values: Mapping[str, Value]) -> dict[str, TypedValue]:
        return {name: TypedValue(value, self._type(name)) for name, value in values.items()}

    def _type(self, name: str) -> str:
        return self.node_oracle.types.get(name, "")

    def _judged(
        self, step: Step, local: Mapping[str, TypedValue], values: Mapping[str, Value], before: Sequence[NodeResult]
    ) -> NodeResult:
        """Return the judgement on a node; `before` has those on the nodes before it."""
        actual = tuple(values[name] for name in step.outputs)
        found = self._compared(step, local, actual)
        if found.judgement is not Judgement.WRONG or found.case is None:
            return found
        if self._right_if_unrounded(found.case, actual):
            return NodeResult(step, Judgement.RIGHT, f"right if {several_nodes.UNROUNDED}")
        if _is_rounding(found, actual) or self._right_if_inputs_move(found, found.case, local, actual):
            return replace(found, judgement=Judgement.ROUNDING, case=None, result=None)
        return self._fused(found, found.case, local, before)

    def _right_if_inputs_move(
        self, found: NodeResult, case: Case, local: Mapping[str, TypedValue], actual: tuple[Value, ...]
    ) -> bool:
        """Return whether each wrong integer is right for an input that differs in the last place: it is near a tie.

        So a runtime that multiplies by the reciprocal of a scale, instead of dividing, or adds the zero point before it
        rounds, returns the next integer for a few numbers.
        """
        if found.result is None or found.result.verdict is not Verdict.WRONG_VALUE:
            return False  # Only values of the right types and shapes can be compared.
        expected = case.expected or ()
        if not all(isinstance(item, np.ndarray) and "int" in item.dtype.name for item in (*expected, *actual)):
            return False
        right = [one == other for one, other in zip(expected, actual, strict=True)]
        for name, sign in itertools.product(self._moved(found.step, local), (-1, 1)):
            value = _moved_by(np.asarray(local[name].value), sign * FEW_UNITS)
            near = self._compared(found.step, {**local, name: local[name]._replace(value=value)}, actual)
            if near.judgement is Judgement.RIGHT:
                return True
            if near.case is not None and near.result is not None and near.result.verdict is Verdict.WRONG_VALUE:
                pairs = zip(right, near.case.expected or (), actual, strict=True)
                right = [done | (one == other) for done, one, other in pairs]
        return all(np.all(item) for item in right)

    @staticmethod
    def _moved(step: Step, local: Mapping[str, TypedValue]) -> list[str]:
        """Return the names of the first inputs of a node that have floating-point numbers."""
        values = {name: local[name].value for name in step.reads if name in local}
        moved = [name for name, value in values.items() if isinstance(value, np.ndarray) and is_float(value)]
        return moved[:MOST_MOVED]

    def _fused(
        self, found: NodeResult, case: Case, local: Mapping[str, TypedValue], before: Sequence[NodeResult]
    ) -> NodeResult:
        """Return the judgement on a wrong node that may be wrong only because it is computed at once with others.

        More outputs do not keep every runtime from fusing. If the node alone is right, it need only be as near as all
        nodes together that may be fused can be.
        """
        if self.alone == MOST_ALONE:
            return found
        self.alone += 1
        if judge(case, self.name, self.asker.ask(case)).verdict is not Verdict.PASS:
            return found
        actual = tuple(local[name].value for name in found.step.outputs)
        part: dict[int, Step] = {}
        for part in self._parts(found.step):
            if self._right_as_part(list(part.values()), local, found.step.outputs, actual):
                words = f"right if it is computed at once with {_labels(part.values(), found.step)}; alone, it is right"
                return NodeResult(found.step, Judgement.RIGHT, words)
        wrong = [item.step for item in before if item.step.index in part and item.judgement is Judgement.WRONG]
        if wrong:
            words = f"alone, it is right; a node with which it may be computed at once is at fault: {_labels(wrong)}"
            return NodeResult(found.step, Judgement.UNKNOWN, words)
        return replace(found, message=f"{found.message}; alone, it is right")

    def _parts(self, last: Step) -> Iterator[dict[int, Step]]:
        """Yield a node with those before it that compute its inputs, then with those before these, and so on."""
        part, newest = {last.index: last}, [last]
        while newest and len(part) < MOST_FUSED:
            read = {name for step in newest for name in step.reads}
            before = [step for step in self.model.steps[: last.index] if not read.isdisjoint(step.outputs)]
            newest = [step for step in before if step.index not in part]
            part.update({step.index: step for step in newest})
            if newest:
                yield dict(sorted(part.items()))

    def _right_as_part(
        self, steps: Sequence[Step], local: Mapping[str, TypedValue], names: Sequence[str], actual: tuple[Value, ...]
    ) -> bool:
        """Return whether values are within the error that some nodes can have together."""
        computed = {name for step in steps for name in step.outputs}
        if any(name not in local and name not in computed for step in steps for name in step.reads):
            return False  # The memory did not suffice for all values at once.
        case = parts.case(self.model, steps, local, names, self.node_oracle.types)
        return case is not None and judge(case, self.name, Answered(actual, None)).verdict is Verdict.PASS

    def _harmless(
        self,
        item: NodeResult,
        judged: Sequence[NodeResult],
        local: Mapping[str, TypedValue],
        values: Mapping[str, Value],
    ) -> NodeResult:
        """Return the judgement on a node with wrong integers that may have no effect on the nodes that read them.

        Runtimes cut the largest integers, which mean "to the end", to those that they have.
        """
        if item.judgement is not Judgement.WRONG or item.case is None or item.case.expected is None:
            return item
        step = item.step
        readers = [other for other in self.model.steps if not set(step.outputs).isdisjoint(other.reads)]
        right = {other.step.index for other in judged if other.judgement is Judgement.RIGHT}
        if not set(step.outputs).isdisjoint(self.model.outputs) or not right.issuperset(item.index for item in readers):
            return item
        changed = dict(local)
        for name, value in zip(step.outputs, item.case.expected, strict=True):
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
                return item
            changed[name] = TypedValue(value, self._type(name))
        for other in readers:
            found = self._compared(other, changed, tuple(values[name] for name in other.outputs))
            if found.judgement is not Judgement.RIGHT:
                return item
        return replace(item, judgement=Judgement.HARMLESS, case=None, result=None)

    def _right_if_unrounded(self, case: Case, actual: tuple[Value, ...]) -> bool:
        """Return whether a node is right if the backend computed its inputs of 16 bits in a wider type."""
        narrow = [
            name
            for name, value in case.inputs.items()
            if name not in self.inputs and isinstance(value, np.ndarray) and is_narrow_float(value)
        ]
        if not narrow:
            return False
        model = onnx.load_from_string(case.model)
        try:
            expected, allowance = several_nodes.of_unrounded(model, case.inputs, narrow)
        except several_nodes.UndecidedError:
            return False
        return compare(tuple(expected[name] for name in case.outputs), actual, allowance) is None

    def _compared(self, step: Step, local: Mapping[str, TypedValue], actual: tuple[Value, ...]) -> NodeResult:
        """Return whether the values of a node are within the allowed difference."""
        try:
            case = self.node_oracle.case(step, local)
        except NoOracleError as error:
            return NodeResult(step, Judgement.UNKNOWN, str(error))
        try:
            result = judge(case, self.name, Answered(actual, None))
            times = self._times(case.expected, actual, case.allowance)
        except Exception as error:  # noqa: BLE001 - a bound may assume properties of declared calls
            return NodeResult(step, Judgement.UNKNOWN, f"its tolerance is not known: {line(error, 200)}")
        if result.verdict is Verdict.PASS:
            return NodeResult(step, Judgement.RIGHT, times=times)
        if case.outcome is Outcome.UNSPECIFIED:
            return NodeResult(step, Judgement.OPEN, f"the text does not define the result: {case.decided}")
        if case.outcome is Outcome.REJECTS:
            return NodeResult(step, Judgement.FORBIDDEN, f"the text forbids this call: {case.decided}")
        return NodeResult(step, Judgement.WRONG, line(result.message, 400), times, case, result)

    @staticmethod
    def _times(expected: Sequence[Any] | None, actual: Sequence[Value], allowance: Allowance) -> float | None:
        return None if expected is None else times_allowed(expected, actual, allowance)

    # The outputs of the unmodified model.

    def _outputs(self, plain: Mapping[str, Value], nodes: Sequence[NodeResult]) -> Outputs:
        actual = tuple(plain[name] for name in self.model.outputs)
        changed = any(name in self.seen and not _same(self.seen[name], plain[name]) for name in self.model.outputs)
        if self.oracle.outputs is None:
            return Outputs(Judgement.UNKNOWN, f"the oracle has no outputs: {self.oracle.problem}", changed=changed)
        expected = tuple(self.oracle.outputs[name].value for name in self.model.outputs)
        exact = Allowance("")
        if compare(expected, actual, exact) is None:
            return Outputs(Judgement.RIGHT, "equal to the oracle's", 0.0, changed)
        takes = self.oracle.seconds * EVALUATIONS
        all_right = all(item.judgement is Judgement.RIGHT for item in nodes)
        if takes > self.settings.seconds and not (changed and all_right and _far(self.seen, plain)):
            return Outputs(
                Judgement.UNKNOWN,
                f"{_distance(expected, actual)}; how far they may be was not computed, because it would take about "
                f"{takes:.0f} s (--end-to-end {math.ceil(takes)} computes it)",
                changed=changed,
            )
        self.settings.progress(f"{self.name}: error of the outputs", 0, 1)
        mismatch = None
        for quick in (True, False):
            try:
                allowance = several_nodes.of_model(self.model.proto, self.fed, quick=quick)
            except several_nodes.UndecidedError as error:
                return Outputs(Judgement.UNKNOWN, f"{_distance(expected, actual)}; {line(error, 200)}", changed=changed)
            mismatch = compare(expected, actual, allowance)
            if mismatch is None:
                break
        times = times_allowed(expected, actual, allowance)
        if mismatch is None:
            words = f"{_distance(expected, actual)}, within the possible sum of the errors of all nodes"
            return Outputs(Judgement.RIGHT, words, times, changed)
        return Outputs(Judgement.WRONG, line(mismatch, 400), times, changed)

    # A model that the backend does not run.

    def _without_values(self, done: OfBackend, plain: running.Reached) -> OfBackend:
        """Look for the first node with which the model does not run."""
        done = replace(done, problem=plain.problem)
        if not isinstance(plain.reply, Refused | Died | Late):
            return done
        steps = self.model.steps
        low, high = 0, len(steps)  # The first `low` nodes run; the first `high` do not.
        while high - low > 1:
            middle = (low + high) // 2
            self.settings.progress(f"{self.name}: nodes that run", low, len(steps))
            if self._prefix_runs(middle):
                low = middle
            else:
                high = middle
        nodes, problem = self._nodes(high - 1)
        failing = self._failing(steps[high - 1], nodes)
        excused = failing.judgement in {Judgement.FORBIDDEN, Judgement.OPEN} and not problem
        return replace(done, nodes=[*nodes, failing], excused=excused)

    def _failing(self, step: Step, before: Sequence[NodeResult]) -> NodeResult:
        """Return the judgement on the node with which the model does not run, for the backend's own values."""
        names = self._wanted([step])
        reads = [name for name in names if name in step.reads]
        reached = self._returned(step.outputs, step.index + 1)
        words = reached.problem or "it runs alone with the nodes before it, but not with those after it"
        if any(item.judgement.is_fault for item in before):
            return NodeResult(step, Judgement.UNKNOWN, f"{words}; a node before it is at fault")
        values = self._returned(reads, step.index) if reads else None
        local = {**self.model.constants, **self.inputs, **self._typed(values.values or {} if values else {})}
        try:
            case = self.node_oracle.case(step, local)
        except NoOracleError:
            return NodeResult(step, Judgement.FAILED, words)
        if case.outcome is Outcome.REJECTS:
            return NodeResult(step, Judgement.FORBIDDEN, f"{words}; the text forbids this call, too: {case.decided}")
        if case.outcome is Outcome.UNSPECIFIED and not isinstance(reached.reply, Died | Late):
            return NodeResult(step, Judgement.OPEN, f"{words}; the text does not define the result: {case.decided}")
        alone = self.asker.ask(case)
        if isinstance(alone, Answered):
            why = "the node alone runs, so the graph around it or an unknown size matters"
            return NodeResult(step, Judgement.UNKNOWN, f"{why}: {words}")
        result = judge(case, self.name, alone)
        return NodeResult(step, Judgement.FAILED, words, None, case, result)

    def _prefix_runs(self, count: int) -> bool:
        """Return whether the first nodes of the model run, with all values that later nodes read as outputs."""
        steps = self.model.steps[:count]
        later = {name for step in self.model.steps[count:] for name in step.reads} | set(self.model.outputs)
        names = [name for step in steps for name in step.outputs if name in later]
        # The inputs stay as they are declared: a runtime may fail only because a dimension has no size.
        return not names or self._returned(names, count).values is not None


def _labels(steps: Iterable[Step], last: Step | None = None) -> str:
    """Return nodes for people, without the last one."""
    return line(", ".join(f"{step.index} {step.node.op_type}" for step in steps if step is not last), 200)


FEW_UNITS = 4
"""Differences of up to so many units in the last place count as rounding; zeros of both signs are equal here."""


def _is_rounding(item: NodeResult, actual: Sequence[Value]) -> bool:
    """Return whether a wrong node is only less exact than usual: its floats are near, and within the limits."""
    if item.case is None or item.case.expected is None or item.result is None:
        return False
    pairs = list(zip(item.case.expected, actual, strict=True))
    exact = all(
        _same(wanted, got) for wanted, got in pairs if not (isinstance(wanted, np.ndarray) and is_float(wanted))
    )
    if not exact or item.result.mismatch.get("beyond"):
        return False
    mismatch = compare(item.case.expected, tuple(_unflushed(*pair) for pair in pairs), item.case.allowance)
    return mismatch is None or (mismatch.ulp is not None and mismatch.ulp <= FEW_UNITS)


def _moved_by(value: Array, units: int) -> Array:
    """Return numbers that are moved by some units in the last place of the largest one."""
    with np.errstate(all="ignore"):
        wide = value.astype(np.float64)
        largest = np.max(np.abs(wide), initial=0, where=np.isfinite(wide))
        step = float(largest) * float(ml_dtypes.finfo(value.dtype).eps)  # type: ignore[no-untyped-call]
        return (wide + units * step).astype(value.dtype)


def _unflushed(wanted: Value | Drawn, got: Value) -> Value:
    """Return an actual value with the expected numbers where these are below the smallest normal one, and it has 0."""
    if not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray) or not is_float(wanted):
        return got
    if wanted.dtype != got.dtype or wanted.shape != got.shape:
        return got
    smallest = ml_dtypes.finfo(wanted.dtype).smallest_normal  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        return np.where((np.abs(wanted) < smallest) & (got == 0), wanted, got)


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 - any two values
    """Return whether two values are equal, bit for bit."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if object in {one.dtype, other.dtype}:
            return bool(one.dtype == other.dtype and np.array_equal(one, other))
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    return one is None and other is None


FAR = 1e-3
"""Difference of two runs of a model, as a fraction of the largest number, that rounding rarely explains."""


def _far(seen: Mapping[str, Value], plain: Mapping[str, Value]) -> bool:
    """Return whether outputs of the unmodified model are far from those of the model with more outputs."""
    return any(_relative(value, plain[name]) > FAR for name, value in seen.items())


def _relative(one: Value, other: Value) -> float:
    """Return the largest difference of two tensors as a fraction of the largest number; infinity if they are unlike."""
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)) or one.shape != other.shape:
        return 0.0 if _same(one, other) else math.inf
    if one.dtype.kind in "Ob" or one.size == 0:
        return 0.0 if _same(one, other) else math.inf
    with np.errstate(all="ignore"):
        a, b = one.astype(np.complex128), other.astype(np.complex128)
        difference = np.where(a == b, 0.0, np.abs(a - b))
        largest = float(np.max(np.abs(np.where(np.isfinite(a), a, 0)), initial=0.0))
    worst = float(np.max(np.where(np.isnan(a) & np.isnan(b), 0.0, difference), initial=0.0))
    return worst / largest if largest else (0.0 if worst == 0 else math.inf)


def _distance(expected: Sequence[Value], actual: Sequence[Value]) -> str:
    """Return how far outputs are from the oracle's, in a few words."""
    worst = max((_relative(a, b) for a, b in zip(expected, actual, strict=True)), default=0.0)
    if math.isinf(worst) or math.isnan(worst):
        return "they differ from the oracle's"
    return f"they differ from the oracle's by {worst:.2g} of the largest number"


def sizes(values: Mapping[str, TypedValue]) -> int:
    """Return the size of values, in bytes."""
    return sum(size(item.value) for item in values.values())
