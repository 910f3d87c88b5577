# SPDX-License-Identifier: Apache-2.0
"""Verifies the model that a tool makes from a user's model: the oracle evaluates both models with the same inputs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.minimize.passes import guilty_passes
from onnx_conformance.processes.asker import Asker
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.tolerance import several_nodes
from onnx_conformance.verification.verified import OfTool

if TYPE_CHECKING:
    from onnx_conformance.base.target import Target
    from onnx_conformance.judging.ask import Judged
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.verification.inputs import Inputs
    from onnx_conformance.verification.oracle_run import OracleRun
    from onnx_conformance.verification.user_model import UserModel

UNDECIDED = frozenset({Verdict.UNSPECIFIED, Verdict.UNSUPPORTED})
"""Verdicts that leave it open whether the tool is right."""


def verify_tool(model: UserModel, inputs: Inputs, target: Target, oracle: OracleRun, limits: Limits) -> OfTool:
    """Return whether the model that a tool returns has the values of the original one.

    Raises:
        HarnessError: the tool does not start.
    """
    done = OfTool(target.name, nodes=len(model.steps))
    with Asker(target, limits) as asker:
        done = dataclasses.replace(done, hello=dict(asker.process.hello))
        if oracle.outputs is None:
            return dataclasses.replace(done, problem=f"the oracle has no outputs: {oracle.problem}")
        try:
            case, judged = _judged(asker, model, inputs, oracle)
        except several_nodes.UndecidedError as error:
            return dataclasses.replace(done, problem=f"the outputs have no single right value: {line(error, 200)}")
    result = judged.result
    made = None if judged.model is None else sum(1 for _ in of_model.of(_parsed(judged.model)))
    problem = line(result.message, 300) if result.verdict in UNDECIDED else ""
    guilty = guilty_passes(case, result, done.hello, target, limits).names if result.verdict.failed else ()
    return dataclasses.replace(done, result=result, nodes_made=made, problem=problem, guilty=guilty)


def _judged(asker: Asker, model: UserModel, inputs: Inputs, oracle: OracleRun) -> tuple[Case, Judged]:
    """Return the model as a case, and the verdict on the tool's model; errors are measured as carefully as needed."""
    assert oracle.outputs is not None  # noqa: S101 - see verify_tool
    fed = {name: item.value for name, item in inputs.values.items()}
    case = Case(
        id=model.name,
        operator=model.steps[-1].operator,
        model=model.proto.SerializeToString(),
        inputs=fed,
        outputs=tuple(model.outputs),
        outcome=Outcome.VALUES,
        expected=tuple(oracle.outputs[name].value for name in model.outputs),
        allowance=Allowance("", signed_zero=False),
    )
    judged = ask_and_judge(asker, case)
    for quick in (True, False):
        if judged.result.verdict is not Verdict.WRONG_VALUE:
            break
        case = dataclasses.replace(case, allowance=several_nodes.of_model(model.proto, fed, quick=quick))
        judged = ask_and_judge(asker, case)
    return case, judged


def _parsed(data: bytes) -> onnx.ModelProto:
    try:
        return onnx.load_from_string(data)
    except Exception:  # noqa: BLE001 - the verdict reports it
        return onnx.ModelProto()
