# SPDX-License-Identifier: Apache-2.0
"""The allowed differences between an answer and the expected outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from onnx_conformance.case.lane_sums import LaneSums
    from onnx_conformance.declare import AnyOf, Order

    _OfOutputs = tuple[np.ndarray[Any, Any], ...]


class Bounds(Sequence["np.ndarray[Any, Any]"]):
    """The absolute errors that the elements of the outputs may have, computed at the first access.

    Most answers do not need them: they are equal to the expected values, or the runtime raised an error. Most of the
    others are so near to the expected values that a lower limit of the bounds is enough, which takes less time.

    Attributes:
        reached: the last limits that were computed; None: none was needed.
        are_final: whether they are the bounds.
    """

    def __init__(self, compute: Callable[[], Iterator[_OfOutputs]]) -> None:
        """Store a function that yields, for all outputs, lower limits of the bounds, and at last the bounds."""
        self._compute = compute
        self._rest: Iterator[_OfOutputs] | None = None
        """The limits that are not computed yet; None before the first one."""
        self.reached: _OfOutputs | None = None
        self.are_final = False

    def limits(self) -> Iterator[_OfOutputs]:
        """Yield lower limits of the bounds of all outputs. The last are the bounds."""
        if self.reached is not None:
            yield self.reached
        if self._rest is None:
            self._rest = self._compute()
        try:
            for values in self._rest:
                self.reached = values
                yield values
        except Exception:
            self._rest = None
            raise
        self.are_final = True

    def _all(self) -> _OfOutputs:
        for _ in self.limits() if not self.are_final else ():
            pass
        return self.reached or ()

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self._all())

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an index or a slice, as in every sequence
        """Return the errors of one output."""
        return self._all()[index]

    def __reduce__(self) -> tuple[type[tuple[Any, ...]], tuple[tuple[Any, ...]]]:
        """Pickle only the errors, because only this process has the oracle that computes them."""
        return tuple, (self._all(),)


@dataclass(frozen=True)
class Allowance:
    """How an answer may differ from the expected one. If all fields are zero, it must be equal.

    Attributes:
        reason: the reason for this tolerance.
        ulp: units in the last place of the element's own type.
        rtol: relative to the expected value.
        atol: absolute.
        signed_zero: whether +0 and -0 differ.
        bounds: for each output, the absolute error allowed for each element.
        interval: the least and the greatest value that a finite element may have; None if every value is possible.
        sums: the sums of the lanes of an output; None if they are not checked.
        any_of: for each output, the values that it may have, the expected one first; None if there is only one.
        any_order: the other permitted orders of the outputs, if there are any.
    """

    reason: str
    ulp: float = 0
    rtol: float = 0
    atol: float = 0
    signed_zero: bool = False
    interval: tuple[float, float] | None = None
    sums: LaneSums | None = None
    bounds: Sequence[np.ndarray[Any, Any]] | None = None
    any_of: tuple[AnyOf | None, ...] = ()
    any_order: Order | None = None

    def bound(self, index: int) -> np.ndarray[Any, Any] | None:
        """Return the bounds of an output; None if it has none.

        An output with several allowed values is exact. If they are chosen by element, other elements may be open.
        """
        return None if self.bounds is None or self._is_exact(index) else self.bounds[index]

    def limits_of(self, index: int) -> Iterator[np.ndarray[Any, Any]]:
        """Yield lower limits of the bounds of an output. The last are the bounds; an exact output has no limits."""
        if self.bounds is not None and not self._is_exact(index):
            limits = self.bounds.limits() if isinstance(self.bounds, Bounds) else [self.bounds]
            yield from (item[index] for item in limits)

    def computed(self, index: int) -> np.ndarray[Any, Any] | None:
        """Return the last limits of an output that were computed; its bounds if none was, or None if it has none."""
        reached = self.bounds.reached if isinstance(self.bounds, Bounds) else None
        return self.bound(index) if reached is None or self._is_exact(index) else reached[index]

    def _is_exact(self, index: int) -> bool:
        several = self.any_of[index] if self.any_of else None
        return several is not None and not several.elementwise

    def __str__(self) -> str:
        """Return a phrase such as "exact: the operator only moves data"."""
        return f"{self.limits}: {self.reason}"

    @property
    def limits(self) -> str:
        """The phrase without its reason, such as "exact" or "2 ULP"."""
        parts = [f"{self.ulp:g} ULP"] if self.ulp else []
        parts += [f"rtol {self.rtol:g}"] if self.rtol else []
        parts += [f"atol {self.atol:g}"] if self.atol else []
        parts += ["a bound by element"] if self.bounds is not None else []
        parts = parts or ["exact"]
        parts += [f"values from {self.interval[0]:g} to {self.interval[1]:g}"] if self.interval is not None else []
        parts += [str(self.sums)] if self.sums is not None else []
        several = [item for item in self.any_of if item is not None]
        parts += ["any of several values"] if any(not item.elementwise for item in several) else []
        parts += ["each element any of several"] if any(item.elementwise for item in several) else []
        parts += [str(self.any_order)] if self.any_order else []
        return ", ".join(parts)
