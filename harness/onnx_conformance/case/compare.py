# SPDX-License-Identifier: Apache-2.0
"""Compare an answer with the expected values, within an allowance.

The order of comparison is: number of outputs, types, shapes, values.

If an output may have several values or orders, the ones nearest to the answer are the expected ones. NaN equals NaN
with any payload, and an infinity equals only itself. The sign of zero is compared if the allowance has `signed_zero`.
Integers, booleans and strings are always compared exactly.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends.protocol import element_type
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case import properties
from onnx_conformance.case.elements import greatest_excess, is_float, ordered, ulps, unequal
from onnx_conformance.case.nearest import nearest
from onnx_conformance.case.value_text import element

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.allowance import Allowance

Array = np.ndarray[Any, Any]
_Limits = Callable[[], Iterable[Array]]
"""Returns lower limits of the bounds of an output, each greater than the one before; the last are the bounds."""

MOST_OFFSETS = 256
"""Maximum number of elements of one output that `offsets` returns."""
MOST_INDICES = 64
"""Maximum number of differing elements whose indices are kept."""
WINDOW = 24
"""Number of elements whose values are kept; they start shortly before the first element that differs."""
BEFORE = 4
"""How many of them precede the first element that differs, if not all elements fit."""


@dataclass(frozen=True)
class Mismatch:
    """How an answer differs from the expected values.

    Attributes:
        verdict: wrong_count, wrong_type, wrong_shape or wrong_value.
        where: outputs[1], outputs[0][2] for an element of a sequence, outputs["name"] in a map.
        expected, actual: the difference in short: a count, a type, a shape, or the value of the worst element.
        differing: how many elements differ, of `total`; 0 if values drawn at random are wrong as a whole.
        first: index of the first that differs, in row-major order.
        worst: index of the one with the largest distance.
        absolute, relative, ulp: the distance there; None if it is not defined (NaN, infinity, strings).
        beyond: the limits of the function's values, if the element there is beyond them.
        shape: of the tensor whose elements differ.
        differs: row-major indices of the elements outside the allowance; the first MOST_INDICES.
        start: row-major index of the first element of `wanted` and `given`.
        wanted, given: WINDOW expected elements and the actual ones, with all digits.
    """

    verdict: Verdict
    where: str
    expected: str
    actual: str
    differing: int = 0
    total: int = 0
    first: tuple[int, ...] = ()
    worst: tuple[int, ...] = ()
    absolute: float | None = None
    relative: float | None = None
    ulp: int | None = None
    beyond: tuple[float, ...] = ()
    shape: tuple[int, ...] = ()
    differs: tuple[int, ...] = ()
    start: int = 0
    wanted: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a result that describe it: `verdict`, `message`, and `mismatch`."""
        described = {key: value for key, value in dataclasses.asdict(self).items() if key != "verdict" and value != ()}
        return {"verdict": self.verdict, "message": str(self), "mismatch": described}

    def __str__(self) -> str:
        """Return the difference as one line."""
        if self.verdict is not Verdict.WRONG_VALUE:
            return f"{self.where}: expected {self.expected}, got {self.actual}"
        if not self.differing:  # No single element is wrong, only all of them together.
            return f"{self.where}: {self.actual}; expected {self.expected}"
        far = [f"{self.absolute:.3g} off"] if self.absolute is not None else []
        far += [f"relative {self.relative:.3g}"] if self.relative is not None else []
        far += [f"{self.ulp} ULP"] if self.ulp is not None else []
        far += [f"the function has values from {self.beyond[0]:g} to {self.beyond[1]:g}"] if self.beyond else []
        return (
            f"{self.where}: {self.differing} of {self.total} elements differ, the first at {list(self.first)}; "
            f"worst at {list(self.worst)}: expected {self.expected}, got {self.actual}"
            + (f" ({', '.join(far)})" if far else "")
        )


def compare(expected: Sequence[Value | Drawn], actual: Sequence[Value], allowance: Allowance) -> Mismatch | None:
    """Return the first mismatch, or None if all outputs are within the allowance."""
    if len(expected) != len(actual):
        return Mismatch(Verdict.WRONG_COUNT, "outputs", f"{len(expected)} outputs", f"{len(actual)} outputs")
    expected = nearest(expected, actual, allowance)
    for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
        limits = functools.partial(allowance.limits_of, index)
        if isinstance(wanted, Drawn):
            if mismatch := _drawn(f"outputs[{index}]", wanted, got, actual):
                return mismatch
            continue
        mismatch = _value(f"outputs[{index}]", wanted, got, allowance, limits) or _sums(index, wanted, got, allowance)
        if mismatch:
            return mismatch
    return None


def _sums(index: int, wanted: Value, got: Value, allowance: Allowance) -> Mismatch | None:
    """Return how the sums of an output's lanes are wrong, although each element is within its own tolerance."""
    sums = allowance.sums
    if sums is None or sums.output != index or not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        return None
    far = sums.far(wanted, got)
    if (far > sums.within).any():  # Bounds take long to compute, and only an element without one may have any value.
        far = sums.far(wanted, got, allowance.bound(index))
    if not (far > sums.within).any():
        return None
    worst = tuple(map(int, np.unravel_index(int(np.argmax(far)), far.shape)))
    lane = ", ".join(":" if axis in sums.axes else str(place) for axis, place in enumerate(worst))
    absolute = float(far[worst])
    return Mismatch(
        Verdict.WRONG_VALUE,
        f"outputs[{index}]",
        f"{sums.total:g} within {sums.within:.3g}, because the elements of a lane add up to it",
        f"each element is near enough, but [{lane}] sums to {sums.of(got)[worst]:.9g}",
        total=wanted.size,
        worst=worst,
        absolute=absolute,
        relative=absolute / abs(sums.total) if sums.total else math.inf,
        ulp=int(ulps(*(np.asarray(number).astype(wanted.dtype) for number in (sums.total, sums.of(got)[worst])))),
        shape=wanted.shape,
    )


def _drawn(where: str, wanted: Drawn, got: Value, actual: Sequence[Value]) -> Mismatch | None:
    if not isinstance(got, np.ndarray):
        return Mismatch(Verdict.WRONG_TYPE, where, kind(wanted.example), kind(got))
    if (unlike := _unlike(where, wanted.example, got)) is not None:
        return unlike
    why = properties.broken(wanted, got, actual)
    return Mismatch(Verdict.WRONG_VALUE, where, str(wanted), why, total=got.size) if why else None


def _value(where: str, wanted: Value, got: Value, allowance: Allowance, limits: _Limits) -> Mismatch | None:
    if isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        return _tensor(where, wanted, got, allowance, limits)
    if isinstance(wanted, list) and isinstance(got, list):
        if len(wanted) != len(got):
            return Mismatch(Verdict.WRONG_COUNT, where, f"{len(wanted)} elements", f"{len(got)} elements")
        pairs = ((f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(wanted, got, strict=True)))
    elif isinstance(wanted, dict) and isinstance(got, dict):
        if wanted.keys() != got.keys():
            return Mismatch(Verdict.WRONG_VALUE, where, f"keys {clip(list(wanted))}", f"keys {clip(list(got))}")
        pairs = ((f"{where}[{key!r}]", value, got[key]) for key, value in wanted.items())
    elif wanted is None and got is None:
        return None
    else:
        return Mismatch(Verdict.WRONG_TYPE, where, kind(wanted), kind(got))
    return next((mismatch for pair in pairs if (mismatch := _value(*pair, allowance, limits))), None)


def offsets(
    expected: Sequence[Value | Drawn], actual: Sequence[Value], allowance: Allowance
) -> dict[str, list[list[int]]]:
    """Return how far a passing answer is from the expected values, element by element.

    The distance of two answers is the difference of their offsets, so that two runs can be compared without their
    values.

    Returns:
        For each output, keyed as in Mismatch.where: [row-major index, signed number of representable values from the
        expected one] of each element that differs, the farthest first, at most MOST_OFFSETS. For complex numbers the
        real parts come first, then all imaginary parts.
    """
    distances: dict[str, list[list[int]]] = {}
    for _, where, wanted, got in _tensors(nearest(expected, actual, allowance), actual):
        far = _signed(wanted, got) if is_float(wanted) and wanted.tobytes() != got.tobytes() else []
        if far:
            distances[where] = sorted(far, key=lambda item: (-abs(item[1]), item[0]))[:MOST_OFFSETS]
    return distances


def _tensors(expected: Sequence[Value | Drawn], actual: Sequence[Value]) -> Iterator[tuple[int, str, Array, Array]]:
    """Yield pairs of corresponding tensors: the index of the output, the place, the expected and the actual tensor.

    Random tensors, and tensors without a counterpart, are skipped.
    """
    for index, (wanted, got) in enumerate(zip(expected, actual, strict=False)):
        if not isinstance(wanted, Drawn):
            yield from ((index, *pair) for pair in _inside(f"outputs[{index}]", wanted, got))


def _inside(where: str, wanted: Value, got: Value) -> Iterator[tuple[str, Array, Array]]:
    if isinstance(wanted, list) and isinstance(got, list):
        for index, (a, b) in enumerate(zip(wanted, got, strict=False)):
            yield from _inside(f"{where}[{index}]", a, b)
    elif isinstance(wanted, dict) and isinstance(got, dict):
        for key, value in wanted.items():
            yield from _inside(f"{where}[{key!r}]", value, got.get(key))
    elif isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        yield where, wanted, got


def _signed(wanted: Array, got: Array) -> list[list[int]]:
    """Return the index and signed distance of the MOST_OFFSETS elements that differ most."""
    if wanted.dtype.kind == "c":
        real, imaginary = _signed(wanted.real, got.real), _signed(wanted.imag, got.imag)
        return real + [[wanted.size + index, steps] for index, steps in imaginary]
    a, b = (np.ascontiguousarray(item).reshape(-1) for item in (wanted, got))
    from_, to = ordered(a), ordered(b)
    moved = np.flatnonzero((from_ != to) & ~np.isnan(a.astype(np.float64)))
    if len(moved) > MOST_OFFSETS:  # Before the conversion to Python's numbers, because there may be 100,000.
        low, high = np.minimum(from_[moved], to[moved]), np.maximum(from_[moved], to[moved])
        far = high.astype(np.uint64) - low.astype(np.uint64)  # The distance of two int64 may exceed int64.
        moved = moved[np.argsort(np.iinfo(np.uint64).max - far, kind="stable")[:MOST_OFFSETS]]
    pairs = zip(from_[moved].tolist(), to[moved].tolist(), strict=True)  # As Python's numbers, which do not wrap.
    return [[index, end - start] for index, (start, end) in zip(moved.tolist(), pairs, strict=True)]


def times_allowed(expected: Sequence[Value | Drawn], actual: Sequence[Value], allowance: Allowance) -> float | None:
    """Return how large the greatest difference is, as a multiple of the allowed one; at most 1 if the answer passes.

    Infinity: no difference is allowed there, or the difference has no size, as of NaN, texts, shapes and types.
    None if no output is a tensor of floating-point numbers. If a lower limit of the
    allowed difference was enough to compare the values, the number is the multiple of that.
    """
    if compare(expected, actual, allowance) is not None and any(
        _unlike(where, wanted, got) is not None
        for _, where, wanted, got in _tensors(nearest(expected, actual, allowance), actual)
    ):
        return math.inf
    found = [
        greatest_excess(wanted, got, allowance, allowance.computed(index))
        for index, _, wanted, got in _tensors(nearest(expected, actual, allowance), actual)
        if is_float(wanted) and wanted.shape == got.shape and wanted.dtype == got.dtype
    ]
    if (sums := allowance.sums) is not None and sums.output < len(actual):
        wanted, got = expected[sums.output], actual[sums.output]
        if isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray) and wanted.shape == got.shape:
            far = sums.far(wanted, got, allowance.computed(sums.output))
            found.append(float(far.max(initial=0.0)) / sums.within)
    return max(found, default=None)


def differing(
    expected: Sequence[Value | Drawn], actual: Sequence[Value], allowance: Allowance
) -> Iterator[tuple[str, str, str]]:
    """Yield each element that differs: its place, such as outputs[0][1,2], the expected and the actual value.

    A tensor with an unexpected type or shape is skipped, because its elements have no counterparts.
    """
    for index, where, wanted, got in _tensors(nearest(expected, actual, allowance), actual):
        if _unlike(where, wanted, got) is None:
            bound = allowance.bound(index)
            for indices in np.argwhere(unequal(wanted, got, allowance, bound)):
                place = tuple(map(int, indices))
                yield f"{where}[{','.join(map(str, place))}]", clip(wanted[place]), clip(got[place])


def _written(item: Any) -> str:  # noqa: ANN401 - a numpy scalar or a str
    """Return an element as text. Strings are quoted, which makes a tab or a space at the end visible."""
    return element(item) if isinstance(item, str) else clip(item)


def clip(value: object, limit: int = 200) -> str:
    """Return a short form of a value."""
    text = str(value)
    return text if len(text) <= limit else text[:limit] + "..."


def kind(value: Value) -> str:
    """Return the kind of a value in terms of ONNX."""
    if isinstance(value, np.ndarray):
        return f"tensor({element_type(value.dtype).name})"
    if value is None:
        return "an empty optional"
    return "a sequence" if isinstance(value, list) else "a map"


def unlike(expected: Sequence[Value | Drawn], actual: Sequence[Value], allowance: Allowance) -> Mismatch | None:
    """Return the first difference in number, kind, type or shape. Elements and the keys of maps are not compared."""
    if len(expected) != len(actual):
        return Mismatch(Verdict.WRONG_COUNT, "outputs", f"{len(expected)} outputs", f"{len(actual)} outputs")
    pairs = enumerate(zip(nearest(expected, actual, allowance), actual, strict=True))
    mismatches = (_outline(f"outputs[{i}]", a.example if isinstance(a, Drawn) else a, b) for i, (a, b) in pairs)
    return next(filter(None, mismatches), None)


def _outline(where: str, wanted: Value, got: Value) -> Mismatch | None:
    if isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        return _unlike(where, wanted, got)
    if kind(wanted) != kind(got):
        return Mismatch(Verdict.WRONG_TYPE, where, kind(wanted), kind(got))
    if isinstance(wanted, list) and isinstance(got, list):
        if len(wanted) != len(got):
            return Mismatch(Verdict.WRONG_COUNT, where, f"{len(wanted)} elements", f"{len(got)} elements")
        mismatches = (_outline(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(wanted, got, strict=True)))
        return next(filter(None, mismatches), None)
    return None


def _unlike(where: str, wanted: Array, got: Array) -> Mismatch | None:
    if wanted.dtype != got.dtype:
        return Mismatch(Verdict.WRONG_TYPE, where, kind(wanted), kind(got))
    if wanted.shape != got.shape:
        return Mismatch(Verdict.WRONG_SHAPE, where, f"shape {list(wanted.shape)}", f"shape {list(got.shape)}")
    return None


def _tensor(where: str, wanted: Array, got: Array, allowance: Allowance, limits: _Limits) -> Mismatch | None:
    if (unlike := _unlike(where, wanted, got)) is not None:
        return unlike
    if wanted.dtype.kind != "O" and wanted.tobytes() == got.tobytes():
        return None
    differs = unequal(wanted, got, allowance, None)
    for bound in limits() if differs.any() else ():  # Bounds take long to compute, and most answers need none.
        differs = unequal(wanted, got, allowance, bound)
        if not differs.any():
            break
    if not differs.any():
        return None
    return _worst(where, wanted, got, differs, allowance.interval)


def _distance(wanted: Array, got: Array) -> Array:
    """Return the distances of elements, to find the worst; an undefined distance counts as infinite."""
    if wanted.dtype.kind in "Ob":
        return np.ones(wanted.shape)
    with np.errstate(all="ignore"):
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        far = np.abs(wanted.astype(wide) - got.astype(wide))
    return np.asarray(np.where(np.isnan(far), np.inf, far))


def _worst(
    where: str, wanted: Array, got: Array, differs: Array, interval: tuple[float, float] | None = None
) -> Mismatch:
    far = np.where(differs, _distance(wanted, got), -1.0)
    shape = wanted.shape
    first = tuple(map(int, np.unravel_index(int(np.argmax(differs)), shape)))
    worst = tuple(map(int, np.unravel_index(int(np.argmax(far)), shape)))
    a, b = wanted[worst], got[worst]
    absolute = float(far[worst]) if np.isfinite(far[worst]) and wanted.dtype.kind != "O" else None
    if wanted.dtype.kind == "b":
        absolute = None
    size = float(abs(complex(a))) if absolute is not None else 0.0
    relative = absolute / size if absolute is not None and size else math.inf
    steps = None
    if absolute is not None and wanted.dtype.kind != "c":
        steps = int(ulps(np.asarray(a), np.asarray(b))) if is_float(wanted) else abs(int(a) - int(b))
    places = np.flatnonzero(differs)
    start = 0 if wanted.size <= WINDOW else max(0, min(int(places[0]) - BEFORE, wanted.size - WINDOW))
    near = slice(start, start + WINDOW)
    return Mismatch(
        Verdict.WRONG_VALUE,
        where,
        expected=_written(a),
        actual=_written(b),
        differing=int(differs.sum()),
        total=int(differs.size),
        first=first,
        worst=worst,
        absolute=absolute,
        relative=relative if math.isfinite(relative) else None,
        ulp=steps,
        beyond=interval if interval and absolute is not None and not interval[0] <= float(b) <= interval[1] else (),
        shape=shape,
        differs=tuple(map(int, places[:MOST_INDICES])),
        start=start,
        wanted=tuple(map(element, wanted.reshape(-1)[near])),
        given=tuple(map(element, got.reshape(-1)[near])),
    )
