# SPDX-License-Identifier: Apache-2.0
"""The sentence of a finding that a reader chose, instead of the one that the rules in `findings.sentence` choose.

The rules compare traits and words, so for a few findings they choose a sentence that does not decide. A reader who
notices that corrects the finding. The choice is a part of `findings.json`, and an update keeps it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import onnx
import onnx.parser

from onnx_conformance.analysis.sentences import source_of
from onnx_conformance.analysis.whole_sentence import contains
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.findings import findings_file, model_rules
from onnx_conformance.findings.script import said
from onnx_conformance.forms.table import FORMS
from onnx_conformance.specification import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.findings.finding import Finding, Findings

MOST = 1000
"""Maximum length of a sentence, in characters."""


def choose(findings: Findings, name: str, text: str, day: str) -> Findings:
    """Return findings in which one has another sentence, also in its script.

    Args:
        findings: the findings of a folder.
        name: the id of the finding.
        text: the sentence.
        day: the date of today, as 2026-12-01.

    Raises:
        HarnessError: there is no such finding, or no text that it can violate contains the sentence.
    """
    found = {item.id: item for item in findings.findings}
    if name not in found:
        raise findings_file.no_such_finding(name, found)
    text = " ".join(text.split())
    if not text or len(text) > MOST or not is_in_text(found[name], text):
        raise HarnessError(
            "not-a-sentence-of-the-text",
            f"{line(text, 80)!r} is not in the text of {found[name].identity.operator}, and is no sentence on models; "
            "copy a sentence without changes",
        )
    chosen, script = _with(found[name], text, day, findings.scripts.get(name, ""))
    return dataclasses.replace(
        findings,
        findings=tuple(chosen if item.id == name else item for item in findings.findings),
        scripts={**findings.scripts, name: script},
    )


def kept(old: Finding, new: Finding, script: str) -> tuple[Finding, str] | None:
    """Return a new finding and its script with the sentence that a reader chose for the old one.

    Args:
        old: the finding before an update, whose sentence a reader chose.
        new: the same finding after it.
        script: the script of the new one.

    Returns:
        None if the smallest case shows another cause, or the text does not contain the sentence.
    """
    same = old.identity.of_any_reason == new.identity.of_any_reason
    if not same or not is_in_text(new, old.cases.clause):
        return None
    return _with(new, old.cases.clause, old.cases.chosen, script)


def _with(finding: Finding, text: str, day: str, script: str) -> tuple[Finding, str]:
    """Return a finding and its script with another sentence."""
    cases = dataclasses.replace(finding.cases, clause=text, chosen=day)
    return dataclasses.replace(finding, cases=cases), script.replace(said(finding.cases.clause), said(text), 1)


def is_in_text(finding: Finding, text: str) -> bool:
    """Return whether a text that a finding can violate contains a sentence.

    These are the texts of its operator, of the other operators in its models, and the sentences on models.
    """
    on_models = {*(rule.text for rule in model_rules.RULES), *(form.text for form in FORMS if form.text)}
    sources = map(source_of, _operators(finding))
    return text in on_models or any(source is not None and contains(source, text) for source in sources)


def _operators(finding: Finding) -> Iterator[str]:
    """Yield the versions of the operators of a finding and of its models, such as ai.onnx/Split/18."""
    yield from (f"{finding.identity.operator}/{version}" for version in reversed(finding.cases.versions))
    for text in (finding.example.model, finding.example.made):
        try:
            model = onnx.parser.parse_model(text)
        except onnx.parser.ParseError:  # The text is cut, or the model has a value that the syntax cannot express.
            continue
        opsets = {opset.domain or "ai.onnx": opset.version for opset in model.opset_import}
        for node in nodes.of(model):
            domain = node.domain or "ai.onnx"
            if domain in opsets:
                yield f"{domain}/{node.op_type}/{opsets[domain]}"
