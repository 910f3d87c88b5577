# SPDX-License-Identifier: Apache-2.0
"""Adapters that answer what the oracles answer, but with other numbers: some of memory that they never wrote.

`serve.py uninitialized.FAULT`.
"""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from environment import Adapter

from onnx_conformance.specification import evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Run = Callable[[dict[str, Any], Sequence[str]], list[Any]]

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype, LIBC.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]


class Wrong(Adapter):
    """Adds a number, which is always the same, to each element."""

    def added(self) -> float:
        return 1.0

    def session(self, model: bytes, folder: str | None = None) -> Run:
        right = evaluator.session(model, folder)

        def run(inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
            return [(value + np.array(self.added())).astype(value.dtype) for value in right(inputs, outputs)]

        return run


class LargeBlock(Wrong):
    """Adds an element of an array that has the memory of an earlier one, and whose elements are not set."""

    def added(self) -> float:
        earlier = np.ones(4096, np.float32)
        del earlier
        return float(np.empty(4096, np.float32)[2048])


class SmallBlock(Wrong):
    """Adds four bytes of a small block of memory, which glibc keeps ready to be used again."""

    def left(self) -> float:
        """Return the number that the memory contains from its earlier use."""
        return 1.0

    def added(self) -> float:
        earlier = LIBC.malloc(64)
        ctypes.c_float.from_address(earlier + 32).value = self.left()
        LIBC.free(earlier)
        block = LIBC.malloc(64)
        number = ctypes.c_float.from_address(block + 32).value
        LIBC.free(block)
        return number


class RightLater(SmallBlock):
    """Does the same, but only the first time is the number in the memory another one than 0."""

    times = 0

    def left(self) -> float:
        self.times += 1
        return 1.0 if self.times == 1 else 0.0


class Clock(Wrong):
    """Adds a number that is always another one, and depends on no memory."""

    def added(self) -> float:
        return float(time.monotonic_ns() % 100_003)


class NeedsCleanMemory(LargeBlock):
    """Does not start if its memory is filled."""

    def info(self) -> dict[str, Any]:
        if np.empty(4096, np.float32)[2048] in {0.7470588088035583, 3.0039215087890625}:
            raise SystemExit("corrupt memory")
        return super().info()


wrong, large_block, small_block, right_later = Wrong(), LargeBlock(), SmallBlock(), RightLater()
clock, needs_clean_memory = Clock(), NeedsCleanMemory()
