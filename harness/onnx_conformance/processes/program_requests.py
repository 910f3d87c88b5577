# SPDX-License-Identifier: Apache-2.0
"""The requests to a producer: the names of its programs, and the export of one of them.

They are cases without a model and expected values, which only the answer contains. So a process of a producer starts,
ends and is watched like every other adapter process.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.backends import protocol
from onnx_conformance.base import under_test
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import PLAIN, Case, Outcome, delivered_id

if TYPE_CHECKING:
    from collections.abc import Iterable

DYNAMIC = "dynamic"
"""The form of a program that is exported with dynamic shapes; with static shapes, the form is the plain one."""
ROOM = 4 << 20
"""The assumed size of a request: a model of 64 MiB is still read, because an answer may be 16 times as large."""


@dataclass(frozen=True)
class _Request(Case):
    """A request to a producer."""

    @property
    def size(self) -> int:
        """The size that limits the answer, in bytes."""
        return ROOM


@dataclass(frozen=True)
class ProgramNames(_Request):
    """The request for the names of programs.

    Attributes:
        globs: the programs that the user selects. A producer may leave out others, which would take time to list.
    """

    globs: tuple[str, ...] = ()

    @functools.cached_property
    def frame(self) -> bytes:
        """The message without its number."""
        return protocol.message({"kind": "list", "globs": list(self.globs)})


@dataclass(frozen=True)
class Program(_Request):
    """The request to export one program.

    Attributes:
        program: the name of the program.
        opset: the opset of ai.onnx that the model is to have.
    """

    program: str = ""
    opset: int = 0

    @functools.cached_property
    def frame(self) -> bytes:
        """The message without its number."""
        header = {"program": self.program, "opset": self.opset, "dynamic": self.form == DYNAMIC}
        return protocol.message({"kind": "produce", **header})


_NOTHING: dict[str, Any] = {
    "model": b"", "inputs": {}, "outputs": (), "outcome": Outcome.VALUES, "expected": None, "allowance": Allowance(""),
}  # fmt: skip


def names(globs: Iterable[str]) -> ProgramNames:
    """Return the request for the names of the programs that globs select; all without a glob."""
    return ProgramNames(id="programs", operator="", globs=tuple(globs), **_NOTHING)


def program(producer: str, name: str, opset: int, *, dynamic: bool) -> Program:
    """Return the request to export a program.

    Its id is PRODUCER/OPERATION/OPSET/REST: the part of the program's name up to the first slash is the operation.

    Args:
        producer: as the user named it.
        name: the name of the program.
        opset: the opset of ai.onnx that the model is to have.
        dynamic: whether the sizes of its inputs stay open.
    """
    operation, _, rest = name.partition("/")
    stem = under_test.stem(producer).removesuffix(".py").rpartition("/")[2]
    operator = f"{stem}/{operation}/{opset}"
    form = DYNAMIC if dynamic else PLAIN
    whole = delivered_id(f"{operator}/{rest}" if rest else operator, form)
    return Program(id=whole, operator=operator, form=form, program=name, opset=opset, **_NOTHING)
