"""Adapters of runtimes that are not installed: fake modules in their place, and real runs where those are asked for."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from commands import command

import backends
from harness.results.stream import Run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

REAL = pytest.mark.skipif(
    os.environ.get("ONNX_CONFORMANCE_RUNTIMES") != "1",
    reason="makes an environment of hundreds of MB; ONNX_CONFORMANCE_RUNTIMES=1 asks for it",
)


def loaded(monkeypatch: pytest.MonkeyPatch, name: str, modules: Mapping[str, Mapping[str, Any]]) -> Any:
    """Import the adapter of a name while modules with these contents stand for its runtime; no program is kept."""
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")
    for path, contents in modules.items():
        module = ModuleType(path)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, path, module)
        parent, _, last = path.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    full = f"backends.{name}"
    monkeypatch.setitem(sys.modules, full, ModuleType(full))  # So that what is here now comes back afterwards.
    monkeypatch.setattr(backends, name, None, raising=False)
    del sys.modules[full]
    return importlib.import_module(full)


def raised(kind: str, text: str, *bases: type[BaseException]) -> BaseException:
    """Return an error of a runtime: its type's name and its message are what an adapter's table looks at."""
    error: BaseException = type(kind, bases or (Exception,), {})(text)
    return error


def real(
    tmp_path: Path, name: str, wanted: Mapping[str, str | tuple[str, ...]], *, signal: str = "", python: str = ""
) -> dict[str, str]:
    """Run cases on a real runtime, and hold each against its verdict, or one of those that it may have.

    A process that printed what is no answer fails, too. Return what the runtime says of itself.

    Args:
        tmp_path: where the results go.
        name: of the backend.
        wanted: by case.
        signal: that ends it where it crashes.
        python: of an environment that is there.
    """
    results = tmp_path / "results.ndjson"
    words = [word for case in wanted for word in ("--case", case)]
    if python:
        words += ["--python", python]
    done = command("run", "--backend", name, *words, "--timeout", "120", "--results", results)
    run = Run(results)
    found = {result.case: result for result in run.results()}
    assert set(found) == set(wanted), done.text
    assert all(result.verdict != "adapter_error" for result in found.values()), done.text
    for case, verdicts in wanted.items():
        assert found[case].verdict in ((verdicts,) if isinstance(verdicts, str) else verdicts), found[case]
        assert found[case].signal == (signal if found[case].verdict == "crash" else ""), found[case]
    return dict(run.header["backends"][name])
