# SPDX-License-Identifier: Apache-2.0
"""Failures cut down: as small as their trigger, of the same verdict and clause, and never by another fault's help."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import faulty
import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commands import Done, command
from onnx_conformance import backends
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.generation import plans
from onnx_conformance.generation.from_model import NotDeclarableError, plan_from_case
from onnx_conformance.judging import judge
from onnx_conformance.minimize import declared, declared_candidate
from onnx_conformance.minimize import moves as smaller
from onnx_conformance.minimize import reducer as minimize
from onnx_conformance.minimize.reducer import Minimized, MinimizeError
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.replies import Answered, Died, Refused, Reply
from onnx_conformance.specification import registry
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.kernels import Kernels
from onnx_conformance.suites.lookup import find_case, plan_of
from onnx_conformance.suites.selection import Selection
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from onnx_conformance.suites.suite import Suite

pytestmark = pytest.mark.usefixtures("few_operators")

SERVE = Path(backends.__file__).with_name("serve.py")
ADAPTERS = Path(faulty.__file__).parent
TARGET = Target("faulty", ())
SPLIT = "ai.onnx/Split/18"


class InProcess:
    """A asker without a process: minimizing asks often, and a process for each test would be slow."""

    hello: dict[str, Any] = {"runtime": "faulty", "version": "1"}  # noqa: RUF012 - never changed
    count = 0
    fault: Callable[[faulty.Request], list[Any]]

    def __init__(self, target: Target, _limits: Limits) -> None:
        self.target, self.process = target, self
        faulty.calls = 0  # A process of its own has no memory.

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, case: Case) -> Reply:
        type(self).count += 1
        try:
            outputs = type(self).fault(faulty.Request(case.model, dict(case.inputs), case.outputs))
        except faulty.CrashError:
            return Died("SIGSEGV", -11, "")
        except Exception as error:  # noqa: BLE001 - as serve.py does
            return Refused(type(error).__name__, str(error), None, None)
        return Answered(tuple(outputs), None)


def cut(
    case_id: str,
    fault: Callable[[faulty.Request], list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    steps: int = 500,
    suites: tuple[Suite, ...] = (),
) -> Minimized:
    monkeypatch.setattr(minimize, "Asker", InProcess)
    monkeypatch.setattr(InProcess, "fault", staticmethod(fault), raising=False)
    monkeypatch.setattr(InProcess, "count", 0)
    case = find_case(case_id, suites)
    return minimize.minimize(case, plan_of(case), TARGET, Limits(), steps)


def inputs(minimized: Minimized) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(value) for value in minimized.case.inputs.values()]


def node(minimized: Minimized) -> onnx.NodeProto:
    (only,) = onnx.load_from_string(minimized.case.model).graph.node
    return only


# As small as the trigger


def test_an_axis_of_size_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/other_dim_zero@unranked", faulty.empty_axis, monkeypatch)
    assert minimized.result.verdict is Verdict.WRONG_SHAPE, minimized
    data, split = inputs(minimized)
    assert (data.shape, split.tolist()) == ((0,), [0]), (data, split)
    assert len(minimized.case.outputs) == 1


@pytest.mark.slow
def test_a_negative_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/rank4_axis_minus3@symbolic", faulty.negative_axis, monkeypatch)
    assert minimized.result.verdict is Verdict.WRONG_VALUE
    data = inputs(minimized)[0]
    assert (data.shape, data.tolist()) == ((1,), [0.0]), data
    assert [item.i for item in node(minimized).attribute if item.name == "axis"] == [-1]
    assert minimized.case.form == "plain"
    assert minimized.case.id == f"{SPLIT}/rank4_axis_minus3_minimized"


def test_a_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/extremes/double", faulty.nan, monkeypatch)
    data = inputs(minimized)[0]
    assert (data.shape, data.dtype) == ((1,), np.float32), data
    assert np.isnan(data[0])


@pytest.mark.slow
def test_a_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/rank4_axis_minus3@initializer", faulty.high_rank, monkeypatch)
    assert (minimized.result.verdict, minimized.result.signal) == (Verdict.CRASH, "SIGSEGV")
    assert inputs(minimized)[0].shape == (1, 1, 1)
    assert len(node(minimized).output) == 1


@pytest.mark.slow
def test_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/signature_types_t/float16", faulty.no_float16, monkeypatch)
    assert minimized.result.verdict is Verdict.REFUSED
    assert minimized.result.error == "TypeError"
    data = inputs(minimized)[0]
    assert (data.shape, data.dtype) == ((1,), np.float16)


def test_a_model_that_must_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/sum_short", faulty.takes_all, monkeypatch)
    assert minimized.result.verdict is Verdict.ACCEPTED_INVALID
    data, split = inputs(minimized)
    assert data.size + split.size <= 3, (data, split)
    assert split.sum() != data.shape[0]


# What must stay


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sum_short", "neither", "both", "rank3_axis_too_high"])
def test_the_clause_stays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All forbidden models are accepted: whatever is dropped, some clause forbids the rest."""
    case_id = f"{SPLIT}/{name}"
    minimized = cut(case_id, faulty.takes_all, monkeypatch)
    assert minimized.after.plan.decided == plan_of(find_case(case_id)).decided
    assert minimized.case.clauses == find_case(case_id).clauses


def test_without_that_guard_the_clause_would_slip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "same_kind", lambda origin, plan: plan.outcome is origin.outcome)
    monkeypatch.setattr(judge, "WEAKER", {})  # By its verdict, the force of the clause could not slip either.
    slipped = 0
    for name in ("sum_short", "neither", "both", "rank3_axis_too_high"):
        minimized = cut(f"{SPLIT}/{name}", faulty.takes_all, monkeypatch)
        slipped += minimized.after.plan.decided != minimized.before.plan.decided
    assert slipped


@pytest.mark.slow
def test_the_verdict_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/rank4_axis_minus3", faulty.two_faults, monkeypatch)
    assert minimized.result.verdict is Verdict.WRONG_VALUE
    assert inputs(minimized)[0].shape == (1, 1)


@pytest.mark.slow
def test_a_number_that_is_off_does_not_become_a_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/rank2_axis1", faulty.two_values, monkeypatch)
    assert "got nan" not in minimized.result.message
    data = inputs(minimized)[0]
    assert data.size == 1, data
    assert 10 <= data.max() < 20, data


@pytest.mark.slow
def test_the_words_of_a_refusal_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/rank2_axis1", faulty.two_refusals, monkeypatch)
    assert "too many" in minimized.result.message
    assert inputs(minimized)[0].size == 2


def test_another_input_does_not_become_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is empty already does not let anything else be."""

    def crash(_request: faulty.Request) -> list[Any]:
        raise faulty.CrashError

    minimized = cut("ai.onnx/SequenceInsert/11/position_none", crash, monkeypatch)
    (sequence, tensor, position) = minimized.case.inputs.values()
    assert (np.size(sequence), np.size(tensor), np.size(position)) == (1, 1, 0), minimized.case.inputs


@pytest.mark.slow
def test_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_b(request: faulty.Request) -> list[Any]:
        if any("日" in text for array in request.arrays if array.dtype.kind == "O" for text in array.reshape(-1)):
            raise TypeError("no such letter")
        return request.answers

    minimized = cut(f"{SPLIT}/extremes/string", no_b, monkeypatch)
    assert inputs(minimized)[0].tolist() == ["日"]


@pytest.mark.slow
def test_nothing_becomes_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash of rank 3 is one with an empty axis as well, but an empty axis is a meaning of its own."""
    minimized = cut(f"{SPLIT}/rank3_axis0", faulty.high_rank, monkeypatch)
    assert all(array.size for array in inputs(minimized))


# The way


@pytest.mark.slow
def test_every_step_is_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    improve = minimize._Reducer._improve

    def noted(search: Any, moves: Iterator[smaller.Move]) -> int | None:
        sizes.append(search.best.size)
        return improve(search, moves)

    monkeypatch.setattr(minimize._Reducer, "_improve", noted)
    minimized = cut(f"{SPLIT}/extremes/float@symbolic", faulty.last_element, monkeypatch)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(minimized.applied) + 1, "each one taken is strictly smaller"
    assert minimized.steps == InProcess.count - 1, "the last is asked once more, alone"


@pytest.mark.parametrize("steps", [2, 3, 5, 9])
def test_the_budget(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(f"{SPLIT}/rank4_axis_minus3", faulty.negative_axis, monkeypatch, steps=steps)
    assert minimized.steps == steps
    assert minimized.stopped
    assert minimized.result.verdict is Verdict.WRONG_VALUE


@pytest.mark.slow
def test_a_smallest_case_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cut(f"{SPLIT}/rank1_axis0", faulty.last_element, monkeypatch)
    again = minimize.minimize(first.after.case, first.after.plan, TARGET, Limits(), 500)
    assert (again.applied, again.case.id) == ([], first.after.case.id)


def test_a_plan_without_end_is_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(find_case(f"{SPLIT}/uneven"))
    begun = declared_candidate.candidate_from_plan(plan, "plain")
    assert declared_candidate.build_case(begun) is not None

    def endless(*_: object) -> None:
        for _ in itertools.count():
            pass

    monkeypatch.setattr(declared_candidate.plans, "plan", endless)
    assert declared_candidate.build_case(begun) is None


# What cannot be minimized


@pytest.mark.parametrize(
    ("case_id", "fault", "message"),
    [
        (f"{SPLIT}/uneven", faulty.nan, "ai.onnx/Split/18/uneven passes on faulty, so there is nothing to minimize"),
        (
            f"{SPLIT}/uneven",
            faulty.now_and_then,
            "on faulty: once wrong_value .*, then pass; a case that does not fail",
        ),
        (f"{SPLIT}/uneven", faulty.when_tired, "wrong_value after other cases, pass in a separate process"),
        (f"{SPLIT}/overrun", faulty.takes_all, "is unspecified on faulty; only failures can be minimized"),
    ],
)
def test_cases_that_cannot_be_minimized_are_reported(
    case_id: str, fault: Callable[[faulty.Request], list[Any]], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MinimizeError, match=message):
        cut(case_id, fault, monkeypatch)


# Cases that nobody declared


def stored(case_id: str, folder: Path) -> Case:
    """Return a generated case as it is read from a folder, where its declaration is not known."""
    onnx_layout.write(find_case(case_id), folder)
    return next(iter(Folder(folder).cases(Selection())))


@pytest.mark.slow
def test_a_case_of_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = cut(f"{SPLIT}/rank4_axis_minus3", faulty.negative_axis, monkeypatch)
    case = stored(f"{SPLIT}/rank4_axis_minus3@initializer", tmp_path)
    minimized = minimize.minimize(case, plan_of(case), TARGET, Limits(), 500)
    assert minimized.after.size == expected.after.size
    assert minimized.case.id == f"{SPLIT}/test_ai_onnx_split_18_rank4_axis_minus3_initializer_minimized"
    assert minimized.result.verdict is Verdict.WRONG_VALUE


@pytest.mark.parametrize(
    ("case_id", "message"),
    [
        (f"{SPLIT}/uneven@unranked", "expected a model with a single node"),
        (f"{SPLIT}/neither", "only generated cases have the clause"),
    ],
)
def test_models_that_cannot_be_declared_are_reported(case_id: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(NotDeclarableError, match=message):
        plan_of(stored(case_id, tmp_path))


def test_an_operator_that_no_file_declares(tmp_path: Path) -> None:
    case = stored(f"{SPLIT}/uneven", tmp_path)
    model = onnx.load_from_string(case.model)
    model.graph.node[0].op_type = "Joint"
    with refuses("operator-not-declared", "ai.onnx/Joint", kind=NotDeclarableError):
        plan_of(dataclasses.replace(case, model=model.SerializeToString(), operator="ai.onnx/Joint/18"))
    model.graph.node[0].op_type, model.graph.node[0].input[0] = "Split", "elsewhere"
    with refuses("model-not-declarable", "'elsewhere'", kind=NotDeclarableError):
        plan_of(dataclasses.replace(case, model=model.SerializeToString()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Split", "ReduceSum", "Reshape", "SequenceInsert"])
def test_a_declared_case_means_the_same(name: str) -> None:
    op, count = registry.load().named(name), 0
    for plan in list(plans.plans(op, (op.versions[-1],)))[::2]:
        case = next(plans.delivered(plan))
        if case.outcome is not Outcome.VALUES or len(onnx.load_from_string(case.model).graph.node) > 1:
            continue
        again = next(plans.delivered(plan_from_case(case)))
        assert again.digests()[1:] == case.digests()[1:], case.id
        count += 1
    assert count > 5, count


# Any case


@functools.cache
def failing() -> list[str]:
    """Return ids of cases that `last_element` or `takes_all` fails."""
    names = ("Split", "ReduceSum", "Scatter", "Reshape", "SequenceInsert", "Constant")
    failing_ids = []
    for name in names:
        op = registry.load().named(name)
        for case in plans.cases(op, (op.versions[-1],)):
            numeric = case.expected and all(
                isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.size for value in case.expected
            )
            if not case.files and (numeric or case.outcome is Outcome.REJECTS):  # These adapters get no files.
                failing_ids.append(case.id)
    return failing_ids


def spoils(request: faulty.Request) -> list[Any]:
    return faulty.takes_all(request) if request.right is None else faulty.last_element(request)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
def test_never_larger_and_still_failing(monkeypatch: pytest.MonkeyPatch, data: st.DataObject) -> None:
    case_id = data.draw(st.sampled_from(failing()))
    minimized = cut(case_id, spoils, monkeypatch, steps=60)
    assert minimized.after.size <= minimized.before.size
    assert bool(minimized.applied) == (minimized.after.size < minimized.before.size)
    assert minimized.result.verdict in (
        {Verdict.ACCEPTED_INVALID, Verdict.LENIENT}
        if minimized.case.outcome is Outcome.REJECTS
        else {Verdict.WRONG_VALUE}
    )
    assert minimized.after.plan.decided == minimized.before.plan.decided
    onnx.load_from_string(minimized.case.model)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Split", "SplitToSequence", "ReduceSum", "SequenceInsert", "Reshape", "Dropout"])
def test_a_draft_is_the_very_case(name: str) -> None:
    op = registry.load().named(name)
    some = list(plans.plans(op, (op.versions[-1],)))[::7]
    assert some
    for plan in some:
        for case in plans.delivered(plan):
            built = declared_candidate.build_case(declared_candidate.candidate_from_plan(plan, case.form))
            assert built is not None, case.id
            assert built[1].digests() == case.digests(), case.id
            origin = plans.origin(op, case)
            assert origin is not None, case.id
            assert origin.id == plan.id, case.id


# The command


def adapter(fault: str) -> str:
    path = os.pathsep.join([str(ADAPTERS), str(SERVE.parent.parent)])
    return "cmd:" + shlex.join(["env", f"PYTHONPATH={path}", sys.executable, str(SERVE), f"faulty.as_{fault}"])


def run_minimize(case_id: str, fault: str, *words: str | Path) -> Done:
    return command("minimize", case_id, "--backend", adapter(fault), *words)


@pytest.mark.slow
def test_the_file_runs_and_shows_the_mismatch(tmp_path: Path) -> None:
    path = tmp_path / "shown.py"
    done = run_minimize(f"{SPLIT}/rank3_axis_minus1", "negative_axis", "--out", path, "--steps", "60")
    assert done.status == 0, done.text
    assert done.out == f"wrong_value: {path}\n"
    assert "wrong_value" in done.err, done.err
    assert re.search(r"elements +62 +2\n", done.err), done.err
    shown = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=60)
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert "Mismatched elements: 1 / 1 (100%)" in shown.stderr, shown.stderr


@pytest.mark.slow
def test_a_crash_is_cut_down_across_processes(tmp_path: Path) -> None:
    words = ("--format", "folder", "--out", tmp_path / "made", "--steps", "8", "--other", "oracle")
    done = run_minimize(f"{SPLIT}/rank4_axis2", "high_rank", *words)
    assert done.status == 0, done.text
    (folder,) = (tmp_path / "made").iterdir()
    assert folder.name == "test_ai.onnx__Split__18__rank4_axis2_minimized"
    text = (folder / "README.md").read_text()
    assert "SIGSEGV" in text
    assert f"minimized from `{SPLIT}/rank4_axis2`" in text
    assert re.search(r"\| `oracle onnx [^|]*` \| pass \|", text), text
    again = command("run", "--suite", tmp_path / "made", "--backend", adapter("high_rank"))
    assert (again.status, "crash" in again.out) == (1, True), again.text


@pytest.mark.slow
def test_a_timeout_is_a_verdict_like_others() -> None:
    done = run_minimize(f"{SPLIT}/rank2_axis0", "hangs", "--timeout", "0.7", "--steps", "4")
    assert done.status == 0, done.text
    assert "timeout" in done.err, done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case_id", "words", "message"),
    [
        (f"{SPLIT}/uneven", (), "passes on"),
        (f"{SPLIT}/unevn", (), "similar cases:"),
        (f"{SPLIT}/uneven@pretty", (), "there is no case"),
        (f"{SPLIT}/uneven", ("--steps", "1"), "1 is not in the range"),
        (f"{SPLIT}/uneven", ("--timeout", "nan"), "'nan' is not a time"),
        (f"{SPLIT}/uneven", ("--format", "folder"), "needs --out DIR"),
    ],
)
def test_bad_input_is_one_sentence(case_id: str, words: tuple[str, ...], message: str) -> None:
    done = run_minimize(case_id, "nan", *words)
    assert (done.status, done.out) == (2, ""), done.text
    assert message in done.err.strip().splitlines()[-1], done.err


def crashes(_: faulty.Request) -> list[Any]:
    raise faulty.CrashError


@pytest.mark.slow
@pytest.mark.usefixtures("all_operators")
@pytest.mark.parametrize(("operator", "inputs"), [("Conv/11", ("X", "W")), ("RNN/7", ("X", "W", "R"))])
def test_a_rank_that_the_text_writes_out_stays(
    operator: str, inputs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Selection((operator,), forms=("plain",))
    case = next(item for item in Generated().cases(chosen) if item.outcome is Outcome.VALUES)
    minimized = cut(case.id, crashes, monkeypatch, 120)
    assert minimized.applied, "nothing was tried"
    for name in inputs:
        before, after = (np.ndim(held.inputs[name]) for held in (case, minimized.case))  # type: ignore[arg-type]
        assert after == before, f"{name}: {before} dimensions became {after}"


@pytest.mark.slow
@pytest.mark.usefixtures("all_operators")
def test_without_that_guard_a_rank_would_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "_ranks", lambda _: {})
    chosen = Selection(("Conv/11",), forms=("plain",))
    case = next(item for item in Generated().cases(chosen) if item.outcome is Outcome.VALUES)
    minimized = cut(case.id, crashes, monkeypatch, 120)
    assert np.ndim(minimized.case.inputs["X"]) < np.ndim(case.inputs["X"])  # type: ignore[arg-type]


def one_value(request: faulty.Request) -> list[Any]:
    """Take another value for each 77."""
    return [np.where(request.arrays[0] == 77, value + np.asarray(9, value.dtype), value) for value in request.answers]


@pytest.mark.usefixtures("all_operators")
@pytest.mark.parametrize(
    ("case", "elements"), [("ai.onnx/Neg/13/every/int16", 1), ("ai.onnx/BitwiseAnd/18/pairs_uint8", 2)]
)
def test_one_of_65536_elements_is_found_in_a_few_steps(
    case: str, elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    minimized = cut(case, one_value, monkeypatch, 120, (Kernels(),))
    assert sum(array.size for array in inputs(minimized)) == elements, minimized.applied
    assert not minimized.stopped
    assert minimized.case.clauses == find_case(case, (Kernels(),)).clauses


def test_a_long_list_of_integers_has_no_parts() -> None:
    """Lists with one part less, for each part, would have the square of the number of elements."""
    case = find_case(f"{SPLIT}/uneven", (Generated(),))
    first = declared_candidate.candidate_from_plan(plan_of(case), PLAIN)
    leaf = next(leaf for leaf in first.leaves() if leaf.tensor)
    long = first.with_values({leaf.path: np.ones(smaller.MOST_PARTS + 1, np.int64)})
    short = first.with_values({leaf.path: np.ones(smaller.MOST_PARTS, np.int64)})
    moves = [sum("parts" in move.description for move in smaller.shorter(item)) for item in (long, short)]
    assert moves[0] < smaller.MOST_PARTS < moves[1]


def test_parts_whose_sum_their_type_does_not_have_are_left_alone() -> None:
    case = find_case(f"{SPLIT}/uneven", (Generated(),))
    first = declared_candidate.candidate_from_plan(plan_of(case), PLAIN)
    leaf = next(leaf for leaf in first.leaves() if leaf.tensor)
    largest = np.full(2, np.iinfo(np.int32).max, np.int32)
    moved = list(smaller.shorter(first.with_values({leaf.path: largest})))
    lengths = {leaf.array.size for move in moved for leaf in move.candidate.leaves() if leaf.array.ndim == 1}
    assert 1 in lengths


def test_a_smaller_case_rests_on_no_other_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    built, resting = declared.Declared.built, {"readings": ("R5",)}

    def with_reading(space: declared.Declared, candidate: Any) -> Any:
        made = built(space, candidate)
        return made and dataclasses.replace(made, case=dataclasses.replace(made.case, **resting))

    assert cut(f"{SPLIT}/other_dim_zero", faulty.empty_axis, monkeypatch).applied
    monkeypatch.setattr(declared.Declared, "built", with_reading)
    assert not cut(f"{SPLIT}/other_dim_zero", faulty.empty_axis, monkeypatch).applied
    resting["readings"] = ()
    assert cut(f"{SPLIT}/other_dim_zero", faulty.empty_axis, monkeypatch).applied
