# SPDX-License-Identifier: Apache-2.0
"""Provisional cases: opset 28 as if it were new, its declarations taken out."""

from __future__ import annotations

import dataclasses
import functools
import os
import random
import signal
from typing import TYPE_CHECKING

import onnx
import pytest

from commands import command
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import EXACT, Op, Rejected, Unspecified
from onnx_conformance.forms.table import TWICE
from onnx_conformance.generation import plans, provisional
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.evaluator import Evaluator
from tools.mutants import oracles, trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_conformance.case.case import Case

NEW = 28
OPS = [op for op in registry.load() if NEW in op.versions and op.domain == "ai.onnx"]


def before(op: Op) -> Op:
    """Return an operator without its version 28."""
    return dataclasses.replace(op, versions=tuple(item for item in op.versions if item < NEW), derived={})


@functools.cache
def cases(op: Op) -> tuple[Case, ...]:
    return tuple(case for of in provisional.undeclared(before(op)) for case in provisional.cases(of))


def shape_alone(case: Case) -> bool:
    return case.allowance.reason.startswith("only the type")


def test_opset_28_has_enough_operators() -> None:
    assert len(OPS) >= 19


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS, ids=str)
def test_what_holds_on_is_what_the_declared_version_expects(op: Op) -> None:
    """No provisional case accuses a runtime of what the text of the version demands of it."""
    declared = {case.id: case for case in plans.cases(op, (NEW,))}
    own = cases(op)
    assert own
    for case in own:
        assert provisional.TAG in case.tags
        assert case.operator == f"{op}/{NEW}"
        assert case.form != TWICE
        if case.id in declared and not shape_alone(case):
            same = declared[case.id]
            assert (case.outcome, case.digests()) == (same.outcome, same.digests()), case.id
    others = [case for case in own if case.form == PLAIN and (case.id not in declared or shape_alone(case))]
    for case, seen in zip(others, verdicts(others), strict=True):
        assert seen in {"pass", str(case.outcome)}, f"{case.id}: {seen}"


@pytest.mark.slow
def test_new_types_and_arguments_are_asked_for_their_shape_alone() -> None:
    names = {case.id.partition("/28/")[2] for op in OPS for case in cases(op) if shape_alone(case)}
    assert "signature_types_t/bfloat16" in names  # of several operators
    assert "signature_mode_set" not in names  # The example of SpaceToDepth has the mode already.
    assert any(name.startswith("signature_example") for name in names)


def test_an_operator_that_no_file_declares_has_cases_of_its_signature() -> None:
    version = next(item for item in schema.versions("ai.onnx", "Sign") if item.since == 13)
    (first, last) = provisional.undeclared(Op("Sign", (), EXACT))
    assert (first.former, last.former, str(last.version)) == (None, None, str(version))
    own = list(provisional.cases(last))
    outcomes = {case.outcome for case in own}
    assert outcomes == {Outcome.VALUES, Outcome.REJECTS}
    for case in own:
        assert (case.outcome is Outcome.VALUES) == shape_alone(case)


def test_a_sentence_that_changed_takes_its_cases_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    op = before(registry.load().named("OneHot"))
    (of,) = provisional.undeclared(op)
    quoted = "Accepted range is [-r-1, r] where r = rank(indices)."
    changed = dataclasses.replace(of.version, text=of.version.text.replace(quoted, "Any axis will do."))
    assert changed.text != of.version.text
    less = list(provisional.cases(provisional.Undeclared(op, changed, of.former)))
    assert any(quoted in case.clauses for case in provisional.cases(of))
    assert not any(quoted in case.clauses for case in less)
    monkeypatch.setattr(op, "cases", [spec for spec in op.cases if spec.name == "default"])
    (fallen,) = provisional.falls(
        provisional.Undeclared(op, dataclasses.replace(changed, text=""), of.former),
        dataclasses.replace(op.cases[0], cites=op.clauses[:1]),
    )
    assert fallen is op.clauses[0]


def verdicts(own: Sequence[Case]) -> list[str]:
    """Return what the oracles of this process say of cases: pass, wrong, rejects, unspecified, or an exception."""
    return [_verdict(case) for case in own]


def _verdict(case: Case) -> str:
    try:
        answers = Evaluator().model(onnx.load_from_string(case.model), case.inputs)
    except Rejected:
        return str(Outcome.REJECTS)
    except Unspecified:
        return str(Outcome.UNSPECIFIED)
    except Exception as error:  # noqa: BLE001 - a changed oracle raises anything
        return type(error).__name__
    if case.expected is None:
        return "answered"
    mismatch = compare(case.expected, [answers[name] for name in case.outputs], case.allowance)
    return "pass" if mismatch is None else "wrong"


def notice(own: Sequence[Case], usual: Sequence[str], install: Callable[[], bool]) -> bool:
    """Return whether a case comes out otherwise with a fault, which is put into a process of its own."""
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.alarm(60)
            if not install():
                os._exit(0)
            for function in oracles.caches():
                function.cache_clear()
            status = int(any(_verdict(case) != known for case, known in zip(own, usual, strict=True)))
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] != 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process")  # It is multi-threaded by numpy, whose threads hold no lock.
@pytest.mark.parametrize(("name", "count"), [("OneHot", 14), ("SpaceToDepth", 14), ("QuantizeLinear", 24)])
def test_half_of_the_faults_that_declared_cases_notice_are_noticed(name: str, count: int) -> None:
    op = registry.load().named(name)
    look = oracles.look(op)
    live, sources = oracles.live_functions(look.sources), {item.name: item for item in look.sources.values()}
    lines = frozenset().union(*(unit.lines for unit in look.units if unit.since == NEW))
    ran = [fault for fault in look.faults if any((sources[fault.file].path, number) in lines for number in fault.span)]
    random.Random(name).shuffle(ran)
    own = [case for case in cases(op) if case.form == PLAIN]
    declared = [case for case in plans.cases(op, (NEW,)) if case.form == PLAIN]
    of_own, of_declared = verdicts(own), verdicts(declared)
    seen = noticed = 0
    for fault in ran[:count]:
        install = trial.putting(fault, sources[fault.file], op, live)
        if notice(declared, of_declared, install):
            seen += 1
            noticed += notice(own, of_own, install)
    assert seen >= 5
    assert noticed >= seen / 2, (noticed, seen)


@pytest.fixture
def opset_28_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    plans._evaluator()
    few = [registry.load().named(name) for name in ("OneHot", "SwiGLU", "Add", "If")]
    op = before(few[0])
    without = registry.Registry([op, *few[2:]])
    monkeypatch.setattr(registry, "load", lambda *_: without)
    known = schema.every()
    monkeypatch.setattr(schema, "every", lambda *_: {name: known[name] for name in map(str, few)})


@pytest.mark.slow
@pytest.mark.usefixtures("opset_28_is_new", "ends")
def test_a_run_of_provisional_cases_says_so_and_no_gate_takes_it(tmp_path: pytest.TempPathFactory) -> None:
    results, accepted = f"{tmp_path}/results.ndjson", f"{tmp_path}/accepted.toml"
    done = command("run", "--provisional", "--core", "--backend", "oracle", "--results", results, "--groups", "0")
    assert done.status in {0, 1}, done.text
    assert "suite provisional" in done.out
    assert "Provisional: cases of previous versions" in done.out
    assert "OneHot, SwiGLU" in done.out
    refused = command("expectations", "update", results, "--expectations", accepted, "--accept-new", "--reason", "x")
    assert refused.status == 2, refused.text
    assert "[gate-of-provisional]" in refused.err
    report = command("report", results, "--format", "markdown")
    assert "Provisional: cases of previous versions" in report.out, report.text
    listed = command("list", "--suite", "provisional", "--op", "OneHot")
    assert "ai.onnx/OneHot/28/default  values  " in listed.out, listed.text
    shown = command("show", "ai.onnx/OneHot/28/default", "--suite", "provisional")
    assert shown.status == 0, shown.text
    plain = command("list", "--op", "OneHot/28")
    assert plain.status == 2, plain.text
    assert plain.refused("operator-not-in-suite", "OneHot", "9, 11")


def test_where_every_version_is_declared_there_is_no_provisional_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provisional, "every", list)
    done = command("run", "--provisional", "--backend", "oracle")
    assert done.status == 2, done.text
    assert "[nothing-provisional]" in done.err
    assert command("run", "--provisional", "--suite", "official").status == 2
