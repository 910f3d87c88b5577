# SPDX-License-Identifier: Apache-2.0
"""Judge each call of a user's model by results and findings."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import helper

from onnx_conformance.analysis import support as supporting
from onnx_conformance.analysis.known_call import KnownCall
from onnx_conformance.analysis.support import Judged, Standing
from onnx_conformance.analysis.traits import ALLOWED, Topic, TraitKind
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.findings.finding import FIXED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import onnx

    from onnx_conformance.analysis.support import Support
    from onnx_conformance.findings.finding import Finding, Findings
    from onnx_conformance.specification.model_use import Call

CALLED_ALIKE = "the cases that are called like this pass"
MOST_VALUES = 8
"""Maximum number of values of a list attribute that are shown."""


@dataclass(frozen=True)
class Concern:
    """A finding about the operator and types of a call.

    Attributes:
        finding: the finding of the runtime.
        meets: whether the call meets all its conditions; None if the model does not decide that.
        why: if it does not concern the call, the reason.
    """

    finding: Finding
    meets: bool | None
    why: str = ""


@dataclass(frozen=True)
class JudgedCalls:
    """Nodes of a model that are called in the same way.

    Attributes:
        operator, since: their operator and its version; 0 if ONNX has no such operator in the opset of the model.
        nodes: the number of nodes.
        types: their element types.
        attributes: the attributes that they set, with their values.
        judged: the verdict on such calls.
        concerns: the findings that concern them, or may.
        excluded: the findings about the same operator version and types that do not concern them.
    """

    operator: str
    since: int
    nodes: int
    types: tuple[str, ...]
    attributes: tuple[str, ...]
    judged: Judged
    concerns: tuple[Concern, ...] = ()
    excluded: tuple[Concern, ...] = ()

    @property
    def standing(self) -> Standing:
        """The verdict on the calls."""
        return self.judged.standing


def judge(calls: Iterable[Call], support: Support | None, findings: Findings | None, backend: str) -> list[JudgedCalls]:
    """Return the calls of a model with the verdict on each, the worst first.

    Args:
        calls: the nodes of the model.
        support: of the runtime, from its results; None: no results.
        findings: the findings; None: no findings.
        backend: the name of the runtime in the findings.
    """
    by_operator: dict[str, list[Finding]] = {}
    for finding in findings.of(backend) if findings is not None else ():
        if finding.history.state != FIXED and finding.identity.kind is not Verdict.ACCEPTED_INVALID:
            by_operator.setdefault(finding.identity.operator, []).append(finding)
    groups: dict[object, JudgedCalls] = {}
    for call in calls:
        one = _judged(call, support, by_operator.get(call.operator, ()))
        key = (one.operator, one.since, one.types, one.attributes, one.judged, _ids(one.concerns), _ids(one.excluded))
        known = groups.get(key)
        groups[key] = one if known is None else dataclasses.replace(known, nodes=known.nodes + 1)
    return sorted(
        groups.values(),
        key=lambda item: (
            supporting.WORST.index(item.standing),
            item.operator,
            item.since,
            item.types,
            item.attributes,
        ),
    )


def _ids(concerns: Iterable[Concern]) -> tuple[tuple[str, str], ...]:
    return tuple((item.finding.id, item.why) for item in concerns)


def _judged(call: Call, support: Support | None, findings: Iterable[Finding]) -> JudgedCalls:
    if call.version is None:
        there = f" in opset {call.opset}" if call.opset else "; the model imports no opset of its domain"
        reason = f"ONNX has no operator {line(call.operator, 80)}{there}"
        return JudgedCalls(call.operator, 0, 1, (), _attributes(call.node), Judged(Standing.UNKNOWN, (reason,)))
    known, since = KnownCall.of(call), call.version.since
    base = Judged(Standing.UNTESTED)
    if support is not None:
        base = supporting.judged(support, call.operator, since, supporting.words(known.traits))
    listed = [_concern(item, known, base.standing) for item in findings if _is_about(item, call, known)]
    concerns = tuple(item for item in listed if item.meets is not False)
    excluded = tuple(item for item in listed if item.meets is False)
    return JudgedCalls(
        call.operator, since, 1, _types(known), _attributes(call.node), _with_findings(base, concerns, excluded),
        concerns, excluded,
    )  # fmt: skip


def _is_about(finding: Finding, call: Call, known: KnownCall) -> bool:
    """Return whether a finding is about the version of a call, or one with the same meaning, and about its types."""
    assert call.version is not None  # noqa: S101 - the caller has checked it
    own = supporting.newest(call.operator, call.version.since)
    if own not in {supporting.newest(call.operator, since) for since in finding.cases.versions}:
        return False
    types = _types(known)
    return not finding.cases.types or not known.typed or bool(set(types) & set(finding.cases.types))


def _concern(finding: Finding, known: KnownCall, base: Standing) -> Concern:
    """Return whether a finding concerns a call, which results judge as `base`."""
    met = {words: known.meets(words) for words in finding.cases.conditions if words != ALLOWED.name}
    unmet = [words for words, answer in met.items() if answer is False]
    if unmet:
        return Concern(finding, meets=False, why=f"it needs {' and '.join(unmet)}")
    decisive = [answer for words, answer in met.items() if not words.startswith("version")]
    if decisive and None not in met.values():
        return Concern(finding, meets=True)
    if base is Standing.PASSES:
        return Concern(finding, meets=False, why=CALLED_ALIKE)
    return Concern(finding, meets=None)


def _with_findings(base: Judged, concerns: Sequence[Concern], excluded: Sequence[Concern]) -> Judged:
    """Return the verdict from results and findings together."""
    met = [item for item in concerns if item.meets]
    if met and base.standing is Standing.UNTESTED:
        gap = all(item.finding.identity.kind is Verdict.UNSUPPORTED for item in met)
        return Judged(Standing.LACKS if gap else Standing.FAILS)
    if met and base.standing is Standing.PASSES:
        return Judged(Standing.MAY_FAIL)  # Conditions separate the cases of a suite, which a call may differ from.
    if base.standing is Standing.MAY_FAIL and excluded and not concerns:
        return Judged(Standing.PASSES)  # The failing cases are of findings whose conditions the model does not meet.
    return base


def _types(known: KnownCall) -> tuple[str, ...]:
    found = {
        str(value)
        for trait, value in known.traits.items()
        if trait.topic is Topic.TYPE and trait.kind is TraitKind.CHOICE
    }
    return tuple(sorted(found))


def _attributes(node: onnx.NodeProto) -> tuple[str, ...]:
    return tuple(sorted(_attribute(item) for item in node.attribute))


def _attribute(item: onnx.AttributeProto) -> str:
    """Return an attribute with its value, if it is short."""
    value = helper.get_attribute_value(item) if item.type not in {item.TENSOR, item.GRAPH} else None
    if isinstance(value, bytes):
        return line(f"{item.name}={value.decode('utf-8', 'replace')}", 40)
    if isinstance(value, int | float):
        return line(f"{item.name}={value:g}", 40)
    if isinstance(value, list) and len(value) <= MOST_VALUES and all(isinstance(one, int | float) for one in value):
        return line(f"{item.name}=[{','.join(f'{one:g}' for one in value)}]", 40)
    return line(item.name, 40)
