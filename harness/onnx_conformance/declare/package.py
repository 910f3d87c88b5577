# SPDX-License-Identifier: Apache-2.0
"""OperatorPackage: operators that another specification than ONNX's defines, with their operator files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import onnx.defs

USUAL_IR = 10
"""The IR version of onnx 1.16, which most runtimes of today read. It has all element types but the newest ones."""


USUAL_OPSET = 17
"""The opset of onnx 1.12, which most runtimes of today support."""


@dataclass(frozen=True)
class OperatorPackage:
    """Operators of a domain, or of several, with operator files that declare them.

    A Python package has its operator package in the variable PACKAGE of its `__init__.py`. It is found by its entry
    point in the group `onnx_conformance.operators`, or by its folder, which the option `--operators` names.

    Attributes:
        name: its name, in lower case. The suite of its cases has the same name.
        module: the name of the Python package with the operator files: `__name__` in its `__init__.py`.
        source: where the text of its operators is from, with the version: onnxruntime 1.32.0.
        schemas: a function that returns the schema of each operator version, with its text. Those that no operator file
            declares count as operators without cases.
        ir_version: the IR version of the models.
        opset: the opset of ONNX's domains in models of operators that the package adds to these domains. Runtimes
            support old opsets less well.
        differences: a function that compares the schemas with those of the installed runtime, and returns a sentence
            for each that differs. `check` prints the sentences.
    """

    name: str
    module: str
    source: str
    schemas: Callable[[], Iterable[onnx.defs.OpSchema]]
    ir_version: int = USUAL_IR
    opset: int = USUAL_OPSET
    differences: Callable[[], Iterable[str]] = tuple
