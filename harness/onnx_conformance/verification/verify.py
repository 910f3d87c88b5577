# SPDX-License-Identifier: Apache-2.0
"""`verify(model, backend)`: from Python, as the command does it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.environments import backend_names
from onnx_conformance.judging.ask import ask_once
from onnx_conformance.minimize import reducer
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.verification import fusion, oracle_run
from onnx_conformance.verification import inputs as of_inputs
from onnx_conformance.verification.node_oracle import quiet
from onnx_conformance.verification.of_tool import verify_tool
from onnx_conformance.verification.user_model import UserModel, unknown_operators
from onnx_conformance.verification.verified import Judgement, OfBackend, Verified
from onnx_conformance.verification.verifying import Settings, verify_backend

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.specification.signature import TypedValue
    from onnx_conformance.verification.inputs import Inputs
    from onnx_conformance.verification.oracle_run import OracleRun

MEMORY = 1 << 30
"""The default of `memory`, in bytes."""
END_TO_END = 60.0
"""The default of `end_to_end`, in seconds."""
TIMEOUT = 300.0
"""The default of `timeout`, in seconds."""
EMPTY = 0.5
"""How well drawn inputs work that lead to tensors without elements; those that do not lead to the end work worse."""
STEPS, SECONDS = 200, 60.0
"""Limits of the reduction of the first wrong node: cases that the backend runs, and seconds."""


def verify(
    model: str | Path | onnx.ModelProto | UserModel,
    backend: str | Target | Sequence[str | Target] = (),
    inputs: Mapping[str, Value] | str | Path | None = None,
    *,
    tool: str | Target | Sequence[str | Target] = (),
    shape: Mapping[str, int] | None = None,
    seed: int = 0,
    nodes: Sequence[str] = (),
    memory: int = MEMORY,
    end_to_end: float = END_TO_END,
    timeout: float = TIMEOUT,
    reduce: bool = True,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
) -> Verified:
    """Return whether backends run a model as the text of ONNX demands, and which nodes are wrong.

    Args:
        model: the model, or the path of its file.
        backend: one or several backends, named as in `onnx-conformance run`.
        inputs: the inputs by name, the path of a .npz file, or that of a folder with input_0.pb. Others are drawn.
        tool: one or several tools that change models, such as onnxslim.
        shape: sizes of symbolic dimensions by name.
        seed: of the drawn inputs.
        nodes: globs over the names of nodes, operators or outputs; only these are judged.
        memory: the most bytes of values that a backend returns at once.
        end_to_end: the most seconds that the allowed error of the outputs may take to compute.
        timeout: the seconds that a backend may take for one run of the model.
        reduce: whether to reduce the first wrong node to its smallest case.
        progress: called with a phrase, and the numbers of finished and of all nodes.

    Raises:
        HarnessError: the model or the inputs cannot be used, or a backend does not start.
    """
    subject = _subject(model)
    subject.chosen(nodes)  # A glob that matches nothing is reported before anything runs.
    targets, tools = _targets(backend), _targets(tool)
    given = of_inputs.read(Path(inputs), subject) if isinstance(inputs, str | Path) else dict(inputs or {})
    of_inputs.check_names(given, subject)
    settings = Settings(memory, tuple(nodes), end_to_end, Limits(timeout=timeout), progress)
    with quiet():
        chosen, oracle = _inputs(subject, given, shape or {}, seed, progress)
        results = [_of_backend(subject, chosen, target, oracle, settings, reduce=reduce) for target in targets]
        of_tools = [verify_tool(subject, chosen, target, oracle, settings.limits) for target in tools]
    return Verified(subject, chosen, results, of_tools, _notes(subject, oracle), oracle.seconds)


def _targets(named: str | Target | Sequence[str | Target]) -> list[Target]:
    """Return the targets of one or several backends."""
    several = [named] if isinstance(named, str | Target) else named
    return [item if isinstance(item, Target) else backend_names.resolve(item) for item in several]


def _subject(model: str | Path | onnx.ModelProto | UserModel) -> UserModel:
    if isinstance(model, UserModel):
        return model
    return (
        UserModel(model, model.graph.name or "model")
        if isinstance(model, onnx.ModelProto)
        else UserModel.read(Path(model))
    )


def _inputs(
    model: UserModel,
    given: Mapping[str, Value],
    shape: Mapping[str, int],
    seed: int,
    progress: Callable[[str, int, int], None],
) -> tuple[Inputs, OracleRun]:
    """Return the inputs, and the values of the oracle for them."""
    runs: list[tuple[Mapping[str, TypedValue], OracleRun]] = []

    def works(values: Mapping[str, TypedValue]) -> tuple[float, int]:
        done = oracle_run.run(model, values, lambda done: progress("oracle: nodes", done, len(model.steps)))
        runs.append((values, done))
        partly = EMPTY * done.reached / len(model.steps)
        return (partly if done.no_answer else EMPTY if done.empty else 1), done.reached

    chosen = of_inputs.Drawing(model, given, shape, seed).drawn(works)
    return chosen, next(run for values, run in runs if values is chosen.values)


def _notes(model: UserModel, oracle: OracleRun) -> list[str]:
    notes = []
    if odd := unknown_operators(model):
        notes.append(
            f"no oracle for {line(', '.join(odd), 200)}: these nodes are not judged, and the nodes behind them are "
            "judged by the values of the backend"
        )
    if oracle.problem and not odd:
        notes.append(f"the oracle does not reach the outputs: {oracle.problem}")
    return notes


def _of_backend(
    model: UserModel, inputs: Inputs, target: Target, oracle: OracleRun, settings: Settings, *, reduce: bool
) -> OfBackend:
    done = verify_backend(model, inputs, target, oracle, settings)
    outputs = done.outputs
    if outputs is not None and outputs.judgement is Judgement.WRONG and not done.faults:
        settings.progress(f"{target.name}: cutting the graph", 0, len(model.steps))
        search = fusion.Search(model, inputs.values, target, settings.limits, settings.memory)
        done = replace(done, fusion=search.found())
    return _reduced(done, target, settings.limits) if reduce else done


def _reduced(done: OfBackend, target: Target, limits: Limits) -> OfBackend:
    """Return the results with the smallest case of the first fault."""
    first = done.first
    case = first.case if first is not None else done.fusion.case if done.fusion is not None else None
    if case is None:
        return done
    answer = ask_once(target, case, limits)
    if answer.result is not None and answer.result.verdict is Verdict.UNSUPPORTED:
        return done
    if answer.result is None or not answer.result.verdict.failed:
        return replace(
            done, reduced_by="the node alone is right on this backend, so it was not reduced: its neighbours matter"
        )
    try:
        small = reducer.minimize(case, None, target, limits, STEPS, SECONDS)
    except HarnessError as error:
        return replace(done, smallest=(case, answer.result, answer), reduced_by=f"it was not reduced: {error}")
    return replace(
        done, smallest=(small.case, small.result, small.answer), reduced_by="; ".join(map(str, small.applied))
    )
