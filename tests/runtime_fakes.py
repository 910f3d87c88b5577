# SPDX-License-Identifier: Apache-2.0
"""Adapters of runtimes that are not installed: fake modules in their place, and real runs where those are asked for."""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any
from unittest import mock

import onnx.reference
import pytest

from commands import command
from onnx_conformance import backends
from onnx_conformance.base.package import BACKENDS
from onnx_conformance.environments import backend_names
from onnx_conformance.results.stream import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

REAL = pytest.mark.skipif(
    os.environ.get("ONNX_CONFORMANCE_RUNTIMES") != "1",
    reason="makes an environment of hundreds of MB; ONNX_CONFORMANCE_RUNTIMES=1 asks for it",
)

INSTALLED = ("onnxruntime", "onnx_reference")
"""Adapters whose runtimes are installed with the tests."""

LACKING = """
import onnx
import onnx.reference

OPT_OUTS = (("NotImplementedError", "", "no kernel"),)


def info():
    return {"runtime": "mine", "version": "1"}


def run(model, inputs, outputs):
    loaded = onnx.load_from_string(model)
    if CONDITION:
        raise NotImplementedError("no such kernel")
    return onnx.reference.ReferenceEvaluator(loaded).run(list(outputs), inputs)
"""


@functools.cache
def tools() -> frozenset[str]:
    """Return the names of the adapters that change, quantize or check models, and run none."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in BACKENDS.glob("*.py")}
    pattern = re.compile(r"^def (transform|quantize|infer|check)\(", re.MULTILINE)
    return frozenset(name for name in backend_names.names() if pattern.search(texts.get(name, "")))


def runtimes() -> frozenset[str]:
    """Return the names of the adapters that run models."""
    return frozenset(backend_names.names()) - tools() - set(backend_names.BUILT_IN)


def write_lacking(path: Path, condition: str) -> None:
    """Write an adapter of onnx.reference that lacks the models, called `loaded`, for which an expression is true."""
    path.write_text(LACKING.replace("CONDITION", condition), encoding="utf-8")


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
    full = f"onnx_conformance.backends.{name}"
    monkeypatch.setitem(sys.modules, full, ModuleType(full))  # So that what is here now comes back afterwards.
    monkeypatch.setattr(backends, name, None, raising=False)
    del sys.modules[full]
    return importlib.import_module(full)


class AnyModule(ModuleType):
    """A package in which every name is a mock, or a type where the spec's `loader_state` lists it."""

    __path__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        return type(name, (), {}) if full in self.__spec__.loader_state else mock.MagicMock(name=full)


class AnyRuntime(MetaPathFinder, Loader):
    """Imports these packages, and all modules below them, as AnyModule."""

    def __init__(self, packages: Collection[str], types: Collection[str]) -> None:
        self.packages, self.types = packages, types

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self.packages:
            return None
        return ModuleSpec(fullname, self, is_package=True, loader_state=self.types)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return AnyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def with_any_runtime(
    monkeypatch: pytest.MonkeyPatch, name: str, packages: Collection[str], types: Collection[str] = ()
) -> Any:
    """Import the adapter of a name for its tables alone.

    Args:
        monkeypatch: takes all of it back.
        name: of the backend.
        packages: of its runtime; in their place are packages of mocks.
        types: full names in these packages that must be types.
    """
    monkeypatch.setattr(sys, "meta_path", [AnyRuntime(packages, types), *sys.meta_path])
    monkeypatch.setattr(onnx.reference, "ReferenceEvaluator", onnx.reference.ReferenceEvaluator)  # Some replace it.
    for module in [module for module in sys.modules if module.partition(".")[0] in packages]:
        monkeypatch.delitem(sys.modules, module)
    try:
        return loaded(monkeypatch, name, {})
    finally:
        for module in [module for module, value in sys.modules.items() if isinstance(value, AnyModule)]:
            del sys.modules[module]


def raised(kind: str, text: str, *bases: type[BaseException]) -> BaseException:
    """Return an error of a runtime: its type's name and its message are what an adapter's table looks at."""
    error: BaseException = type(kind, bases or (Exception,), {})(text)
    return error


def real(
    tmp_path: Path, name: str, expected: Mapping[str, str | tuple[str, ...]], *, signal: str = "", python: str = ""
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
    words = [word for case in expected for word in ("--case", case)]
    if python:
        words += ["--python", python]
    done = command("run", "--backend", name, *words, "--timeout", "120", "--results", results)
    run = Run(results)
    measured = {result.case: result for result in run.results()}
    assert set(measured) == set(expected), done.text
    assert all(result.verdict != "adapter_error" for result in measured.values()), done.text
    for case, verdicts in expected.items():
        result = measured[case]
        assert result.verdict in ((verdicts,) if isinstance(verdicts, str) else verdicts), result
        assert result.signal == (signal if result.verdict == "crash" else ""), result
    return dict(run.header["backends"][name])
