# SPDX-License-Identifier: Apache-2.0
"""Adapter for objects that follow onnx.backend.base.Backend, the interface that most runtimes already have."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

import onnx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPRO = """\
import importlib
import importlib.util

backend = importlib.import_module("{module}"){attribute}
outputs = list(backend.prepare(model, "CPU").run(list(inputs.values())))
"""


class Incompatible(Exception):  # noqa: N818 - not an error: the backend opted out
    """The backend's is_compatible() returned a false value."""


class Adapter:
    """Adapts a module, class or object with prepare() and, optionally, is_compatible().

    Attributes:
        OPT_OUTS: how such a backend opts out: onnx's own runner treats SkipTest as "does not implement it".
    """

    OPT_OUTS = (
        ("Incompatible", r"", "is_compatible() returned false"),
        ("SkipTest", r"", "skipped by the backend"),
        ("NotImplementedError", r"", "not implemented"),
    )

    def __init__(self, target: Any, path: str, repro: str = "") -> None:  # noqa: ANN401 - whatever the user named
        """Take the object, its dotted path, and the lines that call it where that path does not serve."""
        self.target, self.path, self.repro = target, path, repro
        own = f"onnx_conformance.backends.{path.partition('.')[0]}"
        if importlib.util.find_spec(own) is not None:  # An adapter of the same runtime has patterns for its messages.
            self.OPT_OUTS = (*self.OPT_OUTS, *getattr(importlib.import_module(own), "OPT_OUTS", ()))

    def info(self) -> dict[str, Any]:
        """Return the fields of the hello message."""
        module = str(getattr(self.target, "__module__", None) or getattr(self.target, "__name__", self.path))
        version = getattr(importlib.import_module(module.split(".", maxsplit=1)[0]), "__version__", "unknown")
        name, attribute = self.path, ""
        while name and not _importable(name):
            name, _, last = name.rpartition(".")
            attribute = f".{last}{attribute}"
        repro = self.repro or REPRO.format(module=name, attribute=attribute)
        return {"runtime": self.path, "version": str(version), "repro": repro}

    def run(self, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        """Return all outputs; the interface cannot select some of them by name."""
        return self.session(model)(inputs, outputs)

    def session(self, model: bytes) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
        """Prepare a model; return a function that runs it."""
        proto = onnx.load_from_string(model)
        compatible = getattr(self.target, "is_compatible", None)
        if compatible is not None and not compatible(proto, "CPU"):
            raise Incompatible(f"{self.path}.is_compatible() returned a false value")
        prepared = self.target.prepare(proto, "CPU")
        return lambda inputs, outputs: list(prepared.run(list(inputs.values())))  # noqa: ARG005 - the loop's


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
