"""What more than one test module needs."""

from __future__ import annotations

import functools
import os
import signal
import tempfile
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import warm
from onnx_conformance.generation import plans
from onnx_conformance.processes.process_tree import ProcessTree
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says of which operators the tests of every operator run."""
    parser.addoption(
        "--operators",
        choices=("due", "all"),
        default="due",
        help="of which operators the tests of every operator run: those that tests/due.py names, or all; "
        "with -k or the ids of tests all from which these choose",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep the cache of whoever runs the tests out of them: all processes of these tests share one of their own."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="onnx-conformance-tests-", ignore_cleanup_errors=True)
        os.environ["ONNX_CONFORMANCE_CACHE"] = folder.name
        config.add_cleanup(folder.cleanup)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of operators that are not due, unless somebody asks for some by name."""
    chosen = config.option.keyword or any("[" in name for name in config.args)
    if config.option.operators == "all" or chosen:
        return
    import due  # noqa: PLC0415 - it loads every operator, which a test of something else need not wait for

    known, wanted = {str(op) for op in due.OPS}, due.operators()
    groups = [mark.args[0] if (mark := item.get_closest_marker("xdist_group")) else "" for item in items]
    kept = [group not in known or group in wanted for group in groups]
    config.hook.pytest_deselected(items=[item for item, keep in zip(items, kept, strict=True) if not keep])
    items[:] = [item for item, keep in zip(items, kept, strict=True) if keep]


@pytest.fixture(scope="session", autouse=True)
def _forked_adapters() -> Iterator[None]:
    """Fork the adapters of this process; see warm.py."""
    with mock.patch.object(ProcessTree, "start", staticmethod(warm.start)):
        yield
    warm.close()


@pytest.fixture
def started_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the adapters of a test as users do."""
    monkeypatch.setattr(ProcessTree, "start", warm.STARTED)


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
