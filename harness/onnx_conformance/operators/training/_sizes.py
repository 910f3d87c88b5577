# SPDX-License-Identifier: Apache-2.0
"""The sized calls of optimizers of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.declare.sizes import LENGTHS, filled, grid, several

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare import Clause, Op
    from onnx_conformance.declare.sizes import Several


def sized(op: Op, tensors: int, cites: tuple[Clause, ...], attributes: Mapping[str, Any]) -> None:
    """Declare the sized calls of an optimizer with averages of squares.

    Args:
        op: the operator.
        tensors: the number of inputs for each optimized tensor: the tensor, its gradient, and averages. The last of
            these is an average of squares. All but the gradient are outputs, too.
        cites: the clauses on the computed values.
        attributes: the attributes of the calls.
    """

    def drawn(count: int, *dims: str) -> Several:
        squares = (tensors - 1) * count  # They are positive.
        return several(tensors * count, lambda index: filled(*dims, floats=(0.1, 2) if index >= squares else (-2, 2)))

    shared = {"R": 0.1, "T": 3, **attributes}
    op.sized(
        "vector", grid(n=(*LENGTHS[::3], 65_537)), n=tensors - 1, each="T3", cites=cites,
        arguments={**shared, "inputs": drawn(1, "n")},
    )  # fmt: skip
    op.sized(
        "two_matrices", grid(m=(17,), n=(9, 64)), n=2 * (tensors - 1), cites=cites,
        arguments={**shared, "inputs": drawn(2, "m", "n")},
    )  # fmt: skip
