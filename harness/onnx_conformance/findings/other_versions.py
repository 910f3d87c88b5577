# SPDX-License-Identifier: Apache-2.0
"""The smallest case of a finding in other versions of its operator that have the same meaning.

A fault is rarely one of a single version, and users have models of many versions. So the case is run in each of them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.verdict import split_operator
from onnx_conformance.case.case import Outcome, digest_values
from onnx_conformance.declare import DeclarationError, NoAnswer, Rejected
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.minimize.validity import is_valid
from onnx_conformance.processes.asker import Asker
from onnx_conformance.specification import evaluator, meanings, schema

if TYPE_CHECKING:
    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Verdict
    from onnx_conformance.case.case import Case
    from onnx_conformance.judging.ask import Judged
    from onnx_conformance.processes.adapter_process import Limits


def failing(case: Case, kind: Verdict, target: Target, limits: Limits) -> dict[int, tuple[Case, Judged]]:
    """Return the other versions of the case's operator in which a backend fails with the same verdict.

    Args:
        case: the smallest case of a finding.
        kind: the verdict of the finding.
        target: the backend.
        limits: the limits of its process.

    Returns:
        By version, in increasing order, the case in it and the answer of the backend.

    Raises:
        HarnessError: the backend does not start.
    """
    operator, since = split_operator(case.operator)
    alike = meanings.alike(operator, since) if since is not None else ()
    cases = {other: made for other in alike if (made := in_version(case, other)) is not None}
    if not cases:
        return {}
    with Asker(target, limits) as asker:
        answers = {other: (made, ask_and_judge(asker, made)) for other, made in sorted(cases.items())}
    return {other: answer for other, answer in answers.items() if answer[1].result.verdict is kind}


def in_version(case: Case, since: int) -> Case | None:
    """Return a case in another version of its operator.

    None if the model has several nodes or files, is not valid in that version, or if the text of that version does not
    expect the same.
    """
    if case.files:
        return None
    model = onnx.load_from_string(case.model)
    if len(model.graph.node) != 1 or model.functions:
        return None
    operator = split_operator(case.operator)[0]
    domain = operator.partition("/")[0]
    for item in model.opset_import:
        if (item.domain or "ai.onnx") == domain:
            item.version = since
    model.ir_version = max(model.ir_version, schema.lowest_ir(domain, since))
    data = model.SerializeToString(deterministic=True)
    # An attribute may have another type there, as `to` of Cast 1, which is a string.
    if case.outcome is not Outcome.REJECTS and is_valid(case.model) and not is_valid(data):
        return None
    made = dataclasses.replace(case, id=f"{operator}/{since}/{case.name}", operator=f"{operator}/{since}", model=data)
    return made if _means_the_same(made, model) else None


def _means_the_same(case: Case, model: onnx.ModelProto) -> bool:
    """Return whether the text of the version expects the same as the case."""
    try:
        values = evaluator.Evaluator().model(model, case.inputs)
    except NoAnswer as no_answer:
        return case.outcome is Outcome.REJECTS and isinstance(no_answer, Rejected)
    except (evaluator.UndeclaredError, evaluator.OracleError, DeclarationError):
        return False
    if case.expected is None or case.outcome is not Outcome.VALUES:
        return False
    return digest_values(tuple(values[name] for name in case.outputs)) == digest_values(case.expected)
