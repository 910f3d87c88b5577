# SPDX-License-Identifier: Apache-2.0
"""Faults of released runtimes that the public reported, as kinds: a wrapper of the oracle has each, and is noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_conformance.case.compare import compare
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.generation.deliveries import Plan

Array = np.ndarray[Any, Any]
Inputs = dict[str, Array]
Attributes = dict[str, Any]


def absorbed(inputs: Inputs, _: Attributes, right: Array) -> Array | None:
    """Return the factor instead of the product, if it is a scalar of zero."""
    factor = inputs["B"]
    return factor if factor.ndim == 0 and right.ndim and not factor.any() and factor.dtype == right.dtype else None


def without_infinity(inputs: Inputs, _: Attributes, right: Array) -> Array | None:
    """Return zeros if a scalar is infinite: the generated code cannot contain it."""
    factor = inputs["B"]
    return np.zeros_like(right) if factor.ndim == 0 and np.isinf(factor.astype(float)) else None


def as_scalar(inputs: Inputs, _: Attributes, right: Array) -> Array | None:
    """Return a scalar if the first operand is one, although the second has an axis."""
    return right.reshape(()) if inputs["A"].ndim == 0 and right.shape == (1,) else None


def padded_only(inputs: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Add zeros without removing anything, if there are negative and positive lengths."""
    pads = inputs.get("pads")
    if pads is None or "axes" in inputs or not (pads < 0).any() or not (pads > 0).any() or attributes.get("mode"):
        return None
    count = inputs["data"].ndim
    return np.pad(inputs["data"], list(zip(*np.maximum(pads, 0).reshape(2, count), strict=True))).astype(right.dtype)


def not_permuted(inputs: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Return the operand in its order, reshaped, if it has five axes or more."""
    operand = inputs["Inputs_0"]
    only = b"," not in attributes["equation"] and operand.ndim > 4 and right.size == operand.size
    return operand.reshape(right.shape) if only else None


def one_too_far(inputs: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Shift the region of an even size by one channel, in tensors with one spatial axis."""
    return np.roll(right, 1, 1) if attributes["size"] % 2 == 0 and inputs["X"].ndim == 3 else None


def overflowing(inputs: Inputs, _: Attributes, right: Array) -> Array | None:
    """Return infinities if the scale is large and a calculation in float16 overflows."""
    large = right.dtype == np.float16 and np.abs(inputs["Scale"].astype(float)).max() > 1e4
    return np.full_like(right, np.inf) if large else None


def with_signs(inputs: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Add numbers instead of their absolute values, if the window has dilations."""
    if attributes.get("p", 2) != 1 or "dilations" not in attributes or (inputs["X"] >= 0).all():
        return None
    return -right


def coefficient_ignored(_: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Use the default coefficient with antialiasing, which changes every element a little."""
    other = attributes.get("antialias") == 1 and attributes.get("mode") == b"cubic" and "cubic_coeff_a" in attributes
    return right * np.asarray(1.02, right.dtype) if other else None


def scales_ignored(inputs: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Refuse a list of scales that is shorter than the rank."""
    few = "axes" in attributes and "scales" in inputs and inputs["scales"].size < inputs["X"].ndim
    return np.zeros_like(right) if few else None


def cropped_ignored(inputs: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Return the first part of a cropped image whose region is longer than the input."""
    crops = attributes.get("coordinate_transformation_mode") == b"tf_crop_and_resize" and "scales" in inputs
    far = crops and (inputs["roi"][inputs["roi"].size // 2 :] > 2).any()
    return right[..., : inputs["X"].shape[-1]] if far else None


def unsigned(_: Inputs, attributes: Attributes, right: Array) -> Array | None:
    """Return nothing for the padding VALID."""
    return np.zeros_like(right) if attributes.get("auto_pad") == b"VALID" else None


def by_default_zero_point(inputs: Inputs, _: Attributes, right: Array) -> Array | None:
    """Return 0 for a scalar without a zero point."""
    return np.zeros_like(right) if inputs["x"].ndim == 0 and "y_zero_point" not in inputs else None


def as_int32(_: Inputs, __: Attributes, right: Array) -> Array | None:
    """Move integers of 64 bits through 32 bits."""
    return right.astype(np.int32).astype(np.int64) if right.dtype == np.int64 else None


FAULTS: dict[str, tuple[str, Callable[[Inputs, Attributes, Array], Array | None]]] = {
    "Mul by a scalar of zero": ("Mul", absorbed),
    "Mul by an infinite scalar": ("Mul", without_infinity),
    "Div by an infinite scalar": ("Div", without_infinity),
    "Equal of a scalar and a list of one": ("Equal", as_scalar),
    "Add of a scalar and a list of one": ("Add", as_scalar),
    "Pad that removes and adds": ("Pad", padded_only),
    "Pad of wide integers": ("Pad", as_int32),
    "Trilu of wide integers": ("Trilu", as_int32),
    "Abs of wide integers": ("Abs", as_int32),
    "Einsum of one operand with five axes": ("Einsum", not_permuted),
    "LRN of a line with an even size": ("LRN", one_too_far),
    "LayerNormalization with a large scale": ("LayerNormalization", overflowing),
    "LpPool with dilations": ("LpPool", with_signs),
    "Resize with antialiasing and a coefficient": ("Resize", coefficient_ignored),
    "Resize with scales of some axes": ("Resize", scales_ignored),
    "Resize that crops beyond the image": ("Resize", cropped_ignored),
    "ConvInteger with VALID": ("ConvInteger", unsigned),
    "QuantizeLinear of a scalar alone": ("QuantizeLinear", by_default_zero_point),
}
"""By a short description: the operator, and a function of inputs, attributes and the right first output.

The function returns the wrong output, or None if the fault does not concern the call.
"""


def touched(plan: Plan, fault: Callable[[Inputs, Attributes, Array], Array | None]) -> bool | None:
    """Return whether a case notices a fault; None if the fault does not change its answer."""
    right = (plan.expected or (None,))[0]
    if not isinstance(right, np.ndarray):
        return None
    inputs = {name: np.asarray(item.value) for name, item in plan.inputs if item is not None and item.is_tensor}
    attributes = {
        name: proto.s or proto.i or proto.f or list(proto.ints or proto.floats)
        for name, proto in plan.attributes.items()
    }
    wrong = fault(inputs, attributes, right)
    if wrong is None or (wrong.shape == right.shape and wrong.tobytes() == right.tobytes()):
        return None
    return compare(plan.expected or (), [wrong, *(plan.expected or ())[1:]], plan.allowance) is not None


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_the_public_reported_is_noticed(name: str) -> None:
    operator, fault = FAULTS[name]
    op = registry.load().named(operator)
    results = [touched(plan, fault) for plan in plans.plans(op, (registry.versions(op)[-1].since,))]
    assert any(results), "no case notices it"
