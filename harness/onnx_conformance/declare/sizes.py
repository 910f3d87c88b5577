"""Calls at the sizes of real models: the declarations of the suite `kernels`.

Runtimes choose other code by size: vectorised loops and their remainders, blocked products, packed weights, parts for
threads. An operator file declares a typical call with names instead of numbers for the dimensions, and the numbers that
these names take:

    MATMUL.sized("rows", grid(M=SHORT, N=SHORT, K=(64,)), A=filled("M", "K"), B=filled("K", "N"), cites=BEHAVES)

Calls with every value of small types test values instead of sizes; see `Op.every`.

Values are drawn from a counter-based generator whose key is a digest of the call and the argument, so they are not
stored and are the same on every machine.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.data import Data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.values import Array

Sizes = Mapping[str, int]
"""The number of each named dimension."""

LENGTHS = (
    1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 1000, 1023, 1025, 4096, 4097,
)  # fmt: skip
"""Lengths around the widths of vectors and blocks."""
FEW_LENGTHS = (1, 7, 16, 33, 64, 129, 1025)
"""Lengths for calls whose other dimensions vary, too."""
LARGE = (65_537, 131_075)
"""Numbers of elements that thread pools divide; neither is a multiple of a vector's width."""
SHORT = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 256, 513, 1024, 4096)
"""Dimensions of matrices around the sizes of blocks."""
_MOST_INTEGERS = 1 << 53
"""The drawn fractions are multiples of 1 / 2**53."""


@dataclass(frozen=True)
class Filled:
    """A tensor with named dimensions and drawn values.

    Attributes:
        dims: names of dimensions, or numbers.
        floats: the limits of floating-point elements.
        integers: the limits of integer elements, both included; at least 0 for unsigned types.
    """

    dims: tuple[str | int, ...]
    floats: tuple[float, float]
    integers: tuple[int, int]

    def data(self, sizes: Sizes, key: str) -> Data:
        """Return the values for some sizes.

        Args:
            sizes: the number of each named dimension.
            key: the text that determines the values.
        """
        shape = tuple(sizes[dim] if isinstance(dim, str) else dim for dim in self.dims)
        return Data(lambda dtype, count: self._fill(dtype, fractions(key, count)), shape)

    def _fill(self, dtype: np.dtype[Any], drawn: Array) -> Array:
        if dtype.kind == "b":
            return drawn < 0.5  # noqa: PLR2004 - half of them
        low, high = self.integers
        if dtype.kind == "O":
            return np.array([f"s{int(item * (high - low + 1))}" for item in drawn], dtype=object)
        if dtype.kind in "iu" or "int" in dtype.name:
            info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
            low, high = max(low, int(info.min)), min(high, int(info.max))
            return np.asarray(low + np.floor(drawn * (high - low + 1))).astype(np.int64)
        least, most = self.floats
        return np.asarray(least + drawn * (most - least))


def filled(*dims: str | int, floats: tuple[float, float] = (-2.0, 2.0), integers: tuple[int, int] = (-8, 8)) -> Filled:
    """Return a tensor with drawn values; see `Filled`."""
    return Filled(dims, floats, integers)


def fractions(key: str, count: int) -> Array:
    """Return so many doubles from 0 to 1, which only depend on a text."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "little")
    raw = np.random.Philox(key=seed).random_raw(count)
    return (raw >> np.uint64(11)).astype(np.float64) / _MOST_INTEGERS


def grid(**dims: Sequence[int]) -> list[dict[str, int]]:
    """Return all combinations of sizes."""
    return [dict(zip(dims, numbers, strict=True)) for numbers in itertools.product(*dims.values())]


@functools.cache
def pairwise(*, most: int, **dims: Sequence[int]) -> tuple[dict[str, int], ...]:
    """Return combinations of sizes in which every pair of numbers of two dimensions occurs.

    Args:
        most: the maximum product of the sizes of one combination; pairs beyond it are left out.
        dims: the numbers of each dimension.
    """
    names = sorted(dims)
    wanted = {
        ((one, a), (other, b))
        for one, other in itertools.combinations(names, 2)
        for a in dims[one]
        for b in dims[other]
        if a * b <= most
    }
    chosen: list[dict[str, int]] = []
    while wanted:
        first, second = min(wanted)
        sizes = dict([first, second])
        for name in names:
            if name not in sizes:
                room = most // math.prod(sizes.values())
                fitting = [number for number in dims[name] if number <= room] or [min(dims[name])]
                sizes[name] = max(fitting, key=lambda number: (_gain({**sizes, name: number}, wanted), -number))
        wanted -= set(_pairs(sizes))
        chosen.append({name: sizes[name] for name in dims})
    return tuple(chosen)


def _pairs(sizes: Sizes) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    return itertools.combinations(sorted(sizes.items()), 2)


def _gain(sizes: Sizes, wanted: set[tuple[tuple[str, int], tuple[str, int]]]) -> int:
    return sum(pair in wanted for pair in _pairs(sizes))


Dims = tuple[str | int, ...]
BROADCAST: dict[str, tuple[Dims, Dims, list[dict[str, int]]]] = {
    "length": (("n",), ("n",), grid(n=(*LENGTHS, *LARGE))),
    "scalar": (("n",), (), grid(n=FEW_LENGTHS)),
    "rows": (("m", "n"), ("n",), grid(m=(17,), n=FEW_LENGTHS)),
    "columns": (("m", "n"), ("m", 1), grid(m=(17,), n=FEW_LENGTHS)),
    "channels": (("b", "c", "h", "w"), (1, "c", 1, 1), grid(b=(2,), c=(3, 8, 17, 64), h=(7,), w=(16, 33))),
    "planes": (("b", "c", "h", "w"), ("h", "w"), grid(b=(2,), c=(17,), h=(7,), w=(5, 16, 33))),
}
"""The dimensions of A and of B, and the sizes, of sized calls of operators with two tensors."""
BITS = (-(1 << 62), (1 << 62) - 1)
"""Limits of integers for operators on bits: most bits of every type occur."""
REDUCED: dict[str, tuple[Dims, list[int], list[dict[str, int]]]] = {
    "last": (("m", "n"), [1], grid(m=(3,), n=LENGTHS)),
    "first": (("m", "n"), [0], grid(m=FEW_LENGTHS, n=(3, 16, 33))),
    "middle": (("b", "m", "n"), [1], grid(b=(2,), m=FEW_LENGTHS, n=(5, 16))),
    "ends": (("b", "m", "n"), [0, 2], grid(b=(3,), m=(7,), n=FEW_LENGTHS)),
    "planes": (("b", "c", "h", "w"), [2, 3], grid(b=(2,), c=(3, 17), h=(7, 14), w=(5, 16, 33))),
    "all": (("m", "n"), [0, 1], grid(m=(17,), n=(16, 129, 4097))),
}
"""The dimensions of the data, the reduced axes, and the sizes, of sized calls of reductions."""
Argument = Filled | Callable[[Sizes], Any]
"""An argument that depends on the sizes; all others are as in a case."""


Choice = Sequence[Sizes] | Callable[[], Sequence[Sizes]]
"""The sizes of a call, or a function that returns them, because finding pairs takes a second."""


ONCE: Sequence[Sizes] = ({},)
"""The sizes of a call without named dimensions."""


@dataclass(frozen=True)
class SizedCall:
    """A typical call of an operator, with names for its dimensions.

    Attributes:
        name: lower-case words; the beginning of the names of its cases.
        sizes: the sizes of its cases, or a function that returns them.
        arguments: the arguments by name: `Filled`, a tuple of them for a variadic input, a function of the sizes, or a
            value.
        options: further parameters of the declared cases: n, each, but, cites, exhaustive.
    """

    name: str
    sizes: Choice
    arguments: Mapping[str, Any]
    options: Mapping[str, Any]

    def each(self) -> Iterator[tuple[str, Sizes]]:
        """Yield the name of each case, such as rows_m17_k64, and its sizes."""
        for sizes in self.sizes() if callable(self.sizes) else self.sizes:
            yield "_".join([self.name, *(f"{name.lower()}{number}" for name, number in sizes.items())]), sizes

    def at(self, operator: str, name: str, sizes: Sizes) -> dict[str, Any]:
        """Return the arguments at some sizes.

        Args:
            operator: the operator, such as ai.onnx/MatMul.
            name: the name of the case.
            sizes: the number of each named dimension.
        """

        def value(argument: str, item: Any) -> Any:  # noqa: ANN401 - any argument of an operator
            if isinstance(item, tuple) and any(isinstance(part, Filled) for part in item):
                return tuple(value(f"{argument}_{index}", part) for index, part in enumerate(item))
            if isinstance(item, Filled):
                return item.data(sizes, f"{operator} {name} {argument}")
            return item(sizes) if callable(item) else item

        return {argument: value(argument, item) for argument, item in self.arguments.items()}
