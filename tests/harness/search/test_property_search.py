# SPDX-License-Identifier: Apache-2.0
"""The search: a wrong adapter is caught, its failures are shrunk, and one seed draws one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import faulty
import numpy as np
import onnx
import pytest
from hypothesis import Phase, find, settings
from hypothesis.errors import NoSuchExample

from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Outcome as Expected
from onnx_conformance.case.compare import compare
from onnx_conformance.judging import ask
from onnx_conformance.minimize import reducer as minimizing
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.replies import Answered, Died, Refused, Reply
from onnx_conformance.search import causes, chains, elements, examples, grammar
from onnx_conformance.search import property_search as searching
from onnx_conformance.search.calls import Call, calls
from onnx_conformance.search.property_search import Failure, Options, Outcome, Search, round_seed
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.suites.selection import Selection
from onnx_conformance.tolerance.several_nodes import composed

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from onnx_conformance.case.case import Case
    from onnx_conformance.search.chains import Chain
    from onnx_conformance.search.examples import Example

TARGET = Target("faulty", ())
QUICK = settings(database=None, derandomize=True, phases=[Phase.generate])
"""Any example will do: the smallest one takes long to find."""


def right(request: faulty.Request) -> list[Any]:
    return request.answers


class InProcess:
    """An asker without a process."""

    hello: dict[str, Any] = {"runtime": "faulty", "version": "1"}  # noqa: RUF012 - never changed
    fault: Callable[[faulty.Request], list[Any]]

    def __init__(self, target: Target, _limits: Limits) -> None:
        self.target, self.process = target, self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, case: Case) -> Reply:
        try:
            outputs = type(self).fault(faulty.Request(case.model, dict(case.inputs), case.outputs))
        except faulty.CrashError:
            return Died("SIGSEGV", -11, "")
        except Exception as error:  # noqa: BLE001 - as serve.py does
            return Refused(type(error).__name__, str(error), None, None)
        return Answered(tuple(outputs), None)


def searched(
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[faulty.Request], list[Any]],
    most: int,
    *ops: str,
    seed: int = 1,
    drawn: list[Example | str] | None = None,
    **more: Any,
) -> Outcome:
    """Search a backend with a fault in some operators."""
    monkeypatch.setattr(ask, "Asker", InProcess)
    monkeypatch.setattr(minimizing, "Asker", InProcess)
    monkeypatch.setattr(searching, "STEPS", 40)
    monkeypatch.setattr(searching, "SHRINKS", 80)
    monkeypatch.setattr(InProcess, "fault", staticmethod(fault), raising=False)
    selected = grammar.sources(Selection(ops))
    assert selected
    options = Options(TARGET, Limits(), selected, selected, seed, most=most, **more)
    asker: Any = InProcess(TARGET, Limits())
    return Search(options, asker, on_draw=(lambda _: None) if drawn is None else drawn.append).run()


def plainest(outcome: Outcome, verdict: Verdict) -> Failure:
    """Return the failure with a verdict whose inputs are the smallest: off by one is far, or near, as values go."""
    return min(
        (item for item in outcome.failures if item.result.verdict is verdict),
        key=lambda item: sum(array.size for array in arrays(item)),
    )


def arrays(found: Failure) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(value) for value in found.case.inputs.values()]


@pytest.mark.slow
def test_a_fault_of_one_size_is_found_and_shrunk_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = searched(monkeypatch, faulty.size_three, 120, "ReduceSum/13", compose=False)
    assert outcome.drawn == 120
    found = plainest(outcome, Verdict.WRONG_VALUE)
    data = arrays(found)[0]
    assert 3 in data.shape
    assert data.size == 3, data.shape


@pytest.mark.slow
def test_a_fault_of_negative_axes_is_found_though_no_declared_case_of_these_versions_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = searched(monkeypatch, faulty.negative_axis, 150, "Split/18", compose=False)
    found = plainest(outcome, Verdict.WRONG_VALUE)
    (node,) = onnx.load_from_string(found.case.model).graph.node
    assert {item.name: item.i for item in node.attribute}["axis"] == -1
    assert found.result.operator == "ai.onnx/Split/18"


@pytest.mark.slow
def test_two_causes_are_two_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = searched(monkeypatch, faulty.two_faults, 120, "ReduceSum/13", compose=False)
    verdicts = {item.result.verdict for item in outcome.failures}
    assert {Verdict.CRASH, Verdict.WRONG_VALUE} <= verdicts
    assert len({item.cause for item in outcome.failures}) == len(outcome.failures)


@pytest.mark.slow
def test_a_model_that_the_text_forbids_must_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = searched(monkeypatch, faulty.takes_all, 150, "Split/18", compose=False)
    found = [item for item in outcome.failures if item.result.verdict is Verdict.ACCEPTED_INVALID]
    assert found
    assert all(item.case.outcome is Expected.REJECTS and item.case.clauses for item in found)


@pytest.mark.slow
def test_a_cause_that_is_known_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    found = plainest(searched(monkeypatch, faulty.size_three, 80, "ReduceSum/13", compose=False), Verdict.WRONG_VALUE)
    again = searched(monkeypatch, faulty.size_three, 80, "ReduceSum/13", compose=False, known={found.cause})
    assert found.cause not in {item.cause for item in again.failures}
    assert again.seen > 0


@pytest.mark.slow
def test_a_fault_of_two_nodes_is_found_with_as_few_nodes(
    monkeypatch: pytest.MonkeyPatch,
    all_operators: None,  # noqa: ARG001 - Neg is none of the few
) -> None:
    outcome = searched(monkeypatch, faulty.pair, 120, "Neg/13")
    found = [item for item in outcome.failures if item.case.operator == examples.MODEL]
    assert found, [item.cause for item in outcome.failures]
    assert {len(item.example.operators) for item in found} == {2}
    assert all(item.example.operators[1] == "ai.onnx/Neg/13" for item in found)


@pytest.mark.slow
def test_a_failure_in_another_process_alone_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty, "calls", 0)
    outcome = searched(monkeypatch, faulty.now_and_then, 40, "ReduceSum/13", compose=False)
    assert outcome.passing or outcome.failures
    assert not set(map(id, outcome.passing)) & set(map(id, outcome.failures))


@pytest.mark.slow
@pytest.mark.parametrize("after", [2, 3, 9, 30])  # While hypothesis shrinks, and while `minimize` does.
def test_an_interrupt_keeps_what_was_found(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = 0

    def interrupted(request: faulty.Request) -> list[Any]:
        nonlocal failed
        failed += any(3 in array.shape for array in request.arrays)
        if failed == after:
            failed += 1
            raise KeyboardInterrupt
        return faulty.size_three(request)

    outcome = searched(monkeypatch, interrupted, 120, "ReduceSum/13", compose=False)
    assert outcome.interrupted
    assert outcome.failures
    assert {item.result.verdict for item in outcome.failures} == {Verdict.WRONG_VALUE}
    assert len({item.cause for item in outcome.failures}) == len(outcome.failures)


def identity(drawn: Example | str) -> object:
    return drawn if isinstance(drawn, str) else (drawn.operators, drawn.case.digests())


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_one_seed_draws_the_same_examples_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    lists: list[list[Example | str]] = [[], [], []]
    seeds = (7, 7, 8)
    outcomes = [
        searched(monkeypatch, faulty.size_three, 20, seed=seed, drawn=drawn)
        for seed, drawn in zip(seeds, lists, strict=True)
    ]
    first, second, other = ([identity(item) for item in drawn] for drawn in lists)
    assert len(first) == 20
    assert first == second
    assert first != other
    of_first, of_second, _ = ([(item.cause, item.case.digests()) for item in one.failures] for one in outcomes)
    assert of_first, "nothing was found"
    assert of_first == of_second


def test_rounds_have_seeds_of_their_own() -> None:
    assert len({round_seed(seed, number) for seed in range(9) for number in range(9)}) == 81


@pytest.mark.slow
def test_the_oracle_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Example | str] = []
    outcome = searched(monkeypatch, right, 160, drawn=drawn)
    assert [(item.cause, item.result.message) for item in (*outcome.failures, *outcome.passing)] == []
    kinds = {item if isinstance(item, str) else str(item.case.outcome) for item in drawn}
    assert {"values", "rejects", examples.OPEN} <= kinds
    asked = [item for item in drawn if not isinstance(item, str)]
    assert any(len(item.operators) > 1 for item in asked)
    assert len({item.case.form for item in asked}) > 5
    assert len({item.operators[0] for item in asked}) > 15


@pytest.mark.slow
def test_a_chain_expects_what_its_last_node_gives_by_itself() -> None:
    sources = grammar.sources(Selection(("Transpose", "Concat", "Add", "Gather", "Slice")))
    seen: list[Chain] = []

    def exact(chain: Chain | None) -> bool:
        if chain is None:
            return False
        seen.append(chain)
        start = chains.started(chain)
        onnx.checker.check_model(start.model)
        values = Evaluator().model(start.model, start.inputs)
        assert compare(start.expected or (), tuple(values.values()), Allowance("exact")) is None
        return len(chain.plans) == 4 and len(seen) > 60

    chain = find(chains.chains(sources, sources), exact, settings=settings(QUICK, max_examples=400))
    assert chain is not None
    assert chain.part(1, 3).operators == chain.operators[1:3]


def test_an_optional_goes_into_no_other_node() -> None:
    (source,) = grammar.sources(Selection(("Optional/15",)))
    of_tensors = [spec for spec in source.calls if not spec.rejects]
    assert of_tensors
    assert not any(chains._linked(source, spec, {}) for spec in of_tensors)


@pytest.mark.slow
def test_a_flag_is_nothing_but_yes_or_no() -> None:
    (source,) = grammar.sources(Selection(("Reshape/24",)))

    def has_another(call: Call | None) -> bool:
        return call is not None and call.candidate.spec.arguments.get("allowzero", 0) not in {0, 1}

    with pytest.raises(NoSuchExample):
        find(calls([source]), has_another, settings=settings(max_examples=300, database=None, derandomize=True))


@pytest.mark.slow
def test_equal_constants_of_several_nodes_are_one_initializer() -> None:
    sources = grammar.sources(Selection(("Add/14",)))

    def shares(chain: Chain | None) -> bool:
        if chain is None or not chain.constant:
            return False
        graph = chains.started(chain).model.graph
        names = [name for node in graph.node for name in node.input if name in {i.name for i in graph.initializer}]
        return len(names) > len(set(names))

    find(chains.chains(sources, sources), shares, settings=settings(QUICK, max_examples=1000))


@pytest.mark.slow
def test_elements_are_of_their_type_and_reach_its_limits() -> None:
    for dtype in map(np.dtype, (np.float16, np.float32, np.int8, np.uint64, np.bool_, object, np.complex64)):
        drawn = elements.array([find(elements.elements(dtype), lambda _: True)] * 3, dtype, (2, 2))
        assert drawn.dtype == dtype
        assert drawn.shape == (2, 2)
    find(elements.elements(np.dtype(np.uint64)), lambda value: value == 2**64 - 1)
    find(elements.elements(np.dtype(np.float16)), np.isnan)
    find(elements.elements(np.dtype(np.float32)), lambda value: 0 < value < 1e-40)


@pytest.mark.slow
def test_a_cause_of_a_results_file_is_that_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    found = plainest(searched(monkeypatch, faulty.size_three, 80, "ReduceSum/13", compose=False), Verdict.WRONG_VALUE)
    stand_in = causes._stand_in(found.result)
    assert causes.cause_of(stand_in, found.result) == found.cause


def test_a_tool_that_does_not_round_between_two_nodes_is_not_accused() -> None:
    """A float16 that is computed wide and cast to float is apart by up to half a unit of float16, in every element."""
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 14]>
        agraph (float16[64] a, float16[64] b) => (float[64] y) { q = Div(a, b) y = Cast <to = 1> (q) }
    """)
    a, b = np.arange(1, 65, dtype=np.float16), np.full(64, 48.7, np.float16)
    case = composed("model", "model", model, {"a": a, "b": b})
    unrounded = (a.astype(np.float32) / b.astype(np.float32)).astype(np.float32)
    wanted = np.asarray((case.expected or ())[0])
    assert (unrounded != wanted).sum() > 32
    assert compare((wanted,), (unrounded,), case.allowance) is None
    assert compare((wanted,), (wanted * np.float32(1.01),), case.allowance) is not None
