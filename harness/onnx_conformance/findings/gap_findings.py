# SPDX-License-Identifier: Apache-2.0
"""Version gaps as findings: a script runs the same call in an earlier version and in the version without support."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from onnx_conformance.base import under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.case.case import digest_values
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import one
from onnx_conformance.environments import backend_names
from onnx_conformance.findings import script, severity
from onnx_conformance.findings.evidence import MOST_MODEL, MOST_VALUE, Evidence, Outline
from onnx_conformance.findings.finding import Example, FailingCases, Finding, History, Identity
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.repro.bug_report import public
from onnx_conformance.results.version_gaps import VersionGaps
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import find_case
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from onnx_conformance.results.stream import Run
    from onnx_conformance.results.version_gaps import Gap

_WORD = re.compile(r"[^\w.]+")


def passing(backend: str, version: str, ids: frozenset[str]) -> Mapping[str, bool]:
    """Run the cases with these ids; return for each that exists whether it passes.

    Raises:
        HarnessError: the backend does not start, or is of another version than the results.
    """
    passes: dict[str, bool] = {}
    with Asker(backend_names.resolve(backend), Limits()) as asker:
        now = str(asker.process.hello.get("version", ""))
        if now != version:
            raise HarnessError(
                "gaps-of-another-version",
                f"the results are of {backend} {version or 'without a version'}, but {now or 'another'} runs now; "
                "use --offline to compare only results",
            )
        for case in Generated().cases(Selection(ids=ids)):
            passes[case.id] = ask_and_judge(asker, case).result.verdict is Verdict.PASS
    return passes


def of_run(run: Run, selection: Selection) -> Iterator[Evidence]:
    """Yield the evidence for each version gap of the runtimes of a run of the generated suite.

    Args:
        run: the results.
        selection: only these operators.

    Raises:
        HarnessError: a backend does not start, or is of another version than the results.
    """
    if run.header["suite"].get("name") != Generated.name:
        return
    for name, hello in run.header["backends"].items():
        if under_test.subject(hello) is not under_test.Subject.RUNTIME:
            continue
        gaps = VersionGaps.of(hello)
        for result in run.results():
            if result.backend == name and selection.takes_operator(result.operator):
                gaps.add(result)
        version = str(hello.get("version", ""))
        found = gaps.found(lambda ids, name=name, version=version: passing(name, version, ids))  # type: ignore[misc]
        if found:
            with Asker(backend_names.resolve(name), Limits()) as asker:
                live = dict(asker.process.hello)
            for gap in found:
                if (made := _evidence(gap, name, live)) is not None:
                    yield made


def _evidence(gap: Gap, backend: str, hello: Mapping[str, Any]) -> Evidence | None:
    """Return the evidence for a gap; None if its two cases differ in more than the version."""
    later, earlier = (find_case(case_id) for case_id in (gap.case, gap.passing))
    if digest_values(later.inputs) != digest_values(earlier.inputs):
        return None
    name = under_test.unversioned(backend)
    operator = gap.operator.removeprefix("ai.onnx/")
    title = line(
        f"{operator}: version {gap.lacks} is not supported, although version {gap.runs}, which has the same meaning, is"
    )
    cause = hashlib.sha256(repr((name, gap.name)).encode()).hexdigest()[:16]
    stem = _WORD.sub("-", name).strip("-")
    finding = Finding(
        id=f"{stem}-{gap.operator.rpartition('/')[2].lower()}-version-{gap.lacks}-{cause[:6]}",
        title=title,
        identity=Identity(name, gap.operator, Verdict.UNSUPPORTED, cause),
        cases=FailingCases(count=1, ids=(gap.case,), versions=(gap.lacks,), types=gap.types, forms=(later.form,)),
        example=Example(
            case=later.id,
            model=model_text(later.model, MOST_MODEL),
            inputs={line(item): clean(one(value), MOST_VALUE) for item, value in later.inputs.items()},
            expected={line(item): clean(value, MOST_VALUE) for item, value in expected_rows(later)},
            given={},
            message=line(public(gap.message), MOST_VALUE),
        ),
        history=History(runtime=str(hello.get("runtime", name)), version=str(hello.get("version", ""))),
        severity=severity.of_case(later, Verdict.UNSUPPORTED),
    )
    text = script.of_gap(later, earlier, backend, hello, title)
    return Evidence(
        finding, text, later, Outline(frozenset({("version", gap.lacks)}), ()), title, frozenset({gap.case})
    )
