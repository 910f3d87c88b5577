# SPDX-License-Identifier: Apache-2.0
"""Adapters that are forked from a process that has loaded the runtime: who is blamed, what is loaded, what is left."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.backends import fork_server
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.environments import backend_names
from onnx_conformance.judging import self_check
from onnx_conformance.processes import asker
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.fork_server import ForkServer
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.specification import registry
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from orphans import runs

if TYPE_CHECKING:
    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case

pytestmark = [
    pytest.mark.usefixtures("ends"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the threads of a process"),
]

ADAPTER = """
import os
import resource
import signal
import threading
from pathlib import Path

import onnx
from onnx.reference import ReferenceEvaluator

FORK = True
HERE = Path(__file__).parent
WHEN_LOADED
with (HERE / "loaded").open("a") as file:
    file.write(f"{os.getpid()}\\n")
LOADED_IN = os.getpid()


def info():
    return {"runtime": "forked", "version": "1"}


def run(model, inputs, outputs):
    held = onnx.load_from_string(model)
    BODY
    return ReferenceEvaluator(held).run(list(outputs), inputs)
"""
CRASH = 'if "even" in held.graph.name: os.kill(os.getpid(), signal.SIGSEGV)'


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    names = ("lengths", "lengths_one", "even", "lengths_sum")
    found = [case for case in Generated().cases(Selection(ops=("Split/13",), forms=("plain",))) if case.name in names]
    return found * 3  # The same id again: a case that ends the process does so each time.


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def write(body: str = CRASH, when_loaded: str = "") -> Target:
        (tmp_path / "forked.py").write_text(ADAPTER.replace("BODY", body).replace("WHEN_LOADED", when_loaded))
        return backend_names.resolve("./forked.py")

    return write


class Write:
    """Writes an adapter, and returns it as a backend."""

    def __call__(self, body: str = CRASH, when_loaded: str = "") -> Target:
        raise NotImplementedError


def run(target: Target, cases: list[Case], **limits: float) -> list[Result]:
    with Scheduler([target], Limits(**limits), jobs=1) as scheduler:  # type: ignore[arg-type]
        scheduler.start()
        return list(scheduler.run(iter(cases)))


def loads(folder: Path) -> list[int]:
    """Return the processes that have loaded the runtime."""
    return [int(text) for text in (folder / "loaded").read_text().split()]


def verdicts(results: list[Result]) -> Counter[tuple[bool, str]]:
    """Return how often which verdict, by whether it is of a case that ends the process."""
    return Counter(("even" in result.case, str(result.verdict)) for result in results)


def expected(cases: list[Case], of_even: Verdict = Verdict.CRASH) -> Counter[tuple[bool, str]]:
    even = sum(case.name == "even" for case in cases)
    assert even >= 3
    return Counter({(True, str(of_even)): even, (False, "pass"): len(cases) - even})


@pytest.mark.slow
def test_each_crash_is_blamed_on_its_case_and_the_runtime_is_loaded_three_times(
    cases: list[Case], adapter: Write, tmp_path: Path
) -> None:
    results = run(adapter(), cases * 4)
    assert verdicts(results) == expected(cases * 4), results
    assert {result.signal for result in results if result.verdict is Verdict.CRASH} == {"SIGSEGV"}
    # The first process, the one after the first crash, and the fork server.
    assert len(loads(tmp_path)) == 3


@pytest.mark.slow
def test_a_socket_with_room_for_a_few_answers_is_enough_for_many_forks(
    cases: list[Case], adapter: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = socket.socketpair

    def small(*kind: int) -> tuple[socket.socket, socket.socket]:
        ours, theirs = pair(*kind)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)  # The system rounds it up, to some five answers.
        return ours, theirs

    monkeypatch.setattr(socket, "socketpair", small)
    assert verdicts(run(adapter(), cases * 5)) == expected(cases * 5)


def test_askers_fork_from_one_process_that_is_kept_as_long_as_asked(
    cases: list[Case], adapter: Write, tmp_path: Path
) -> None:
    target = adapter("")
    with asker.fork_servers():
        for case in cases[:4]:
            with asker.Asker(target, Limits()) as one:
                assert one.ask(case).outputs  # type: ignore[union-attr]
        served = loads(tmp_path)
        assert len(served) == 2  # The first process, and the fork server.
        assert runs(served[-1])
    assert not runs(served[-1])
    with asker.Asker(target, Limits()):
        assert len(loads(tmp_path)) == 3


@pytest.mark.slow
def test_a_fork_that_hangs_is_ended_at_its_deadline_and_replaced(
    cases: list[Case], adapter: Write, tmp_path: Path
) -> None:
    hang = 'if "even" in held.graph.name: signal.pause()'
    results = run(adapter(hang), cases, timeout=0.5)
    assert verdicts(results) == expected(cases, Verdict.TIMEOUT), results
    assert not [pid for pid in loads(tmp_path) if runs(pid)]


@pytest.mark.slow
def test_a_fork_that_exits_is_a_crash_with_its_status(cases: list[Case], adapter: Write) -> None:
    results = run(adapter('if "even" in held.graph.name: os._exit(6)'), cases * 2)
    assert verdicts(results) == expected(cases * 2), results
    assert all("exited with status 6" in item.message for item in results if item.verdict is Verdict.CRASH), results


@pytest.mark.slow
def test_whatever_a_fork_has_started_ends_with_it(cases: list[Case], adapter: Write, tmp_path: Path) -> None:
    starts = """if "even" in held.graph.name:
        import subprocess
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        with (HERE / "loaded").open("a") as file:
            file.write(f"{child.pid}\\n")
        os.kill(os.getpid(), signal.SIGKILL)"""
    results = run(adapter(starts), cases * 2)
    assert verdicts(results) == expected(cases * 2), results
    started = loads(tmp_path)
    assert len(started) >= 6 + 3
    assert not [pid for pid in started if runs(pid)]


@pytest.mark.slow
def test_a_fork_has_the_limit_of_memory(cases: list[Case], adapter: Write) -> None:
    tells = CRASH + "\n    raise ValueError(str(resource.getrlimit(resource.RLIMIT_AS)))"
    limit = 8 << 30
    results = run(adapter(tells), cases, memory=limit)
    assert {result.message for result in results if result.verdict is Verdict.REFUSED} == {str((limit, limit))}


@pytest.mark.slow
def test_a_runtime_with_a_thread_of_its_own_is_started_each_time(
    cases: list[Case], adapter: Write, tmp_path: Path
) -> None:
    thread = "threading.Thread(target=signal.pause, daemon=True).start()"
    results = run(adapter(when_loaded=thread), cases * 2)
    assert verdicts(results) == expected(cases * 2), results
    assert len(loads(tmp_path)) > 6  # One more than crashes, and the fork server that gave up.


@pytest.mark.slow
def test_where_the_fork_server_is_killed_processes_are_started(
    cases: list[Case], adapter: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forks = []
    fork = ForkServer.fork

    def killing(self: ForkServer) -> object:
        tree = fork(self)
        forks.append(tree)
        if tree is not None and sum(item is not None for item in forks) == 3:
            while len(loads(tmp_path)) < 3:
                time.sleep(0.01)
            assert self._process is not None
            (server,) = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
            os.kill(int(server), signal.SIGKILL)
        return tree

    monkeypatch.setattr(ForkServer, "fork", killing)
    results = run(adapter(), cases * 4)
    assert verdicts(results) == expected(cases * 4), results
    assert {result.signal for result in results if result.verdict is Verdict.CRASH} == {"SIGSEGV"}
    assert sum(item is not None for item in forks) >= 3
    assert forks[-1] is None


@pytest.mark.slow
def test_a_fork_server_that_does_not_load_the_runtime_costs_nothing_but_time(cases: list[Case], adapter: Write) -> None:
    third = """loads = (HERE / "loaded").read_text().split() if (HERE / "loaded").exists() else []
if len(loads) == 2 and not (HERE / "busy").exists():
    (HERE / "busy").touch()
    raise OSError("busy")
"""
    results = run(adapter(when_loaded=third), cases * 2)
    assert verdicts(results) == expected(cases * 2), results


@pytest.mark.slow
def test_an_adapter_that_does_not_declare_it_is_not_forked(cases: list[Case], adapter: Write, tmp_path: Path) -> None:
    results = run(adapter(when_loaded="FORK = False"), cases * 2)
    assert verdicts(results) == expected(cases * 2), results
    assert len(loads(tmp_path)) >= 6


# The check


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    some = registry.Registry(map(registry.load().named, ("Identity", "Reshape", "Neg")))
    monkeypatch.setattr(registry, "load", lambda *_: some)


CHECKS = [
    ("pass", "", True, "cases also pass in a fork"),
    ("pass", "threading.Thread(target=signal.pause, daemon=True).start()", False, "starts 1 thread when"),
    ('if os.getpid() != LOADED_IN: raise RuntimeError("lost")', "", False, "in a fork, ai.onnx/Identity"),
    ("if os.getpid() != LOADED_IN: os.abort()", "", False, "crash"),
    ("if os.getpid() != LOADED_IN: signal.pause()", "", False, "timeout"),
]


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("body", "when_loaded", "good", "seen"), CHECKS)
def test_the_check_of_an_adapter_forks_it(
    body: str, when_loaded: str, *, good: bool, seen: str, adapter: Write
) -> None:
    target = adapter(body, when_loaded)
    (checked,) = [item for item in self_check.check(target, Limits(timeout=2)) if item.what == "can be forked"]
    assert checked.good is good, checked
    assert seen in checked.seen, checked


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_adapters_here_that_declare_it_can_be_forked() -> None:
    """Those whose runtimes are installed in environments of their own are checked with these."""
    done = command("backends", "check", "onnx_reference")
    assert "can be forked" in done.out, done.text
    assert "remove FORK" not in done.out, done.text


def test_the_other_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "Linux" in fork_server.obstacle()
