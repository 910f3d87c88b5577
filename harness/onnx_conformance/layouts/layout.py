# SPDX-License-Identifier: Apache-2.0
"""A layout: the files of a case, the cases that its reader can judge, and the lists that its reader needs.

To add a layout, write a file in `known/` that defines `LAYOUT`. `generate --layout` finds it by the name of the file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.layouts import known
from onnx_conformance.suites.onnx_layout import DATA_SET

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case

DEFAULT = "onnx"
Files = Mapping[str, bytes]
"""The bytes of files, by path."""


@dataclass(frozen=True)
class Written:
    """A case that was written.

    Attributes:
        name: of its folder.
        inputs, outputs: their numbers.
        opset: the opset of ai.onnx that decides which readers can have the case.
        known_failure: whether the reader shall skip it.
    """

    name: str
    inputs: int
    outputs: int
    opset: int
    known_failure: bool = False


def _nothing(written: Sequence[Written]) -> Files:
    del written
    return {}


def _end() -> None:
    """Free nothing."""


def _no_opset(case: Case) -> int:
    del case
    return 0


@dataclass(frozen=True)
class Layout:
    """A layout.

    Attributes:
        summary: a phrase for the help of the command.
        reader: the name of the program that reads it.
        left_out: returns why the reader cannot judge a case, as a phrase that many cases share; empty: it can.
        folder: returns the folder of a case, below the folder of the command.
        files: returns the files of a case, by path within its folder. It may raise `Unwritable`.
        lists: returns the files about all cases, by path below the folder of the command.
        opset: returns the opset for `Written.opset`.
        folders: empty folders that the reader expects, below the folder of the command.
        data_sets: the folders that each case has, even if they are empty.
        close: frees the resources of `files`.
    """

    summary: str
    reader: str
    left_out: Callable[[Case], str]
    folder: Callable[[Case], str]
    files: Callable[[Case], Files]
    lists: Callable[[Sequence[Written]], Files] = _nothing
    opset: Callable[[Case], int] = _no_opset
    folders: tuple[str, ...] = ()
    data_sets: tuple[str, ...] = (DATA_SET,)
    close: Callable[[], None] = _end


class Unwritable(Exception):  # noqa: N818 - no error: the case is counted and left out
    """A case turns out to be outside the abilities of the reader while its files are made; the text is the reason."""


def names() -> list[str]:
    """Return the names of all layouts, the default one first."""
    found = sorted(item.name for item in pkgutil.iter_modules(known.__path__))
    return [DEFAULT, *(name for name in found if name != DEFAULT)]


def named(name: str) -> Layout:
    """Return a layout.

    Raises:
        HarnessError: there is no layout with this name.
    """
    if name not in names():
        raise HarnessError("unknown-layout", f"there is no layout {name!r}; choose one of {', '.join(names())}")
    module: Any = importlib.import_module(f"{known.__name__}.{name}")
    layout: Layout = module.LAYOUT
    return layout
