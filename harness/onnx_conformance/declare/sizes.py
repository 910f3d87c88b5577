# SPDX-License-Identifier: Apache-2.0
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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.arguments import Typed, typed
from onnx_conformance.declare.data import Data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.values import Array

Sizes = Mapping[str, int]
"""The number of each named dimension."""
Dim = str | int | tuple[str | int, ...]
Dims = tuple[Dim, ...]
"""Dimensions: names, numbers, or products of them."""

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


def _shape(dims: Dims, sizes: Sizes) -> tuple[int, ...]:
    return tuple(_size(dim, sizes) for dim in dims)


def shape_of(*dims: Dim) -> Callable[[Sizes], list[int]]:
    """Return an argument that is the list of some dimensions, such as a new shape."""
    return lambda sizes: list(_shape(dims, sizes))


@dataclass(frozen=True)
class Filled:
    """A tensor with named dimensions and drawn values.

    Attributes:
        dims: names of dimensions, or numbers; a tuple of them is the dimension that is their product.
        floats: the limits of floating-point elements.
        integers: the limits of integer elements, both included; at least 0 for unsigned types.
        below: the name of a dimension; integer elements are its indices, from 0 to its size - 1. None to use
            `integers`.
        type: the element type, or {T} for that of type variable T; None for the type of the argument.
    """

    dims: Dims
    floats: tuple[float, float]
    integers: tuple[int, int]
    below: str | None = None
    type: str | None = None

    def data(self, sizes: Sizes, key: str) -> Data:
        """Return the values for some sizes.

        Args:
            sizes: the number of each named dimension.
            key: the text that determines the values.
        """
        limits = self.integers if self.below is None else (0, sizes[self.below] - 1)
        return Data(lambda dtype, count: self._fill(dtype, fractions(key, count), limits), _shape(self.dims, sizes))

    def _fill(self, dtype: np.dtype[Any], drawn: Array, integers: tuple[int, int]) -> Array:
        if dtype.kind == "b":
            return drawn < 0.5  # noqa: PLR2004 - half of them
        low, high = integers
        if dtype.kind == "O":
            return np.array([f"s{int(item * (high - low + 1))}" for item in drawn], dtype=object)
        if dtype.kind in "iu" or "int" in dtype.name:
            info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
            low, high = max(low, int(info.min)), min(high, int(info.max))
            return np.asarray(low + np.floor(drawn * (high - low + 1))).astype(np.int64)
        least, most = self.floats
        return np.asarray(least + drawn * (most - least))


def _size(dim: Dim, sizes: Sizes) -> int:
    if isinstance(dim, tuple):
        return math.prod(_size(part, sizes) for part in dim)
    return sizes[dim] if isinstance(dim, str) else dim


def filled(
    *dims: Dim,
    floats: tuple[float, float] = (-2.0, 2.0),
    integers: tuple[int, int] = (-8, 8),
    below: str | None = None,
    type_: str | None = None,
) -> Filled:
    """Return a tensor with drawn values; see `Filled`."""
    return Filled(dims, floats, integers, below, type_)


@dataclass(frozen=True)
class Among:
    """A tensor whose elements are drawn from some values: equal elements, infinities, texts.

    Attributes:
        values: numbers, or texts for a tensor of strings.
        dims: names of dimensions, or numbers.
    """

    values: tuple[Any, ...]
    dims: Dims

    def data(self, sizes: Sizes, key: str) -> Data:
        """Return the values for some sizes; see `Filled.data`."""
        return Data(lambda dtype, count: self._fill(dtype, fractions(key, count)), _shape(self.dims, sizes))

    def _fill(self, dtype: np.dtype[Any], drawn: Array) -> Array:
        among = np.array([str(value) for value in self.values] if dtype.kind == "O" else self.values)
        return np.asarray(among[(drawn * len(self.values)).astype(np.int64)], among.dtype)


def among(values: Iterable[Any], *dims: Dim) -> Among:
    """Return a tensor whose elements are drawn from some values; see `Among`."""
    return Among(tuple(values), dims)


@dataclass(frozen=True)
class Indices:
    """A tensor of indices of a dimension.

    Attributes:
        of: the dimension.
        dims: the dimensions of the tensor; names, or numbers.
        back: whether half of them count from the back, and are therefore negative.
        distinct: an axis along which no index occurs twice; None if any may. It is not longer than the dimension.
    """

    of: str | int
    dims: Dims
    back: bool
    distinct: int | None

    def data(self, sizes: Sizes, key: str) -> Data:
        """Return the indices for some sizes; see `Filled.data`."""
        shape = _shape(self.dims, sizes)
        return Data(lambda _, count: self._fill(shape, sizes, key).reshape(count), shape)

    def _fill(self, shape: tuple[int, ...], sizes: Sizes, key: str) -> Array:
        (size,) = _shape((self.of,), sizes)
        if self.distinct is None:
            drawn = fractions(key, math.prod(shape)).reshape(shape)
            numbers = np.floor(drawn * size).astype(np.int64)
        else:
            along = self.distinct % len(shape)
            whole = (*shape[:along], size, *shape[along + 1 :])
            orders = np.argsort(fractions(key, math.prod(whole)).reshape(whole), along, kind="stable")
            numbers = orders.take(range(shape[along]), along)
        if self.back:
            from_back = fractions(f"{key} back", math.prod(shape)).reshape(shape) < 0.5  # noqa: PLR2004 - half of them
            numbers = numbers - size * from_back
        return np.asarray(numbers)


def indices_of(of: str | int, *dims: Dim, back: bool = False, distinct: int | None = None) -> Indices:
    """Return a tensor of indices of a dimension; see `Indices`."""
    return Indices(of, dims, back, distinct)


@dataclass(frozen=True)
class Tuples:
    """A tensor of tuples of indices. Each tuple is a place in a tensor.

    Attributes:
        of: the leading dimensions of that tensor, one for each index of a tuple.
        dims: the dimensions before the last one, which is that of the tuples.
        distinct: whether no place occurs twice.
    """

    of: Dims
    dims: Dims
    distinct: bool

    def data(self, sizes: Sizes, key: str) -> Data:
        """Return the tuples for some sizes; see `Filled.data`."""
        shape, places = _shape(self.dims, sizes), _shape(self.of, sizes)
        return Data(lambda _, count: self._fill(shape, places, key).reshape(count), (*shape, len(places)))

    def _fill(self, shape: tuple[int, ...], places: tuple[int, ...], key: str) -> Array:
        every, count = math.prod(places), math.prod(shape)
        if self.distinct:
            flat = np.argsort(fractions(key, every), kind="stable")[:count]
        else:
            flat = np.floor(fractions(key, count) * every).astype(np.int64)
        return np.stack(np.unravel_index(flat, places), -1)


def tuples(of: Dims, *dims: Dim, distinct: bool = False) -> Tuples:
    """Return a tensor of tuples of indices; see `Tuples`."""
    return Tuples(of, dims, distinct)


Values = Filled | Among | Indices | Tuples
"""A tensor with named dimensions and drawn values."""


@dataclass(frozen=True)
class Several:
    """Several tensors: those of a variadic input, or a sequence.

    Attributes:
        count: the name of their number, or the number.
        tensor: a function that returns the tensor at an index.
        sequence: whether they are one sequence instead of several inputs.
    """

    count: str | int
    tensor: Callable[[int], Values]
    sequence: bool


def several(count: str | int, tensor: Callable[[int], Values]) -> Several:
    """Return the tensors of a variadic input; see `Several`."""
    return Several(count, tensor, sequence=False)


def sequence(count: str | int, tensor: Callable[[int], Values]) -> Several:
    """Return a sequence of tensors; see `Several`."""
    return Several(count, tensor, sequence=True)


@dataclass(frozen=True)
class Listed:
    """The elements of a tensor as an attribute, which is a list of numbers or texts.

    Attributes:
        tensor: the tensor.
        dtype: the type of the elements: float32, int64, or object for texts.
    """

    tensor: Values
    dtype: type


def listed(tensor: Values, dtype: type) -> Listed:
    """Return the elements of a tensor as an attribute; see `Listed`."""
    return Listed(tensor, dtype)


def together(of: Callable[[Sizes], Mapping[str, Any]], *names: str) -> dict[str, Callable[[Sizes], Any]]:
    """Return arguments that belong together, such as the nodes of trees.

    Args:
        of: a function that returns all of them for some sizes; it is called once for each sizes.
        names: their names.
    """

    @functools.cache
    def made(items: tuple[tuple[str, int], ...]) -> Mapping[str, Any]:
        return of(dict(items))

    def named(name: str) -> Callable[[Sizes], Any]:
        return lambda sizes: made(tuple(sizes.items()))[name]

    return {name: named(name) for name in names}


def fractions(key: str, count: int) -> Array:
    """Return so many doubles from 0 to 1, which only depend on a text."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "little")
    raw = np.random.Philox(key=seed).random_raw(count)
    return (raw >> np.uint64(11)).astype(np.float64) / _MOST_INTEGERS


def grid(**dims: Sequence[int]) -> list[dict[str, int]]:
    """Return all combinations of sizes."""
    return [dict(zip(dims, numbers, strict=True)) for numbers in itertools.product(*dims.values())]


def up_to(most: int | None, choice: Sequence[dict[str, int]]) -> list[dict[str, int]]:
    """Return the sizes whose product is at most a number; None for no limit."""
    return [sizes for sizes in choice if most is None or math.prod(sizes.values()) <= most]


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
PAIRS_OF_BYTES = tuple((first, second) for first in ("uint8", "int8") for second in ("uint8", "int8"))
"""The pairs of 8-bit types of two inputs."""
EVERY_BYTE = (-128, 255)
"""Limits of integers: every number of an 8-bit type occurs."""
NEAR_THE_ENDS = {"uint8": (240, 255), "int8": (112, 127)}
"""Limits of integers by type: the sum of two products of uint8 and int8 exceeds 16 bits."""
NEAR_THE_MIDDLE = {"uint8": (118, 138), "int8": (-10, 10)}
"""Limits of zero points by type. Numbers minus them have both signs."""
REDUCED: dict[str, tuple[Dims, list[int], list[dict[str, int]]]] = {
    "last": (("m", "n"), [1], grid(m=(3,), n=LENGTHS)),
    "first": (("m", "n"), [0], grid(m=FEW_LENGTHS, n=(3, 16, 33))),
    "middle": (("b", "m", "n"), [1], grid(b=(2,), m=FEW_LENGTHS, n=(5, 16))),
    "ends": (("b", "m", "n"), [0, 2], grid(b=(3,), m=(7,), n=FEW_LENGTHS)),
    "planes": (("b", "c", "h", "w"), [2, 3], grid(b=(2,), c=(3, 17), h=(7, 14), w=(5, 16, 33))),
    "all": (("m", "n"), [0, 1], grid(m=(17,), n=(16, 129, 4097))),
}
"""The dimensions of the data, the reduced axes, and the sizes, of sized calls of reductions."""
Argument = Values | Several | Listed | Typed | Callable[[Sizes], Any]
"""An argument that may depend on the sizes; all others are as in a case."""


class _Late(Mapping[str, Any]):
    """The arguments of a case. Each is computed at its first use, because listing the cases needs only the names."""

    def __init__(self, names: Iterable[str], value: Callable[[str], Any]) -> None:
        """Store the names of the arguments, and a function that returns the value of a name."""
        self._names, self._value = tuple(names), functools.cache(value)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - any argument of an operator
        """Return the value of an argument."""
        if name not in self._names:
            raise KeyError(name)
        return self._value(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of arguments."""
        return len(self._names)


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
        arguments: the arguments by name: `Values`, a tuple of them or `Several` for a variadic input or a sequence,
            `Listed` for an attribute, a function of the sizes, or a value. `Typed` may contain any of them.
        options: further parameters of the declared cases: n, each, but, cites, exhaustive. A name as n is that of a
            dimension.
    """

    name: str
    sizes: Choice
    arguments: Mapping[str, Any]
    options: Mapping[str, Any]

    def each(self) -> Iterator[tuple[str, Sizes]]:
        """Yield the name of each case, such as rows_m17_k64, and its sizes."""
        for sizes in self.sizes() if callable(self.sizes) else self.sizes:
            yield "_".join([self.name, *(f"{name.lower()}{number}" for name, number in sizes.items())]), sizes

    def at(self, operator: str, name: str, sizes: Sizes) -> Mapping[str, Any]:
        """Return the arguments at some sizes. Each is computed at its first use.

        Args:
            operator: the operator, such as ai.onnx/MatMul.
            name: the name of the case.
            sizes: the number of each named dimension.
        """

        def value(argument: str, item: Any) -> Any:  # noqa: ANN401 - any argument of an operator
            if isinstance(item, Several):
                (count,) = _shape((item.count,), sizes)
                tensors = tuple(value(f"{argument}_{index}", item.tensor(index)) for index in range(count))
                return list(tensors) if item.sequence else tensors
            if isinstance(item, Listed):
                return value(argument, item.tensor).of(np.dtype(item.dtype)).reshape(-1).tolist()
            if isinstance(item, Typed):
                return Typed(item.type, value(argument, item.values))
            if isinstance(item, tuple) and any(isinstance(part, Values) for part in item):
                return tuple(value(f"{argument}_{index}", part) for index, part in enumerate(item))
            if isinstance(item, Values):
                values = item.data(sizes, f"{operator} {name} {argument}")
                return typed(item.type, values) if isinstance(item, Filled) and item.type is not None else values
            return item(sizes) if callable(item) else item

        return _Late(self.arguments, lambda argument: value(argument, self.arguments[argument]))

    def options_at(self, sizes: Sizes) -> dict[str, Any]:
        """Return the further parameters of the case with some sizes."""
        n = self.options["n"]
        return {**self.options, "n": sizes[n] if isinstance(n, str) else n}
