# SPDX-License-Identifier: Apache-2.0
"""FailureGroups for findings: the failures of an operator in a run that have one cause, and those that do not count."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.analysis import explain
from onnx_conformance.base.signature import signature
from onnx_conformance.base.under_test import Subject, subject
from onnx_conformance.base.verdict import VALID, WITH_MESSAGE, WRONG, Result, Verdict, line, split_operator
from onnx_conformance.declare.clause import Force
from onnx_conformance.declare.readings import READINGS
from onnx_conformance.environments import backend_names
from onnx_conformance.findings.finding import GRAVITY
from onnx_conformance.forms import table
from onnx_conformance.minimize.cause import by_rounding, masked
from onnx_conformance.results.errata import built_with, is_erratum
from onnx_conformance.results.severity import of_result
from onnx_conformance.results.stream import MOST_PROMISE
from onnx_conformance.suites.transforms import model_of_rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx_conformance.declare.readings import Reading
    from onnx_conformance.environments.limits import Limit
    from onnx_conformance.results.stream import Run
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.suite import Suite

ROUNDING, ROUNDING_ULPS = 1e-5, 4
"""Errors up to this, relative or in units in the last place, do not count: the texts do not limit rounding."""
OF_ROUNDING = "it differs by rounding, which the text does not limit"
_FLOAT = re.compile(r"-?\d+(?:\.\d*(?:e[-+]?\d+)?|e[-+]?\d+)")
"""A number of a floating type in a message: 1.5 or 1e-05, but not 1."""
OWN_WORD = re.compile(
    r"(?i)\bnot (yet )?(been )?(implemented|supported|handled)\b|\bunsupported\b|\bunimplemented\b|\bunhandled\b"
    r"|\bcan(not|'t) (be )?(handle|support)|\bno (such )?(kernel|implementation|conversion)\b|\bNYI\b"
    r"|\b(does(n't| not)|do(n't| not)) support\b|\bonly supports?\b|\bis only supported\b|\bsupports only\b"
    r"|InsertedPrecisionFreeCast_|\bneeds? \w+ to be (a )?const"
    r"|\b(must|should|expected to|needs to|has to) be (a )?(const|static|known|initializer)|\bcould not find an impl"
    r"|\bonly if\b.{1,40}\bis a const\b|\bexpect(s|ed)?\b.{1,40}\b(as a|as|to be a|to be) constants?\b"
    r"|\bis implemented for\b|\bonly\b.{1,60}\b(is|are) supported\b|\bfailed to legalize\b"
    r"|\bshape input is variable\b|\bTODO\b"
    r"|== CV_\d+[A-Z]\b|\bhas_tensor_type\(\)"  # OpenCV lists the types that it supports.
)
"""Messages of a runtime that reports missing support in words that no row of its adapter has."""
EXPLAINS = 0.3
"""The least Ochiai coefficient of a sentence that explains failures; many passing cases cite one with a smaller one."""
MARKS = 0.7
"""The least Ochiai coefficient of a sentence that hardly any passing case cites."""
OF_FORM = "the runtime rejects this form of model for every operator"
LACKS = "the runtime reports missing support"
NOT_REQUIRED = "ONNX does not require a runtime to reject an invalid model"
SHOULD = re.compile(r"(?i)^(?!.*\bmust\b).*\bshould\b")
YET = re.compile(r"(?i)\byet\b|\bcurrently\b|\bdoes(n't| not) work\b|\bnot supported\b|\bunsupported\b")


@dataclass(frozen=True)
class FailureGroup:
    """Failures of one operator on one backend with one verdict and one cause.

    Attributes:
        backend, version: the name of the backend in the run, and the version of its runtime.
        operator: the operator without a version.
        kind: the verdict of the failures.
        conditions: the traits that the failures share and passing cases lack; empty without such traits.
        results: the failures, the most severe first, and of equal ones the simplest.
        apart: the reason why they do not count; empty if they count.
        deciding: the sentences that explain the failures, first those that failing cases cite and passing ones do not.
        marking: those of them that hardly any passing case cites.
        lacks: the versions of the operator that the runtime lacks.
        promise: the sentence of a tool's documentation on the inputs and outputs of the models that it returns.
    """

    backend: str
    version: str
    operator: str
    kind: Verdict
    conditions: tuple[str, ...]
    results: tuple[Result, ...]
    apart: str = ""
    deciding: tuple[str, ...] = ()
    marking: frozenset[str] = frozenset()
    lacks: frozenset[int] = frozenset()
    promise: str = ""


def apart(result: Result, built: str, limits: Sequence[Limit] = ()) -> str:
    """Return the reason why a failure does not count, or an empty text if it counts.

    Args:
        limits: the documented limits of its runtime.
        result: the failure.
        built: the release of onnx that its runtime was built with; empty if it is not known.
    """
    rests_on = [number for number in result.readings if _depends_on(result, READINGS.get(number))]
    said = {
        f"onnx {result.reworded} introduced the present wording of its sentence": is_erratum(result, built),
        f"it rests on {', '.join(rests_on)}": bool(rests_on),
        **(_APART[result.verdict](result) if result.verdict in _APART else {}),
    }
    if result.verdict is Verdict.REFUSED:
        said |= {limit.reason: limit.excuses(result) for limit in limits}
    return next((why for why, holds in said.items() if holds), "")


def _depends_on(result: Result, reading: Reading | None) -> bool:
    """Return whether a failure may be none if the reading, unknown if None, were another one."""
    return reading is None or not reading.of_values or result.verdict in {Verdict.WRONG_VALUE, Verdict.FLAKY}


def _not_required(group: FailureGroup, *, is_checker: bool) -> str:
    """Return the reason why accepted models do not count; empty if they do, or if the failures are others."""
    return NOT_REQUIRED if group.kind is Verdict.ACCEPTED_INVALID and not is_checker else ""


def apart_of_smallest(result: Result) -> str:
    """Return the reason why a smallest case does not count, although its failures do; empty if it counts.

    A smallest case may differ by fewer units in the last place than the failures that it is made from. It is the one
    that a report shows, so it must not differ by rounding alone. Zeros of other signs, and tiny numbers instead of
    zero, are no roundings.
    """
    number = result.mismatch.get("expected")
    is_float = isinstance(number, str) and _FLOAT.fullmatch(number) is not None and float(number) != 0
    shown = result.verdict is Verdict.WRONG_VALUE and is_float
    return OF_ROUNDING if shown and _few_ulps(result) and not result.mismatch.get("beyond") else ""


def _few_ulps(result: Result) -> bool:
    ulps = result.mismatch.get("ulp")
    return isinstance(ulps, int | float) and abs(ulps) < ROUNDING_ULPS


def _wrong_value(result: Result) -> dict[str, bool]:
    rounding = (_few_ulps(result) or by_rounding(result, most=ROUNDING)) and not result.mismatch.get("beyond")
    return {OF_ROUNDING: rounding}


def _accepted(result: Result) -> dict[str, bool]:
    should = bool(result.clauses and SHOULD.search(result.clauses[-1]))
    return {
        "no must forbids the model": bool(result.force) and result.force != Force.MUST,
        "its sentence contains should and no must": should,
        "its sentence describes a missing feature, and a runtime may have more features": bool(
            result.clauses and YET.search(result.clauses[-1])
        ),
    }


def _refused(result: Result) -> dict[str, bool]:
    return {LACKS: bool(OWN_WORD.search(result.message))}


_APART = {Verdict.WRONG_VALUE: _wrong_value, Verdict.ACCEPTED_INVALID: _accepted, Verdict.REFUSED: _refused}
"""For each verdict, the reasons why a failure may not count, with whether they apply."""


def failure_groups(
    run: Run,
    source: Suite | None,
    selection: Selection,
    *,
    jobs: int = 1,
    on_operator: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[list[FailureGroup], str]:
    """Return the failure groups of a run, and a note about skipped or missing data (empty if all are there).

    Args:
        run: the results.
        source: the suite of the results; None if it is not available.
        selection: only these operators.
        jobs: the number of processes that analyse operators.
        on_operator: called after each operator with the number of finished operators and their total number.
    """
    read = _read(run, selection)
    explained = explain.explain(run, source, selection, jobs=jobs, on_operator=on_operator, collected=read.collected)
    made: list[FailureGroup] = []
    for item in explained.explained:
        failures = {r.case: r for r in read.collected.operators[item.operator].failures[item.backend]}
        of_rewrites = [r for r in failures.values() if r.verdict is item.verdict and model_of_rewrite(r.case)]
        made += [_failure_group(run, item.backend, item.operator, (), group) for group in _by_model(of_rewrites)]
        taken = {result.case for result in of_rewrites}
        for pattern in item.patterns:
            own = [failures[case] for case in pattern.statement.cases if case in failures and case not in taken]
            if own:
                taken.update(result.case for result in own)
                made.append(_failure_group(run, item.backend, item.operator, pattern.statement.conditions, own))
        left = [r for r in failures.values() if r.verdict is item.verdict and r.case not in taken]
        made += [_failure_group(run, item.backend, item.operator, (), group) for group in _by_signature(left)]
    made = [_without_forms(item) for item in _one_for_each_message(made)]
    lacking: Counter[str] = Counter()
    for (backend, operator, _, why), results in read.aside.items():
        if why == LACKS:
            lacking[backend] += len(results)
        else:
            made.append(_failure_group(run, backend, operator, (), results, why))
    made = [_with_deciding(item, read.passed[item.backend, item.operator]) for item in made]
    checkers = {name for name, hello in run.header["backends"].items() if subject(hello) is Subject.CHECKER}
    made = [
        dataclasses.replace(
            item,
            lacks=read.lacks(item.backend, item.operator),
            apart=item.apart or _not_required(item, is_checker=item.backend in checkers),
        )
        for item in made
    ]
    notes = [f"{name}: {count:,} refusals are not findings, because {LACKS}" for name, count in lacking.items()]
    return made, "; ".join(filter(None, (explained.note, *notes)))


def set_apart(run: Run, selection: Selection) -> set[tuple[str, str]]:
    """Return the backends and cases of a run that pass or are not decided, or whose failures do not count."""
    read = _read(run, selection)
    failed = ((result.backend, result.case) for results in read.aside.values() for result in results)
    return read.not_failing.union(failed)


@dataclass
class _Read:
    """The failures of a run.

    Attributes:
        collected: those that count, and the passing cases.
        aside: those that do not count, by backend, operator, verdict and reason.
        passed: by backend and operator, how many passing cases cite each sentence.
        answered: by backend and operator, for each version, whether a valid call of it was answered in any way.
        not_failing: the backends and cases that pass or are not decided.
    """

    collected: explain.Collector
    aside: dict[tuple[str, str, str, str], list[Result]] = field(default_factory=lambda: defaultdict(list))
    passed: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    answered: dict[tuple[str, str], dict[int, bool]] = field(default_factory=lambda: defaultdict(dict))
    not_failing: set[tuple[str, str]] = field(default_factory=set)

    def lacks(self, backend: str, operator: str) -> frozenset[int]:
        """Return the versions of an operator that a runtime lacks."""
        return frozenset(since for since, answered in self.answered[backend, operator].items() if not answered)


def _read(run: Run, selection: Selection) -> _Read:
    built = {name: built_with(hello) for name, hello in run.header["backends"].items()}
    limits = {name: _limits(name) for name in built}
    read = _Read(explain.Collector(selection))
    for result in run.results():
        operator, since = split_operator(result.operator)
        if since is not None and result.outcome in VALID:
            versions = read.answered[result.backend, operator]
            versions[since] = versions.get(since, False) or result.verdict is not Verdict.UNSUPPORTED
        if result.verdict in {Verdict.PASS, Verdict.UNSPECIFIED}:
            read.not_failing.add((result.backend, result.case))
        if result.verdict is Verdict.PASS:
            read.collected.add(result)
            read.passed[result.backend, operator].update(set(result.clauses))
        elif result.verdict not in GRAVITY:
            continue
        elif why := apart(result, built.get(result.backend, ""), limits.get(result.backend, ())):
            if selection.takes_operator(result.operator):
                read.aside[result.backend, operator, str(result.verdict), why].append(result)
        else:
            read.collected.add(result)
    return read


def _limits(backend: str) -> Sequence[Limit]:
    return getattr(backend_names.needs(backend), "limits", ())


def _with_deciding(group: FailureGroup, passed: Counter[str]) -> FailureGroup:
    """Return a failure group with its sentences in the order in which they explain the failures.

    The order is that of spectrum-based fault localization (the Ochiai coefficient): a sentence that many of the
    failures and few of the passing cases cite explains most.

    Args:
        group: the group.
        passed: for each sentence, how many cases of the operator that cite it passed on the backend.
    """
    failed = Counter(clause for result in group.results for clause in set(result.clauses))
    total = len(group.results)

    def explains(clause: str) -> float:
        return failed[clause] / math.sqrt(total * (failed[clause] + passed[clause]))

    ordered = sorted(failed, key=lambda clause: (-explains(clause), clause))
    return dataclasses.replace(
        group,
        deciding=tuple(clause for clause in ordered if explains(clause) >= EXPLAINS),
        marking=frozenset(clause for clause in ordered if explains(clause) >= MARKS),
    )


def _without_forms(group: FailureGroup) -> FailureGroup:
    """Return a failure group, which does not count if its results are only refusals of the form."""
    of_form = group.kind is Verdict.REFUSED and all(
        (form := table.find(result.form)) is not None and form.delivery for result in group.results
    )
    return dataclasses.replace(group, apart=OF_FORM) if of_form else group


def _one_for_each_message(every: Iterable[FailureGroup]) -> list[FailureGroup]:
    """Join refusals of one operator with the same message in all versions, because the message names the cause."""
    groups: dict[tuple[object, ...], FailureGroup] = {}
    for number, item in enumerate(every):
        message = masked(item.results[0].message) if item.kind in WITH_MESSAGE else ""
        key = (item.backend, item.operator, item.kind, message) if message else (number,)
        if key in groups:
            first = groups[key]
            shared = tuple(text for text in first.conditions if text in item.conditions)
            results = _ordered((*first.results, *item.results))
            item = dataclasses.replace(first, results=results, conditions=shared)  # noqa: PLW2901 - both are one
        groups[key] = item
    return list(groups.values())


def _by_signature(results: Sequence[Result]) -> list[list[Result]]:
    groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in results:
        groups[signature(result)].append(result)
    return list(groups.values())


def _by_model(results: Sequence[Result]) -> list[list[Result]]:
    """Group results of rewrites: wrong ones by model, as each is another fault of the fusion, and others by message."""
    groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in results:
        groups[(model_of_rewrite(result.case),) if result.verdict in WRONG else signature(result)].append(result)
    return list(groups.values())


def _failure_group(
    run: Run, backend: str, operator: str, conditions: tuple[str, ...], results: Sequence[Result], why: str = ""
) -> FailureGroup:
    hello = run.header["backends"][backend]
    version, promise = line(hello.get("version", ""), 80), line(hello.get("promise", ""), MOST_PROMISE)
    kind = results[0].verdict
    return FailureGroup(backend, version, operator, kind, conditions, _ordered(results), why, promise=promise)


def _ordered(results: Iterable[Result]) -> tuple[Result, ...]:
    """Return failures, the most severe first: the first one becomes the example."""
    return tuple(sorted(results, key=lambda result: (of_result(result).key(result.verdict), result.as_example)))
