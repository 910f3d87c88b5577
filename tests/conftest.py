# SPDX-License-Identifier: Apache-2.0
"""What more than one test module needs."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import signal
import tempfile
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import warm
from onnx_conformance.generation import plans
from onnx_conformance.processes.process_tree import ProcessTree
from onnx_conformance.specification import packages, registry

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from xdist.workermanage import WorkerController


DUE = "due_operators"
FOUND = pytest.StashKey[dict[str, list[str]]]()
GARBAGE = (50_000, 20, 50)
"""Thresholds of the garbage collector: with Python's own, tests that read or make many objects take a third longer."""


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
    config.addinivalue_line("markers", "every_operator: the argument `op` is each of the operators that are due")
    # Imports and collected tests stay until the end. Python would search them for garbage hundreds of times, also when
    # it ends: a third of the time before the first test. `pytest_collection` starts the collector again.
    gc.disable()
    gc.set_threshold(*GARBAGE)
    atexit.register(gc.freeze)
    # Otherwise, each process that imports numpy starts a thread that waits busily: 70 ms of CPU time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="onnx-conformance-tests-", ignore_cleanup_errors=True)
        os.environ["ONNX_CONFORMANCE_CACHE"] = folder.name
        config.add_cleanup(folder.cleanup)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for garbage once after the collection, and from now on rarely."""
    try:
        return (yield)
    finally:
        gc.collect()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Find the due operators once for all workers: it takes some seconds."""
    if not _all_operators(node.config):
        node.workerinput[DUE] = _due(node.config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each operator that is due, or for every operator if somebody asks for all or for some by name.

    All tests of one operator run together and in one process: its cases are generated once.
    """
    if metafunc.definition.get_closest_marker("every_operator") is None:
        return
    from generated import OPS  # noqa: PLC0415 - it loads every operator, which other tests need not wait for

    wanted = None if _all_operators(metafunc.config) else _due(metafunc.config)
    ops = [op for op in OPS if wanted is None or str(op) in wanted]
    params = [pytest.param(op, id=str(op), marks=pytest.mark.xdist_group(str(op))) for op in ops]
    metafunc.parametrize("op", params, scope="session")


@pytest.hookimpl(tryfirst=True)  # xdist reads the marks in its own hook.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests that share a fixture of their module or folder in one process: it is made once."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None and (shared := _shared(item)):
            item.add_marker(pytest.mark.xdist_group(min(shared, key=len)))


def _shared(item: pytest.Item) -> set[str]:
    """Return the modules and folders whose fixtures a test shares with others; those of all tests are left out."""
    fixtures = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined] - there is no public way
    last = [defined[-1] for name, defined in fixtures.items() if name in item.fixturenames]  # type: ignore[attr-defined]
    return {each.baseid for each in last if each.scope in {"module", "session"} and each.baseid not in {"", "tests"}}


def _all_operators(config: pytest.Config) -> bool:
    by_name = config.option.keyword or any("[" in name for name in config.args)
    return config.option.operators == "all" or bool(by_name)


def _due(config: pytest.Config) -> list[str]:
    """Return the due operators by name; in a worker, as the process that started it has found them."""
    if DUE not in (found := getattr(config, "workerinput", config.stash.setdefault(FOUND, {}))):
        import due  # noqa: PLC0415 - it loads every operator

        found[DUE] = sorted(due.operators())
    names: list[str] = found[DUE]
    return names


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
    onnx = packages.ONNX
    monkeypatch.setattr(registry, "load", lambda package=onnx: few if package is onnx else _LOAD(package))


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
