# SPDX-License-Identifier: Apache-2.0
"""Checks of random values against their required properties."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends.protocol import element_type, element_type_named, numpy_dtype
from onnx_conformance.base.values import Drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, Any]

PLAIN_FIELDS = ("low", "high", "chosen_by", "mean", "deviation", "kurtosis", "same_as")
INDICES = ("chosen_by", "same_as")
"""The fields that are numbers of outputs."""
MOMENTS = ("mean", "deviation", "kurtosis")
"""The fields that are computed."""
DIGITS = 12
"""Number of digits of a computed number that are the same on all processors."""
SIGMAS = 6.0
"""Largest allowed deviation of a mean or a variance. A correct generator exceeds it in 1 of 500 million cases."""
ROUNDING = 1e-6
"""Relative rounding of a variance. All draws from two equally likely values have exactly the expected one."""
CHOICE_ULP = 4
"""Largest distance of an element from its choice, in ULP. It covers the rounding of a scale and a product."""


def broken(drawn: Drawn, got: Array, actual: Sequence[Any]) -> str:
    """Return the first property that `got` violates, as text; empty if `got` has all properties.

    Args:
        drawn: the required properties. The caller has compared type and shape already.
        got: the values of one output.
        actual: the values of all outputs.
    """
    values = got.astype(np.float64) if got.dtype.kind != "O" else got
    if drawn.same_as is not None and not _same(got, actual[drawn.same_as]):
        return f"the values differ from output {drawn.same_as}, which has the same seed"
    if drawn.low is not None and (values < _rounded(drawn.low, got)).any():
        return f"{values.min():g} is below {drawn.low:g}"
    if drawn.high is not None and (values > _rounded(drawn.high, got)).any():
        return f"{values.max():g} is above {drawn.high:g}"
    if np.isnan(values).any():
        return f"{int(np.isnan(values).sum())} elements are NaN"
    return _choices(drawn, got, actual) or _moments(drawn, values)


def _same(got: Array, other: Any) -> bool:  # noqa: ANN401 - any answer of a runtime
    return isinstance(other, np.ndarray) and got.shape == other.shape and got.tobytes() == other.tobytes()


def _rounded(limit: float, got: Array) -> float:
    return float(np.asarray(limit).astype(got.dtype).astype(np.float64))


def _near(choice: Array, got: Array) -> Array:
    wanted = np.asarray(choice).astype(got.dtype).astype(np.float64)
    spacing = np.spacing(np.abs(wanted).astype(np.float32 if got.dtype.itemsize > 2 else np.float16))  # noqa: PLR2004
    allowed = CHOICE_ULP * spacing if got.dtype.kind not in "biu" else 0
    return np.asarray(np.abs(got.astype(np.float64) - wanted) <= allowed)


def _choices(drawn: Drawn, got: Array, actual: Sequence[Any]) -> str:
    if not drawn.choices:
        return ""
    near = [_near(choice, got) for choice in drawn.choices]
    if drawn.chosen_by is not None:
        mask = np.asarray(actual[drawn.chosen_by]).astype(bool)
        if mask.shape != got.shape:
            return f"output {drawn.chosen_by}, which selects the values, has another shape"
        wrong = ~np.where(mask, near[1], near[0])
        return f"{int(wrong.sum())} elements differ from the choice in output {drawn.chosen_by}" if wrong.any() else ""
    none = ~np.logical_or.reduce(near)
    return f"{int(none.sum())} elements have none of their {len(near)} allowed values" if none.any() else ""


def _moments(drawn: Drawn, values: Array) -> str:
    if drawn.mean is None or drawn.deviation is None or not values.size:
        return ""
    mean, deviation = (np.broadcast_to(item, values.shape) for item in (drawn.mean, drawn.deviation))
    scale = math.sqrt(float(np.square(deviation).sum()))
    if not scale:
        return "" if np.allclose(values, mean) else "the values differ from the only possible value"
    off = abs(float((values - mean).sum())) / scale
    if off > SIGMAS:
        return f"the mean of {values.size} is {values.mean():.6g}, which is {off:.3g} sigma from {mean.mean():.6g}"
    if drawn.kurtosis is None:
        return ""
    ratio = float(np.square(values - mean).sum()) / scale**2
    allowed = SIGMAS * math.sqrt(max(drawn.kurtosis - 1, 0) / values.size) + ROUNDING
    if abs(ratio - 1) > allowed:
        return f"the variance of {values.size} is {ratio:.4g} times the expected one; allowed is 1 +- {allowed:.3g}"
    return ""


def describe(drawn: Drawn) -> dict[str, Any]:
    """Return the required properties, type and shape as JSON data."""
    described: dict[str, Any] = {"type": element_type(drawn.example.dtype).name, "shape": list(drawn.example.shape)}
    for name in PLAIN_FIELDS:
        value = getattr(drawn, name)
        if value is not None:  # 0 and 0.0 are the same number, and have one text.
            described[name] = value if name in INDICES else _portable(name, np.asarray(value, np.float64)).tolist()
    if drawn.choices:
        described["choices"] = [np.asarray(choice).astype(np.float64).tolist() for choice in drawn.choices]
    return described


def _portable(name: str, value: Array) -> Array:
    """Return a moment without its last digits, which depend on the processor. A limit stays the same."""
    if name not in MOMENTS:
        return value
    return np.array([float(f"{item:.{DIGITS}g}") for item in value.flat], np.float64).reshape(value.shape)


def parse(described: Mapping[str, Any]) -> Drawn:
    """Return the properties that `describe` wrote.

    Raises:
        ValueError, TypeError, KeyError: the data does not have the format of `describe`.
    """
    dtype = numpy_dtype(element_type_named(described["type"]).number)
    shape = tuple(int(dim) for dim in described["shape"])
    fields: dict[str, Any] = {
        name: np.asarray(described[name], np.float64) if isinstance(described[name], list) else float(described[name])
        for name in PLAIN_FIELDS
        if name in described
    }
    for name in INDICES:
        if name in fields:
            fields[name] = int(fields[name])
    choices = tuple(np.asarray(choice, np.float64).reshape(shape) for choice in described.get("choices", ()))
    return Drawn(example=np.zeros(shape, dtype), choices=choices, **fields)
