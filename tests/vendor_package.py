# SPDX-License-Identifier: Apache-2.0
"""Operator packages in folders, for one test: they are forgotten after it."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from onnx_conformance.specification import packages, registry, schema
from paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = TESTS / "operators_example"
"""The package of a vendor: two operators of com.example, and a third one without an operator file."""
_CACHED = (
    packages._found, packages._claimed, schema.every, schema.versions, schema.newest_opset, schema.lowest_ir,
    registry.load,
)  # fmt: skip


@contextlib.contextmanager
def forgotten() -> Iterator[None]:
    """Begin without packages in folders, and forget those that the block adds."""
    before, modules = os.environ.get(packages.FOLDERS), set(sys.modules)
    os.environ[packages.FOLDERS] = ""
    _clear()
    try:
        yield
    finally:
        os.environ.pop(packages.FOLDERS)
        if before is not None:
            os.environ[packages.FOLDERS] = before
        for name in set(sys.modules) - modules:
            if name.partition(".")[0].startswith("operators_"):
                del sys.modules[name]
        _clear()


def _clear() -> None:
    for cached in _CACHED:
        cached.cache_clear()
