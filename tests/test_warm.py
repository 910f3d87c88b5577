# SPDX-License-Identifier: Apache-2.0
"""Forked programs and adapters behave like those that are started."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import warm
from onnx_conformance.environments import backend_names
from onnx_conformance.generation import plans
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.process_tree import ProcessTree
from onnx_conformance.processes.replies import Answered, Reply
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not warm.LINUX, reason="elsewhere, everything is started")


@pytest.fixture(autouse=True)
def variables_of_the_start() -> Iterator[None]:
    """Undo what other tests, or libraries such as Dask, left in the environment: an adapter would be started."""
    with mock.patch.dict(os.environ):
        for name in os.environ.keys() - warm.AT_START.keys() - {"PYTEST_CURRENT_TEST"}:
            del os.environ[name]
        os.environ.update({name: text for name, text in warm.AT_START.items() if not name.startswith("PYTEST_")})
        yield


def answered(backend: str) -> tuple[Reply, dict[str, object]]:
    case = next(case for case in plans.cases(registry.load().named("Split"), (18,)) if case.name == "uneven_two")
    with Asker(backend_names.resolve(backend), Limits()) as asker:
        return asker.ask(case), dict(asker.process.hello)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["oracle", "onnx_reference", "onnxruntime"])
def test_an_adapter_that_is_forked_answers_like_one_that_is_started(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked, hello = answered(backend)
    monkeypatch.setattr(warm, "STARTED", None)
    assert answered(backend)[1] == hello, "it was forked"
    monkeypatch.undo()
    monkeypatch.setattr(ProcessTree, "start", warm.STARTED)
    started, started_hello = answered(backend)
    assert isinstance(forked, Answered)
    assert isinstance(started, Answered)
    assert hello == started_hello
    assert [value.tolist() for value in forked.outputs] == [value.tolist() for value in started.outputs]


@pytest.mark.usefixtures("started_adapters")
def test_the_fixture_starts_adapters() -> None:
    assert ProcessTree.start == warm.STARTED


SCRIPT = """\
import atexit, os, sys
atexit.register(print, "last")
print(sys.argv[1:], __name__, os.path.basename(os.getcwd()), os.environ.get("MINE"))
print("to the other", file=sys.stderr, flush=True)
{end}
"""
ENDS = ["", "sys.exit(3)", "sys.exit('a reason')", "raise ValueError('a reason')", "os.abort()", "sys.exit()"]


@pytest.mark.parametrize("end", ENDS)
def test_a_script_ends_as_when_it_is_started(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", end)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(end=end))
    done = warm.run([str(path), "a", "b"], tmp_path)
    usual = subprocess.run(
        [sys.executable, str(path), "a", "b"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == usual.returncode
    assert set(done.stdout.splitlines()) >= {*usual.stdout.splitlines(), *usual.stderr.splitlines()[-1:]}


def test_a_module_is_found_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys\nprint(sys.argv[1:], __name__)\n")
    assert warm.run(["-m", "mine", "a"], tmp_path).stdout == "['a'] __main__\n"


def test_a_script_that_hangs_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("import signal\nsignal.pause()\n")
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run([str(path)], tmp_path, timeout=0.2)
