# SPDX-License-Identifier: Apache-2.0
"""The verdict on a reply: compares the outputs of a backend with the expected outcome of the case."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.compare import compare, offsets, unlike
from onnx_conformance.case.value_text import brief, outline
from onnx_conformance.declare.clause import Force
from onnx_conformance.judging import assignment, checker, inferencer, producer, quantizer, transformer
from onnx_conformance.judging import profile as profiles
from onnx_conformance.processes.adapter_process import OPTED_OUT
from onnx_conformance.processes.replies import (
    Accepted,
    Answered,
    AsExpected,
    Broken,
    Died,
    Late,
    Oversized,
    Product,
    Refused,
    Reply,
    ReturnedModel,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.case.case import Case
    from onnx_conformance.judging.profile import Profile

WITHOUT_ANSWER = frozenset({Verdict.REFUSED, Verdict.DECLINED, Verdict.FALLBACK, Verdict.CRASH, Verdict.TIMEOUT})
ANSWERED = frozenset({Outcome.VALUES, Outcome.PROPERTY})
"""Outcomes that need an answer. For an invalid model, a runtime may report missing support."""
NEVER_OPEN = frozenset({Verdict.CRASH, Verdict.TIMEOUT, Verdict.ADAPTER_ERROR})
"""Verdicts of unspecified cases, too: the text leaves the result open, but a process must not die, and must answer."""
ANYTHING = "any result or error, because the text does not define the result"
"""The expected outcome of an unspecified case whose process died or did not answer."""


def judge(case: Case, backend: str, reply: Reply, profile: Profile = profiles.NOTHING) -> Result:
    """Return the result of a case whose reply this is; `profile`: the statements of the backend's author."""
    fields = _overridden(case, profile, reply, _judged(case, backend, reply))
    fields = _bounded(case, profile, reply, fields)
    fields = _claimed(case, profile, reply, _placed(case, profile, reply, fields))
    if fields["verdict"] in WITHOUT_ANSWER and case.expected is not None:
        fields["expected"] = brief(case.expected)
    if case.outcome is Outcome.UNSPECIFIED:
        if fields["verdict"] not in NEVER_OPEN:
            fields["verdict"] = Verdict.UNSPECIFIED
        elif fields["verdict"] is not Verdict.ADAPTER_ERROR:
            fields["expected"] = ANYTHING
    if fields["verdict"].failed and (exclusion := profile.exclusion(case.id)) is not None:
        fields["excluded"] = str(exclusion)
    return Result(
        case=case.id,
        operator=case.operator,
        backend=backend,
        outcome=str(case.outcome),
        form=case.form,
        clauses=case.clauses,
        force=case.force,
        reworded=case.reworded,
        readings=case.readings,
        tags=_in_order(case.tags),
        **fields,
    )


@functools.lru_cache(maxsize=1024)
def _in_order(tags: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(tags))


def _judged(case: Case, backend: str, reply: Reply) -> dict[str, Any]:
    """Return the verdict, and the other fields of a result that depend on the reply."""
    if isinstance(reply, Oversized):
        return _oversized(case, backend, reply)
    return _JUDGES[type(reply)](case, reply)


def _overridden(case: Case, profile: Profile, reply: Reply, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result; a pass if a wrong value is within an override of the profile."""
    if fields["verdict"] is not Verdict.WRONG_VALUE or not isinstance(reply, Answered) or case.expected is None:
        return fields
    for override in profile.overrides:
        if override.has(case.operator):
            allowance = override.widened(case.allowance, case.expected)
            if compare(case.expected, reply.outputs, allowance) is None:
                ulps = offsets(case.expected, reply.outputs, allowance)
                return {
                    "seconds": reply.seconds,
                    "verdict": Verdict.PASS,
                    "message": fields["message"],
                    "ulps": ulps,
                    "override": str(override),
                }
    return fields


def _bounded(case: Case, profile: Profile, reply: Reply, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result; of a pass, also whether the answer exceeds a bound of the profile."""
    if fields["verdict"] is not Verdict.PASS or not isinstance(reply, Answered) or isinstance(reply, AsExpected):
        return fields
    if case.expected is None or case.outcome not in ANSWERED:
        return fields
    for bound in profile.bounds:
        if bound.has(case.operator) and (how := bound.exceeded(case.allowance, case.expected, reply.outputs)):
            return {**fields, "exceeded": str(bound), "message": how}
    return fields


def _placed(case: Case, profile: Profile, reply: Reply, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result; another verdict if the provider under test did not run the tested operator."""
    assigned = getattr(reply, "assigned", None)
    if assigned is None or fields["verdict"] is Verdict.UNSUPPORTED:
        return fields
    where = assignment.place(case, assigned)
    if where is assignment.Place.TARGET:
        return fields
    claimed = where is assignment.Place.ELSEWHERE and case.outcome in ANSWERED and profile.claims.cover(case)
    kept: dict[str, Any] = {key: fields[key] for key in ("seconds", "phase") if key in fields}
    message = assignment.message(assigned)
    return {**kept, "verdict": Verdict.FALLBACK if claimed else Verdict.UNSUPPORTED, "message": message}


def _claimed(case: Case, profile: Profile, reply: Reply, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result; `declined` if the runtime reports that it does not support a claimed case."""
    reason = reply.reason if isinstance(reply, Refused) and fields["verdict"] is Verdict.UNSUPPORTED else None
    if (
        reason is not None
        and reason not in OPTED_OUT.values()
        and case.outcome in ANSWERED
        and profile.claims.cover(case)
    ):
        return {**fields, "verdict": Verdict.DECLINED}
    return fields


def _broken(_case: Case, reply: Broken) -> dict[str, Any]:
    return {"verdict": Verdict.ADAPTER_ERROR, "message": reply.message, "stderr": reply.stderr}


def _died(_case: Case, reply: Died) -> dict[str, Any]:
    ended = f"ended by {reply.signal}" if reply.signal else f"exited with status {reply.status}"
    message = f"the process {ended}"
    return {"verdict": Verdict.CRASH, "signal": reply.signal, "message": message, "stderr": reply.stderr}


def _late(_case: Case, reply: Late) -> dict[str, Any]:
    message = f"no answer within {reply.seconds:.1f} s"
    return {"verdict": Verdict.TIMEOUT, "message": message, "stderr": reply.stderr}


def _model(case: Case, reply: ReturnedModel) -> dict[str, Any]:
    judged = _OF_TOOLS[Subject(reply.subject)]
    return {"seconds": reply.seconds, **judged(case, reply)}


def _product(case: Case, reply: Product) -> dict[str, Any]:
    return {"seconds": reply.seconds, **producer.judged(case, reply)}


def _accepted_by_checker(case: Case, reply: Accepted) -> dict[str, Any]:
    return {"seconds": reply.seconds, **checker.judged(case, reply)}


PERMITTED = "the text permits some runtimes to reject this model"
"""The message of a permitted rejection, before that of the runtime."""


def _refused(case: Case, reply: Refused) -> dict[str, Any]:
    reason = PERMITTED if reply.reason is None and case.force == Force.OPTIONAL else reply.reason
    if reason is not None:
        verdict, message = Verdict.UNSUPPORTED, ": ".join(filter(None, (reason, reply.message)))
    else:
        verdict = Verdict.PASS if case.outcome is Outcome.REJECTS else Verdict.REFUSED
        message = reply.message
    fields = {"verdict": verdict, "error": reply.error, "message": message, "seconds": reply.seconds}
    return {**fields, "phase": reply.phase} if reply.phase else fields


def _answered(case: Case, reply: Answered) -> dict[str, Any]:
    timed: dict[str, Any] = {"seconds": reply.seconds}
    if isinstance(reply, AsExpected) and case.outcome is Outcome.VALUES:
        return {**timed, "verdict": Verdict.PASS}
    if case.outcome is Outcome.REJECTS:
        accepted = {"verdict": _acceptance(case), "expected": "refused", "message": _accepted(case)}
        return {**timed, **accepted, "actual": brief(reply.outputs)}
    if case.expected is None:
        return {**timed, "verdict": Verdict.UNSPECIFIED, "actual": brief(reply.outputs)}
    mismatch = compare(case.expected, reply.outputs, case.allowance)
    if mismatch is None:
        return {**timed, "verdict": Verdict.PASS, "ulps": offsets(case.expected, reply.outputs, case.allowance)}
    return {**timed, **mismatch.fields, "expected": brief(case.expected), "actual": brief(reply.outputs)}


def _oversized(case: Case, backend: str, reply: Oversized) -> dict[str, Any]:
    """Return the fields of an answer with known types and shapes, but unread values."""
    amount = f"{reply.size} bytes; only types and shapes were read"
    timed: dict[str, Any] = {"seconds": reply.seconds, "actual": outline(reply.outputs), "message": amount}
    if case.outcome is Outcome.REJECTS:
        message = f"{_accepted(case)}: {amount}"
        return {**timed, "verdict": _acceptance(case), "expected": "refused", "message": message}
    if case.expected is None:
        return {**timed, "verdict": Verdict.UNSPECIFIED}
    mismatch = unlike(case.expected, reply.outputs, case.allowance)
    if mismatch is None:
        message = f"{backend}: an answer of {reply.size} bytes, but the expected types and shapes need far fewer"
        return {"verdict": Verdict.ADAPTER_ERROR, "message": message}
    return {**timed, **mismatch.fields, "expected": brief(case.expected)}


WEAKER = {
    "should": " (it violates only a `should`)",
    "describes": " (it violates only a description)",
    "signature": " (it violates only the signature, which a model checker verifies)",
}
"""Weaker rules than `must`, which runtimes need not enforce."""


def _acceptance(case: Case) -> Verdict:
    """Return the verdict on an accepted invalid model."""
    return Verdict.LENIENT if case.force in WEAKER else Verdict.ACCEPTED_INVALID


def _accepted(case: Case) -> str:
    accepted = f"an invalid model was accepted{WEAKER.get(case.force, '')}"
    return accepted + (f": {case.detail}" if case.detail else "")


_OF_TOOLS: Mapping[Subject, Callable[[Case, ReturnedModel], dict[str, Any]]] = {
    Subject.TRANSFORMER: transformer.judged,
    Subject.INFERENCER: inferencer.judged,
    Subject.QUANTIZER: quantizer.judged,
}
"""By kind of tool, the function that judges the model that it returned."""
_JUDGES: Mapping[type, Callable[[Case, Any], dict[str, Any]]] = {
    Answered: _answered,
    AsExpected: _answered,
    Refused: _refused,
    Died: _died,
    Late: _late,
    ReturnedModel: _model,
    Product: _product,
    Accepted: _accepted_by_checker,
    Broken: _broken,
}
"""By kind of reply, the function that judges it."""
