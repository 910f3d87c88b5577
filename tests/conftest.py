"""What more than one test module needs."""

from __future__ import annotations

import functools
import signal
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from harness.generation import plans
from harness.spec import registry

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

HANGS = 60
"""Seconds after which a test that waits for what never comes is ended."""


@pytest.fixture
def ends() -> Iterator[None]:
    """End a test that hangs: a harness that waits forever must fail a test, not stop the run."""

    def late(*_: object) -> None:
        raise AssertionError(f"still waiting after {HANGS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(HANGS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


FEW = ("Split", "SplitToSequence", "ReduceSum", "Constant", "SequenceInsert", "Scatter", "Dropout", "Reshape")
"""Operators of every kind, for tests of commands that go through all of them."""


_LOAD = registry.load


@functools.cache
def _few() -> registry.Registry:
    plans._evaluator()  # It keeps the registry that it is made with, which must be the whole one.
    return registry.Registry(map(_LOAD().named, FEW))


@pytest.fixture
def few_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that go through all operators go through FEW."""
    few = _few()
    monkeypatch.setattr(registry, "load", lambda: few)


@pytest.fixture
def all_operators(monkeypatch: pytest.MonkeyPatch, few_operators: None) -> None:  # noqa: ARG001 - it comes first
    """Undo few_operators, which the test's module asks for, for this test."""
    monkeypatch.setattr(registry, "load", _LOAD)


# A shell that starts tests in the background ignores these, and what ignores them hands that on to what it starts.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse test modules that generate cases when they are imported: the run of a single test would wait for that."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    refusal = AssertionError(f"{collector.path.name} generates cases when it is imported; a cached function can do it")
    with mock.patch.object(plans, "plans", side_effect=refusal):
        return (yield)
