# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs: slopes against closed forms, and what is not known how to differentiate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onnx_conformance.declare import Call
from onnx_conformance.operators.training.gradient import leaves, partial

HERE = np.array(0.7)


def call(operator: str, inputs: str, output: str, **attributes: object) -> Call:
    return Call(f"ai.onnx/{operator}", list(inputs), [output], attributes)


def slope(y: str, *nodes: Call) -> float:
    return float(partial(nodes, y, "x", {"x": HERE, "k": np.array(3.0)}))


@pytest.mark.parametrize(
    ("operator", "inputs", "expected"),
    [
        ("Add", "xk", 1), ("Sub", "xk", 1), ("Sub", "kx", -1), ("Mul", "xk", 3), ("Mul", "xx", 1.4),
        ("Div", "xk", 1 / 3), ("Div", "kx", -3 / 0.49), ("Identity", "x", 1), ("Exp", "x", math.exp(0.7)),
        ("Log", "x", 1 / 0.7), ("Sqrt", "x", 0.5 / math.sqrt(0.7)), ("Tanh", "x", 1 / math.cosh(0.7) ** 2),
        ("ReduceSum", "x", 1), ("Exp", "k", 0),
    ],
)  # fmt: skip
def test_slopes_of_operators(operator: str, inputs: str, expected: float) -> None:
    assert slope("y", call(operator, inputs, "y")) == pytest.approx(expected, rel=1e-15)


def test_slopes_of_slopes() -> None:
    """The third derivative of exp(x)^3 is 27 exp(3x)."""
    nodes = [call("Exp", "x", "e"), call("Mul", "ee", "s"), call("Mul", "se", "y")]
    for order, name in enumerate("ab"):
        named = {"xs": ["x"], "y": "yab"[order]}
        nodes.append(Call("ai.onnx.preview.training/Gradient", ["x"], [name], named))
    assert slope("b", *nodes) == pytest.approx(27 * math.exp(2.1), rel=1e-14)


def test_a_slope_for_each_element_in_the_shape_of_the_variable() -> None:
    w, x = np.arange(6.0).reshape(2, 3), np.array([[1.0], [10], [100]])
    nodes = [call("MatMul", "wx", "p"), call("ReduceSum", "p", "y")]
    assert partial(nodes, "y", "w", {"w": w, "x": x}).tolist() == [[1, 10, 100], [1, 10, 100]]
    assert partial(nodes, "y", "x", {"w": w, "x": x}).tolist() == [[3], [5], [7]]


def test_what_nobody_says_how_to_differentiate_is_named() -> None:
    with pytest.raises(NotImplementedError, match=r"nothing says how ai\.onnx/Conv is differentiated"):
        slope("y", call("Conv", "x", "y"))


def test_leaves_are_what_no_node_gives_and_where_a_stop_is() -> None:
    nodes = [call("Mul", "wx", "h"), call("Add", "hz", "y"), call("Constant", "", "z")]
    assert set(leaves(nodes, "y", set())) == {"w", "x"}
    assert set(leaves(nodes, "y", {"h"})) == {"h"}
    assert set(leaves(nodes, "y", {"h", "z", "w"})) == {"h", "z"}
    assert set(leaves(nodes, "q", set())) == {"q"}
