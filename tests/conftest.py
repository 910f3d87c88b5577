"""What more than one test module needs."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

from harness.generation import plans
from harness.spec import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

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
"""Operators of every kind: what a test of the harness needs; those of operators look at each by itself."""


plans._evaluator()

# A shell that starts tests in the background ignores these, and what ignores them hands that on to what it starts.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.fixture(autouse=True)
def _few_operators(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that go through all cases go through those of a few operators."""
    if "all_operators" not in request.keywords and not operator_of(request.node.nodeid):
        few = registry.Registry(map(registry.load().named, FEW))
        monkeypatch.setattr(registry, "load", lambda: few)


def operator_of(nodeid: str) -> str:
    """Return the operator that a test is about, or an empty text."""
    found = re.search(r"\[(ai\.onnx[\w.]*/\w+)\]$", nodeid)
    return found[1] if found else ""


class ByOperator(LoadScopeScheduling):
    """One process does all tests of an operator: its cases are generated once."""

    def _split_scope(self, nodeid: str) -> str:
        return operator_of(nodeid) or nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByOperator:
    """Spread tests over processes by operator."""
    return ByOperator(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of an operator behind one another, for the same reason."""
    items.sort(key=lambda item: operator_of(item.nodeid))
